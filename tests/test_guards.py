"""Counted guards of speed, which hold on any machine: what a step dispatches and allocates, what building calls."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.analysis import infer
from netdsl.cli.digits.model import build
from netdsl.runtime import Program, Workspace

BATCH = 32


def calls(function: Callable[[], Any]) -> int:
    """How many functions ``function`` calls, in Python and in C (ufuncs and scans of a list are none)."""
    count = 0

    def watch(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what other tests left behind would be counted as it ends
    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
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
