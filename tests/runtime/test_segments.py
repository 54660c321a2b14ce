"""Segments, interpreted first runs, frames, units, dead outputs."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.cli.digits.model import build
from netdsl.ir import NetDef
from netdsl.runtime import Workspace
from netdsl.runtime.cells import Frame
from netdsl.runtime.executable import compile
from netdsl.runtime.plan import Fused, Late
from tests.runtime.operators import net


def plans(program):
    """The plans of the segments that the last run went through."""
    binding, found = program._root, []
    while binding is not None:
        found.append(binding.plan)
        binding = binding.next and binding.next[1]
    return found


def test_what_stands_behind_an_unknown_shape_is_planned():
    ws = Workspace()
    ws.feed("x", np.float32([1, -1, 2]))
    program = ws.create(net("p = RtPositive(x)", "q = RtAdd(p, p)", "r = RtSquarePlus(q)", "s = RtSum(r)"))
    program.run(4)
    first, second = plans(program)
    assert [type(u) for u in first.units] == [Late]
    assert [len(u.steps) for u in second.units] == [2, 1]
    assert isinstance(second.units[0], Fused)
    assert ws.fetch("s") == 20


@pytest.mark.parametrize("precision", ["float32", "half"])
def test_interpreted_and_planned_steps_give_the_same_bits(precision):
    def state(hooks):
        model, ws = build(precision), Workspace(seed=1)
        ws.run(model.init_net)
        rng = np.random.default_rng(1)
        ws.feed("data", rng.random((32, 1, 8, 8), np.float32))
        ws.feed("label", rng.integers(0, 10, 32).astype(np.int32))
        for _ in range(4):
            ws.run(model.net, hooks=hooks)
        return {n: ws.fetch(n) for n in ws.blobs if n != "iteration_mutex"}

    class Watch:
        def before(self, op, index, net): ...

    planned, interpreted = state([]), state([Watch()])
    assert planned.keys() == interpreted.keys()
    for name, value in planned.items():
        assert value.tobytes() == interpreted[name].tobytes(), name


def test_units_are_watched_as_they_run():
    seen = []

    class Watch:
        units = True

        def before_unit(self, ops, index, net):
            seen.append((index, len(ops)))

        def after_unit(self, ops, index, net): ...

    ws = Workspace()
    ws.feed("x", np.float32([1, -1, 2]))
    ws.run(net("y = RtAdd(x, x)", "z = RtSquarePlus(y)", "p = RtPositive(z)", "s = RtSum(p)"), hooks=[Watch()])
    assert seen == [(0, 2), (2, 1), (3, 1)]


def test_frames_share_plans_and_keep_what_is_local():
    ws = Workspace()
    ws.feed("w", np.float32([2]))
    step = net("h = RtAdd(x, w)", "y = RtSquarePlus(h)")
    frames = []
    for value in (1, 2):
        ws.feed(f"x{value}", np.float32([value]))
        frames.append(Frame(ws, ws.clock, {"x": ws.cell(f"x{value}")}, ["h", "y"]))
    programs = [ws.program(step, frame, ws.pool.arenas[0]) for frame in frames]
    for _ in range(3):
        for program in programs:
            program.run()
    assert [frame.cell("y").value.tolist() for frame in frames] == [[9], [16]]
    assert ws.blobs == ("w", "x1", "x2")
    one, two = programs
    assert one.executable is two.executable
    assert one.plan is two.plan


def test_what_nobody_kept_depends_on_is_not_computed():
    kept = compile(net("y = RtAdd(x, x)", "z = RtFail(y)", "w = RtSum(y)"), Workspace().target, frozenset(["w"]))
    assert [step.op.type for step in kept.steps] == ["RtAdd", "RtSum"]


def test_a_segment_with_keep_hands_its_blobs_on():
    ws = Workspace()
    ws.feed("x", np.float32([1, -1, 2]))
    chain = net(
        "a = RtAdd(x, x)",
        "p = RtPositive(a)",
        "q = RtAdd(p, p)",
        "r = RtPositive(q)",
        "b = RtSum(a)",
        "s = RtAdd(r, q)",
    )
    for _ in range(3):
        ws.run(chain, keep=["s", "b"])
    assert ws.blobs == ("b", "s", "x")
    assert ws.fetch("s").tolist() == [8, 16]
    assert ws.fetch("b") == 4


def test_a_failing_segment_gives_back_what_later_blobs_held():
    ws = Workspace()
    ws.feed("x", np.float32([1, 2]))
    ws.feed("z", np.float32([[5]]))
    failing = net("p = RtPositive(x)", "y = RtFail(p)", "z = RtAdd(p, p)")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            ws.run(failing)
    assert ws.fetch("z").tolist() == [[5]]
    assert ws.blobs == ("p", "x", "z")


def test_alternating_sizes_use_the_same_bindings():
    ws = Workspace()
    program = ws.create(net("y = RtAdd(x, x)", "s = RtSum(y)"))
    for _ in range(3):
        for size in (2, 3, 5):
            ws.feed("x", np.ones(size, np.float32))
            program.run()
            assert ws.fetch("s") == 2 * size
            assert ws.fetch("y").shape == (size,)
    assert len(program._bindings) == 3
    before = list(program._bindings.values())
    for size in (5, 2, 3):
        ws.feed("x", np.ones(size, np.float32))
        program.run()
    assert list(program._bindings.values()) == before


def test_growing_sizes_leave_no_buffers_behind():
    ws = Workspace()
    program = ws.create(net("y = RtAdd(x, x)"))
    for size in (10, 30000, 100000):
        for _ in range(2):
            ws.feed("x", np.ones(size, np.float32))
            program.run()
    assert len(program._bindings) == 1


def test_an_empty_net_runs_and_an_executable_needs_no_workspace():
    ws = Workspace()
    for _ in range(3):
        ws.run(NetDef("empty"))
    assert compile(NetDef("empty"), ws.target).steps == []
