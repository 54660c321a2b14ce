"""Elementwise functions of one tensor."""

from __future__ import annotations

from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Float, Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.broadcast import Broadcasting
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_LARGEST = 3.4028234663852886e38
"""The largest float32."""


@operator
class Negative(Operator):
    """``Y = -X``."""

    inputs = (In("X", Number),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(Negative, [g.grad.Y], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return -X


@operator
class Abs(Operator):
    """``Y = |X|``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(AbsGradient, [g.blob.X, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.abs(X)


@operator
class AbsGradient(Broadcasting):
    """Gradient of :class:`Abs`: dY with the sign of X, 0 where X is 0, and -dY where it is NaN."""

    inputs = (In("X", Float), In("dY", Float))
    outputs = (Out("dX"),)
    elementwise = True

    def infer(self, X: TensorType, dY: TensorType) -> TensorType:
        return X.with_shape(self.common(X, dY))

    def compute(self, xp: ArrayModule, X: Array, dY: Array) -> Array:
        dY = self.align(X, dY)
        return xp.where(X == 0, 0, xp.where(X > 0, dY, -dY))


@operator
class Sqr(Operator):
    """``Y = X * X``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        # Caffe2 doubles dY in place, even where another blob still needs it; there we do not.
        doubled = g.grad.X if g.is_shared(g.grad.Y) else g.grad.Y
        g.add(Scale, [g.grad.Y], [doubled], args={"scale": 2.0})
        g.add("Mul", [doubled, g.blob.X], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return X * X


@operator
class Sqrt(Operator):
    """``Y = sqrt(X)``; NaN where X is negative."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(Scale, [g.grad.Y], [g.grad.X], args={"scale": 0.5})
        g.add("Div", [g.grad.X, g.blob.Y], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.sqrt(X)


@operator
class Exp(Operator):
    """``Y = exp(X)``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add("Mul", [g.blob.Y, g.grad.Y], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.exp(X)


@operator
class Log(Operator):
    """The natural logarithm ``Y = log(X)``; NaN where X is negative."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add("Div", [g.grad.Y, g.blob.X], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.log(X)


@operator
class Scale(Operator):
    """``Y = scale * X``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    scale: float = arg(1.0, doc="The factor.")

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(Scale, [g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return as_dtype(X * xp.float32(self.scale), X)


@operator
class Clip(Operator):
    """``Y = min(max(X, min), max)``; NaN stays NaN."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    min: float = arg(-_LARGEST, doc="The least value; by default the least finite float32.")
    max: float = arg(_LARGEST, doc="The greatest value; by default the greatest finite float32.")

    def infer(self, X: TensorType) -> TensorType:
        return X

    def gradient(self, g: Gradients) -> None:
        g.add(ClipGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return as_dtype(xp.minimum(xp.maximum(X, xp.float32(self.min)), xp.float32(self.max)), X)


@operator
class ClipGradient(Operator):
    """Gradient of :class:`Clip`, from its output: dY strictly between the bounds, else 0."""

    inputs = (In("Y", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    min: float = arg(-_LARGEST, doc="As in Clip.")
    max: float = arg(_LARGEST, doc="As in Clip.")

    def infer(self, Y: TensorType, dY: TensorType) -> TensorType:
        return Y

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        # The bounds as Clip stored them, so that a half that was clipped still equals its bound.
        low, high = (xp.float32(bound).astype(Y.dtype) for bound in (self.min, self.max))
        return xp.where(xp.logical_and(xp.greater(Y, low), xp.less(Y, high)), dY, 0)


@operator
class IsNaN(Operator):
    """uint8: 1 where the tensor is NaN, else 0."""

    inputs = (In("tensor", Float),)
    outputs = (Out("output"),)
    elementwise = True

    def infer(self, tensor: TensorType) -> TensorType:
        return tensor.with_dtype(DType.UINT8)

    def compute(self, xp: ArrayModule, tensor: Array) -> Array:
        return (tensor != tensor).astype(xp.uint8)


def as_dtype(x: Array, like: Array) -> Array:
    """Return ``x`` in the dtype of ``like``, without a copy where it has it."""
    return x if x.dtype == like.dtype else x.astype(like.dtype)
