"""Running nets: buffers, binding, dynamic shapes, aliases, keep, random numbers."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

from netdsl.errors import BlobError, InferenceError, NetError
from netdsl.ir import Device, NetDef, OperatorDef, TensorType
from netdsl.runtime import Workspace
from tests.runtime.operators import net, op


def workspace(**blobs) -> Workspace:
    ws = Workspace()
    for name, value in blobs.items():
        ws.feed(name, np.asarray(value, np.float32))
    return ws


def test_every_blob_can_be_fetched_and_keeps_its_buffer():
    ws = workspace(a=[1, 2], b=[3, 4])
    train = net("c = RtAdd(a, b)", "d = RtSquarePlus(c)", "s = RtSum(d)")
    ws.run(train)
    before = {name: ws.cell(name).value for name in ws.blobs}
    assert ws.fetch("c").tolist() == [4, 6]
    assert ws.fetch("s") == 52
    ws.feed("a", np.float32([0, 0]))
    ws.run(train, times=2)
    assert ws.fetch("d").tolist() == [9, 16]
    assert all(ws.cell(name).value is array for name, array in before.items())


def test_in_place_equals_out_of_place():
    ws = workspace(x=[1, 2], y=[1, 2])
    ws.run(net("x = RtSquarePlus(x)", "x = RtAdd(x, x)"), times=2)
    ws.run(net("y1 = RtSquarePlus(y)", "y2 = RtAdd(y1, y1)", "y3 = RtSquarePlus(y2)", "y4 = RtAdd(y3, y3)"))
    assert ws.fetch("x").tolist() == ws.fetch("y4").tolist() == [8, 128]


def test_views_and_swaps_in_place():
    ws = workspace(x=[[1, 2], [3, 4]], a=[1], b=[2])
    ws.run(net("x = RtTranspose(x)", "a, b = RtSwap(a, b)"))
    assert ws.fetch("x").tolist() == [[1, 3], [2, 4]]
    assert (ws.fetch("a").tolist(), ws.fetch("b").tolist()) == ([2], [1])


def test_a_view_is_stored_apart_from_what_it_views():
    ws = workspace(x=[[1, 2, 3]])
    ws.run(net("y = RtTranspose(x)", "x = RtAdd(x, x)"))
    assert ws.fetch("y").tolist() == [[1], [2], [3]]
    assert ws.cell("y").value.flags.c_contiguous


def test_a_shape_may_depend_on_data():
    ws = workspace(x=[1, -1, 2])
    step = net("p = RtPositive(x)", "q = RtAdd(p, p)", "s = RtSum(q)", "t = RtAdd(s, s)")
    ws.run(step)
    assert ws.fetch("q").tolist() == [2, 4]
    ws.feed("x", np.float32([5, 5, 5]))
    ws.run(step)
    assert ws.fetch("q").tolist() == [10, 10, 10]
    assert ws.fetch("t") == 60
    ws.feed("x", np.float32([-5, 5, -5]))
    ws.run(step)
    assert ws.fetch("p").tolist() == [5]


def test_a_blob_may_grow_from_run_to_run():
    ws = workspace(x=[[1, 2, 3]])
    grow = net("x = RtTranspose(x)")
    ws.run(grow, times=3)
    assert ws.fetch("x").tolist() == [[1], [2], [3]]


def test_types_that_clash_in_a_dynamic_step_are_told():
    ws = workspace(x=[1, -1, 2])
    ws.feed("lock", 1)
    with pytest.raises(InferenceError, match="lock"):
        ws.run(net("p = RtPositive(x)", "p = RtCount(lock, p)"))


def test_another_batch_size_plans_again_and_the_plan_is_kept():
    ws = workspace(a=[1, 2], b=[1, 1])
    program = ws.create(net("c = RtAdd(a, b)"))
    program.run()
    two = program.plan
    ws.feed("a", np.float32([1, 2, 3]))
    ws.feed("b", np.float32([1, 1, 1]))
    program.run()
    assert ws.fetch("c").tolist() == [2, 3, 4]
    assert program.plan is not two
    ws.feed("a", np.float32([5, 5]))
    ws.feed("b", np.float32([1, 1]))
    program.run()
    assert ws.fetch("c").tolist() == [6, 6]
    assert program.plan is two


def test_two_programs_may_write_one_blob_with_different_shapes():
    ws = workspace(a=[1, 2], b=[[3]])
    first, second = ws.create(net("c = RtAdd(a, a)")), ws.create(net("c = RtAdd(b, b)"))
    for _ in range(2):
        first.run()
        assert ws.fetch("c").tolist() == [2, 4]
        second.run()
        assert ws.fetch("c").tolist() == [[6]]


def test_a_program_binds_again_only_when_its_own_blobs_got_other_arrays():
    ws = workspace(a=[1], b=[2], other=[3])
    program = ws.create(net("c = RtAdd(a, b)"))
    program.run()
    ws.feed("other", np.zeros((4, 4)))
    ws.feed("a", np.float32([7]))
    ws.fetch("c")
    ws.remove("a")
    assert program.stale
    with pytest.raises(BlobError):
        program.run()
    ws.feed("a", np.float32([5]))
    program.run()
    assert ws.fetch("c").tolist() == [7]


def test_workspaces_let_go_of_programs():
    ws = workspace(a=[1], b=[2])
    program = ws.create(net("c = RtAdd(a, b)"))
    program.run(2)
    gone = weakref.ref(program), weakref.ref(program.executable)
    ws._programs.clear()
    ws._latest.clear()
    del program
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_a_net_that_ran_once_is_not_held():
    ws, init = workspace(), net(op("w = ConstantFill()", shape=[3]))
    ws.run(init)
    gone = weakref.ref(init)
    del init
    gc.collect()
    assert gone() is None


def test_an_alias_shares_memory():
    ws = workspace(x=[1, 2])
    ws.run(net("y = RtAlias(x)", "x = RtAdd(x, x)", "z = RtAdd(y, y)"))
    assert ws.fetch("y").tolist() == [2, 4]
    assert ws.fetch("z").tolist() == [4, 8]
    ws.run(net("y = RtAdd(y, y)"))
    assert ws.fetch("x").tolist() == [4, 8]


def test_an_alias_of_what_was_read_before_changes_where_it_stands():
    ws = workspace(x=[1, 2], y=[10, 10])
    ws.run(net("a = RtAdd(y, y)", "y = RtAlias(x)", "b = RtAdd(y, y)"))
    assert ws.fetch("a").tolist() == [20, 20]
    assert ws.fetch("b").tolist() == [2, 4]
    ws.run(net("x = RtAdd(x, x)"))
    assert ws.fetch("y").tolist() == [2, 4]


def test_an_alias_of_a_dynamic_blob():
    ws = workspace(x=[1, -2])
    ws.run(net("p = RtPositive(x)", "q = RtAlias(p)", "p = RtAdd(p, p)"), times=2)
    assert ws.fetch("q").tolist() == [2]


def test_outputs_that_a_body_leaves_out_stay_unwritten():
    ws = workspace(x=[1])
    ws.run(net("y, m = RtMaybe(x)"))
    assert ws.blobs == ("x", "y")
    ws.run(net(op("y, m = RtMaybe(x)", both=1)))
    assert ws.fetch("m").tolist() == [2]
    ws.run(net("y, m = RtMaybe(x)"))
    assert ws.fetch("m").tolist() == [2]


def test_opaque_blobs():
    ws = workspace()
    ws.feed("n", np.int64(0))
    ws.run(net("lock = RtMakeLock()"))
    ws.run(net("n = RtCount(lock, n)"), times=3)
    assert ws.fetch("n") == 3
    assert str(ws.types()["lock"]) == "<lock>"
    assert ws.fetch("lock") is ws.fetch("lock")


# keep=


def test_keep_elides_and_shares():
    ws = workspace(x=[1, 2, 3])
    chain = net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(8)), name="chain")
    ws.feed("v0", np.arange(6.0).reshape(2, 3))
    program = ws.create(chain, keep=["v8"])
    program.run()
    assert ws.fetch("v8").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert len(set(program.plan.private.values())) == 2
    with pytest.raises(BlobError) as caught:
        ws.fetch("v3")
    assert "blob 'v3' was not stored" in str(caught.value)
    assert "keep=[..., 'v3']" in str(caught.value)
    assert ws.blobs == ("v0", "v8", "x")


def test_keep_equals_plain_and_state_is_always_stored():
    step = net(
        "t = RtSquarePlus(x)",
        "u = RtAdd(t, w)",
        "v = RtSquarePlus(u)",
        "s = RtSum(v)",
        "w = RtAdd(w, u)",
        "z = RtAdd(u, v)",
    )
    plain, kept = workspace(x=[1, 2], w=[0.5, 1]), workspace(x=[1, 2], w=[0.5, 1])
    plain.run(step, times=3)
    kept.run(step, times=3, keep=["s"])
    assert kept.fetch("s") == plain.fetch("s")
    assert kept.fetch("w").tolist() == plain.fetch("w").tolist()
    assert kept.blobs == ("s", "w", "x")


def test_a_stale_value_of_an_elided_blob_cannot_be_fetched():
    ws = workspace(x=[1, 2])
    both = net("y = RtAdd(x, x)", "z = RtAdd(y, y)")
    ws.run(both)
    ws.run(both, keep=["z"])
    with pytest.raises(BlobError, match="was not stored"):
        ws.fetch("y")
    with pytest.raises(BlobError, match="does not store it; name it in keep="):
        ws.run(net("w = RtAdd(y, z)"))
    ws.run(both)
    assert ws.fetch("y").tolist() == [2, 4]


def test_keep_of_what_the_net_does_not_have():
    with pytest.raises(NetError, match="did you mean : score"):
        workspace().create(net("score = RtAdd(a, b)"), keep=["scores"])


# random numbers


def test_runs_draw_anew_and_seeds_repeat():
    def draws(seed: int, runs: int) -> list[list[float]]:
        ws = Workspace(seed=seed)
        ws.feed("s", np.zeros(4, np.float32))
        found = []
        for _ in range(runs):
            ws.run(net("x = RtNoise(s)", "y = RtNoise(s)"))
            found += [ws.fetch("x").tolist(), ws.fetch("y").tolist()]
        return found

    first = draws(0, 2)
    assert len({tuple(d) for d in first}) == 4
    assert draws(0, 2) == first
    assert draws(1, 1)[0] != first[0]


def test_draws_depend_on_neither_order_nor_other_nets():
    one, two = Workspace(seed=3), Workspace(seed=3)
    for ws in (one, two):
        ws.feed("s", np.zeros(4, np.float32))
    one.run(net("x = RtNoise(s)", "y = RtNoise(s)"))
    two.run(net("z = RtNoise(s)", name="other"))
    two.run(net("y = RtNoise(s)", "x = RtNoise(s)"))
    assert one.fetch("x").tolist() == two.fetch("x").tolist()
    assert one.fetch("y").tolist() == two.fetch("y").tolist()


def test_a_run_of_many_is_many_runs():
    one, two = Workspace(), Workspace()
    for ws in (one, two):
        ws.feed("x", np.zeros(4, np.float32))
    one.run(net("x = RtNoise(x)"), times=2)
    two.run(net("x = RtNoise(x)"))
    two.run(net("x = RtNoise(x)"))
    assert one.fetch("x").tolist() == two.fetch("x").tolist()


def test_an_operator_may_have_a_seed_of_its_own():
    found = []
    for seed in (1, 2):
        ws = Workspace(seed=seed)
        ws.feed("s", np.zeros(4, np.float32))
        ws.run(net(OperatorDef("RtNoise", ("s",), ("x",), device=Device(random_seed=5)), "y = RtNoise(s)"))
        found.append((ws.fetch("x").tolist(), ws.fetch("y").tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


# declared types


def test_declared_inputs_are_checked():
    ws = workspace(a=[1, 2], b=[1, 2, 3])
    ops = [OperatorDef("RtAdd", ("a", "a"), ("c",)), OperatorDef("RtAdd", ("b", "b"), ("d",))]
    batch = {"a": TensorType(None, ("N",)), "b": TensorType(None, ("N",))}
    with pytest.raises(InferenceError, match="disagree on the extent 'N'"):
        ws.run(NetDef("n", ops, types=batch))
    with pytest.raises(InferenceError, match="blob 'a' is not what net 'n' declares"):
        ws.run(NetDef("n", ops, types={"a": TensorType(None, (3,))}))
    assert ws.blobs == ("a", "b")


def test_declared_extents_made_of_names_are_checked_where_the_names_are_known():
    ws = workspace(a=[1, 2], b=[1, 2, 3])
    ops = [OperatorDef("RtAdd", ("a", "a"), ("c",)), OperatorDef("RtAdd", ("b", "b"), ("d",))]

    def run(a: str, b: str) -> None:
        ws.run(NetDef("n", ops, types={"a": TensorType(None, (a,)), "b": TensorType(None, (b,))}))

    with pytest.raises(InferenceError, match="blob 'b' is not what net 'n' declares") as caught:
        run("N", "2*N")
    assert "expected : 4 for 2*N, as N is 2" in str(caught.value)
    with pytest.raises(InferenceError, match="blob 'a' is not what net 'n' declares"):
        run("N+1", "N")
    with pytest.raises(InferenceError, match=r"disagree on the extent '2\*N'"):
        run("2*N", "2*N")
    run("N", "N+1")
    run("N", "N+M")
    run("N//2", "3*M")


# the steady state


def test_a_steady_step_dispatches_groups_and_allocates_no_array():
    size = 100_000
    ws = Workspace()
    for name in ("x", "w", "m", "g"):
        ws.feed(name, np.full(size, 0.5, np.float32))
    ws.feed("lr", np.float32([0.1]))
    step = net(
        "t = RtAdd(x, w)",
        "u = RtSquarePlus(t)",
        "r = Relu(u)",
        "d = ReluGradient(r, u)",
        "g = RtAdd(d, t)",
        op("g, m, w = MomentumSGDUpdate(g, m, lr, w)", momentum=0.9, nesterov=1),
        "s = RtSum(w)",
    )
    program = ws.create(step)
    assert [len(unit.steps) for unit in program.plan.units] == [6, 1]
    program.run(2)
    calls = program.calls
    tracemalloc.start()
    try:
        program.run(5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8192  # bytes: no array, of 400,000 bytes each, nor any block of one
    assert program.calls == calls


def test_tiny_operators_are_bare_calls():
    ws = workspace(v0=[1], one=[1])
    program = ws.create(net(*(f"v{i + 1} = RtAdd(v{i}, one)" for i in range(1000))))
    program.run()
    assert ws.fetch("v1000") == 1001
    assert program.calls == 1000
    assert [function for function, _ in program._root.calls] == [np.add] * 1000


def test_what_a_body_left_out_cannot_be_read_but_may_be_written_later():
    ws = workspace(x=[1])
    with pytest.raises(BlobError, match="RtMaybe has not written it"):
        ws.run(net("y, m = RtMaybe(x)", "z = RtAdd(m, m)"))
    assert ws.blobs == ("x",)
    with pytest.raises(BlobError, match="RtMaybe has not written it"):
        ws.run(net("y, m = RtMaybe(x)", "z = RtAdd(m, m)"), keep=["z"])
    ws.run(net("y, m = RtMaybe(x)", "m = RtAdd(y, y)"))
    assert ws.fetch("m").tolist() == [2]


def test_what_a_body_left_out_stays_out_in_every_segment_and_after_a_failure():
    ws = workspace(x=[1, -1])
    for _ in range(4):
        ws.run(net("y, m = RtMaybe(x)", "p = RtPositive(x)", "q = RtAdd(p, p)"))
        assert ws.blobs == ("p", "q", "x", "y")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            ws.run(net("y, m = RtMaybe(x)", "f = RtFail(x)"))
    ws.run(net("m = RtAdd(x, x)"), times=3)
    assert ws.fetch("m").tolist() == [2, -2]
