"""Workspaces with a parent, frames of nested nets, loops, functions by token."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from netdsl.errors import BlobError, NetError
from netdsl.runtime import Workspace, plan
from netdsl.runtime.cells import Frame
from tests.runtime.loops import array
from tests.runtime.operators import net, op


@pytest.fixture
def planned(monkeypatch) -> list[Any]:
    """The nets of which segments are planned, one entry a plan."""
    gc.collect()  # executables of tests before, which all workspaces share as long as they live
    found: list[Any] = []

    def make(planner: Any) -> Any:
        found.append(planner.executable.net)
        return original(planner)

    original = plan.Planner.make
    monkeypatch.setattr(plan.Planner, "make", make)
    return found


def family() -> tuple[Workspace, Workspace]:
    parent = Workspace()
    parent.feed("w", array(1, 2))
    return parent, Workspace(parent=parent)


# a workspace with a parent


def test_a_child_reads_through():
    parent, child = family()
    assert "w" in child
    assert child.fetch("w").tolist() == [1, 2]
    assert child.find("w") is parent.cell("w")
    for _ in range(3):
        child.run(net("y = RtAdd(w, w)"))
        assert child.fetch("y").tolist() == [2, 4]
    assert child.blobs == ("y",)
    assert child.types().keys() == {"y"}
    assert parent.blobs == ("w",)
    assert "y" not in parent


def test_a_child_writes_where_the_blob_is():
    parent, child = family()
    for value in (2, 4, 8):
        child.run(net("w = RtAdd(w, w)"))
        assert parent.fetch("w").tolist() == [value, 2 * value]
    child.feed("w", array(5, 6, 7))
    assert parent.fetch("w").tolist() == [5, 6, 7]
    assert child.blobs == ()
    child.remove("w")
    assert "w" not in parent


def test_names_of_its_own_stay_its_own():
    parent, one = family()
    two = Workspace(parent=parent)
    step = net("h = RtAdd(x, w)", "y = RtSquarePlus(h)")
    for run in range(3):
        for number, ws in enumerate((one, two)):
            ws.feed("x", array(number, run))
            ws.run(step)
        assert [ws.fetch("y").tolist() for ws in (one, two)] == [[1, (run + 2) ** 2], [4, (run + 2) ** 2]]
    assert one.blobs == two.blobs == ("h", "x", "y")
    assert parent.blobs == ("w",)
    assert not np.shares_memory(one.cell("y").value, two.cell("y").value)
    one.reset()
    assert parent.fetch("w").tolist() == [1, 2]
    assert two.blobs == ("h", "x", "y")


def test_a_blob_that_the_parent_gets_later_does_not_replace_the_childs():
    parent, child = family()
    child.feed("mine", array(1))
    parent.feed("mine", array(2))
    assert child.fetch("mine") == 1
    assert parent.fetch("mine") == 2


def test_a_child_sees_that_its_parent_fed_anew():
    parent, child = family()
    step = net("y = RtAdd(w, w)")
    for values in ([1.0], [1.0, 2.0, 3.0], [4.0]):
        for _ in range(2):
            parent.feed("w", np.float32(values))
            child.run(step)
            assert child.fetch("y").tolist() == [2 * v for v in values]


def test_children_share_plans_with_their_parent(planned):
    parent, child = family()
    step = net("y = RtAdd(w, w)")
    programs = [ws.create(step) for ws in (parent, child, Workspace(parent=child))]
    for program in programs:
        program.run(2)
    assert len({id(program.plan) for program in programs}) == 1
    assert len(planned) == 1


def test_a_childs_backend_and_memory_are_its_parents():
    parent, child = family()
    assert child.target is parent.target
    assert child.clock.budget is parent.clock.budget
    with pytest.raises(NetError, match="has the backends of its parent"):
        Workspace("strict", parent=parent)
    with pytest.raises(NetError, match="shares its parent's memory"):
        Workspace(parent=parent, max_bytes=1000)


def test_what_a_child_lacks_is_told_with_what_is_near():
    _, child = family()
    child.feed("data", 1)
    with pytest.raises(BlobError, match="did you mean : data"):
        child.fetch("dta")
    with pytest.raises(BlobError, match="blob 'v' does not exist"):
        child.run(net("y = RtAdd(w, v)"))


# functions by token


def test_functions_are_found_by_token_in_parents_too():
    parent, child = family()
    parent.functions["ask"] = lambda ctx, x: x + 1
    ask = net("y = RtAsk(w)")
    for ws in (parent, child):
        ws.run(ask)
        assert ws.fetch("y").tolist() == [2, 3]
    child.functions["ask"] = lambda ctx, x: x + 10
    child.run(ask)
    assert child.fetch("y").tolist() == [11, 12]
    parent.run(ask)
    assert parent.fetch("y").tolist() == [2, 3]
    assert child.function("other") is None


# frames


def test_bound_names_are_the_parents_blobs_without_copies():
    ws, seen = Workspace(), []
    ws.feed("a", array(1, 2))
    ws.feed("b", array(0, 0))

    def look(when: str, ctx: Any, frame: Any) -> None:
        assert ctx.take("x", frame) is ctx.take("a") is ws.cell("a").value
        assert frame.find("y") is ws.cell("b")
        seen.append(when)

    ws.functions["look"] = look
    inside = net("t = RtAdd(x, x)", "y = RtSquarePlus(t)", name="inside")
    step = net(op("b = RtInside(a)", net=inside, inner=["x", "y"], outer=["a", "b"], local=["t"], look="look"))
    buffer = ws.cell("b").value
    for _ in range(3):
        ws.run(step)
        assert ws.fetch("b").tolist() == [4, 16]
    assert ws.cell("b").value is buffer
    assert ws.blobs == ("a", "b")
    assert seen == ["before", "after"] * 3


def test_local_names_hide_those_around():
    ws = Workspace()
    for name in ("a", "b", "t"):
        ws.feed(name, array(3))

    def look(when: str, ctx: Any, frame: Any) -> None:
        assert ctx.has("t")
        assert ctx.has("t", frame) is (when == "after" or ran > 0)
        assert ctx.has("a", frame)
        assert not ctx.has("nowhere", frame)
        if when == "before" and not ran:
            with pytest.raises(BlobError, match="blob 't' does not exist"):
                ctx.take("t", frame)

    ws.functions["look"] = look
    inside = net("t = RtAdd(a, a)", "y = RtAdd(t, t)", name="inside")
    step = net(op("b = RtInside(a)", net=inside, inner=["y"], outer=["b"], local=["t"], look="look"))
    for ran in range(3):
        if ran == 0:
            program = ws.create(step)
        program.run()
        assert ws.fetch("b") == 12
        assert ws.fetch("t") == 3


def test_an_inner_blob_grows_through_its_binding():
    ws = Workspace()
    ws.feed("one", array(1))
    inside = net("y = RtJoin(y, one)", name="inside")
    step = net(op("b = RtInside(b, one)", net=inside, inner=["y"], outer=["b"]), "s = RtSum(b)")
    ws.feed("b", array(0))
    for count in range(1, 6):
        ws.run(step)
        assert ws.fetch("b").shape == (count + 1,)
        assert ws.fetch("s") == count


def test_put_gives_an_array_away():
    """Where a blob of that type is there already, it is copied to it, so that what was bound stays bound."""
    ws, given = Workspace(), []
    ws.feed("a", array(1, 2))

    def look(when: str, ctx: Any, frame: Any) -> None:
        if when == "before":
            given.append(ctx.take("a") * 10)
            ctx.put("x", given[-1], frame)
            assert ctx.take("x", frame) is (given[-1] if len(given) in (1, 4) else given[0])

    ws.functions["look"] = look
    inside = net("y = RtAdd(x, x)", name="inside")
    step = ws.create(net(op("b = RtInside(a)", net=inside, inner=["y"], outer=["b"], local=["x"], look="look")))
    roots = []
    for value in (1, 2, 3):
        ws.feed("a", array(value, value))
        step.run()
        assert ws.fetch("b").tolist() == [20 * value] * 2
        (program,) = step.site.memories[0]["frame"].programs.values()
        roots.append(program._root)
    assert roots[1] is roots[2] is not None
    ws.feed("a", array(4))
    step.run()
    assert ws.fetch("b") == 80


def test_what_was_put_is_what_later_operators_read():
    ws, given = Workspace(), []
    ws.feed("x", array(1))

    def ask(ctx: Any, x: Any) -> None:
        given.append(np.full(len(given) % 3 + 1, 7 + len(given), np.float32))
        ctx.put("y", given[-1])

    ws.functions["ask"] = ask
    for run in range(6):
        ws.run(net("y = RtAsk(x)", "z = RtAdd(y, y)"))
        assert ws.fetch("z").tolist() == [14 + 2 * run] * (run % 3 + 1)
        assert ws.cell("y").value is given[-1]


# step nets

STEP = net("h = RtAdd(x, h_prev)", "h = RtAdd(h, w)", name="step")


def steps_net(**args: Any) -> Any:
    return net(op("S = RtSteps(X, start, w)", step_net=STEP, **args), "T = RtAdd(S, S)")


def rnn(rows: int) -> Workspace:
    ws = Workspace()
    ws.feed("X", np.arange(rows * 2, dtype=np.float32).reshape(rows, 2))
    ws.feed("start", array(0, 0))
    ws.feed("w", array(1, -1))
    return ws


def expected(ws: Workspace) -> list[float]:
    return np.cumsum(ws.fetch("X") + ws.fetch("w"), axis=0).sum(axis=0).tolist()


def test_a_step_net_in_fifty_frames_is_planned_once(planned):
    ws = rnn(50)
    program = ws.create(steps_net())
    program.run()
    program.run()
    assert ws.fetch("S").tolist() == expected(ws)
    assert planned.count(STEP) == 1
    (memory,) = program.site.memories.values()
    programs = [made for frame in memory["frames"] for made in frame.programs.values()]
    assert len(programs) == 50
    assert len({id(p.executable) for p in programs}) == 1
    assert len({id(p.plan) for p in programs}) == 1
    program.run(3)
    assert planned.count(STEP) == 1
    assert ws.fetch("S").tolist() == expected(ws)


def test_frames_are_kept_from_run_to_run():
    ws = rnn(4)
    program = ws.create(steps_net())
    program.run()
    (memory,) = program.site.memories.values()
    frames = list(memory["frames"])
    ws.feed("X", np.ones((6, 2), np.float32))
    program.run()
    assert ws.fetch("S").tolist() == expected(ws)
    assert memory["frames"][:4] == frames
    assert len(memory["frames"]) == 6
    ws.feed("X", np.ones((2, 2), np.float32))
    program.run()
    assert ws.fetch("S").tolist() == expected(ws)


def test_frames_may_be_made_anew_in_every_run(planned):
    ws = rnn(5)
    for _ in range(4):
        ws.run(steps_net(fresh=True))
        assert ws.fetch("S").tolist() == expected(ws)
    assert planned.count(STEP) <= 2  # the executable lives as long as somebody holds it


def test_what_a_step_has_for_itself_does_not_leak():
    ws = rnn(3)
    ws.feed("h", array(5))
    for _ in range(3):
        ws.run(steps_net())
    assert ws.fetch("h") == 5
    assert ws.blobs == ("S", "T", "X", "h", "start", "w")


def test_what_is_around_a_step_may_be_fed_anew():
    ws = rnn(3)
    program = ws.create(steps_net())
    for value in (1, 2, 3):
        ws.feed("w", array(value, value))
        program.run(2)
        assert ws.fetch("S").tolist() == expected(ws)
    ws.remove("w")
    ws.feed("w", array(9, 9))
    program.run()
    assert ws.fetch("S").tolist() == expected(ws)
    assert ws.fetch("T").tolist() == [2 * v for v in expected(ws)]


# loops


def test_a_loop_counts():
    ws = Workspace()
    body = net("n = RtAdd(n, minus)", "x = RtAdd(x, x)", name="body")
    loop = net(op("n, x = RtWhile(n, x, minus)", body=body), "y = RtAdd(x, x)")
    ws.feed("minus", array(-1))
    for times in (3, 0, 5, 1):
        ws.feed("n", array(times))
        ws.feed("x", array(1, 2))
        ws.run(loop)
        assert ws.fetch("n") == 0
        assert ws.fetch("x").tolist() == [2**times, 2 * 2**times]
        assert ws.fetch("y").tolist() == [2 * 2**times, 4 * 2**times]


def test_a_blob_may_grow_in_every_iteration():
    ws = Workspace()
    body = net("x = RtJoin(x, one)", "s = RtSum(x)", name="body")
    loop = net(op("x, s = RtRepeat(x, one)", body=body, times=20), "y = RtAdd(x, x)")
    ws.feed("one", array(1))
    for _ in range(3):
        ws.feed("x", array(1))
        ws.run(loop)
        assert ws.fetch("x").tolist() == [1] * 21
        assert ws.fetch("s") == 21
        assert ws.fetch("y").tolist() == [2] * 21


def test_what_stands_behind_a_loop_sees_what_it_wrote_by_name():
    ws = Workspace()
    body = net("hidden = RtAdd(x, x)", name="body")
    loop = net("hidden = RtSquarePlus(x)", op(" = RtRepeat()", body=body, times=2), "y = RtAdd(hidden, x)")
    for value in (3, 4, 5):
        ws.feed("x", array(value))
        ws.run(loop)
        assert ws.fetch("y") == 3 * value


def test_loops_nest():
    ws = Workspace()
    inner = net("x = RtAdd(x, one)", name="inner")
    outer = net(op("x = RtRepeat(x, one)", body=inner, times=3), "y = RtAdd(y, x)", name="outer")
    loop = net(op("x, y = RtRepeat(x, y, one)", body=outer, times=4))
    ws.feed("one", array(1))
    for _ in range(3):
        ws.feed("x", array(0))
        ws.feed("y", array(0))
        ws.run(loop)
        assert ws.fetch("x") == 12
        assert ws.fetch("y") == 3 + 6 + 9 + 12


def test_a_body_is_planned_and_bound_once(planned):
    ws = Workspace()
    body = net("x = RtAdd(x, one)", "x = RtSquarePlus(x)", "s = RtSum(x)", name="body")
    loop = ws.create(net(op("x, s = RtRepeat(x, one)", body=body, times=50)))
    ws.feed("one", array(0))
    ws.feed("x", array(1))
    loop.run(3)
    assert ws.fetch("x") == 1
    assert planned.count(body) == 1
    (inside,) = loop.site.programs.values()
    root = inside._root
    loop.run(2)
    assert inside._root is root
    assert len(planned) == 2


def test_a_frame_that_is_kept_stays_bound(planned):
    ws = Workspace()
    ws.feed("a", array(1, 2))
    inside = net("t = RtAdd(x, x)", "s = RtSum(t)", "y = RtSquarePlus(t)", name="inside")
    step = ws.create(net(op("b = RtInside(a)", net=inside, inner=["x", "y"], outer=["a", "b"], local=["t", "s"])))
    step.run(3)
    (memory,) = step.site.memories.values()
    (program,) = memory["frame"].programs.values()
    root, plans = program._root, len(planned)
    assert root is not None
    ws.feed("a", array(3, 4))
    step.run(3)
    assert program._root is root
    assert len(planned) == plans == 2
    assert ws.fetch("b").tolist() == [36, 64]


# errors


def test_an_error_in_a_nested_net_names_both_operators_and_leaves_what_was_written():
    ws = Workspace()
    body = net("a = RtAdd(x, x)", "b = RtFail(a)", "c = RtAdd(a, a)", name="body")
    loop = net("y = RtAdd(x, x)", op("a, b, c = RtRepeat(x)", body=body, times=2), "z = RtAdd(y, y)", name="outer")
    ws.feed("z", array(7))
    for value in (1, 2, 3):
        ws.feed("x", array(value))
        with pytest.raises(ZeroDivisionError) as caught:
            ws.run(loop)
        inside, outside = caught.value.__notes__
        assert "while running b = RtFail(a)     (operator 1 of net 'body')" in inside
        assert "a : float32[1]" in inside
        assert "RtRepeat(x" in outside
        assert "(operator 1 of net 'outer')" in outside
        assert ws.blobs == ("a", "x", "y", "z")
        assert ws.fetch("a") == ws.fetch("y") == 2 * value
        assert ws.fetch("z") == 7


def test_an_error_in_a_frame_names_both_operators():
    ws = Workspace()
    inside = net("t = RtAdd(x, x)", "y = RtFail(t)", name="inside")
    step = net(op("b = RtInside(a)", net=inside, inner=["x"], outer=["a"], local=["t", "y"]), name="outer")
    ws.feed("a", array(1))
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as caught:
            ws.run(step)
        assert "y = RtFail(t)     (operator 1 of net 'inside')" in caught.value.__notes__[0]
        assert "(operator 0 of net 'outer')" in caught.value.__notes__[1]
        assert ws.blobs == ("a",)


def test_a_blob_that_a_nested_net_lacks_is_told():
    ws = Workspace()
    ws.feed("x", array(1))
    step = net("y = RtAdd(x, x)", op(" = RtRepeat()", body=net("q = RtAdd(y, lost)", name="body"), times=1))
    for _ in range(3):
        with pytest.raises(BlobError, match="blob 'lost' does not exist"):
            ws.run(step)
    ws.feed("lost", array(2))
    ws.run(step)
    assert ws.fetch("q") == 4


def test_what_was_only_looked_for_hides_nothing_that_the_parent_gets():
    parent = Workspace()
    child = Workspace(parent=parent)
    child.feed("x", np.float32([1, 2]))
    program = child.create(net("y = RtAdd(x, w)"))
    with pytest.raises(BlobError):
        program.run()
    parent.feed("w", np.float32([3, 4]))
    for _ in range(3):
        program.run()
        assert child.fetch("y").tolist() == [4, 6]
    assert child.fetch("w").tolist() == [3, 4]
    parent.remove("w")
    with pytest.raises(BlobError):
        program.run()


def test_frames_that_are_dropped_count_no_more_at_once():

    ws = Workspace()
    ws.feed("x", np.zeros(1000, np.float32))
    before = ws.clock.budget.used
    site = ws.create(net("y = RtAdd(x, x)")).site
    gc.disable()
    try:
        for _ in range(3):
            frame = Frame(ws, ws.clock, {}, ["y"])
            site.program(net("y = RtAdd(x, x)"), frame).run()
            assert ws.clock.budget.used == before + 4000
            del frame
            assert ws.clock.budget.used == before
    finally:
        gc.enable()
