"""What a net costs before it runs: building, differentiating, dumping and parsing, in microseconds an operator.

The net is a residual chain: FC, Relu and Add, each FC with weights of its own, all shapes known. Building and
differentiating are counted by forward operator, dumping and parsing by operator of the text. CPU time is measured;
every size takes its turn in every round, and the best counts. Time is linear when the last column, the cost an
operator of the largest net by that of the smallest, stays near 1; the exit status is 1 where it does not. The goals
are for an idle core.
"""

from __future__ import annotations

import argparse
import gc
from time import process_time

import netdsl as nd

GOALS = {"build": 15.0, "differentiate": 15.0, "dump": 5.0, "parse": 12.0}
LINEAR = 1.6
"""How much more an operator of the largest net may cost than one of the smallest: caches hold less of it."""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    measure(300)  # imports
    best: dict[int, dict[str, float]] = {}
    for _ in range(options.rounds):
        for count in options.operators:
            for stage, seconds in measure(count).items():
                known = best.setdefault(count, {})
                known[stage] = min(seconds * 1e6, known.get(stage, seconds * 1e6))
    print(f"{'us an operator':<16}" + "".join(f"{count:>10,}" for count in options.operators) + "      goal     ratio")
    failed = False
    for stage, goal in GOALS.items():
        costs = [best[count][stage] for count in options.operators]
        ratio = costs[-1] / costs[0]
        print(f"{stage:<16}" + "".join(f"{cost:10.2f}" for cost in costs) + f"{goal:10.1f}{ratio:10.2f}")
        failed |= ratio > LINEAR
    return int(failed)


def measure(count: int) -> dict[str, float]:
    """Return the seconds an operator of each stage, for a net of ``count`` forward operators."""
    gc.collect()
    start = process_time()
    net, loss = build(count)
    built = process_time()
    net.add_gradients(loss)
    differentiated = process_time()
    text = net.dump()
    dumped = process_time()
    parsed = nd.parse(text)
    end = process_time()
    assert parsed == net.definition
    lines = len(parsed.ops)
    return {
        "build": (built - start) / count,
        "differentiate": (differentiated - built) / count,
        "dump": (dumped - differentiated) / lines,
        "parse": (end - dumped) / lines,
    }


def build(count: int) -> tuple[nd.Net, nd.Blob]:
    """Return a chain of about ``count`` operators, and its last blob."""
    net = nd.Net("chain")
    x = net.input("x", ("N", 64))
    for i in range(count // 3):
        w = net.input(f"fc{i}_w", (64, 64))
        b = net.input(f"fc{i}_b", (64,))
        y = net.Relu(net.FC([x, w, b], f"fc{i}"), f"relu{i}")
        x = net.Add([x, y], f"sum{i}")
    return net, net.AveragedLoss(x, "loss")


if __name__ == "__main__":
    raise SystemExit(main())
