"""Less common activations; as in :mod:`netdsl.ops.nn.activation`, halves are computed in float32."""

from __future__ import annotations

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import TensorType
from netdsl.ir.dims import merge_shapes, same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.activation import Activation, ActivationGradient, sigmoid, wide
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543773, 1.0507009873554805


@operator
class Elu(Activation):
    """``Y = X`` where X is not negative, else ``alpha * (exp(X) - 1)``."""

    source = "https://arxiv.org/abs/1511.07289"

    alpha: float = arg(1.0, doc="How far below zero Y reaches.")

    def gradient(self, g: Gradients) -> None:
        g.add(EluGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        x = wide(xp, X)
        return xp.where(x < 0, (xp.exp(x) - 1) * self.alpha, x).astype(X.dtype)


@operator
class EluGradient(ActivationGradient):
    """Gradient of :class:`Elu`, from its output: ``dY * (Y + alpha)`` where Y < 0, else dY."""

    alpha: float = arg(1.0, doc="As in Elu.")

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        y = wide(xp, Y)
        return xp.where(y < 0, dY * (y + self.alpha), dY).astype(Y.dtype)


@operator
class Selu(Activation):
    """``Y = scale * X`` where X is positive, else ``scale * alpha * (exp(X) - 1)``."""

    source = "https://arxiv.org/abs/1706.02515"

    alpha: float = arg(_SELU_ALPHA, doc="How far below zero Y reaches, before scaling.")
    scale: float = arg(_SELU_SCALE, doc="Slope where X is positive; above 1.")

    def __attrs_post_init__(self) -> None:
        if not self.scale > 1:
            raise SchemaError("Selu: the scale must be greater than 1", got=self.scale)

    def gradient(self, g: Gradients) -> None:
        g.add(SeluGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        x = wide(xp, X)
        return (xp.where(x > 0, x, xp.exp(x) * self.alpha - self.alpha) * self.scale).astype(X.dtype)


@operator
class SeluGradient(ActivationGradient):
    """Gradient of :class:`Selu`, from its output: ``dY * scale`` where Y > 0, else ``dY * (Y + alpha * scale)``."""

    alpha: float = arg(_SELU_ALPHA, doc="As in Selu.")
    scale: float = arg(_SELU_SCALE, doc="As in Selu.")

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        y = wide(xp, Y)
        return xp.where(y > 0, dY * self.scale, dY * (y + self.alpha * self.scale)).astype(Y.dtype)


@operator
class ReluN(Activation):
    """``Y = min(max(X, 0), n)``; NaN stays NaN."""

    n: float = arg(6.0, doc="The greatest output, positive.")

    def __attrs_post_init__(self) -> None:
        if not self.n > 0:
            raise SchemaError("ReluN: n must be positive", got=self.n)

    def gradient(self, g: Gradients) -> None:
        g.add(ReluNGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.minimum(xp.maximum(X, 0), self.n)


@operator
class ReluNGradient(ActivationGradient):
    """Gradient of :class:`ReluN`, from its output: dY where 0 < Y < n, else 0."""

    n: float = arg(6.0, doc="As in ReluN.")

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return xp.where((Y > 0) & (self.n > Y), dY, 0)


@operator
class HardSigmoid(Activation):
    """``Y = min(max(alpha * X + beta, 0), 1)``."""

    alpha: float = arg(0.2, doc="Slope between the bounds.")
    beta: float = arg(0.5, doc="Y where X is 0.")

    def gradient(self, g: Gradients) -> None:
        g.add(HardSigmoidGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.minimum(xp.maximum(wide(xp, X) * self.alpha + self.beta, 0), 1).astype(X.dtype)


@operator
class HardSigmoidGradient(ActivationGradient):
    """Gradient of :class:`HardSigmoid`, from its output: ``alpha * dY`` where 0 < Y < 1, else 0."""

    alpha: float = arg(0.2, doc="As in HardSigmoid.")
    beta: float = arg(0.5, doc="Has no influence; copied from HardSigmoid.", hint=True)

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return xp.where((Y > 0) & (Y < 1), dY * self.alpha, 0)


@operator
class Softplus(Activation):
    """``Y = log(exp(X) + 1)``; infinite where exp overflows."""

    def gradient(self, g: Gradients) -> None:
        g.add(SoftplusGradient, [g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.log(xp.exp(wide(xp, X)) + 1).astype(X.dtype)


@operator
class SoftplusGradient(ActivationGradient):
    """Gradient of :class:`Softplus`, from its output: ``dY * (1 - exp(-Y))``."""

    def compute(self, xp: ArrayModule, Y: Array, dY: Array) -> Array:
        return (dY * (1 - xp.exp(-wide(xp, Y)))).astype(Y.dtype)


@operator
class Softsign(Activation):
    """``Y = X / (1 + |X|)``; its gradient needs X, which must not be overwritten."""

    def gradient(self, g: Gradients) -> None:
        g.add(SoftsignGradient, [g.blob.X, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        x = wide(xp, X)
        return (x / (1 + xp.abs(x))).astype(X.dtype)


@operator
class SoftsignGradient(Operator):
    """Gradient of :class:`Softsign`, from its input: ``dY / (1 + |X|)^2``."""

    inputs = (In("X", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    def infer(self, X: TensorType, dY: TensorType) -> TensorType:
        return _merged("SoftsignGradient", X, dY)

    def compute(self, xp: ArrayModule, X: Array, dY: Array) -> Array:
        below = 1 + xp.abs(wide(xp, X))
        return (dY / (below * below)).astype(X.dtype)


@operator
class Swish(Activation):
    """``Y = X / (1 + exp(-X))``."""

    outputs = (Out("Y"),)
    source = "https://arxiv.org/abs/1710.05941"

    def gradient(self, g: Gradients) -> None:
        g.add(SwishGradient, [g.blob.X, g.blob.Y, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        x = wide(xp, X)
        return (x / (1 + xp.exp(-x))).astype(X.dtype)


@operator
class SwishGradient(Operator):
    """Gradient of :class:`Swish`: ``dY * (Y + s * (1 - Y))``, where s is the sigmoid of X."""

    inputs = (In("X", Float), In("Y", Float), In("dY", Float))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True

    def infer(self, X: TensorType, Y: TensorType, dY: TensorType) -> TensorType:
        return _merged("SwishGradient", _merged("SwishGradient", X, Y), dY)

    def compute(self, xp: ArrayModule, X: Array, Y: Array, dY: Array) -> Array:
        y = wide(xp, Y)
        return (dY * (y + sigmoid(xp, wide(xp, X)) * (1 - y))).astype(X.dtype)


def _merged(name: str, a: TensorType, b: TensorType) -> TensorType:
    if not same(a.shape, b.shape):
        raise InferenceError(f"{name}: the inputs differ in shape", expected=a, got=b)
    return a.with_shape(merge_shapes(a.shape, b.shape))
