"""What backends offer, and which offers are taken."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from netdsl.errors import NetError
from netdsl.ir import OperatorDef
from netdsl.runtime import Workspace
from netdsl.runtime.backends import Backend, Later, Offer, best, engine_of
from netdsl.runtime.backends.numpy import NumpyBackend
from netdsl.runtime.backends.strict import StrictBackend
from netdsl.runtime.plan import Fused, Piece, Single
from tests.runtime.loops import array
from tests.runtime.operators import RtSum, RtTranspose, net, op


class Grouping(NumpyBackend):
    """Offers groups: as NumPy does, counted."""

    name = "grouping"
    engines = frozenset(["GROUPING"])

    def __init__(self, cost: float = 0.3) -> None:
        super().__init__()
        self.cost = cost
        self.asked, self.bound = 0, 0
        self.seen: list[tuple[str, ...]] = []

    def group(self, group: Any) -> Offer | None:
        self.asked += 1
        self.seen.append(tuple(type(op).__name__ for op, _, _ in group.steps))
        numpys: Any = super().group(group)

        def make(buffers: Mapping[str, Any], shape: tuple[int, ...], scratch: Any) -> Any:
            self.bound += 1
            return numpys.make(buffers, shape, scratch)

        return Offer(make, self.cost)


class Kernels(NumpyBackend):
    """Offers to run RtSum, and no groups."""

    def __init__(self, cost: float, *engines: str, plus: float = 0.0) -> None:
        super().__init__()
        self.cost, self.plus = cost, np.float32(plus)
        self.engines = frozenset(engines)  # type: ignore[misc]
        self.ran = 0

    def kernel(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], *, inplace: bool) -> Offer | None:
        return Offer(self._make, self.cost) if isinstance(op, RtSum) else None

    def group(self, group: Any) -> Offer | None:
        return None

    def _make(self, inputs: Sequence[Any], outputs: Sequence[Any], scratch: Any) -> Any:
        return [(self._run, (inputs[0], outputs[0]))]

    def _run(self, x: Any, to: Any) -> None:
        self.ran += 1
        np.copyto(to, x.sum() + self.plus)


MLP = net(
    "h = FC(x, w, b)",
    "r = Relu(h)",
    "t = Tanh(r)",
    "y = FC(t, w, b)",
    "s = Sigmoid(y)",
    "q = RtSquarePlus(s, y)",
    "l = RtSum(q)",
)


def mlp(backend: Any) -> Workspace:
    ws, rng = Workspace(backend), np.random.default_rng(0)
    ws.feed("x", rng.random((5, 4), np.float32))
    ws.feed("w", rng.random((4, 4), np.float32) - 0.5)
    ws.feed("b", rng.random(4, np.float32) - 0.5)
    return ws


def same_bits(one: Workspace, other: Workspace) -> None:
    assert one.blobs == other.blobs
    for name in one.blobs:
        assert one.fetch(name).tobytes() == other.fetch(name).tobytes(), name


# groups


def test_a_backend_with_another_group_offer_runs_as_numpy_does():
    mine = Grouping()
    ws, numpys = mlp(mine), mlp("numpy")
    for _ in range(3):
        ws.run(MLP)
        numpys.run(MLP)
    same_bits(ws, numpys)
    units = ws.create(MLP).plan.units
    assert [(type(u), len(u.steps)) for u in units] == [(Single, 1), (Fused, 2), (Single, 1), (Fused, 2), (Single, 1)]
    assert [u.make is not None for u in units if isinstance(u, Single)] == [True, True, False]  # FC by hot kernel
    assert mine.seen.count(("Relu", "Tanh")) == 1
    assert mine.bound >= 2
    assert ws.create(MLP).calls == numpys.create(MLP).calls


def test_an_offer_for_a_group_is_asked_for_once_for_all_sizes():
    mine = Grouping()
    ws = mlp(mine)
    for size in (2, 3, 4, 5) * 3:
        ws.feed("x", np.ones((size, 4), np.float32))
        ws.run(MLP)
    assert mine.asked == 2
    again = mlp(mine)
    again.create(net(*MLP.ops, name="other")).run(2)
    assert mine.asked == 2


def test_where_nobody_offers_a_group_bodies_run():
    class Silent(NumpyBackend):
        def group(self, group: Any) -> Offer | None:
            return None

    ws, numpys = mlp(Silent()), mlp("numpy")
    for _ in range(3):
        ws.run(MLP)
        numpys.run(MLP)
    same_bits(ws, numpys)


def test_a_group_offer_may_decline_buffers():
    class Declining(Grouping):
        def group(self, group: Any) -> Offer | None:
            super().group(group)
            return Offer(lambda buffers, shape, scratch: None, 0.1)

    ws, numpys = mlp(Declining()), mlp("numpy")
    for _ in range(3):
        ws.run(MLP)
        numpys.run(MLP)
    same_bits(ws, numpys)


# which offer is taken


def test_the_best_offer_is_the_cheapest_and_of_equal_ones_the_first():
    half, other, cheap, dear = Offer(1, 0.5), Offer(2, 0.5), Offer(3, 0.2), Offer(4, 1.0)
    assert best([half, other]) is half
    assert best([None, half, cheap]) is cheap
    assert best([dear]) is None
    assert best([None, dear, Offer(5, 2.0)]) is None
    assert best([]) is None


@pytest.mark.parametrize(
    ("costs", "who"), [((0.4, 0.2), 1), ((0.2, 0.4), 0), ((0.3, 0.3), 0), ((1.0, 0.9), 1), ((1.0, 1.5), None)]
)
def test_offers_of_several_backends_are_taken_by_cost(costs, who):
    mine = [Kernels(cost) for cost in costs]
    ws = Workspace([*mine, "numpy"])
    ws.feed("x", array(1, 2))
    for _ in range(3):
        ws.run(net("s = RtSum(x)"))
        assert ws.fetch("s") == 3
    assert [backend.ran for backend in mine] == [3 * (at == who) for at in range(2)]
    assert ws.backend.name == "numpy"


def test_a_backend_before_numpy_adds_to_what_numpy_offers():
    first = Kernels(0.2)
    ws, numpys = mlp([first, "numpy"]), mlp("numpy")
    for _ in range(3):
        ws.run(MLP)
        numpys.run(MLP)
    same_bits(ws, numpys)
    assert first.ran == 3
    assert [type(u) for u in ws.create(MLP).plan.units] == [Single, Fused, Single, Fused, Single]
    assert all(u.make is not None for u in ws.create(MLP).plan.units)


def test_two_group_offers_are_taken_by_cost():
    dear, cheap = Grouping(0.5), Grouping(0.4)
    for pair in ([dear, cheap], [cheap, dear]):
        dear.bound = cheap.bound = 0
        ws = mlp(pair)
        ws.create(MLP).run(2)
        assert (dear.bound, cheap.bound > 0) == (0, True)


def test_no_offer_is_taken_where_blobs_share_memory():
    mine = Kernels(0.1)
    ws = Workspace(mine)
    ws.feed("x", array(1, 2))
    for _ in range(3):
        ws.run(net("y = RtAlias(x)", "s = RtSum(y)"))
        assert ws.fetch("s") == 3
    assert [u.make for u in ws.create(net("y = RtAlias(x)", "s = RtSum(y)")).plan.units] == [None, None]


# engines


def with_engine(engine: str) -> Any:
    return net(OperatorDef("RtSum", ("x",), ("s",), engine=engine))


@pytest.mark.parametrize(
    ("engine", "value"),
    [
        *(("", 30), ("ONE", 10), ("one", 10), ("TWO", 20), (" two ", 20), ("ALSO", 20), ("ONE,TWO", 20)),
        *(("CUDNN", 30), ("CUDNN,ONE", 10), ("NUMPY", 0), ("THREE", 30)),
    ],
)
def test_an_engine_narrows_the_choice(engine, value):
    mine = [Kernels(0.5, "ONE", plus=10), Kernels(0.4, "TWO", "ALSO", plus=20), Kernels(0.3, "THREE", plus=30)]
    ws = Workspace([*mine, "numpy"])
    ws.feed("x", array(0, 0))
    for _ in range(3):
        ws.run(with_engine(engine))
        assert ws.fetch("s") == value


def test_an_engine_keeps_operators_out_of_groups_of_other_backends():
    mine = Grouping()
    ws = Workspace([mine, "numpy"])
    ws.feed("x", array(1, 2))
    apart = net("a = RtAdd(x, x)", OperatorDef("RtAdd", ("a", "a"), ("b",), engine="NUMPY"), "c = RtAdd(b, b)")
    for _ in range(3):
        ws.run(apart)
        assert ws.fetch("c").tolist() == [8, 16]
    assert [len(unit.steps) for unit in ws.create(apart).plan.units] == [1, 1, 1]
    assert mine.seen == [("RtAdd",)]  # of both groups that it may run, which are alike


def test_engine_of_is_all_where_it_means_none():
    one, two = Kernels(0.5, "ONE"), Kernels(0.5, "TWO")
    assert engine_of([one, two], "") == (one, two)
    assert engine_of([one, two], "MKL") == (one, two)
    assert engine_of([one, two], "two") == (two,)
    assert engine_of([one, two], "TWO, ONE") == (one, two)


# pieces


class Pieces(NumpyBackend):
    """Offers FC and Relu as one."""

    name = "pieces"
    engines = frozenset(["PIECES"])

    def __init__(self, cost: float = 0.3, *, more: Sequence[str] = ()) -> None:
        super().__init__()
        self.cost, self.pattern = cost, ["FC", "Relu", *more]
        self.asked: list[int] = []
        self.ran = 0

    def piece(self, ops: Sequence[Any], types: Mapping[str, Any]) -> Offer | None:
        self.asked.append(len(ops))
        found = [op for op, _ in ops[: len(self.pattern)]]
        if [op.type for op in found] != self.pattern:
            return None
        x, w, b = found[0].inputs

        def make(arrays: Mapping[str, Any], scratch: Any) -> Any:
            middle = [arrays[op.outputs[0]] for op in found]
            return [(self._run, (arrays[x], arrays[w], arrays[b], middle))]

        return Offer(make, self.cost, steps=len(found))

    def _run(self, x: Any, w: Any, b: Any, to: Sequence[Any]) -> None:
        self.ran += 1
        to[0][...] = x @ w.T + b
        np.maximum(to[0], 0, out=to[1])
        for before, after in itertools.pairwise(to[1:]):
            np.tanh(before, out=after)


def whole(backend: Any) -> Workspace:
    """Whole numbers, so that no order of adding matters."""
    ws, rng = Workspace(backend), np.random.default_rng(0)
    for name, shape in {"x": (5, 4), "w": (4, 4), "b": (4,)}.items():
        ws.feed(name, rng.integers(-3, 4, shape).astype(np.float32))
    return ws


LAYERS = ("h = FC(x, w, b)", "r = Relu(h)", "h2 = FC(r, w, b)", "r2 = Relu(h2)", "s = RtSum(r2)")


@pytest.mark.parametrize("keep", [None, ["s"], ["r", "s"], ["h2"]])
def test_pieces_are_cut_where_they_end(keep):
    mine = Pieces()
    ws, numpys = whole(mine), whole("numpy")
    for _ in range(3):
        ws.run(net(*LAYERS), keep=keep)
        numpys.run(net(*LAYERS), keep=keep)
    same_bits(ws, numpys)
    units = ws.create(net(*LAYERS), keep=keep).plan.units
    if keep == ["h2"]:  # the last Relu and the sum are left out
        assert [(type(u), len(u.steps)) for u in units] == [(Piece, 2), (Single, 1)]
    else:
        assert [(type(u), len(u.steps)) for u in units] == [(Piece, 2), (Piece, 2), (Single, 1)]
    assert mine.ran >= 2


@pytest.mark.parametrize(("cost", "taken"), [(0.2, True), (0.49, True), (0.5, False), (0.8, False), (1.0, False)])
def test_a_piece_must_be_cheaper_than_what_it_replaces(cost, taken):
    mine = Pieces(cost)
    ws, numpys = whole(mine), whole("numpy")
    for _ in range(3):
        ws.run(net(*LAYERS))
        numpys.run(net(*LAYERS))
    same_bits(ws, numpys)
    assert any(isinstance(u, Piece) for u in ws.create(net(*LAYERS)).plan.units) is taken


def test_a_piece_cuts_no_group():
    mine = Pieces()
    ws, numpys = whole(mine), whole("numpy")
    step = net("h = FC(x, w, b)", "r = Relu(h)", "t = Tanh(r)", "h2 = FC(t, w, b)", "r2 = Relu(h2)")
    for _ in range(3):
        ws.run(step)
        numpys.run(step)
    for name in numpys.blobs:
        np.testing.assert_allclose(ws.fetch(name), numpys.fetch(name), rtol=1e-5, atol=1e-6)
    units = ws.create(step).plan.units
    assert [(type(u), len(u.steps)) for u in units] == [(Single, 1), (Fused, 2), (Piece, 2)]


def test_a_piece_may_end_with_a_group():
    mine = Pieces(more=["Tanh"])
    ws, numpys = whole(mine), whole("numpy")
    step = net("h = FC(x, w, b)", "r = Relu(h)", "t = Tanh(r)", "s = RtSum(t)")
    for _ in range(3):
        ws.run(step)
        numpys.run(step)
    for name in numpys.blobs:
        np.testing.assert_allclose(ws.fetch(name), numpys.fetch(name), rtol=1e-5, atol=1e-6)
    assert [(type(u), len(u.steps)) for u in ws.create(step).plan.units] == [(Piece, 3), (Single, 1)]


def test_pieces_hold_no_operators_with_effects_or_random_ones():
    mine = Pieces()
    ws = whole(mine)
    ws.functions["ask"] = lambda ctx, x: x + 1
    step = net("h = FC(x, w, b)", "n = RtNoise(h)", "r = Relu(h)", "h2 = FC(x, w, b)", "r2 = Relu(h2)")
    program = ws.create(step)
    program.run(2)
    assert [(type(u), len(u.steps)) for u in program.plan.units] == [(Single, 1), (Single, 1), (Fused, 1), (Piece, 2)]
    assert max(mine.asked) <= 3


def test_the_cheapest_piece_of_several_backends_is_taken():
    dear, cheap = Pieces(0.3), Pieces(0.2)
    ws = whole([dear, cheap, "numpy"])
    ws.create(net(*LAYERS)).run(3)
    assert dear.ran == 0
    assert cheap.ran >= 4


def test_an_engine_decides_who_is_asked_for_pieces():
    mine = Pieces(0.2)
    ws = whole([mine, "numpy"])
    apart = net(OperatorDef("FC", ("x", "w", "b"), ("h",), engine="NUMPY"), "r = Relu(h)", *LAYERS[2:])
    program = ws.create(apart)
    program.run(2)
    assert [type(u) for u in program.plan.units] == [Single, Fused, Piece, Single]


def test_a_piece_holds_no_operator_that_is_another_backends():
    mine = Pieces(0.2)
    ws = whole([mine, "numpy"])
    mixed = net("h = FC(x, w, b)", OperatorDef("Relu", ("h",), ("r",), engine="NUMPY"), *LAYERS[2:])
    program = ws.create(mixed)
    program.run(2)
    assert [type(u) for u in program.plan.units] == [Single, Fused, Piece, Single]


# calls that make way for better ones


def test_a_call_makes_way_for_a_better_one_without_planning_or_binding():
    made: list[Later] = []
    log: list[str] = []

    class Compiling(NumpyBackend):
        def kernel(self, op: Any, inputs: Any, outputs: Any, *, inplace: bool) -> Offer | None:
            return Offer(self._make) if isinstance(op, RtSum) else None

        def _make(self, inputs: Sequence[Any], outputs: Sequence[Any], scratch: Any) -> Any:
            def slow() -> None:
                log.append("slow")
                np.copyto(outputs[0], inputs[0].sum())

            def fast(to: Any, x: Any) -> None:
                log.append("fast")
                np.copyto(to, x.sum())

            later = Later((slow, ()))
            made.append(later)
            later.fast = (fast, (outputs[0], inputs[0]))  # type: ignore[attr-defined]
            return [(later, ())]

    class Later(_Later):
        __slots__ = ("fast",)

    ws = Workspace(Compiling())
    ws.feed("x", array(1, 2))
    program = ws.create(net("y = RtTranspose(x)", "s = RtSum(y)", "t = RtTranspose(y)"))
    program.run(3)
    binding = program._root
    assert binding is not None
    assert log == ["slow"] * 3
    later = made[-1]
    at = [function for function, _ in binding.calls].index(later)
    later.better = later.fast  # type: ignore[attr-defined]
    ticks = ws.clock.ticks
    ws.feed("x", array(5, 6))
    program.run(2)
    assert log == ["slow"] * 3 + ["fast"] * 2
    assert ws.fetch("s") == 11
    assert program._root is binding
    assert binding.calls[at] == later.better
    assert ws.clock.ticks == ticks
    ws.feed("x", array(1))
    program.run(2)  # another size is bound anew, to a call that waits for its own better one
    assert log[-2:] == ["slow"] * 2
    ws.feed("x", array(7, 8))
    program.run()
    assert log[-1] == "fast"
    assert ws.fetch("s") == 15


_Later = Later


def test_a_better_call_may_come_from_another_thread_while_nets_run():
    made: list[Later] = []

    class Compiling(NumpyBackend):
        def group(self, group: Any) -> Offer | None:
            numpys: Any = super().group(group)

            def make(buffers: Any, shape: Any, scratch: Any) -> Any:
                calls = numpys.make(buffers, shape, scratch)
                later = Later((run_all, (calls,)))
                later.better = None
                made.append(later)
                better[id(later)] = (run_all, (calls, 0))
                return [(later, ())]

            return Offer(make, 0.2)

    better: dict[int, Any] = {}

    def run_all(calls: Any, *_: Any) -> None:
        for function, arguments in calls:
            function(*arguments)

    ws, numpys = mlp(Compiling()), mlp("numpy")
    program, other = ws.create(MLP), numpys.create(MLP)
    program.run(3)
    other.run()

    def compile_all() -> None:
        for later in made:
            later.better = better[id(later)]

    thread = threading.Thread(target=compile_all)
    thread.start()
    program.run(50)
    thread.join()
    program.run()
    same_bits(ws, numpys)
    assert not any(isinstance(function, Later) for function, _ in program._root.calls)


# workspaces of several backends


@pytest.mark.parametrize("pair", [["numpy", "strict"], ["strict", "numpy"], [Grouping(), "strict"]])
def test_backends_of_host_and_device_do_not_mix(pair):
    with pytest.raises(NetError, match="backends of one workspace share their arrays") as caught:
        Workspace(pair)
    assert "numpy (host)" in str(caught.value) or "grouping (host)" in str(caught.value)
    assert "strict (device)" in str(caught.value)


def test_a_workspace_needs_a_backend():
    with pytest.raises(NetError, match="a workspace needs a backend"):
        Workspace([])


def test_the_last_backend_holds_the_blobs():
    class Mine(StrictBackend):
        name = "mine"
        engines = frozenset(["MINE"])

        def __init__(self) -> None:
            super().__init__()
            self.ran = 0

        def kernel(self, op: Any, inputs: Any, outputs: Any, *, inplace: bool) -> Offer | None:
            return Offer(self._make, 0.1) if isinstance(op, RtTranspose) else None

        def group(self, group: Any) -> Offer | None:
            return None

        def _make(self, inputs: Any, outputs: Any, scratch: Any) -> Any:
            return [(self._run, (inputs[0], outputs[0]))]

        def _run(self, x: Any, to: Any) -> None:
            self.ran += 1
            self.copyto(to, x.T)

    mine = Mine()
    ws = Workspace([mine, "strict"])
    assert ws.backend.name == "strict"
    ws.feed("x", np.arange(6, dtype=np.float32).reshape(2, 3))
    for _ in range(3):
        ws.run(net("y = RtTranspose(x)", "z = RtAdd(y, y)", "s = RtSum(z)"))
    assert mine.ran == 3
    assert ws.fetch("s") == 30
    assert ws.fetch("y").tolist() == [[0, 3], [1, 4], [2, 5]]


def test_strict_and_numpy_give_the_same_through_the_same_door():
    found = []
    for backend in ("numpy", "strict"):
        ws = whole(backend)
        for size in (5, 3, 5):
            ws.feed("x", np.arange(size * 4, dtype=np.float32).reshape(size, 4) - 5)
            for _ in range(2):
                ws.run(net(*LAYERS, "q = RtSquarePlus(r)", "q = RtAdd(q, r)", "p = RtPositive(q)", "v = RtAlias(p)"))
        found.append({name: ws.fetch(name) for name in ws.blobs})
    numpys, stricts = found
    assert numpys.keys() == stricts.keys()
    for name, value in numpys.items():
        assert isinstance(stricts[name], np.ndarray)
        assert value.tolist() == stricts[name].tolist(), name


def test_backends_share_no_executables():
    mine = Grouping()
    one, two = mlp(mine), mlp("numpy")
    assert one.create(MLP).executable is not two.create(MLP).executable
    assert one.create(MLP).executable is mlp(mine).create(MLP).executable
    assert isinstance(mine, Backend)


# layouts


@pytest.mark.parametrize(
    "ops",
    [
        ["a = RtTranspose(x)", "b = RtTranspose(a)", "s = RtAdd(b, b)"],
        ["a = RtTranspose(x)", "b = RtAdd(a, a)", "b = RtSquarePlus(b)", "s = RtTranspose(b)"],
        ["a = RtTranspose(x)", "s = FC(a, w, c)"],
        ["a = FC(x, w, c)", "s = RtTranspose(a)"],
        ["a = FC(x, w, c)", "b = Relu(a)", "s = Softmax(b)"],
        ["a = RtTranspose(x)", "s = RtSum(a)"],
        ["a = RtNoise(x)", "s = RtTranspose(a)"],
        ["a = FC(x, w, c)", "s = Softmax(a)"],
        ["a = RtTranspose(x)", "b = RtPositive(a)", "s = RtSum(b)"],
    ],
)
def test_a_private_blob_may_be_laid_out_in_another_order(ops, way):
    def fed() -> Workspace:
        ws, rng = Workspace(), np.random.default_rng(0)
        for name, shape in {"x": (4, 4), "w": (4, 4), "c": (4,)}.items():
            ws.feed(name, rng.integers(-3, 4, shape).astype(np.float32))
        return ws

    plain, ws = fed(), fed()
    plain.run(net(*ops), keep=["s"])
    program = ws.create(net(*ops, name="laid out"), keep=["s"])
    plan = program.plan
    if "a" not in plan.private:
        assert "RtPositive" in ops[1] or "Relu" in ops[1]  # it lies between segments, or in a group's registers
        return
    plan.layouts["a"] = (1, 0)
    program._bindings.clear()
    program._root = None
    for _ in range(2):
        ws._runs.clear()
        program.run()
        assert program._root.arrays["a"].strides == (4, 16)
        assert ws.fetch("s").tobytes() == plain.fetch("s").tobytes()


def test_a_layout_is_of_any_shape():
    ws = Workspace()
    ws.feed("x", np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    program = ws.create(net("a = RtTranspose(x)", "s = RtTranspose(a)"), keep=["s"])
    program.plan.layouts["a"] = (1, 2, 0)
    program._bindings.clear()
    program._root = None
    program.run(2)
    a = program._root.arrays["a"]
    assert a.shape == (4, 3, 2)
    assert a.transpose(1, 2, 0).flags.c_contiguous
    assert ws.fetch("s").tolist() == ws.fetch("x").tolist()


# what stays as it is


def test_an_operators_own_device_does_not_choose_a_backend():
    ws = whole("numpy")
    step = net(op("s = RtSum(x)"), op("y = RtAdd(x, x)"))
    ws.run(step)
    assert ws.fetch("y").tolist() == (2 * ws.fetch("x")).tolist()
