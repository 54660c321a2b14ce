"""Rescaling gradients and learning rates by norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Single
from netdsl.ops.optim.update import check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class Lars(Operator):
    """The learning rate of one layer, by the ratio of the norms of its parameter and its gradient.

    ``trust / (|dX| / |X| + wd + offset)``, or 1 where ``|X|`` is 0, cut to [lr_min, lr_max].
    """

    inputs = (
        In("X", Single, doc="The parameter."),
        In("dX", Single, doc="Its gradient."),
        In("wd", Single, doc="The weight decay, one number."),
        In("trust", Single, doc="How far to trust the layer, one number."),
        In("lr_max", Single, doc="The largest learning rate, one number."),
    )
    outputs = (Out("lr", doc="The learning rate, of shape [1]."),)
    source = "https://arxiv.org/abs/1708.03888"

    offset: float = arg(0.5, doc="Added to the denominator.")
    lr_min: float = arg(0.02, doc="The smallest learning rate.")

    def infer(self, X: TensorType, dX: TensorType, wd: TensorType, trust: TensorType, lr_max: TensorType) -> TensorType:
        check_update(self, X, gradient=dX, wd=wd, trust=trust, lr_max=lr_max)
        return TensorType(DType.FLOAT, (1,))

    def compute(self, xp: ArrayModule, X: Array, dX: Array, wd: Array, trust: Array, lr_max: Array) -> Array:
        x, dx = _norm(xp, X), _norm(xp, dX)
        ratio = dx / xp.where(x > 0, x, xp.float32(1))
        rescaled = xp.where(x > 0, trust / (ratio + wd + xp.float32(self.offset)), xp.float32(1))
        return xp.maximum(xp.minimum(rescaled, lr_max), xp.float32(self.lr_min)).reshape(1)

    def cost(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
        each = super().cost(inputs, inputs[:2])
        return None if each is None else 2 * each


def _norm(xp: ArrayModule, x: Array) -> Array:
    return xp.sqrt(xp.total(x * x).reshape(1))


@operator
class ClipTensorByScaling(Operator):
    """Scale a tensor by ``t / val`` where its norm ``val`` is above the threshold ``t``, else leave it."""

    inputs = (
        In("X", Single, doc="The tensor."),
        In("val", Single, doc="Its norm, one number."),
        In("additional_threshold", Single, optional=True, doc="Multiplies the threshold, one number."),
    )
    outputs = (Out("clipped", inplace="X"),)
    elementwise = True

    threshold: float = arg(0.0, doc="The largest norm; positive.")

    def __attrs_post_init__(self) -> None:
        if not self.threshold > 0:
            raise SchemaError("ClipTensorByScaling: 'threshold' must be positive", got=self.threshold)

    def infer(self, X: TensorType, val: TensorType, additional_threshold: TensorType | None = None) -> TensorType:
        check_update(self, X, val=val, additional_threshold=additional_threshold)
        return X

    def compute(self, xp: ArrayModule, X: Array, val: Array, additional_threshold: Array | None = None) -> Array:
        limit = xp.float32(self.threshold)
        if additional_threshold is not None:
            limit = additional_threshold * limit
        return X * xp.where(val > limit, limit / xp.maximum(val, limit), xp.float32(1))
