"""Softmax over the trailing axes."""

from __future__ import annotations

import math

from netdsl.errors import InferenceError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import canonical_axis, merge_shapes, product, same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_AXIS = "First axis of the classes: what follows it is flattened."


@operator
class Softmax(Operator):
    """``Y = exp(X) / sum(exp(X))`` over the axes from ``axis`` on, taken together as one axis of classes.

    Halves are computed in float32 and rounded once.
    """

    inputs = (In("X", Float, doc="Scores."),)
    outputs = (Out("Y", doc="Probabilities, shaped as X."),)

    axis: int = arg(1, doc=_AXIS)

    def infer(self, X: TensorType) -> TensorType:
        row_dims(X, self.axis)
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(SoftmaxGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        if not X.size:
            return xp.zeros_like(X)
        exps, sums = shifted_exps(xp, rows(xp, X, self.axis))[1:]
        return (exps / sums).astype(X.dtype).reshape(X.shape)


@operator
class SoftmaxGradient(Operator):
    """Gradient of :class:`Softmax`, from its output: ``dX = Y * (dY - sum(Y * dY))``."""

    inputs = (In("Y", Float), In("dY", Float))
    outputs = (Out("dX"),)

    axis: int = arg(1, doc=_AXIS)

    def infer(self, Y: TensorType, dY: TensorType) -> TensorType:
        row_dims(Y, self.axis)
        if not same(Y.shape, dY.shape):
            raise InferenceError("SoftmaxGradient: Y and its gradient differ in shape", expected=Y, got=dY)
        return Y.with_shape(merge_shapes(Y.shape, dY.shape))

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        y, dy = rows(xp, Y, self.axis), rows(xp, dY, self.axis)
        return (y * (dy - xp.sum(y * dy, axis=1, keepdims=True))).astype(Y.dtype).reshape(Y.shape)


def row_dims(x: TensorType, axis: int) -> tuple[Dim, Dim]:
    """The extents of ``x`` as a matrix whose columns are the axes from ``axis`` on; ValueError if there are none."""
    shape = x.shape or ()
    at = canonical_axis(axis, len(shape))
    return product(shape[:at]), product(shape[at:])


def rows(xp: ArrayModule, x: Array, axis: int) -> Array:
    """``x`` as a matrix whose columns are the axes from ``axis`` on; halves become float32."""
    at = canonical_axis(axis, x.ndim)
    wide = x.astype(xp.float32) if x.dtype == xp.float16 else x
    return wide.reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))


def shifted_exps(xp: ArrayModule, x: Array) -> tuple[Array, Array, Array]:
    """Each row less its maximum, the exponentials of that, and their sums (as a column); needs a column."""
    shifted = x - xp.max(x, axis=1, keepdims=True)
    exps = xp.exp(shifted)
    return shifted, exps, xp.sum(exps, axis=1, keepdims=True)
