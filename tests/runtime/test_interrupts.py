"""Ctrl-C at any point of a run: the next step is that of a workspace which never was interrupted there."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from netdsl import layers, optimizers
from netdsl.ir import NetDef, OperatorDef
from netdsl.model import Model
from netdsl.runtime import Workspace
from tests.runtime.interrupting import busy, interrupted, points
from tests.runtime.loops import array
from tests.runtime.operators import net, op

SEED = 3
BEFORE = {
    "first": [],
    "second": [4],
    "third": [4, 4],
    "steady": [4, 4, 4],
    "resized": [4, 4, 4, 7],
    "resized again": [4, 4, 4, 2, 4],
    "alternating": [4, 4, 7, 7],
    "known": [4, 4, 7, 7, 4, 4],
}
"""Batch sizes of the runs before the one that is interrupted."""

NOW = {"resized": 2, "resized again": 2, "alternating": 4, "known": 7}
"""Its own batch size, where that is not 4."""


@pytest.fixture(autouse=True)
def no_finalizers() -> Iterator[None]:
    """Nothing collects garbage on its own: what is raised in a finalizer is lost."""
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        gc.enable()
        gc.set_threshold(*before)


def model() -> Model:
    found = Model("m")
    x, label = found.input("x", ("N", 6)), found.input("label", ("N",), "int32")
    h = layers.relu(found, layers.fc(found, x, "fc1", 6, 5), "r")
    h = layers.dropout(found, h, "d", ratio=0.3)
    scores = layers.fc(found, h, "fc2", 5, 3)
    _, loss = found.net.SoftmaxWithLoss([scores, label], ["softmax", "loss"])
    found.add_gradients(loss)
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(found)
    return found


MODEL = model()


def test_the_model_is_what_is_to_be_interrupted():
    types = {one.type for one in MODEL.net.definition.ops}
    assert {"AtomicIter", "Dropout", "MomentumSGDUpdate"} <= types


def feed(ws: Workspace, size: int) -> None:
    ws.feed("x", np.random.default_rng(size).random((size, 6), np.float32))
    ws.feed("label", (np.arange(size) % 3).astype(np.int32))


def prepared(kind: str, number: int) -> tuple[Workspace, NetDef]:
    """A workspace after some runs, and its net, whose name is new: nothing is planned yet."""
    step = attrs.evolve(MODEL.net.definition, name=f"{kind} {number}")
    ws = Workspace(seed=SEED)
    ws.run(MODEL.init_net)
    feed(ws, 4)
    for size in BEFORE[kind]:
        feed(ws, size)
        ws.run(step)
    feed(ws, NOW.get(kind, 4))
    return ws, step


def tensors(ws: Workspace) -> dict[str, Any]:
    found = {name: ws.fetch(name) for name in ws.blobs}
    return {name: (v.dtype, v.shape, v.tobytes()) for name, v in found.items() if isinstance(v, np.ndarray)}


def copied(ws: Workspace, step: NetDef) -> Workspace:
    """A fresh workspace with the blobs of ``ws``."""
    made = Workspace(seed=SEED)
    for name in ws.blobs:
        value = ws.fetch(name)
        if isinstance(value, np.ndarray):
            made.feed(name, value)
        else:
            made.run(NetDef("mutex", [OperatorDef("CreateMutex", [], [name])]))
    made.set_runs(step, ws.runs(step))
    return made


def in_another_thread(action: Any) -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            action()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it waits for ever"
    for error in failed:
        raise error


def at_rest(ws: Workspace) -> list[str]:
    """What is not as it should be where nothing runs."""
    programs = list(ws._programs.values())
    found = ["pending blobs"] if any(p.site.ledger.pending or p.site.ledger.skipped for p in programs) else []
    found += ["a program in use"] if any(busy(p._turns) for p in programs) else []
    found += ["an arena in use"] if any(busy(arena.turns) for arena in ws.pool.arenas) else []
    found += ["no garbage collection"] if not gc.isenabled() else []
    gc.enable()
    return found


def check(kind: str, number: int, at: int) -> None:
    ws, step = prepared(kind, number)
    where = interrupted(lambda: ws.run(step), at)
    about = f"{kind}, interrupted at {at}: {where}"
    assert not at_rest(ws), about
    other = copied(ws, step)
    other.run(step)
    in_another_thread(lambda: ws.run(step))
    assert len(ws.pool.arenas) == 1, about
    assert ws.runs(step) == other.runs(step), about
    assert tensors(ws) == tensors(other), about


def check_many(kind: str, count: int) -> None:
    ws, step = prepared(kind, -1)
    most, rng = points(lambda: ws.run(step)), random.Random(kind)
    for number in range(count):
        check(kind, number, rng.randrange(1, most + 1))


@pytest.mark.parametrize("kind", BEFORE)
def test_the_step_after_an_interrupt_is_the_right_one(kind):
    check_many(kind, 40)


@pytest.mark.slow
@pytest.mark.parametrize("kind", BEFORE)
def test_the_step_after_any_of_many_interrupts_is_the_right_one(kind):
    check_many(kind, 1000)


@pytest.mark.parametrize("kind", ["steady", "known"])
def test_every_point_of_a_steady_step_may_be_interrupted(kind):
    ws, step = prepared(kind, -1)
    for number, at in enumerate(range(1, points(lambda: ws.run(step)) + 1)):
        check(kind, number, at)


def test_a_training_goes_on_through_many_interrupts():
    ws, step = prepared("steady", -1)
    rng, most = random.Random(1), points(lambda: ws.run(step))
    for number in range(150):
        feed(ws, rng.choice([2, 4, 7]))
        interrupted(lambda: ws.run(step), rng.randrange(1, 2 * most))
        other = copied(ws, step)
        ws.run(step)
        other.run(step)
        assert tensors(ws) == tensors(other), number
    assert ws.fetch("loss") < 2


# nested nets


def looping(number: int) -> tuple[Workspace, NetDef]:
    ws = Workspace(seed=SEED)
    for name, value in {"x": array(1, 2), "n": array(3), "minus": array(-1)}.items():
        ws.feed(name, value)
    body = net("n = RtAdd(n, minus)", "r = RtNoise(x)", "x = RtAdd(x, r)", name="body")
    inside = net("t = RtAdd(v, v)", "v = RtSquarePlus(t)", name="inside")
    outer = net(
        op("n, x = RtWhile(n, x, minus)", body=body),
        op("y = RtInside(x)", net=inside, inner=["v"], outer=["x"], local=["t"]),
        "p = RtPositive(x)",
        "s = RtSum(p)",
        name=f"loops {number}",
    )
    return ws, outer


@pytest.mark.parametrize("before", [0, 1, 3])
def test_loops_and_frames_may_be_interrupted(before):
    def made(number: int) -> tuple[Workspace, NetDef]:
        ws, outer = looping(number)
        for _ in range(before):
            ws.run(outer)
            ws.feed("n", array(3))
            ws.feed("x", array(0.1, 0.2))
        return ws, outer

    ws, outer = made(-1)
    most, rng = points(lambda: ws.run(outer)), random.Random(before)
    for number in range(60):
        ws, outer = made(number)
        at = rng.randrange(1, most + 1)
        where = interrupted(lambda ws=ws, outer=outer: ws.run(outer), at)
        about = f"interrupted at {at}: {where}"
        assert not at_rest(ws), about
        other = copied(ws, outer)
        for one in (ws, other):
            one.feed("n", array(2))
            one.run(outer)
        assert tensors(ws) == tensors(other), about


# what blobs hold after an interrupt


def test_a_blob_holds_what_it_held_or_what_was_written():
    """Of a chain, the first few blobs are new and all others old, wherever the interrupt came."""

    def chain(number: int) -> NetDef:
        return net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(8)), name=f"chain {number}")

    def made(number: int) -> tuple[Workspace, NetDef]:
        ws = Workspace()
        for value in (1, 1, 1):
            ws.feed("v0", np.full((2, 2), value, np.float32))
            ws.run(chain(number))
        ws.feed("v0", np.full((2, 2), 5, np.float32))
        return ws, chain(number)

    ws, step = made(-1)
    most = points(lambda: ws.run(step))
    for at in range(1, most + 1):
        ws, step = made(at)
        interrupted(lambda ws=ws, step=step: ws.run(step), at)
        values = [ws.fetch(f"v{i}")[0, 0].item() for i in range(9)]
        assert values == sorted(values, reverse=True), at
        assert set(values) <= {1, 5}
