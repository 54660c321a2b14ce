"""What the CUDA source of a group says, and how a large group is cut into kernels."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.runtime.cuda_source import kernels, literal, pieces
from netdsl.runtime.groups import Group
from netdsl.runtime.trace import Graph
from tests.runtime.formulas import Step, assert_same, bind, cut, full, run_plain, types_of
from tests.runtime.test_groups import add, mul


def test_a_kernel_in_full():
    types = types_of({"x": full(5), "s": full(1), "y": full(5)})
    group = Group()
    assert group.try_add(mul, ("s", "s"), ("s",), types)
    assert group.try_add(add, ("x", "s"), ("x",), types)
    group.finish({"x", "s"})
    first, second = kernels(group)
    assert (first.loads, first.uniforms, first.stores) == (("x",), ("s",), ("x",))
    assert (first.inputs, first.outputs) == ("float32 i0, raw float32 u0", "float32 o0")
    assert first.prologue == "const float v0 = (float)(u0[0] * u0[0]);"
    assert first.body == "const float v1 = (float)(i0 + v0);\no0 = v1;"
    assert (second.loads, second.uniforms, second.stores) == (("s",), (), ("s",))


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (True, "?", "true"),
        (-3, "i4", "(int)-3"),
        (-(2**63), "i8", "(long long)9223372036854775808ULL"),
        (0.1, "f4", "(float)(0.10000000149011612f)"),
        (-0.0, "f8", "(double)(-0.0)"),
        (np.inf, "f4", "__int_as_float(2139095040)"),
        (-np.inf, "f8", "__longlong_as_double(-4503599627370496LL)"),
        (-np.inf, "f2", "(float16)(__int_as_float(-8388608))"),
    ],
)
def test_literals(value, dtype, text):
    assert literal(Graph().const(value, dtype)) == text


def test_a_large_group_is_cut_and_what_pieces_share_is_stored():
    arrays = {"b": full(9), **{f"c{i}": full(9, i) for i in range(41)}}
    steps: list[Step] = [(add, (f"c{i}", "b"), (f"c{i + 1}",)) for i in range(40)]
    (group,) = cut(steps, types_of(arrays))
    assert isinstance(group, Group)
    group.finish({"c40"})
    assert pieces(group) == [group]
    parts = pieces(group, operators=12, buffers=10)
    assert max(len(p) for p in parts) <= 12
    assert max(len(p.buffers) for p in parts) <= 10
    plain = dict(arrays)
    run_plain(steps, plain)
    with np.errstate(all="ignore"):
        for part in parts:
            for function, args in bind(part, arrays):
                function(*args)
    assert_same(arrays["c40"], plain["c40"])
