"""What the runtime costs where a net is not simply run again: each figure beside its bound.

    python benchmarks/runtime.py                       # everything, some minutes
    python benchmarks/runtime.py --only sizes nested
    python benchmarks/runtime.py --list

Sides are timed in turn in one process, the best of several rounds counts, and matrix products keep to one thread
(except in "threads", which is about them): CPU time where one thread works, the clock where more do. Bounds in
microseconds are for an idle core that calls numpy.add in about 320 ns; each section says how quick it is just now. The
exit status is 1 where a bound is missed, or where a figure could not be taken.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from time import process_time

import attrs
import dispatch
import numpy as np
import runtime_nets as nets
import runtime_sizes as sizes
import step
from runtime_nets import Feeds, cycle, feed
from threadpoolctl import ThreadpoolController
from timing import MICRO, Figure, interleaved, ratio, timed, yardstick

import netdsl as nd
from netdsl.ir import NetDef, OperatorDef

FRAMES = 50
"""How many frames run one step net."""

Measure = Callable[[int], Iterator[Figure]]
"""Takes figures, given how many rounds to take."""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=SECTIONS, nargs="+", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--rounds", type=int, default=10, help="how often sides are timed; long ones less often")
    parser.add_argument(
        "--slower", type=float, default=1.0, help="how much slower this machine is; divides microseconds"
    )
    parser.add_argument("--list", action="store_true", help="say what the sections measure, and end")
    options = parser.parse_args()
    if options.list:
        for name, measures in SECTIONS.items():
            print(f"{name:<12}" + f"\n{'':<12}".join(str(measure.__doc__) for measure in measures))
        return 0
    missed = [name for name in SECTIONS if name in (options.only or SECTIONS) and report(name, options)]
    print(f"missed in: {', '.join(missed)}" if missed else "all bounds are met")
    return int(bool(missed))


def report(name: str, options: argparse.Namespace) -> bool:
    """Print the figures of a section as they come; return whether one misses its bound, or cannot be taken."""
    failed = False
    print(f"{name}     (numpy.add just now: {yardstick():.0f} ns a call)")
    with nullcontext() if name == "threads" else ThreadpoolController().limit(limits=1):
        for measure in SECTIONS[name]:
            try:
                for found in measure(options.rounds):
                    us = found.unit.startswith("us")
                    figure = found._replace(value=found.value / options.slower) if us else found
                    print(f"  {figure}", flush=True)
                    failed |= figure.missed
            except Exception as error:  # the other figures can be taken all the same
                reason = str(error).partition("\n")[0]
                print(f"  {measure.__name__}: MISSED, since {type(error).__name__}: {reason}", flush=True)
                failed = True
    return failed


# ---------------------------------------------------------------------- threads


def default_threads(rounds: int) -> Iterator[Figure]:
    """A loop over a small net with the threads that matrix products have by default / with one."""
    for width, batch in ((64, 32), (128, 64)):
        model, batches = nets.mlp(width, step=True), [nets.rows(batch, width)] * 100
        loop = cycle(nets.workspace({}, model.init_net), model.net.definition, batches, ["loss"])
        loop()
        found = ratio(2 * rounds, loop, in_one_thread(loop))
        yield Figure(f"MLP, {width} wide, batch {batch}: default / one thread", found, "", 1.1)


def in_one_thread(side: Callable[[], None]) -> Callable[[], None]:
    """Return ``side`` with matrix products in one thread."""
    controller = ThreadpoolController()

    def limited() -> None:
        with controller.limit(limits=1):
            side()

    return limited


# ---------------------------------------------------------------------- plans, first runs


def behind_readers(rounds: int) -> Iterator[Figure]:
    """A step behind operators whose outputs have no known type before they ran / fed."""
    fed, read = nets.lenet(), nets.lenet(behind_reader=True)
    for batch, steps in ((32, 2), (1, 20)):
        feeds, sources = nets.digits(batch), nets.digits(batch, "_source")
        by_feeds = cycle(nets.workspace({}, fed.init_net), fed.net.definition, [feeds] * steps)
        by_readers = cycle(nets.workspace(sources, read.init_net), read.net.definition, [{}] * steps)
        interleaved(2, by_feeds, by_readers)
        found = ratio(2 * rounds, by_readers, by_feeds, clock=process_time)
        yield Figure(f"LeNet's step, batch {batch}: behind readers / fed", found, "", 1.1)


def new_operators(rounds: int) -> Iterator[Figure]:
    """A net of one operator, never seen before: fed, run and fetched, beyond the feeds."""
    for type_, shapes in (("Add", {"x": (4, 5), "y": (4, 5)}), ("FC", {"x": (4, 5), "w": (3, 5), "b": (3,)})):
        feeds = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
        yield Figure(f"a new {type_}, run and fetched, beyond the feeds", beyond_feeds(type_, feeds, rounds), "us", 50)


def beyond_feeds(type_: str, feeds: Feeds, rounds: int, count: int = 200) -> float:
    """Return the microseconds to run and fetch an operator of which each comes once."""
    ws = nets.workspace({})
    new = iter([NetDef("", [OperatorDef(type_, list(feeds), [f"out{i}"])]) for i in range(rounds * count)])

    def whole() -> None:
        for net in islice(new, count):
            feed(ws, feeds)
            ws.run(net)
            ws.fetch(net.ops[0].outputs[0])

    def feeds_only() -> None:
        for _ in range(count):
            feed(ws, feeds)

    one, two = interleaved(rounds, whole, feeds_only, clock=process_time)
    return (one - two) / count / MICRO


# ---------------------------------------------------------------------- nested nets


def loops(rounds: int) -> Iterator[Figure]:
    """An iteration of a loop, and one in which a blob grows."""
    for growing, count, bound, what in (
        (False, 2000, 2.0, "an iteration over three operators"),
        (True, 200, 60.0, "an iteration in which a blob grows"),
    ):
        net = nets.loop(growing=growing)
        start = {name: np.array([value], np.float32) for name, value in (("i", 0), ("x", 0), ("one", 1), ("n", count))}
        ws = nets.workspace({})
        once = cycle(ws, net.definition, [start | {"go": np.array([True])}])
        once()
        assert ws.fetch("i")[0] == count
        assert ws.fetch("x").shape[0] == (count + 1 if growing else 1)
        yield Figure(what, interleaved(rounds, once, clock=process_time)[0] / count / MICRO, "us", bound)


def child_frames(rounds: int) -> Iterator[Figure]:
    """A step net in many child frames, which an operator makes."""
    step_net, feeds = nets.lstm_step()

    def prepare(count: int, times: int) -> Callable[[], None]:
        op = OperatorDef("InFrames", list(feeds), [], {"step_net": step_net, "count": count, "times": times})
        ws, net = nets.workspace(feeds), NetDef("outer", [op])
        return lambda: ws.run(net)

    yield from many_frames(f"{FRAMES} child frames", prepare, rounds)


def child_workspaces(rounds: int) -> Iterator[Figure]:
    """A step net in many workspaces of one parent."""
    step_net, feeds = nets.lstm_step()

    def prepare(count: int, times: int) -> Callable[[], None]:
        parent = nets.workspace(feeds)
        children = [nd.Workspace(parent=parent) for _ in range(count)]

        def run() -> None:
            for child in children:
                for _ in range(times):
                    child.run(step_net)

        return run

    yield from many_frames(f"{FRAMES} child workspaces", prepare, rounds)


def many_frames(where: str, prepare: Callable[[int, int], Callable[[], None]], rounds: int) -> Iterator[Figure]:
    """Compare 50 frames, in which a net runs once each, with one, in which it runs 50 times."""
    first = min(timed(prepare(FRAMES, 1), clock=process_time) for _ in range(max(3, rounds // 2)))
    many, one = prepare(FRAMES, 1), prepare(1, FRAMES)
    interleaved(3, many, one)
    ours, alone = interleaved(5 * rounds, many, one, clock=process_time)
    yield Figure(f"13 operators in {where}: the first run, a frame", first / FRAMES / MICRO, "us")
    yield Figure(f"13 operators in {where}: later runs, a frame", ours / FRAMES / MICRO, "us")
    yield Figure(f"13 operators in {where}: later runs / in one", ours / alone, "", 1.3)


# ---------------------------------------------------------------------- effects


def as_dag(net: NetDef) -> NetDef:
    """Return ``net`` as one that runs by what depends on what, on two threads."""
    return attrs.evolve(net, type="dag", num_workers=2)


def parallel_branches(rounds: int) -> Iterator[Figure]:
    """Two branches of large matrix products, as `simple` / as `dag`."""
    net, feeds = nets.branches()
    sides = [cycle(nets.workspace(feeds), kind, [{}]) for kind in (net, as_dag(net))]
    interleaved(3, *sides)
    yield Figure(
        "two branches of 1024x1024 products: times faster as dag", ratio(rounds, *sides), "", 1.5, at_least=True
    )


def nothing_in_parallel(rounds: int) -> Iterator[Figure]:
    """A training step as `dag` / as `simple`."""
    model, feeds = nets.lenet(), nets.digits(32)
    kinds = [as_dag(model.net.definition), model.net.definition]
    sides = [cycle(nets.workspace(feeds, model.init_net), kind, [{}]) for kind in kinds]
    interleaved(3, *sides)
    yield Figure("LeNet's step: as dag / as simple", ratio(8 * rounds, *sides), "", 1.05)


def reader_before_writer(rounds: int) -> Iterator[Figure]:
    """A `dag` that takes out of a queue before it puts something there."""
    ops = [OperatorDef("Get", ["q"], ["y"]), OperatorDef("Scale", ["y"], ["z"], {"scale": 3.0})]
    net = as_dag(NetDef("get_first", [*ops, OperatorDef("Put", ["q", "x"], [])]))
    ws = nets.workspace({"x": np.ones(2, np.float32)})
    ws.run(NetDef("queue", [OperatorDef("MakeQueue", [], ["q"])]))
    seconds = interleaved(rounds, lambda: ws.run(net))[0]
    assert ws.fetch("z").tolist() == [3.0, 3.0]
    yield Figure("a dag that dequeues before it enqueues ends", seconds * 1e3, "ms", 100)


# ---------------------------------------------------------------------- dead work


def kept(rounds: int) -> Iterator[Figure]:
    """A step of which only the loss is kept / all of it."""
    model, feeds = nets.lenet(), nets.digits(32)
    programs = [nets.workspace(feeds, model.init_net).create(model.net, keep=keep) for keep in (["loss"], None)]
    interleaved(4, *(p.run for p in programs))
    found = ratio(2 * rounds, *(p.run for p in programs), clock=process_time)
    yield Figure("LeNet's step: keep=['loss'] / everything", found)


def gradients_of_data(rounds: int) -> Iterator[Figure]:
    """A step with the gradients that its parameters need / with that of the data too."""
    models, batches = [nets.mlp(step=True), nets.mlp(step=True, data_gradient=True)], [nets.rows(32)] * 50
    sides = [cycle(nets.workspace({}, model.init_net), model.net.definition, batches) for model in models]
    interleaved(2, *sides)
    yield Figure("MLP's step: Model.add_gradients / wrt data too", ratio(rounds, *sides, clock=process_time))


# ---------------------------------------------------------------------- the steady state


def steady(rounds: int) -> Iterator[Figure]:
    """What dispatch.py and step.py measure, in short."""
    bare, run, _ = dispatch.measure(10_000, 2 * rounds)
    yield Figure("dispatch.py: 10,000 Adds, beyond numpy.add", (run - bare) * 1e9, "ns an operator", 150)
    hand, ours = step.compare(*step.prepare("float32", 32), 2 * rounds, 5, process_time)
    yield Figure("step.py: the demo's step / by hand, one thread", ours / hand, "", 1.1)


SECTIONS: dict[str, tuple[Measure, ...]] = {
    "threads": (default_threads,),  # first: it is about what nothing has limited yet
    "plans": (behind_readers,),
    "first-runs": (new_operators,),
    "sizes": (sizes.sizes_in_turn, sizes.sizes_never_seen, sizes.memory_of_sizes),
    "planning": (sizes.planning,),
    "nested": (loops, child_frames, child_workspaces),
    "effects": (parallel_branches, nothing_in_parallel, reader_before_writer),
    "dead-work": (kept, gradients_of_data),
    "sparse": (sizes.tables,),
    "memory": (sizes.weights_let_go,),
    "steady": (steady,),
}

if __name__ == "__main__":
    raise SystemExit(main())
