"""Groups of elementwise operators compute, bit by bit, what their bodies compute plainly."""

from __future__ import annotations

import functools
import itertools
import operator as python
import random

import numpy as np
import pytest

from netdsl.ir import DType, TensorType
from netdsl.ops.schema import In, Operator
from netdsl.runtime.groups import MAX_OPERATORS, Group
from tests.runtime.formulas import Step, assert_same, bind, check, cut, formula, full, types_of

SIZES = [0, 1, 2, 17, 999, 1000, 1001, 5003]


@formula(2)
def add(xp, a, b):
    return a + b


@formula(2)
def sub(xp, a, b):
    return a - b


@formula(2)
def mul(xp, a, b):
    return a * b


@formula(2)
def div(xp, a, b):
    return a / b


@formula(1)
def negative(xp, x):
    return -x


@formula(1)
def absolute(xp, x):
    return abs(x)


@formula(1)
def relu(xp, x):
    return xp.maximum(x, 0)


@formula(1)
def clip(xp, x):
    return xp.minimum(xp.maximum(x, -1.0), 1.0)


@formula(1)
def sigmoid(xp, x):
    return 1 / (1 + xp.exp(-x))


@formula(1)
def tenth(xp, x):
    return x * 0.1 + 1


@formula(1)
def curves(xp, x):
    return xp.tanh(x) + xp.log(abs(x)) * xp.sqrt(abs(x)) + xp.power(abs(x), 1.7)


@formula(2)
def relu_gradient(xp, y, dy):
    return xp.where(y > 0, dy, 0)


@formula(2)
def greater(xp, a, b):
    return a > b


@formula(3)
def where(xp, c, a, b):
    return xp.where(c, a, b)


@formula(2)
def exclusive(xp, a, b):
    return (a & ~b) | (~a & b)


@formula(1)
def to_half(xp, x):
    return x.astype(xp.float16)


@formula(1)
def to_single(xp, x):
    return x.astype(xp.float32)


@formula(1)
def to_int(xp, x):
    return xp.minimum(xp.maximum(xp.where(x == x, x, 0), -1e6), 1e6).astype(xp.int32)


@formula(2, 2)
def swap(xp, a, b):
    return b, a


@formula(2, 2)
def two(xp, a, b):
    return b - a, xp.maximum(a, b)


@formula(1)
def bits(xp, x):
    return x.view(xp.int32)


@formula([In("X", many=1)])
def total(xp, xs):
    return functools.reduce(python.add, xs)


@formula([In("X"), In("b", optional=True)])
def maybe(xp, x, b):
    return x if b is None else x + b


def momentum_update(nesterov: bool):
    @formula(4, 3)
    def update(xp, grad, m, lr, param):
        mu, one = xp.float32(0.9), xp.float32(1)
        new_m = mu * m + lr * grad
        step = (one + mu) * new_m - mu * m if nesterov else new_m
        return step, new_m, param - step

    return update


def half_update(nesterov: bool, single: bool):
    @formula(4, 3)
    def update(xp, grad, m, lr, param):
        work = xp.float32 if single else xp.float16
        g, m, lr, p = (a.astype(work) for a in (grad, m, lr, param))
        mu, one, decay = work(0.9), work(1), work(1e-4)
        g = g + decay * p
        new_m = mu * m + lr * g
        step = (one + mu) * new_m - mu * m if nesterov else new_m
        return tuple(a.astype(xp.float16) for a in (step, new_m, p - step))

    return update


@formula(6, 3)
def adam(xp, param, m, v, grad, lr, it):
    one, b1, b2 = xp.float32(1), xp.float32(0.9), xp.float32(0.999)
    t = (it + 1).astype(xp.float64)
    correction = (xp.sqrt(1 - xp.power(float(b2), t)) / (1 - xp.power(float(b1), t))).astype(xp.float32)
    new_m = m * b1 + grad * (one - b1)
    new_v = v * b2 + grad * grad * (one - b2)
    return param + lr * correction * new_m / (xp.sqrt(new_v) + xp.float32(1e-5)), new_m, new_v


CHAIN: list[Step] = [
    (mul, ("x", "y"), ("a",)),
    (add, ("a", "x"), ("a",)),
    (relu, ("a",), ("a",)),
    (mul, ("a", "y"), ("b",)),
    (sub, ("b", "x"), ("b",)),
    (clip, ("b",), ("c",)),
    (absolute, ("c",), ("c",)),
    (negative, ("c",), ("c",)),
    (mul, ("c", "y"), ("out",)),
]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("keep", [None, ["out"], ["a", "c"]])
def test_a_chain_is_one_group(n, keep):
    check(CHAIN, {"x": full(n), "y": full(n, 1)}, keep=keep, groups=1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("nesterov", [False, True])
def test_half_gradient_single_master_half_copy(n, nesterov):
    arrays = {"g": full(n, 2, 0.01, "f2"), "m": full(n, 3, 0.1), "w": full(n), "p": full(n, 0, 1, "f2")}
    arrays["lr"] = np.array([0.1], "f4")
    steps: list[Step] = [
        (to_single, ("g",), ("gf",)),
        (momentum_update(nesterov), ("gf", "m", "lr", "w"), ("gf", "m", "w")),
        (to_half, ("w",), ("p",)),
    ]
    check(steps, arrays, keep=["m", "w", "p"], groups=1)
    check(steps, arrays, groups=1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("nesterov", "single"), list(itertools.product([False, True], repeat=2)))
def test_half_update(n, nesterov, single):
    arrays = {"g": full(n, 2, 0.01, "f2"), "m": full(n, 3, 0.1, "f2"), "p": full(n, 4, 1, "f2")}
    arrays["lr"] = np.array([0.1], "f4")
    check([(half_update(nesterov, single), ("g", "m", "lr", "p"), ("g", "m", "p"))], arrays, groups=1)


@pytest.mark.parametrize("n", SIZES)
def test_adam(n):
    arrays = {"p": full(n), "m": full(n, 1, 0.1), "v": abs(full(n, 2, 0.1)), "g": full(n, 3, 0.1)}
    arrays |= {"lr": np.array([0.01], "f4"), "it": np.array([7], "i8")}
    check([(adam, ("p", "m", "v", "g", "lr", "it"), ("p", "m", "v"))], arrays, groups=1, runs=3)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("op", [sigmoid, curves, relu, clip, negative, absolute, tenth])
def test_unary_functions(n, dtype, op):
    check([(op, ("x",), ("y",))], {"x": full(n, 0, 3, dtype)}, groups=1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtypes", ["f2 f2", "f2 f4", "f4 f8", "i4 i4", "i4 f4", "u1 u1", "u1 f2", "i8 f4"])
@pytest.mark.parametrize("op", [add, sub, mul, div, two, greater])
def test_binary_functions_promote_as_numpy_does(n, dtypes, op):
    rng = np.random.default_rng(3)
    arrays = {}
    for i, (name, dtype) in enumerate(zip("ab", dtypes.split(), strict=True)):
        integers = rng.integers(0, 200, n).astype(dtype) if dtype[0] in "iu" else None
        arrays[name] = full(n, i, 2, dtype) if integers is None else integers
    check([(op, ("a", "b"), ("y", "z")[: len(op.outputs)])], arrays, groups=1)


def test_values_of_size_one_are_computed_before_the_loop():
    arrays = {"x": full(5003), "s": np.array([2.5], "f4"), "z": np.array(3, "f4")}
    steps: list[Step] = [
        (mul, ("s", "z"), ("s",)),
        (add, ("x", "s"), ("x",)),
        (add, ("s", "z"), ("t",)),
        (mul, ("t", "x"), ("y",)),
    ]
    check(steps, arrays, groups=1)
    arrays = {"x": full((50, 30)), "s": np.array([[2.5]], "f4")}
    check([(mul, ("x", "s"), ("y",)), (relu, ("y",), ("y",))], arrays, groups=1, block=64)


def test_blobs_exchanged_overwritten_and_viewed():
    n = 3001
    xy = {"x": full(n), "y": full(n, 1)}
    steps: list[Step] = [(add, ("x", "y"), ("t",)), (sub, ("t", "y"), ("y",)), (sub, ("t", "x"), ("x",))]
    check(steps, xy, keep=[], groups=1)
    check([(swap, ("x", "y"), ("x", "y"))], xy, groups=1, runs=1)
    check([(swap, ("x", "y"), ("x", "y")), (swap, ("x", "y"), ("y", "x"))], xy, groups=1, runs=1)
    check([(bits, ("x",), ("b",)), (negative, ("x",), ("x",))], xy, groups=1)
    check([(bits, ("x",), ("b",)), (bits, ("x",), ("c",)), (add, ("b", "c"), ("c",))], xy, groups=1)


def test_selection_and_integers():
    n = 3001
    i = np.random.default_rng(0).integers(-(2**31), 2**31 - 1, n, dtype="i4")
    check([(relu, ("x",), ("y",)), (relu_gradient, ("y", "d"), ("d",))], {"x": full(n), "d": full(n, 1)}, groups=1)
    check([(mul, ("i", "j"), ("k",)), (add, ("k", "i"), ("i",)), (relu, ("i",), ("r",))], {"i": i, "j": i[::-1].copy()})
    check([(to_int, ("x",), ("k",))], {"x": full(n)}, groups=1)
    masks: list[Step] = [
        (greater, ("x", "y"), ("a",)),
        (greater, ("y", "z"), ("b",)),
        (exclusive, ("a", "b"), ("c",)),
        (where, ("c", "x", "h"), ("w",)),
    ]
    check(masks, {"x": full(n), "y": full(n, 1), "z": full(n, 2), "h": full(n, 3, 1, "f2")}, groups=1)


def test_runs_and_optional_inputs():
    arrays = {k: full(1001, i) for i, k in enumerate("abc")}
    check([(total, ("a", "b", "c"), ("y",)), (total, ("a",), ("z",))], arrays, groups=1)
    check([(maybe, ("a",), ("y",)), (maybe, ("a", "b"), ("z",))], arrays, groups=1)


def test_one_shape_a_group():
    arrays = {"x": full((100, 20)), "b": full(20, 1), "o": np.full((1, 1, 1), 2, "f4")}
    steps: list[Step] = [
        (relu, ("x",), ("r",)),
        (add, ("r", "b"), ("y",)),  # broadcasts rows: runs plainly
        (relu, ("y",), ("z",)),
        (mul, ("z", "y"), ("z",)),
    ]
    check(steps, arrays, groups=3)
    check([(add, ("x", "o"), ("y",)), (relu, ("y",), ("z",))], arrays, groups=2)
    check([(add, ("b", "b"), ("y",)), (mul, ("x", "x"), ("z",))], arrays, groups=2)


def test_refusing_changes_nothing():
    types = types_of({"x": full(9), "y": full(9), "b": full(3)})
    group = Group()
    assert group.try_add(add, ("x", "y"), ("z",), {**types, "z": types["x"]})
    before = list(group.graph.nodes)
    assert not group.try_add(add, ("x", "b"), ("w",), {**types, "w": types["x"]})
    assert not group.try_add(add, ("x", "y"), ("w",), {**types, "w": TensorType(DType.DOUBLE, (9,))})
    assert not group.try_add(add, ("x", "y"), ("w",), {**types, "w": TensorType(DType.FLOAT, ("N",))})
    assert not group.try_add(greater, ("x", "y"), ("z",), {**types, "z": TensorType(DType.BOOL, (9,))})
    assert group.graph.nodes == before
    assert group.try_add(mul, ("z", "y"), ("w",), {**types, "z": types["x"], "w": types["x"]})
    group.finish({"z", "w"})
    assert group.reads == ["x", "y"]
    assert group.stores == ["z", "w"]


def test_ten_thousand_tiny_adds_are_ten_thousand_calls():
    n = 10_000
    arrays = {"b": np.ones(1, "f4"), **{f"c{i}": np.ones(1, "f4") for i in range(n + 1)}}
    for steps in (
        [(add, (f"c{i}", "b"), (f"c{i + 1}",)) for i in range(n)],
        [(add, ("c0", "b"), (f"c{i + 1}",)) for i in range(n)],
    ):
        parts = cut(steps, types_of(arrays))
        assert len(parts) == -(-n // MAX_OPERATORS)
        calls = []
        for part in parts:
            assert isinstance(part, Group)
            part.finish(arrays)
            calls += bind(part, arrays)
        assert len(calls) == n
        for (function, args), (_, ins, outs) in zip(calls, steps, strict=True):
            assert function is np.add
            assert all(a is arrays[k] for a, k in zip(args, (*ins, *outs), strict=True))


def test_what_nobody_keeps_never_reaches_memory():
    arrays = {"x": full(4000), "y": full(4000, 1)}
    (group,) = cut(CHAIN, types_of({**arrays, **dict.fromkeys(["a", "b", "c", "out"], arrays["x"])}))
    assert isinstance(group, Group)
    group.finish({"out"})
    assert group.stores == ["out"]
    bind(group, {**arrays, "out": np.empty_like(arrays["x"])})


def test_memory_that_blocks_cannot_use_is_computed_plainly():
    base = full(3002)
    apart = {"x": full(6002)[::2], "y": full(3001, 1), "z": np.zeros(3001, "f4")}
    overlapping = {"x": base[:-1], "y": base[1:], "z": np.zeros(3001, "f4")}
    steps: list[Step] = [(add, ("x", "y"), ("t",)), (mul, ("t", "t"), ("z",))]
    for arrays in (apart, overlapping):
        (group,) = cut(steps, types_of({**arrays, "t": arrays["z"]}))
        assert isinstance(group, Group)
        group.finish({"z"})
        with np.errstate(all="ignore"):
            for function, args in bind(group, arrays, 100):
                function(*args)
            expected = (arrays["x"] + arrays["y"]) * (arrays["x"] + arrays["y"])
        assert_same(arrays["z"], expected)


class Program:
    """A random list of operators over single, half, bool and size-1 blobs, and what to keep of it."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.names = {"F": list("xyzw"), "H": list("hk"), "S": list("st"), "M": []}
        self.steps: list[Step] = []
        kinds = [self.binary, self.unary, self.masked, self.halves, self.pair, self.swapped, self.ones]
        for _ in range(self.pick.randint(1, 14)):
            self.pick.choices(kinds, [4, 2, 2, 3, 1, 1, 1])[0]()
        written = sorted({k for step in self.steps for k in step[2]})
        self.keep = self.pick.sample(written, self.pick.randint(0, len(written)))

    def read(self, kinds: str) -> str:
        return self.pick.choice([name for kind in kinds for name in self.names[kind]])

    def new(self, kind: str) -> str:
        if not self.names[kind] or self.pick.random() < 0.4:
            self.names[kind].append(f"{kind}{len(self.steps)}_{len(self.names[kind])}")
            return self.names[kind][-1]
        return self.pick.choice(self.names[kind])

    def step(self, ops: list[Operator], inputs: list[str], kinds: str) -> None:
        outputs = tuple(map(self.new, kinds))
        if len(set(outputs)) < len(outputs):
            outputs = tuple(f"{kind}{len(self.steps)}_new{i}" for i, kind in enumerate(kinds))
            for kind, name in zip(kinds, outputs, strict=True):
                self.names[kind].append(name)
        self.steps.append((self.pick.choice(ops), tuple(inputs), outputs))

    def binary(self) -> None:
        self.step([add, sub, mul], self.pick.sample([self.read("F"), self.read("FS")], 2), "F")

    def unary(self) -> None:
        self.step([relu, absolute, negative, clip, sigmoid, tenth], [self.read("F")], "F")

    def masked(self) -> None:
        self.step([greater], [self.read("F"), self.read("FS")], "M")
        self.step([where], [self.read("M"), self.read("F"), self.read("FH")], "F")

    def halves(self) -> None:
        self.step([to_half], [self.read("F")], "H")
        self.step([add, mul, sub, div], [self.read("H"), self.read("H")], "H")
        self.step([relu, negative, absolute, tenth], [self.read("H")], "H")
        self.step([to_single], [self.read("H")], "F")

    def pair(self) -> None:
        kind = self.pick.choice("FH")
        self.step([two], [self.read(kind), self.read(kind)], kind * 2)

    def swapped(self) -> None:
        a, b = self.pick.sample(self.names["F"], 2)
        self.steps.append((swap, (a, b), self.pick.choice([(a, b), (b, a)])))

    def ones(self) -> None:
        self.step([mul, add, sub], [self.read("S"), self.read("S")], "S")


@pytest.mark.parametrize("seed", range(120))
def test_random_programs(seed):
    program = Program(seed)
    n = random.Random(seed).choice([1, 5, 999, 2500])
    arrays = {k: full(n, i, 0.5) for i, k in enumerate("xyzw")}
    arrays |= {k: full(n, i + 9, 0.5, "f2") for i, k in enumerate("hk")}
    arrays |= {"s": np.array([1.5], "f4"), "t": np.array([-0.7], "f4")}
    check(program.steps, arrays, keep=program.keep)
    check(program.steps, arrays)
