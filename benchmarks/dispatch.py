"""What running a net costs beyond the arithmetic: 10,000 Adds of shape [1] against a bare loop of numpy.add.

Both sides are timed in turn, in one process, and the best of each is taken. The limit is 150 ns an operator.
"""

from __future__ import annotations

import argparse
import itertools
from time import perf_counter, process_time

import numpy as np
from timing import interleaved

from netdsl.ir import NetDef, OperatorDef
from netdsl.runtime import Workspace


def main() -> int:
    """Run the command line; the exit status is 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", type=int, default=10_000, help="length of the chain of Adds")
    parser.add_argument("--rounds", type=int, default=30, help="how often both sides are timed")
    parser.add_argument("--limit", type=float, default=150.0, help="nanoseconds an operator above the bare loop")
    options = parser.parse_args()
    bare, run, plan = measure(options.operators, options.rounds)
    print(f"planning and binding     {plan * 1e3:8.1f} ms, once")
    print(f"bare loop of numpy.add   {bare * 1e9:8.1f} ns an operator")
    print(f"Program.run              {run * 1e9:8.1f} ns an operator")
    print(f"difference               {(run - bare) * 1e9:8.1f} ns (limit {options.limit:.0f})")
    return int((run - bare) * 1e9 > options.limit)


def measure(count: int, rounds: int) -> tuple[float, float, float]:
    """Return the seconds an operator of the bare loop and of the program, and the seconds to plan."""
    ops = [OperatorDef("Add", (f"v{i}", "one"), (f"v{i + 1}",)) for i in range(count)]
    ws = Workspace()
    ws.feed("v0", np.ones(1, np.float32))
    ws.feed("one", np.ones(1, np.float32))
    program = ws.create(NetDef("adds", ops))
    start = perf_counter()
    program.run()
    planned = perf_counter() - start
    assert ws.fetch(f"v{count}")[0] == count + 1
    one = np.ones(1, np.float32)
    arrays = [np.ones(1, np.float32) for _ in range(count + 1)]

    def loop() -> None:
        for a, c in itertools.pairwise(arrays):
            np.add(a, one, out=c)

    bare, ours = interleaved(rounds, loop, program.run, clock=process_time)
    return bare / count, ours / count, planned


if __name__ == "__main__":
    raise SystemExit(main())
