"""Activations: elementwise functions with elementwise gradients. Halves are computed in float32 and rounded once."""

from __future__ import annotations

import math

import attrs

from netdsl.errors import InferenceError
from netdsl.ir import TensorType
from netdsl.ir.dims import merge_shapes, same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@attrs.frozen(kw_only=True, slots=False)
class Activation(Operator):
    """Base of the activations: ``Y = f(X)``, in place if wanted."""

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X


@attrs.frozen(kw_only=True, slots=False)
class ActivationGradient(Operator):
    """Base of the gradients that are told from the output, which may have overwritten the input."""

    inputs = (In("Y", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    def infer(self, Y: TensorType, dY: TensorType) -> TensorType:
        if not same(Y.shape, dY.shape):
            raise InferenceError(f"{type(self).__name__}: the inputs differ in shape", expected=Y, got=dY)
        return Y.with_shape(merge_shapes(Y.shape, dY.shape))


@operator
class Relu(Activation):
    """``Y = max(X, 0)``; NaN stays NaN."""

    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def gradient(self, g: Gradients) -> None:
        g.add(ReluGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.maximum(X, 0)


@operator
class ReluGradient(ActivationGradient):
    """Gradient of :class:`Relu`, from its output: dY where Y > 0, else 0."""

    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return xp.where(Y > 0, dY, 0)


@operator
class LeakyRelu(Activation):
    """``Y = X`` where X is not negative, else ``alpha * X``.

    The gradient tells the two apart by the sign of Y, as Caffe2's does: with a negative ``alpha`` it is wrong.
    """

    alpha: float = arg(0.01, doc="Slope where X is negative.")

    def gradient(self, g: Gradients) -> None:
        g.add(LeakyReluGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.where(X >= 0, X, X * self.alpha)


@operator
class LeakyReluGradient(ActivationGradient):
    """Gradient of :class:`LeakyRelu`, from its output: dY where Y >= 0, else ``alpha * dY``."""

    alpha: float = arg(0.01, doc="As in LeakyRelu.")

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return xp.where(Y >= 0, dY, dY * self.alpha)


@operator
class Sigmoid(Activation):
    """``Y = 1 / (1 + exp(-X))``."""

    def gradient(self, g: Gradients) -> None:
        g.add(SigmoidGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return sigmoid(xp, wide(xp, X)).astype(X.dtype)


@operator
class SigmoidGradient(ActivationGradient):
    """Gradient of :class:`Sigmoid`, from its output: ``dY * Y * (1 - Y)``."""

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        y = wide(xp, Y)
        return (dY * y * (1 - y)).astype(Y.dtype)


@operator
class Tanh(Activation):
    """``Y = tanh(X)``."""

    def gradient(self, g: Gradients) -> None:
        g.add(TanhGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.tanh(wide(xp, X)).astype(X.dtype)


@operator
class TanhGradient(ActivationGradient):
    """Gradient of :class:`Tanh`, from its output: ``dY * (1 - Y * Y)``."""

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        y = wide(xp, Y)
        return (dY * (1 - y * y)).astype(Y.dtype)


_CUBIC = 0.044715
_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)


@operator
class Gelu(Activation):
    """``Y = X * Phi(X)``, where Phi is the distribution function of the standard normal distribution.

    With ``fast_gelu`` Phi is approximated by ``(1 + tanh(sqrt(2 / pi) * (X + 0.044715 * X^3))) / 2``.
    """

    outputs = (Out("Y"),)
    source = "https://arxiv.org/abs/1606.08415"

    fast_gelu: bool = arg(False, doc="Approximate by tanh.")

    def gradient(self, g: Gradients) -> None:
        g.add(GeluGradient, [g.grad.Y, g.blob.X], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        x = wide(xp, X)
        if self.fast_gelu:
            return (x * (1 + _bent(xp, x)) * 0.5).astype(X.dtype)
        return (x * 0.5 * (1 + xp.erf(x * math.sqrt(0.5)))).astype(X.dtype)


@operator
class GeluGradient(Operator):
    """Gradient of :class:`Gelu`, from its input: ``dY * (Phi(X) + X * phi(X))``, or of the approximation."""

    inputs = (In("dY", Float), In("X", Float))
    outputs = (Out("dX"),)
    elementwise = True

    fast_gelu: bool = arg(False, doc="As in Gelu.")

    def infer(self, dY: TensorType, X: TensorType) -> TensorType:
        if not same(X.shape, dY.shape):
            raise InferenceError("GeluGradient: the inputs differ in shape", expected=X, got=dY)
        return X.with_shape(merge_shapes(X.shape, dY.shape))

    def compute(self, xp: ArrayModule, dY: Array, X: Array) -> Array:
        x = wide(xp, X)
        if self.fast_gelu:
            bent = _bent(xp, x)
            slope = (1 - bent * bent) * (_ROOT_2_OVER_PI * 0.5) * (1 + x * x * (3 * _CUBIC))
        else:
            bent = xp.erf(x * math.sqrt(0.5))
            slope = xp.exp(x * x * -0.5) * (_ROOT_2_OVER_PI * 0.5)
        return (dY * ((1 + bent) * 0.5 + x * slope)).astype(X.dtype)


def _bent(xp: ArrayModule, x: Array) -> Array:
    return xp.tanh((x + x * x * x * _CUBIC) * _ROOT_2_OVER_PI)


def wide(xp: ArrayModule, x: Array) -> Array:
    """``x``, halves as float32."""
    return x.astype(xp.float32) if x.dtype == xp.float16 else x


def sigmoid(xp: ArrayModule, x: Array) -> Array:
    """The logistic function; exp may overflow to infinity, of which the inverse is 0."""
    return 1 / (1 + xp.exp(-x))
