"""Memory: what a workspace may have, what it counts, scratch memory, what is let go of."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from netdsl.errors import OutOfMemoryError
from netdsl.ir import Packed
from netdsl.runtime import Workspace, fusion
from netdsl.runtime.cells import PATIENCE
from netdsl.runtime.memory import ALIGNMENT, Arena, Budget
from tests.runtime.loops import array
from tests.runtime.operators import net, op


def floats(count: int, value: float = 1.0) -> np.ndarray:
    return np.full(count, value, np.float32)


def rest(ws: Workspace) -> int:
    """What is counted once garbage is collected."""
    gc.collect()
    return ws.clock.budget.used


# max_bytes


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_blob_for_which_there_is_no_room_is_told_and_changes_nothing(before):
    ws = Workspace(max_bytes=30_000)
    step = net("y = RtTranspose(x)", "s = RtSum(y)", "z = RtAdd(y, y)", name="train")
    ws.feed("x", floats(100))
    ws.run(net("z = RtAdd(x, x)"))
    for _ in range(before):
        ws.run(step)
    ws.feed("x", floats(3000))
    kept = {name: ws.fetch(name).tolist() for name in ws.blobs}
    for _ in range(4):  # interpreted, and planned
        with pytest.raises(OutOfMemoryError) as caught:
            ws.run(step)
        told = f"{caught.value}\n" + "\n".join(caught.value.__notes__ if hasattr(caught.value, "__notes__") else [])
        assert "'z'" in told or "'y'" in told
        assert "12,000 bytes" in told
        assert "of 30,000 bytes" in told
        assert "RtAdd(y, y)" in told or "RtTranspose(x)" in told
        assert ws.fetch("z").tolist() == kept["z"]
        assert ws.fetch("x").tolist() == kept["x"]
    ws.feed("x", floats(50, 3))
    ws.run(step)
    assert ws.fetch("z").tolist() == [6] * 50
    assert ws.fetch("s") == 150


def test_what_does_not_fit_is_told_by_name_before_it_is_computed():
    ws = Workspace(max_bytes=10_000)
    ws.feed("x", floats(10))
    huge = net(op("w = ConstantFill()", shape=[1000, 1000]), name="init")
    for _ in range(3):
        with pytest.raises(OutOfMemoryError) as caught:
            ws.run(huge)
        told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert "'w'" in told
        assert "4,000,000 bytes" in told
        assert "w = ConstantFill()" in told
        assert isinstance(caught.value, MemoryError)
        assert ws.blobs == ("x",)


def test_what_is_fed_must_fit():
    ws = Workspace(max_bytes=1000)
    ws.feed("x", floats(100))
    with pytest.raises(OutOfMemoryError, match="blob 'y' does not fit"):
        ws.feed("y", floats(200))
    with pytest.raises(OutOfMemoryError, match="blob 'x' does not fit"):
        ws.feed("x", floats(251))
    assert ws.blobs == ("x",)
    assert ws.fetch("x").tolist() == [1] * 100
    ws.feed("x", floats(250, 2))
    assert ws.fetch("x").tolist() == [2] * 250
    assert ws.clock.budget.left == 0


def test_room_to_grow_is_not_insisted_on():
    ws = Workspace(max_bytes=9000)
    ws.feed("x", floats(1000))
    ws.feed("x", floats(2000, 2))
    assert ws.fetch("x").tolist() == [2] * 2000
    ws.feed("x", floats(2250, 3))
    assert ws.clock.budget.left == 0


def test_a_run_that_fails_for_want_of_room_does_so_again_and_not_earlier():
    ws = Workspace(max_bytes=24_000)
    ws.feed("x", floats(1000))
    step, other = net("y = RtTranspose(x)", "z = RtTranspose(y)"), net("v = RtTranspose(x)")
    ws.run(step)
    before = rest(ws)
    ws.feed("x", floats(2000))
    for _ in range(4):
        with pytest.raises(OutOfMemoryError):
            ws.run(step)
    ws.remove("y")
    ws.remove("z")
    ws.feed("x", floats(1000))
    ws.run(other)
    ws.run(step)
    assert rest(ws) <= before + 2 * 4000 + 4000  # x and v, and room that is left over from 2000 elements


# what is counted


def test_used_memory_is_what_blobs_have():
    ws = Workspace()
    used = lambda: rest(ws)  # noqa: E731
    empty = used()
    ws.feed("x", floats(1000))
    assert used() == empty + 4000
    ws.feed("x", floats(1000, 5))
    assert used() == empty + 4000
    ws.feed("y", floats(10))
    assert used() == empty + 4040
    ws.remove("x")
    assert used() == empty + 40
    ws.feed("y", "text")
    ws.feed("y", floats(20))
    assert used() == empty + 80
    ws.reset()
    assert used() == empty


def test_used_memory_counts_a_buffer_once():
    ws = Workspace()
    ws.feed("x", floats(1000))
    before = rest(ws)
    alias = net("y = RtAlias(x)", "z = RtAdd(y, y)")
    for _ in range(4):
        ws.run(alias)
    assert rest(ws) - before <= 4000 + ws.pool.arenas[0].nbytes
    ws.reset()
    assert rest(ws) == ws.pool.arenas[0].nbytes


def test_sizes_in_turn_are_counted_once():
    ws = Workspace()
    step = net("y = RtTranspose(x)", "s = RtSum(y)")
    for size in (1000, 500, 800) * 4:
        ws.feed("x", floats(size))
        ws.run(step)
    assert rest(ws) == 2 * 4000 + 4 + ws.pool.arenas[0].nbytes


def test_child_frames_give_back_what_they_had():
    ws = Workspace()
    ws.feed("a", floats(1000))
    inside = net("t = RtTranspose(x)", "y = RtTranspose(t)", name="inside")
    step = net(op("b = RtInside(a)", net=inside, inner=["x", "y"], outer=["a", "b"], local=["t"]))
    program = ws.create(step)
    program.run(3)
    with_frame = rest(ws)
    assert with_frame >= 3 * 4000
    ws._programs.clear()
    ws._latest.clear()
    del program
    assert rest(ws) == with_frame - 4000
    assert ws.fetch("b").tolist() == [1] * 1000


def test_child_workspaces_give_back_what_they_had():
    ws = Workspace()
    ws.feed("w", floats(1000))
    before = rest(ws)
    child = Workspace(parent=ws)
    for _ in range(3):
        child.run(net("y = RtTranspose(w)"))
    assert rest(ws) == before + 4000
    del child
    assert rest(ws) == before


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_programs_give_back_what_keep_leaves_unstored(runs):
    ws = Workspace()
    ws.feed("v0", floats(1000))
    before = rest(ws)
    chain = net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(8)), name="chain")
    for _ in range(runs):
        ws.run(chain, keep=["v8"])
    assert rest(ws) <= before + 3 * 4000 + ws.pool.arenas[0].nbytes
    ws._programs.clear()
    ws._latest.clear()
    assert rest(ws) == before + 4000 + ws.pool.arenas[0].nbytes


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_programs_give_back_what_lies_between_segments(runs):
    ws = Workspace()
    ws.feed("x", floats(1000))
    before = rest(ws)
    step = net("a = RtTranspose(x)", "p = RtPositive(a)", "q = RtTranspose(p)", "r = RtPositive(q)", "s = RtSum(r)")
    for _ in range(runs):
        ws.run(step, keep=["s"])
    ws._programs.clear()
    ws._latest.clear()
    assert rest(ws) == before + 4 + ws.pool.arenas[0].nbytes


def test_a_failed_run_with_keep_gives_back_what_it_had():
    ws = Workspace()
    ws.feed("x", floats(1000))
    before = rest(ws)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            ws.run(net("a = RtTranspose(x)", "b = RtFail(a)", "s = RtSum(b)"), keep=["s"])
    ws._programs.clear()
    ws._latest.clear()
    assert rest(ws) == before + ws.pool.arenas[0].nbytes


# scratch memory


def test_an_arena_gives_aligned_arrays_that_do_not_overlap():
    arena = Arena(Budget(1 << 30))
    shapes = [(3,), (), (5, 7), (0, 4), (1000,), (17,), (1 << 13,), (1,)]
    for _ in range(3):
        arena.begin()
        made = [arena(shape, dtype) for shape in shapes for dtype in (np.float32, np.float64, np.bool_)]
        for at, one in enumerate(made):
            one[...] = at % 2
        assert [a.shape for a in made] == [shape for shape in shapes for _ in range(3)]
        assert all(a.ctypes.data % ALIGNMENT == 0 and a.flags.c_contiguous for a in made if a.size)
        assert not any(np.shares_memory(a, b) for i, a in enumerate(made) for b in made[:i])


def test_an_arena_gives_the_next_unit_the_same_memory():
    arena = Arena(Budget(1 << 30))
    first = arena.begin()((100,), np.float32)
    before = arena.nbytes
    for _ in range(50):
        assert np.shares_memory(arena.begin()((100,), np.float32), first)
    assert arena.nbytes == before


def test_an_arenas_chunks_stay_where_they_are():
    arena, made = Arena(Budget(1 << 30)), []
    for size in (10, 5000, 100_000, 200_000):
        made.append(arena.begin()((size,), np.float32))
        made[-1][...] = size
        assert arena.nbytes < 4 * 4 * size + (1 << 14)
    assert arena.begin()((10,), np.float32).ctypes.data == made[0].ctypes.data


def test_scratch_memory_counts():
    budget = Budget(10_000)
    arena = Arena(budget)
    arena.begin()((100,), np.float32)
    assert budget.used == arena.nbytes > 0
    with pytest.raises(OutOfMemoryError, match="scratch memory does not fit"):
        arena((4000,), np.float32)
    assert budget.used == arena.nbytes
    left = budget.left // ALIGNMENT * ALIGNMENT
    arena((left // 4,), np.float32)  # all that is left can be had
    assert budget.used == arena.nbytes


def test_scratch_memory_that_cannot_be_had_is_not_counted():
    budget = Budget(1 << 30)

    def nothing(size: int) -> Any:
        raise MemoryError

    with pytest.raises(MemoryError):
        Arena(budget, nothing)((100,), np.float32)
    assert budget.used == 0


def conv() -> Any:
    return net(op("y = Conv(x, w, b)", kernel=3, pad=1), "r = Relu(y)", "s = RtSquarePlus(r)", "t = RtSum(s)")


def fed(size: int) -> Workspace:
    ws = Workspace()
    ws.feed("w", np.ones((4, 3, 3, 3), np.float32))
    ws.feed("b", floats(4))
    resize(ws, size)
    return ws


def resize(ws: Workspace, size: int) -> None:
    ws.feed("x", np.random.default_rng(size).random((size, 3, 8, 8), np.float32))


def test_twenty_batch_sizes_have_the_scratch_memory_of_the_largest():
    largest = fed(20)
    program = largest.create(conv())
    program.run(3)
    alone = largest.pool.arenas[0].nbytes
    assert alone > 0
    ws = fed(1)
    program = ws.create(conv())
    for _ in range(3):
        for size in range(20, 0, -1):
            resize(ws, size)
            program.run()
    assert len(program._bindings) == 20
    assert len(ws.pool.arenas) == 1
    assert ws.pool.arenas[0].nbytes == alone
    ws = fed(1)
    for _ in range(3):
        for size in range(1, 21):
            resize(ws, size)
            ws.run(conv())
    assert ws.pool.arenas[0].nbytes < 3 * alone  # grown in steps


def test_programs_of_one_workspace_share_scratch_memory():
    ws = fed(8)
    first = ws.create(conv())
    first.run(2)
    alone = ws.pool.arenas[0].nbytes
    want = ws.fetch("t")
    others = [ws.create(net(*conv().ops, name=f"other {n}")) for n in range(5)]
    for _ in range(3):
        for program in (first, *others):
            program.run()
            assert ws.fetch("t") == want
    assert {id(p.site.arena) for p in (first, *others)} == {id(ws.pool.arenas[0])}
    assert ws.pool.arenas[0].nbytes == alone


# first runs


def test_a_first_run_with_keep_frees_what_is_not_read_again(way):
    size, count = 50_000, 30
    ws = Workspace()
    ws.feed("v0", floats(size))
    chain = net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(count)))
    tracemalloc.start()
    try:
        ws.run(chain, keep=[f"v{count}"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * 4 * size
    assert ws.fetch(f"v{count}").tolist() == [1] * size


def test_a_first_run_with_keep_fits_where_its_blobs_together_do_not():
    ws = Workspace(max_bytes=100_000)
    ws.feed("v0", floats(5000))
    chain = net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(30)))
    for _ in range(3):
        ws.run(chain, keep=["v30"])
        assert ws.fetch("v30").tolist() == [1] * 5000


# what is let go of

MANY = 2_000_000


def traced(action: Any) -> int:
    """Bytes that are left of what ``action`` had, beyond what it leaves the first time."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        action()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def filled(runs: int, count: int, **keep: Any) -> None:
    values = Packed("f", np.arange(count, dtype="<f4").tobytes())
    init = net(op("w = GivenTensorFill()", shape=[count], values=values), "y = RtSquarePlus(w)", "s = RtSum(y)")
    ws = Workspace()
    for _ in range(runs):
        ws.run(init, **keep)
    assert ws.fetch("s") > 0


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("keep", [None, ["s"]])
def test_a_long_argument_goes_with_its_net(runs, keep):
    filled(runs, 10, keep=keep)  # what is loaded and remembered on first use
    assert traced(lambda: filled(runs, MANY, keep=keep)) < 1 << 20


def test_arrays_go_with_their_workspace():
    def use() -> None:
        ws = fed(64)
        for _ in range(3):
            ws.run(conv())
            ws.run(net("q = RtAdd(x, x)", "q = RtSquarePlus(q)"), keep=["q"])

    use()
    assert traced(use) < 1 << 18


def test_an_error_lets_go_of_what_failed():
    def use() -> None:
        ws = Workspace()
        ws.feed("x", floats(MANY // 4))
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                ws.run(net("y = RtAdd(x, x)", "z = RtFail(y)", "y = RtAdd(z, z)"))

    use()
    assert traced(use) < 1 << 18


def arrays_in(found: Any, depth: int = 8, seen: set[int] | None = None) -> list[int]:
    """The sizes of arrays that hang on an object."""
    seen = set() if seen is None else seen
    if depth == 0 or id(found) in seen or isinstance(found, type | type(gc)):
        return []
    seen.add(id(found))
    sizes = [found.nbytes] if isinstance(found, np.ndarray) else []
    for one in gc.get_referents(found):
        sizes += arrays_in(one, depth - 1, seen)
    return sizes


def test_what_is_known_of_groups_in_the_whole_process_holds_no_arrays_of_blobs():
    ws = Workspace()
    ws.feed("x", floats(70_000))
    for _ in range(3):
        ws.run(net("y = RtAdd(x, x)", "z = RtSquarePlus(y)", "s = RtSum(z)"))
    for table in (fusion._groups, fusion._formulas, fusion._offers):
        assert table._found
        large = [size for size in arrays_in(table._found) if size > 70_000]
        assert not large


def test_a_blob_gives_up_a_buffer_that_was_far_too_large_for_long():
    ws = Workspace()
    ws.feed("x", floats(1_000_000))
    assert rest(ws) == 4_000_000
    ws.feed("x", floats(100_000))
    assert rest(ws) == 4_000_000  # the large size may return
    for at in range(PATIENCE):
        ws.feed("x", floats(100_000 - at % 2))
    assert rest(ws) <= 400_000
    for at in range(PATIENCE + 1):
        ws.feed("x", floats(100 - at % 2))
    assert rest(ws) <= 4 * (1 << 14)
    for at in range(PATIENCE + 1):
        ws.feed("x", floats(1 + at % 2))
    assert ws.cell("x").base.size >= 99  # a small one stays


def test_budget_refuses_before_anything_is_changed():
    budget = Budget(100)
    budget.take(60, "this")
    with pytest.raises(OutOfMemoryError) as caught:
        budget.take(50, "that")
    assert "that does not fit into memory" in str(caught.value)
    assert "wanted : 50 bytes" in str(caught.value)
    assert "left   : 40 of 100 bytes" in str(caught.value)
    assert budget.used == 60
    budget.take(90, "this, in the place of what it had", before=60)
    assert (budget.used, budget.left) == (90, 10)


def test_a_result_that_a_blob_was_given_counts():
    ws = Workspace()
    ws.feed("x", array(1))
    ws.functions["ask"] = lambda ctx, x: ctx.put("y", floats(1000))
    before = rest(ws)
    for _ in range(4):
        ws.run(net("y = RtAsk(x)"))
    assert rest(ws) == before + 4000
    ws.remove("y")
    assert rest(ws) == before


def test_growing_sizes_leave_no_private_buffers_behind():
    def held(sizes: list[int]) -> int:
        ws = Workspace()
        step = net(*(f"v{i + 1} = RtTranspose(v{i})" for i in range(4)), "s = RtSum(v4)")
        program = ws.create(step, keep=["s"])
        ws.feed("v0", floats(max(sizes)))
        gc.collect()
        tracemalloc.start()
        try:
            for size in sizes:
                ws.feed("v0", floats(size))
                program.run(2)
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    sizes = [20_000 * n for n in range(1, 21)]
    assert held(sizes) < 4 * held(sizes[-1:])
