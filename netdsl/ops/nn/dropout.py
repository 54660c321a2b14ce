"""Dropout."""

from __future__ import annotations

from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Boolean, Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule, Stream


@operator
class Dropout(Operator):
    """Zero each element with probability ``ratio`` and scale the others by ``1 / (1 - ratio)``.

    In test mode Y is X, and a mask is neither drawn nor written.
    """

    inputs = (In("X", Float),)
    outputs = (Out("Y", inplace="X"), Out("mask", optional=True, doc="bool: which elements were kept."))
    test_arg = "is_test"
    test_outputs = 1
    source = "https://jmlr.org/papers/v15/srivastava14a.html"

    is_test: bool = arg(doc="Pass the input on unchanged.")
    ratio: float = arg(0.5, doc="Probability of zeroing an element.")

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.ratio < 1:
            raise SchemaError("Dropout: 'ratio' must lie in [0, 1)", got=self.ratio)

    def infer(self, X: TensorType) -> tuple[TensorType, TensorType]:
        return X, X.with_dtype(DType.BOOL)

    def gradient(self, g: Gradients) -> None:
        inputs = [g.grad.Y] if self.is_test else [g.grad.Y, g.blob.mask]
        g.add(DropoutGrad, inputs, [g.grad.X])

    def sample(self, xp: ArrayModule, stream: Stream, X: Array) -> tuple[Array, Array | None]:
        if self.is_test:
            return X, None
        mask = stream.keep(X.shape, self.ratio)
        return _scaled(xp, X, mask, self.ratio), mask


@operator
class DropoutGrad(Operator):
    """Gradient of :class:`Dropout`: dY scaled where the mask kept the input; in test mode dY."""

    inputs = (In("dY", Float), In("mask", Boolean, optional=True))
    outputs = (Out("dX", inplace="dY"),)
    elementwise = True
    test_arg = "is_test"

    is_test: bool = arg(False, doc="As in Dropout.")
    ratio: float = arg(0.5, doc="As in Dropout.")

    def infer(self, dY: TensorType, mask: TensorType | None = None) -> TensorType:
        return dY

    def compute(self, xp: ArrayModule, dY: Array, mask: Array | None = None) -> Array:
        return dY if self.is_test or mask is None else _scaled(xp, dY, mask, self.ratio)


def _scaled(xp: ArrayModule, x: Array, mask: Array, ratio: float) -> Array:
    scale = xp.float32(1) / (xp.float32(1) - xp.float32(ratio))
    return xp.where(mask, x * scale.astype(x.dtype), 0).astype(x.dtype)
