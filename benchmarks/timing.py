"""Timing two or more things in turn, so that what else the machine does meets all of them."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter


def interleaved(rounds: int, *sides: Callable[[], object], clock: Callable[[], float] = perf_counter) -> list[float]:
    """Return the least seconds that each of ``sides`` took in ``rounds`` rounds, in which all run once, in turn.

    What runs in one thread may be measured by ``process_time``, to which other programs matter less.
    """
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for index, side in enumerate(sides):
            start = clock()
            side()
            best[index] = min(best[index], clock() - start)
    return best
