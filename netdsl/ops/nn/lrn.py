"""Local response normalisation across channels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import TensorType
from netdsl.ir.dims import same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.window import known, shape_of, wide
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@attrs.frozen(kw_only=True, slots=False)
class ResponseNorm(Operator):
    """What LRN and its gradient have in common."""

    size: int = arg(0, doc="How many neighbouring channels are summed.")
    alpha: float = arg(0.0, doc="Factor of their mean square.")
    beta: float = arg(0.0, doc="Power of the sum that X is divided by.")
    bias: float = arg(1.0, doc="Added to the sum.")
    order: str = arg("NCHW", doc="Where the channels stand.", choices=("NCHW", "NHWC"))
    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def __attrs_post_init__(self) -> None:
        if self.size < 1:
            raise SchemaError(
                f"{type(self).__name__} needs how many channels to sum", expected="size above 0", got=self.size
            )

    def check(self, X: TensorType) -> None:
        """Raise InferenceError unless X has a batch, channels and two spatial axes."""
        if X.rank != 4:
            raise InferenceError(f"{type(self).__name__}: X must have four axes", expected=self.order, got=X)

    def neighbours(self, xp: ArrayModule, x: Array, before: int) -> Array:
        """Sum ``size`` neighbouring channels, ``before`` of them in front."""
        axis = 1 if self.order == "NCHW" else 3
        channels = x.shape[axis]
        shape = list(x.shape)
        shape[axis] = channels + self.size - 1
        wider = xp.zeros(shape, dtype=x.dtype)
        lead: tuple[Any, ...] = (slice(None),) * axis
        wider[(*lead, slice(before, before + channels))] = x
        return functools.reduce(xp.add, [wider[(*lead, slice(i, i + channels))] for i in range(self.size)])

    def denominators(self, xp: ArrayModule, x: Array) -> Array:
        """``bias + alpha / size *`` the sum of squares around each element."""
        return self.neighbours(xp, x * x, (self.size - 1) // 2) * (self.alpha / self.size) + self.bias

    def inverse(self, xp: ArrayModule, scale: Array) -> Array:
        """``scale ** -beta``; the usual power by roots, which is far quicker."""
        if self.beta == 0.75:
            root = xp.sqrt(scale)
            return 1 / (root * xp.sqrt(root))
        return xp.power(scale, -self.beta)


@operator
class LRN(ResponseNorm):
    """Divide each element by a power of the squares around it: ``Y = X * scale ** -beta``.

    ``scale = bias + alpha / size * sum of squares`` of ``size`` neighbouring channels.
    """

    inputs = (In("X", Float, doc="N x C x H x W, or N x H x W x C (order NHWC)."),)
    outputs = (Out("Y"), Out("Y_scale", optional=True, doc="The scale."))
    source = "https://papers.nips.cc/paper/4824-imagenet-classification-with-deep-convolutional-neural-networks"

    def infer(self, X: TensorType) -> tuple[TensorType, TensorType]:
        self.check(X)
        return X, X

    def gradient(self, g: Gradients) -> None:
        g.add(LRNGradient, [g.blob.X, g.blob.Y, g.grad.Y or g.zeros(g.blob.Y)], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> tuple[Array, Array]:
        x = wide(xp, X)
        scale = self.denominators(xp, x)
        return (x * self.inverse(xp, scale)).astype(X.dtype), scale.astype(X.dtype)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[0]))
        return None if size is None else size * (self.size + 5)


@operator
class LRNGradient(ResponseNorm):
    """Gradient of :class:`LRN`."""

    inputs = (In("X", Float), In("Y", Float), In("dY", Float))
    outputs = (Out("dX"),)

    def infer(self, X: TensorType, Y: TensorType, dY: TensorType) -> TensorType:
        self.check(X)
        for given in (Y, dY):
            if not same(X.shape, given.shape):
                raise InferenceError("LRNGradient: inputs differ in shape", expected=X, got=given)
        return X

    def compute(self, xp: ArrayModule, X: Array, Y: Array, dY: Array) -> Array:
        x, dy = wide(xp, X), wide(xp, dY)
        scale = self.denominators(xp, x)
        # An element counts in the sums of the channels that have it around them: the window mirrored.
        shared = self.neighbours(xp, dy * wide(xp, Y) / scale, self.size // 2)
        return (dy * self.inverse(xp, scale) - x * shared * (2 * self.alpha * self.beta / self.size)).astype(X.dtype)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[0]))
        return None if size is None else size * (2 * self.size + 12)
