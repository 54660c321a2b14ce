"""Distances of rows."""

from __future__ import annotations

from netdsl.errors import InferenceError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import conflict, merge_shapes, product, same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class SquaredL2Distance(Operator):
    """Half of the squared distance of rows: ``Z[i] = sum((X[i] - Y[i])^2) / 2``."""

    inputs = (In("X", Float, doc="One row an example."), In("Y", Float, doc="Of the shape of X."))
    outputs = (Out("Z", doc="One distance a row."),)
    role = "loss"

    def infer(self, X: TensorType, Y: TensorType) -> TensorType:
        return X.with_shape((_batch("SquaredL2Distance", X, Y),))

    def gradient(self, g: Gradients) -> None:
        g.add(SquaredL2DistanceGradient, [g.blob.X, g.blob.Y, g.grad.Z], [g.grad.X, g.grad.Y])

    def compute(self, xp: ArrayModule, X: Array, Y: Array) -> Array:
        d = _difference(xp, X, Y)
        return (xp.sum(d * d, axis=1) * 0.5).astype(X.dtype)


@operator
class SquaredL2DistanceGradient(Operator):
    """Gradients of :class:`SquaredL2Distance`: ``dX = (X - Y) * dZ`` and ``dY = -dX``."""

    inputs = (In("X", Float), In("Y", Float), In("dZ", Float))
    outputs = (Out("dX"), Out("dY"))

    def infer(self, X: TensorType, Y: TensorType, dZ: TensorType) -> tuple[TensorType, TensorType]:
        rows = _batch("SquaredL2DistanceGradient", X, Y)
        if dZ.rank != 1 or conflict(product(dZ.shape or ()), rows):
            what = "SquaredL2DistanceGradient: dZ must hold one number a row"
            raise InferenceError(what, expected=f"[{rows}]", got=dZ)
        both = X.with_shape(merge_shapes(X.shape, Y.shape))
        return both, both

    def compute(self, xp: ArrayModule, X: Array, Y: Array, dZ: Array) -> tuple[Array, Array]:
        dX = (_difference(xp, X, Y) * dZ.reshape(-1, 1)).astype(X.dtype).reshape(X.shape)
        return dX, -dX


def _difference(xp: ArrayModule, X: Array, Y: Array) -> Array:
    """X - Y as a matrix, halves as float32."""
    a, b = (X.astype(xp.float32), Y.astype(xp.float32)) if X.dtype == xp.float16 else (X, Y)
    n = X.shape[0] if X.ndim else 1
    return (a - b).reshape(n, X.size // n if n else 0)


def _batch(name: str, X: TensorType, Y: TensorType) -> Dim:
    if not same(X.shape, Y.shape):
        raise InferenceError(f"{name}: X and Y differ in shape", expected=X, got=Y)
    shape = merge_shapes(X.shape, Y.shape) or ()
    return shape[0] if shape else 1
