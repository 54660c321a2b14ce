"""Every row of the table of primitives: traced, computed in blocks, in half, and known wherever it must be."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from netdsl.ops import primitives as table
from netdsl.ops.primitives import PRIMITIVES, Primitive
from netdsl.ops.xp import ArrayModule
from netdsl.runtime import special
from netdsl.runtime.backends import get
from netdsl.runtime.backends.strict import DeviceArray, manifest
from netdsl.runtime.cuda_source import PREAMBLE, kernels
from netdsl.runtime.groups import Group
from netdsl.runtime.half import singles
from tests.runtime.formulas import assert_same, check, cut, formula, full, run_plain, types_of
from tests.runtime.primitives import alone, programs, traces, values

PROGRAMS = list(programs(2500))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_the_row_is_known_everywhere(name):
    row = PRIMITIVES[name]
    declared = vars(ArrayModule).get(name)
    assert declared is not None, f"xp.{name} is not declared; run: python tools/regen.py"
    assert list(inspect.signature(declared).parameters)[1:] == row.operands.split(), "run: python tools/regen.py"
    if row.own:
        assert callable(vars(special).get(name)), f"{name} is marked as own: define it in netdsl/runtime/special.py"
    else:
        assert hasattr(np, name), f"NumPy has no {name}: mark it as own"
        assert name in manifest()["functions"], "run, where CuPy is installed: python tools/cupy_manifest.py"
    assert any(label.startswith(f"{name}_") for label, _, _ in PROGRAMS), "it is traced in no dtype"
    used = [row.cuda, row.half, row.ints, row.bools, row.spread]
    assert all(f"{{{i}}}" in row.cuda for i in range(row.arity)), "the expression does not name every operand"
    assert not any(f"{{{row.arity}}}" in text for text in used), "an expression names an operand that there is not"
    assert row.helper in PREAMBLE


def test_rows_tell_apart():
    assert len(PRIMITIVES) == len(table._TABLE)
    for row in PRIMITIVES.values():
        function = getattr(np, row.name, None)
        if isinstance(function, np.ufunc):
            assert (row.ufunc or row.name) == function.__name__
            assert row.arity == function.nin


@pytest.mark.parametrize(("step", "arrays"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
def test_blocks_compute_what_numpy_computes(step, arrays):
    check([step], arrays, groups=1)
    operator, names, _ = step
    plain = {k: a.copy() for k, a in arrays.items()}
    run_plain([step], plain)
    for k in names:  # in place
        if plain["y"].dtype == arrays[k].dtype and plain["y"].shape == arrays[k].shape:
            check([(operator, names, (k,))], arrays, groups=1)


@pytest.mark.parametrize("name", [name for name, row in PRIMITIVES.items() if row.arity == 1 and traces(row, "f2")])
def test_every_half(name):
    halves = singles().astype("f2")
    check([(alone(PRIMITIVES[name]), ("a",), ("y",))], {"a": halves}, groups=1, runs=1, block=8192)


@pytest.mark.parametrize("name", [name for name, row in PRIMITIVES.items() if row.arity > 1])
def test_promotion_is_that_of_numpy(name):
    row = PRIMITIVES[name]
    operator = alone(row)
    for first, second in itertools.permutations(["i1", "u2", "i4", "i8", "f2", "f4", "f8"], 2):
        dtypes = ["?"] * row.chooses + [first, *[second] * (row.arity - 1)]
        arrays = {k: values(600, d, i) for i, (k, d) in enumerate(zip("abc"[: row.arity], dtypes, strict=False))}
        if traces(row, *dtypes[: row.arity]):
            check([(operator, tuple(arrays), ("y",))], arrays, groups=1, runs=1)


@pytest.mark.parametrize("n", [1, 2, 999, 1000, 1001, 5003])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "i1"])
def test_numbers_as_operands(n, dtype):
    def body(xp, x):
        steps = xp.floor(x) * 2 + xp.clip(x, -1, 2) + xp.sign(x)
        return xp.where(xp.isfinite(x), steps % 3, x // 2) - xp.maximum(xp.remainder(x, 7), 1)

    check([(formula(1)(body), ("x",), ("y",))], {"x": values(n, dtype, 5)}, groups=1)


def test_erf_is_one_function_on_strided_arrays_too():
    x = full(30_000, 1, 3.0)
    xp = get("numpy").xp
    whole = xp.erf(x)
    assert_same(np.concatenate([xp.erf(x[:7]), xp.erf(x[7:9000]), xp.erf(x[9000:])]), whole)
    assert_same(xp.erf(x[::3]), whole[::3])
    assert_same(xp.erf(x.reshape(100, 300).T), whole.reshape(100, 300).T)
    assert type(xp.erf(np.float32(0.5))) is np.float32
    assert xp.erf(np.zeros((0, 3), "f2")).shape == (0, 3)
    assert isinstance(get("strict").xp.erf(DeviceArray(x)), DeviceArray)


def test_a_new_row_is_all_that_a_formula_needs(monkeypatch):
    row = Primitive("cbrt", "a", "cbrt({0})", "inexact")
    monkeypatch.setitem(PRIMITIVES, "cbrt", row)
    monkeypatch.setattr(get("numpy").xp, "cbrt", np.cbrt, raising=False)  # as tools/regen.py would have it
    step = (alone(row), ("x",), ("y",))
    check([step], {"x": full(5003)}, groups=1)
    plain = {"x": full(9), "y": full(9)}
    (group,) = cut([step], types_of(plain))
    assert isinstance(group, Group)
    group.finish({"y"})
    (kernel,) = kernels(group)
    assert kernel.body == "const float v0 = (float)(cbrt(i0));\no0 = v0;"
