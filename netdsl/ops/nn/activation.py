"""Activations: elementwise functions with elementwise gradients."""

from __future__ import annotations

from netdsl.ir import TensorType
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class Relu(Operator):
    """``Y = max(X, 0)``; NaN stays NaN."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(ReluGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.maximum(X, 0)


@operator
class ReluGradient(Operator):
    """Gradient of :class:`Relu`, from its output: dY where Y > 0, else 0."""

    inputs = (In("Y", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def infer(self, Y: TensorType, dY: TensorType) -> TensorType:
        return Y

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return xp.where(Y > 0, dY, 0)
