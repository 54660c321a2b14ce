"""The figures of ``runtime.py`` about what nets meet one after the other (sizes, plans) and what they hold (memory)."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import process_time

import attrs
import numpy as np
import runtime_nets as nets
from runtime_nets import Feeds, cycle
from timing import MICRO, Figure, interleaved, ratio, timed

import netdsl as nd
from netdsl.ir import NetDef, OperatorDef

MEGA = 1e6


def sizes_in_turn(rounds: int) -> Iterator[Figure]:
    """Batches of ever other sizes, all seen before / of one size."""
    model = nets.mlp()
    sides = {20: range(20, 40), 4: [20, 21, 22, 23] * 5, 1: [32] * 20}
    sides = {count: [nets.rows(size) for size in sizes] for count, sizes in sides.items()}
    loops = [cycle(nets.workspace({}, model.init_net), model.net.definition, batches) for batches in sides.values()]
    interleaved(4, *loops)
    best = dict(zip(sides, interleaved(2 * rounds, *loops, clock=process_time), strict=True))
    for count, bound in ((20, 1.3), (4, 1.1)):
        what = f"MLP of {len(model.net.definition.ops)} operators: {count} sizes in turn / one size"
        yield Figure(what, best[count] / best[1], "", bound)


def sizes_never_seen(rounds: int) -> Iterator[Figure]:
    """The first and the second run at a size, beyond a steady one."""
    images = [{"image": np.ones((1, 8, 16, 16 + k), np.float32)} for k in range(21)]
    for model, batches, bounds in (
        (nets.mlp(), [nets.rows(size) for size in range(19, 40)], (20, 30)),
        (nets.convolutions(), images, (30, 40)),
    ):
        count, name = len(model.net.definition.ops), model.name
        first, second, steady = sights(model, batches, rounds)
        for sight, seconds, bound in (("first", first, bounds[0]), ("second", second, bounds[1])):
            what = f"{name} of {count} operators: a size's {sight} sight, beyond steady"
            yield Figure(what, (seconds - steady) / count / MICRO, "us an operator", bound)
    first, _, steady = sights(nets.lenet(), [nets.digits(size) for size in (32, *range(28, 37))], max(3, rounds // 2))
    yield Figure("LeNet's step, batches near 32: first sight / steady", first / steady, "", 1.6)


def sights(model: nd.Model, batches: Sequence[Feeds], rounds: int) -> tuple[float, float, float]:
    """Return the seconds a batch, feeds included: new sizes, the same again, and each size again and again.

    The first of ``batches`` is there before, several times. Each round has a net that no workspace knows.
    """
    first = second = steady = float("inf")
    for number in range(rounds):
        net = attrs.evolve(model.net.definition, name=f"{model.name}{number}")
        ws = nets.workspace({}, model.init_net)
        cycle(ws, net, batches[:1] * 3)()
        all_new = cycle(ws, net, batches[1:])
        first = min(first, timed(all_new, clock=process_time))
        second = min(second, timed(all_new, clock=process_time))
        if number % 3 == 0:
            steady = min(steady, sum(steadily(ws, net, batch) for batch in batches[1:]))
    count = len(batches) - 1
    return first / count, second / count, steady / count


def steadily(ws: nd.Workspace, net: NetDef, batch: Feeds) -> float:
    """Return the seconds of a run on ``batch`` that is one of many."""
    once = cycle(ws, net, [batch])
    interleaved(3, once)
    return interleaved(4, once, clock=process_time)[0]


def memory_of_sizes(rounds: int) -> Iterator[Figure]:
    """What a workspace holds after twenty sizes / after the largest of them alone."""
    model = nets.lenet()
    batches = [nets.digits(size) for size in range(13, 33)]
    held_after(model, batches[:1])
    found = held_after(model, batches) / held_after(model, batches[-1:])
    yield Figure("LeNet's step: memory after 20 sizes / the largest alone", found, "", 1.3)


def held_after(model: nd.Model, batches: Sequence[Feeds]) -> float:
    """Return the megabytes in use after each of ``batches`` was run five times, in turn."""
    with traced() as megabytes:
        ws = nets.workspace({}, model.init_net)
        for _ in range(5):
            cycle(ws, model.net.definition, batches)()
        return megabytes()


@contextmanager
def traced() -> Iterator[Callable[[], float]]:
    """Yield a function that returns how many megabytes were allocated since, and are still in use."""
    gc.collect()
    tracemalloc.start()

    def megabytes() -> float:
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / MEGA

    try:
        yield megabytes
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------------- planning


def planning(rounds: int) -> Iterator[Figure]:
    """Planning and binding, however long the net; with convolutions."""
    for count, times in ((900, rounds), (60_000, max(2, rounds // 5))):
        net, feeds = nets.chain(count)
        yield Figure(f"plan and bind {count:,} of FC, Relu and Add", planned(net, feeds, times), "us an operator", 30)
    model = nets.convolutions()
    image = {"image": np.ones((1, 8, 16, 16), np.float32)}
    found = planned(model.net.definition, image, rounds, model.init_net)
    yield Figure("plan and bind 60 pairs of Conv and Relu", found, "us an operator", 40)


def planned(net: NetDef, feeds: Feeds, rounds: int, init: nd.Net | None = None) -> float:
    """Return the microseconds an operator to plan and bind a net that was never planned before."""
    best = float("inf")
    for number in range(rounds):
        program = nets.workspace(feeds, init).create(attrs.evolve(net, name=f"{net.name}{number}"))
        gc.collect()
        best = min(best, timed(partial(getattr, program, "calls"), clock=process_time))
    return best / len(net.ops) / MICRO


# ---------------------------------------------------------------------- sparse updates, weights


def tables(rounds: int) -> Iterator[Figure]:
    """An update of 1,000 rows in a large table / in a small one."""
    sides = [updating(count) for count in (1_000_000, 10_000)]
    interleaved(3, *sides)
    found = ratio(rounds, *sides, clock=process_time)
    yield Figure("SparseMomentumSGDUpdate: table of 1,000,000 rows / 10,000", found, "", 1.2)


def updating(count: int, times: int = 3) -> Callable[[], None]:
    """Return a function that updates 1,000 rows of 64 in a table of ``count`` rows, ``times`` times."""
    random = np.random.default_rng(1)
    feeds = {
        "rows": random.choice(count, 1000, replace=False),
        "grad": random.random((1000, 64), np.float32),
        "lr": np.full(1, 1e-3, np.float32),
        "table": np.ones((count, 64), np.float32),
        "momentum": np.ones((count, 64), np.float32),
    }
    op = OperatorDef(
        "SparseMomentumSGDUpdate",
        ["grad", "momentum", "lr", "table", "rows"],
        ["step", "momentum", "table"],
        {"momentum": 0.9},
    )
    program = nets.workspace(feeds).create(NetDef("update", [op]))
    return lambda: program.run(times)


def weights_let_go(rounds: int) -> Iterator[Figure]:
    """What stays of an init net of 20 million weights when it and its workspace are gone."""
    fill_and_forget(10)
    with traced() as megabytes:
        fill_and_forget(20_000_000)
        yield Figure("80 MB of GivenTensorFill, net and workspace gone: stays", megabytes(), "MB", 5)


def fill_and_forget(count: int) -> None:
    """Run a net that holds ``count`` weights."""
    net = nd.Net("init")
    net.GivenTensorFill([], "w", shape=[count], values=np.ones(count, np.float32))
    nets.workspace({}, net)
