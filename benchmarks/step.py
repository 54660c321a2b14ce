"""One training step of the demo's model against the same step written by hand in NumPy, computing the same blobs.

Both sides start from the same state and are first held to the same results, blob by blob. Then they are timed in
turn, with the threads of the matrix products limited to one (by CPU time) and not limited (by the clock, which
means little on a busy machine). The goal is a ratio of at most 1.10 in float32; the exit status is 1 where it is
missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from by_hand import Step
from threadpoolctl import threadpool_limits
from timing import interleaved

from netdsl.cli.digits.model import PRECISIONS, build
from netdsl.runtime import Program, Workspace

CHECKED = {"float32": (3, 1e-4), "half": (1, 3e-2)}
"""Steps to compare, and by how much of its mean magnitude a blob may differ.

Sums added up in another order are other halves, and a few units of Relu then open that were shut.
"""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=5, help="steps in a round")
    parser.add_argument("--precision", choices=PRECISIONS, nargs="+", default=PRECISIONS)
    parser.add_argument("--limit", type=float, default=1.1, help="the highest ratio for float32")
    options = parser.parse_args()
    print(f"{'ms a step':<12}{'threads':>8}{'by hand':>10}{'netdsl':>10}{'ratio':>8}")
    failed = False
    for precision in options.precision:
        program, step = prepare(precision, options.batch)
        for threads in (1, None):
            with threadpool_limits(threads):
                clock = process_time if threads == 1 else perf_counter
                hand, ours = compare(program, step, options.rounds, options.steps, clock)
            print(f"{precision:<12}{threads or 'all':>8}{hand * 1e3:10.3f}{ours * 1e3:10.3f}{ours / hand:8.2f}")
            failed |= precision == "float32" and ours / hand > options.limit
    return int(failed)


def compare(program: Program, step: Step, rounds: int, steps: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Return the least seconds a step, by hand and by the program."""

    def by_hand() -> None:
        for _ in range(steps):
            step.run()

    hand, ours = interleaved(rounds, by_hand, lambda: program.run(steps), clock=clock)
    return hand / steps, ours / steps


def prepare(precision: str, batch: int) -> tuple[Program, Step]:
    """Return both sides after a few steps, which gave the same blobs."""
    model, ws, random = build(precision), Workspace(seed=1), np.random.default_rng(1)
    ws.run(model.init_net)
    ws.feed("data", random.random((batch, 1, 8, 8), np.float32))
    ws.feed("label", random.integers(0, 10, batch).astype(np.int32))
    before = {name: ws.fetch(name) for name in ws.blobs if name != "iteration_mutex"}
    program = ws.create(model.net)
    program.run()
    schedule = next(op.args for op in model.net.definition.ops if op.type == "LearningRate")
    steps, tolerance = CHECKED[precision]
    step = Step({n: before.get(n, ws.fetch(n)) for n in ws.blobs if n != "iteration_mutex"}, schedule)
    step.run()
    check(ws, step, tolerance)
    for _ in range(steps - 1):
        step.run()
        program.run()
        check(ws, step, tolerance)
    return program, step


def check(ws: Workspace, step: Step, tolerance: float) -> None:
    """Raise unless every blob agrees."""
    for name, array in step.blobs.items():
        found = ws.fetch(name)
        assert (found.dtype, found.shape) == (array.dtype, array.shape), name
        ours, hand = found.astype(np.float64), array.astype(np.float64)
        assert np.abs(ours - hand).sum() <= tolerance * np.abs(hand).sum(), (name, ours, hand)


if __name__ == "__main__":
    raise SystemExit(main())
