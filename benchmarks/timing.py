"""Timing two or more things in turn, so that what else the machine does meets all of them; figures with bounds."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np

MICRO = 1e-6


def interleaved(rounds: int, *sides: Callable[[], object], clock: Callable[[], float] = perf_counter) -> list[float]:
    """Return the least seconds that each of ``sides`` took in ``rounds`` rounds, in which all run once, in turn.

    What runs in one thread may be measured by ``process_time``, to which other programs matter less.
    """
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for index, side in enumerate(sides):
            best[index] = min(best[index], timed(side, clock=clock))
    return best


def timed(side: Callable[[], object], *, clock: Callable[[], float] = perf_counter) -> float:
    """Return the seconds that one call took."""
    start = clock()
    side()
    return clock() - start


def ratio(
    rounds: int, side: Callable[[], object], other: Callable[[], object], *, clock: Callable[[], float] = perf_counter
) -> float:
    """Return how long ``side`` takes as a multiple of ``other``, both timed in turn."""
    one, two = interleaved(rounds, side, other, clock=clock)
    return one / two


def yardstick(count: int = 10_000) -> float:
    """Return the nanoseconds of a call of ``numpy.add`` on one number: how quick the machine is just now."""
    a, c = np.ones(1, np.float32), np.ones(1, np.float32)

    def loop() -> None:
        for _ in range(count):
            np.add(a, a, out=c)

    return interleaved(5, loop)[0] / count * 1e9


class Figure(NamedTuple):
    """One line of a report; without a bound it only informs."""

    what: str
    value: float
    unit: str = ""
    bound: float | None = None
    at_least: bool = False

    @property
    def missed(self) -> bool:
        """Whether there is a bound, on whose wrong side the value lies."""
        if self.bound is None:
            return False
        return self.value < self.bound if self.at_least else self.value > self.bound

    def __str__(self) -> str:
        line = f"{self.what:<64}{self.value:9.2f} {self.unit:<15}"
        if self.bound is None:
            return line.rstrip()
        sign, verdict = ">=" if self.at_least else "<=", "MISSED" if self.missed else "ok"
        return f"{line} {sign} {self.bound:<6g} {verdict}"
