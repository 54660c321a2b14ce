"""An operator of an author outside the package: declared here, used like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import InferenceError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Float, Index
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.sparse.common import check_indices
from netdsl.ops.xp import Array, ArrayModule
from netdsl.testing import Case, check_operator, execute, normal


@operator
class Cubic(Operator):
    """``Y = X * X * X + shift``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True
    ours = True

    shift: float = arg(0.0, doc="Added to every element.")

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(CubicGradient, [g.blob.X, g.grad.Y], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return X * X * X + self.shift


@operator
class CubicGradient(Operator):
    """Gradient of :class:`Cubic`: ``3 * X * X * dY``."""

    inputs = (In("X", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True
    ours = True

    def infer(self, X: TensorType, dY: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array, dY: Array) -> Array:
        return 3 * X * X * dY


@operator
class ZeroRows(Operator):
    """Set rows to zero, in place."""

    inputs = (In("X", Float), In("rows", Index))
    outputs = (Out("Y", enforced="X", rows="rows"),)
    ours = True

    def infer(self, X: TensorType, rows: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array, rows: Array) -> Array:
        check_indices("ZeroRows", xp, rows, X.shape[0])
        X[rows] = xp.zeros((rows.size, *X.shape[1:]), dtype=X.dtype)
        return X


def power(X: Any, shift: float = 0.0) -> Any:
    return np.float64(X) ** 3 + shift


def zeroed(X: Any, rows: Any) -> Any:
    return X * ~np.isin(np.arange(len(X)), rows)[:, None]


ROWS = [Case("ZeroRows", (normal(4, 3), np.array([2, 0, 2])), {}, zeroed)]
CASES = [
    Case("Cubic", (normal(3, 4),), {}, power, batch=(0,)),
    Case("Cubic", (normal(5, seed=1),), {"shift": 0.5}, power),
    Case("Cubic", (np.arange(3),), refuses="is of the wrong type"),
]


def test_it_passes_every_check() -> None:
    check_operator(CASES)


def test_one_that_writes_rows_passes_every_check_and_leaves_the_fed_table_alone() -> None:
    (case,) = ROWS
    before = case.inputs[0].copy()
    check_operator(ROWS)
    np.testing.assert_array_equal(case.inputs[0], before)
    assert np.count_nonzero(execute(case.net, case.feeds, "numpy")["X"]) == 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("(check(), write(X[:]))", "Y is not the array given as X"),
        ("(check(), write(X), X)[-1] * 1", "Y is not the array given as X"),
        ("(check(), write(X), X.__setitem__(3, X[3] + 1), X)[-1]", "X: rows that are not named changed"),
        ("(write(X), check(), X)[-1]", "X changed, then the index was refused"),
        ("(write(X), X)[-1]", "index 4 should be refused by a table of 4 rows"),
        ("(check(), write(X), rows.sort(), X)[-1]", "read-only"),
    ],
)
def test_mistakes_in_writing_rows_are_found(change: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(self: ZeroRows, xp: ArrayModule, X: Array, rows: Array) -> Array:
        def check() -> None:
            check_indices("ZeroRows", xp, rows, X.shape[0])

        def write(table: Array) -> Array:
            table[rows % len(table)] = xp.zeros((rows.size, *table.shape[1:]), dtype=X.dtype)
            return table

        result = eval(change, {}, {"X": X, "rows": rows, "check": check, "write": write})
        return result[-1] if isinstance(result, tuple) else result

    monkeypatch.setattr(ZeroRows, "compute", compute)
    with pytest.raises((AssertionError, ValueError), match=said):
        check_operator(ROWS)


def test_it_is_a_method_of_every_net_and_can_be_trained_through() -> None:
    net = nd.Net("outside")
    y = net.Cubic("x", "y", shift=1)
    grads = net.add_gradients(y)
    assert "y = Cubic(x) {shift = 1.0}\n" in net.dump()
    assert nd.parse(net.dump()) == net.definition
    blobs = execute(net.definition, {"x": np.array([2.0, -3.0], np.float32)}, "numpy")
    np.testing.assert_array_equal(blobs["y"], [9, -26])
    np.testing.assert_array_equal(blobs[str(grads["x"])], [12, 27])


def test_its_mistakes_are_found_at_the_call() -> None:
    net = nd.Net("outside")
    with pytest.raises(ValueError, match="did you mean : shift"):
        net.Cubic("x", "y", shfit=1)
    net.input("ids", (3,), "int32")
    with pytest.raises(InferenceError, match="input X, blob 'ids', is of the wrong type"):
        net.Cubic("ids", "y")


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        ("X * X * X + 1e-3", "computes what is expected"),
        ("xp.sum(X * X * X, axis=0)", "is inferred as"),
        ("(X * X * X).astype(xp.float64)", "is inferred as"),
        ("xp.multiply(X, X * X, out=X)", "read-only"),
        ("X[::-1]", "is a view of X, which is not declared"),
        ("X[::-1][::-1] * X * (X if X.flags.c_contiguous else X * 0)", "works on strided arrays"),
    ],
)
def test_the_checks_find_mistakes(compute: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cubic, "compute", eval(f"lambda self, xp, X: {compute}"))
    with pytest.raises((AssertionError, ValueError), match=said):
        check_operator(CASES[:1])


@pytest.mark.parametrize("infer", ["X.with_shape((3, 4))", "X.with_shape(X.shape[::-1])", "X.with_shape(('N', 'N'))"])
def test_a_wrong_inference_is_found(infer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cubic, "infer", eval(f"lambda self, X: {infer}"))
    with pytest.raises(AssertionError, match="is inferred as"):
        check_operator(CASES[:1])


def test_what_half_precision_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(self: Cubic, xp: ArrayModule, X: Array) -> Array:
        return X * X * X if X.dtype != xp.float16 else ((X + xp.float16(64)) - xp.float16(64)) * X * X

    monkeypatch.setattr(Cubic, "compute", compute)
    with pytest.raises(AssertionError, match="half precision is close"):
        check_operator(CASES[:1])


@pytest.mark.parametrize("factor", ["3 * X * dY", "3 * X * X"])
def test_a_wrong_gradient_is_found(factor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CubicGradient, "compute", eval(f"lambda self, xp, X, dY: {factor}"))
    with pytest.raises(AssertionError, match="gradient matches finite differences"):
        check_operator(CASES[:1])


def test_a_missing_expectation_and_a_missing_refusal_are_found() -> None:
    with pytest.raises(AssertionError, match="needs expect= or holds="):
        check_operator([Case("Cubic", (normal(3),))])
    with pytest.raises(AssertionError, match="should be refused: too small"):
        check_operator([Case("Cubic", (normal(3),), refuses="too small")])
