"""Counted guards of speed, which hold on any machine: what a step dispatches and allocates, what building calls."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

import netdsl as nd
from netdsl.analysis import infer
from netdsl.cli.digits.model import build
from netdsl.runtime import Program, Workspace, fusion, groups
from netdsl.runtime.backends.numpy import NumpyBackend
from netdsl.runtime.binding import Binding
from netdsl.runtime.plan import Planner
from tests.runtime import operators as operators

BATCH = 32


def calls(function: Callable[[], Any]) -> int:
    """How many functions ``function`` calls, in Python and in C (ufuncs and scans of a list are none)."""
    count = 0

    def watch(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


# a steady step of the demo's model


def steady(precision: str) -> Program:
    model, ws = build(precision), Workspace(seed=1)
    ws.run(model.init_net)
    ws.feed("data", np.full((BATCH, 1, 8, 8), 0.5, np.float32))
    ws.feed("label", np.arange(BATCH, dtype=np.int32) % 10)
    program = ws.create(model.net)
    program.run(3)
    return program


@pytest.mark.parametrize(
    ("precision", "operators", "steps", "bound"), [("float32", 30, 30, 182), ("half", 49, 34, 520)]
)
def test_a_steady_step_dispatches_few_things(precision, operators, steps, bound):
    program = steady(precision)
    assert len(program.net.ops) == operators
    assert len(program.plan.units) <= steps
    assert program.calls <= bound
    before = program._root
    program.run()
    assert program._root is before  # nothing was bound again


@pytest.mark.parametrize(("precision", "most"), [("float32", 250), ("half", 360)])
def test_a_steady_step_runs_little_python(precision, most):
    program = steady(precision)
    assert calls(program.run) <= most


@pytest.mark.parametrize("precision", ["float32", "half"])
def test_a_steady_step_allocates_no_result_of_a_layer(precision):
    program = steady(precision)
    layer = program.frame.root.fetch("conv2").nbytes
    tracemalloc.start()
    try:
        program.run(2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < layer


# sizes in turn, and what stands behind an unknown type


class Work:
    """Counts plans, bindings and buffers that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plans = self.bindings = self.buffers = 0
        for cls, method, count in (
            (Planner, "make", "plans"),
            (Binding, "__init__", "bindings"),
            (NumpyBackend, "empty", "buffers"),
        ):
            monkeypatch.setattr(cls, method, self._counting(getattr(cls, method), count))

    def _counting(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            setattr(self, name, getattr(self, name) + 1)
            return original(*args, **kwargs)

        return counted

    def during(self, action: Callable[[], Any]) -> tuple[int, int, int]:
        """How many plans, bindings and buffers ``action`` makes."""
        before = self.plans, self.bindings, self.buffers
        action()
        return self.plans - before[0], self.bindings - before[1], self.buffers - before[2]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    gc.collect()  # executables of other tests, with their plans
    return Work(monkeypatch)


def digits(ws: Workspace, size: int) -> None:
    ws.feed("data", np.full((size, 1, 8, 8), 0.5, np.float32))
    ws.feed("label", np.arange(size, dtype=np.int32) % 10)


@pytest.mark.parametrize("keep", [None, ["loss"]])
def test_sizes_in_turn_are_planned_and_bound_once_each(work, keep):
    model, ws = build("float32"), Workspace(seed=1)
    ws.run(model.init_net)
    found = []
    for size in (8, 4, 6) * 8:
        digits(ws, size)
        found.append(work.during(lambda: ws.run(model.net, keep=keep)))
    assert found[0][:2] == (0, 0)  # what runs once is not planned
    assert [plans for plans, _, _ in found].count(1) == sum(plans for plans, _, _ in found) == 3
    assert 3 <= sum(bindings for _, bindings, _ in found) <= (3 if keep is None else 6)  # buffers that grow: twice
    assert found[12:] == [(0, 0, 0)] * 12


def test_twenty_sizes_in_turn_make_no_array(work):
    model, ws = build("float32"), Workspace(seed=1)
    ws.run(model.init_net)
    for size in [*range(20, 0, -1)] * 3:
        digits(ws, size)
        ws.run(model.net)
    assert (work.plans, work.bindings) == (20, 20)
    layer = ws.fetch("conv2").nbytes * 20
    for size in range(1, 21):
        digits(ws, size)
        tracemalloc.start()
        try:
            assert work.during(lambda: ws.run(model.net)) == (0, 0, 0)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < layer


def test_a_size_that_is_seen_once_is_not_planned(work):
    model, ws = build("float32"), Workspace(seed=1)
    ws.run(model.init_net)
    step = attrs.evolve(model.net.definition, name="planned nowhere else")
    for size in (8, 8, 8):
        digits(ws, size)
        ws.run(step)
    assert work.plans == 1
    for size in range(9, 20):
        digits(ws, size)
        assert work.during(lambda: ws.run(step))[:2] == (0, 0)


def test_far_sizes_in_turn_bind_nothing(work):
    model, ws = build("float32"), Workspace(seed=1)
    ws.run(model.init_net)
    for size in (32, 4) * 4:
        digits(ws, size)
        ws.run(model.net)
    for size in (32, 4) * 4:
        digits(ws, size)
        assert work.during(lambda: ws.run(model.net)) == (0, 0, 0)


def behind_a_reader() -> tuple[Workspace, nd.NetDef]:
    """A training step behind an operator of which nobody knows what comes out: the rows of ``data`` that are marked."""
    step = nd.NetDef(
        "behind",
        [
            nd.OperatorDef("RtPositive", ("data",), ("x",)),
            nd.OperatorDef("Mul", ("x", "w"), ("h",)),
            nd.OperatorDef("Relu", ("h",), ("r",)),
            nd.OperatorDef("Tanh", ("r",), ("t",)),
            nd.OperatorDef("RtSum", ("t",), ("loss",)),
            nd.OperatorDef("RtTranspose", ("t",), ("y",)),
        ],
    )
    ws = Workspace()
    ws.feed("w", np.float32(0.5))
    return ws, step


def marked(ws: Workspace, size: int) -> None:
    """Data of one type, of which so many elements are positive."""
    ws.feed("data", np.where(np.arange(64) < size, 1, -1).astype(np.float32))


def test_what_stands_behind_an_unknown_type_is_planned_and_bound_once_a_type(work):
    ws, step = behind_a_reader()
    found = []
    for size in (8, 4, 6) * 8:
        marked(ws, size)
        found.append(work.during(lambda: ws.run(step)))
    assert ws.fetch("y").shape == (6,)
    assert sum(plans for plans, _, _ in found) == 1 + 3  # of the reader, and behind it
    assert sum(bindings for _, bindings, _ in found) == 1 + 3
    assert found[9:] == [(0, 0, 0)] * 15
    first, second = (binding.plan for binding in _bindings(ws.create(step)))
    assert [type(unit).__name__ for unit in first.units] == ["Late"]
    assert [(type(unit).__name__, len(unit.steps)) for unit in second.units] == [
        ("Fused", 3),
        ("Single", 1),
        ("Single", 1),
    ]


def _bindings(program: Program) -> list[Binding]:
    found, binding = [], program._root
    while binding is not None:
        found.append(binding)
        binding = binding.next and binding.next[1]
    return found


def test_a_steady_step_behind_a_reader_runs_little_python(work):
    ws, step = behind_a_reader()
    marked(ws, 8)
    program = ws.create(step)
    program.run(4)
    assert work.during(lambda: program.run(3)) == (0, 0, 0)
    assert calls(program.run) <= 80


def test_feeding_what_has_the_same_type_binds_nothing(work):
    model, ws = build("float32"), Workspace(seed=1)
    ws.run(model.init_net)
    digits(ws, 8)
    program = ws.create(model.net)
    program.run(2)
    for _ in range(5):
        assert work.during(lambda: (digits(ws, 8), program.run())) == (0, 0, 0)


def test_nets_of_the_same_operators_trace_their_groups_once(monkeypatch):
    traced: list[Any] = []

    def finish(group: Any, stores: Any) -> None:
        traced.append(group)
        original(group, stores)

    original = groups.Group.finish
    monkeypatch.setattr(groups.Group, "finish", finish)
    fusion._groups._found.clear()
    for number in range(5):
        ws = Workspace()
        step = nd.NetDef(
            f"n{number}",
            [
                nd.OperatorDef("Relu", (f"x{number}",), (f"r{number}",)),
                nd.OperatorDef("Tanh", (f"r{number}",), (f"t{number}",)),
            ],
        )
        for size in (3000, 2500):
            ws.feed(f"x{number}", np.ones(size, np.float32))
            ws.create(step).run(2)
    assert len(traced) == 1


# building, in numbers of operators and calls


def chain(blocks: int) -> nd.Net:
    net = nd.Net("chain")
    x = net.input("x", ("N", 8))
    for i in range(blocks):
        w, b = net.input(f"fc{i}_w", (8, 8)), net.input(f"fc{i}_b", (8,))
        y = net.Relu(net.FC([x, w, b], f"fc{i}"), f"relu{i}")
        x = net.Add([x, y], f"sum{i}")
    net.AveragedLoss(x, "loss")
    return net


def differentiated(blocks: int) -> nd.Net:
    net = chain(blocks)
    net.add_gradients("loss")
    return net


def test_building_records_what_was_appended():
    assert len(chain(10).definition.ops) == 3 * 10 + 1
    backward = 1 + 1 + 4 * 10  # the seed, AveragedLoss, and three gradients and a Sum a block
    assert len(differentiated(10).definition.ops) == 3 * 10 + 1 + backward


def test_every_operator_is_inferred_once(monkeypatch):
    inferred: list[Any] = []

    def counted(bound: Any, op: Any, types: Any, where: Any = None) -> Any:
        inferred.append(op)
        return original(bound, op, types, where)

    original = infer.infer_bound
    monkeypatch.setattr(infer, "infer_bound", counted)
    net = differentiated(10)
    assert inferred == list(net.definition.ops)


def test_a_net_is_recorded_once_between_changes():
    net = differentiated(5)
    assert net.definition is net.definition
    assert calls(lambda: net.definition) <= 3


STAGES: dict[str, Callable[[int], Callable[[], Any]]] = {
    "build": lambda n: lambda: chain(n),
    "differentiate": lambda n: (lambda net: lambda: net.add_gradients("loss"))(chain(n)),
    "dump": lambda n: differentiated(n).dump,
    "parse": lambda n: (lambda text: lambda: nd.parse(text))(differentiated(n).dump()),
}
"""Each stage for a number of blocks: what is done before, then what is counted."""

MOST = {"build": 145, "differentiate": 250, "dump": 18, "parse": 78}
"""Calls an operator: forward ones when building and differentiating, lines when dumping and parsing."""


@pytest.mark.parametrize("stage", STAGES)
def test_twice_the_operators_take_twice_the_calls(stage):
    STAGES[stage](10)()  # what is loaded and cached on first use
    once, twice = calls(STAGES[stage](50)), calls(STAGES[stage](100))
    assert once * 1.9 < twice < once * 2.02
    operators = 300 if stage in ("build", "differentiate") else 700
    assert twice / operators <= MOST[stage]
