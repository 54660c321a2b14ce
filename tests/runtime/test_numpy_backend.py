"""What the NumPy backend supplies beyond NumPy's own functions, and the lookup of hot kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netdsl.ir import DType, Packed
from netdsl.ops.xp import ArrayModule
from netdsl.runtime import Workspace, kernels
from netdsl.runtime.backends.numpy import make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.values import numpy_dtype
from tests.runtime.operators import RtSum, net

XP = make().xp


def test_every_function_of_the_protocol_is_there():
    names = {n for n in (*ArrayModule.__annotations__, *vars(ArrayModule)) if not n.startswith("_")}
    assert {n for n in names if not hasattr(XP, n)} == set()
    assert XP.add is np.add


def test_erf():
    x = np.concatenate([np.linspace(-7, 7, 5001), [0.0, -0.0, math.inf, -math.inf, 1e-300, 0.46875, 4.0]])
    expected = np.array([math.erf(v) for v in x])
    assert np.abs(XP.erf(x) - expected).max() < 1e-15
    assert np.isnan(XP.erf(np.array([np.nan])))[0]
    single = XP.erf(x.astype(np.float32))
    assert single.dtype == np.float32
    assert np.signbit(XP.erf(np.float32([-0.0])))[0]


def test_halves_accumulate_in_single_precision():
    a, b = np.full((1, 4096), 0.1, np.float16), np.full((4096, 1), 1, np.float16)
    expected = np.float16(np.float32(a[0, 0]) * 4096)
    assert XP.dot(a, b)[0, 0] == expected
    assert XP.total(a) == expected
    assert XP.total(a, axis=1, keepdims=True).dtype == np.float16


def test_total_keeps_the_dtype():
    assert XP.total(np.ones(3, np.int32)).dtype == np.int32
    assert XP.total(np.ones(3, np.uint8)).dtype == np.uint8


def test_scatter_add_counts_every_occurrence():
    target = np.zeros((3, 2), np.float32)
    XP.scatter_add(target, np.array([1, 1, 2]), np.ones((3, 2), np.float32))
    assert target.tolist() == [[0, 0], [2, 2], [1, 1]]


def test_windows():
    a = np.arange(2 * 7 * 8).reshape(2, 7, 8)
    view = XP.windows(a, (3, 2), (2, 3), (2, 1))
    assert view.shape == (2, 2, 3, 3, 2)
    for n, i, j, p, q in np.ndindex(*view.shape):
        assert view[n, i, j, p, q] == a[n, 2 * i + 2 * p, 3 * j + q]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (Packed("f", np.arange(60, dtype="<f4").tobytes()), "float16", np.arange(60, dtype=np.float16)),
        (Packed("q", np.arange(60, dtype="<i8").tobytes()), DType.INT32, np.arange(60, dtype=np.int32)),
        ((1, 2), np.float32, np.float32([1, 2])),
        (("a", b"\xff"), "string", np.array([b"a", b"\xff"], object)),
    ],
)
def test_array_of(values, dtype, expected):
    found = XP.array_of(values, dtype)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
    assert found.flags.writeable


def test_every_dtype_has_one_of_numpy():
    assert numpy_dtype(DType.BYTE) == np.uint8
    assert numpy_dtype("string").hasobject
    assert all(numpy_dtype(d.value) == numpy_dtype(d) for d in DType)


# hot kernels


def test_a_hot_kernel_writes_the_planned_buffer(monkeypatch, way):
    monkeypatch.setattr(kernel, "_kernels", {})
    given = []

    @kernel(RtSum)
    def total(op, inputs, outputs):
        if inputs[0].rank != 1:
            return None
        given.append((op, inputs, outputs))
        return lambda ins, outs, scratch: [(np.sum, (ins[0], None, None, outs[0]))]

    ws = Workspace()
    ws.feed("x", np.float32([1, 2]))
    ws.feed("y", np.float32([[1, 2]]))
    both = ws.create(net("s = RtSum(x)", "t = RtSum(y)", name=f"net of {way}"))
    both.run(2)
    assert {len(entry) for entry in given} == {3}
    assert [step.make is None for step in both.plan.units] == [False, True]
    assert ws.fetch("s") == ws.fetch("t") == 3


def test_a_hot_kernel_that_cannot_work_in_place_is_not_asked_to(monkeypatch):
    monkeypatch.setattr(kernel, "_kernels", {})
    kernel(RtSum)(lambda op, inputs, outputs: None)
    assert kernel.find(RtSum(), inplace=True) is None
    kernel(RtSum, inplace=True)(lambda op, inputs, outputs: None)
    assert kernel.find(RtSum(), inplace=True) is not None


def test_a_module_of_kernels_that_is_broken_is_not_taken_for_missing(monkeypatch):
    def broken(name):
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")

    monkeypatch.setattr(kernels, "import_module", broken)
    with pytest.raises(ModuleNotFoundError):
        kernels._load("netdsl.runtime.kernels.numpy.test.broken")
