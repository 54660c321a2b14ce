"""Zeros for a gradient that nothing flows into."""

from __future__ import annotations

from netdsl.ir import TensorType
from netdsl.ops.dtypes import Scalar
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.shape.common import free
from netdsl.ops.xp import Array, ArrayModule


@operator
class ZerosLike(Operator):
    """Zeros of the shape and dtype of X: the gradient of an output that the loss does not depend on.

    Caffe2 leaves such a gradient out, or fills float32 whatever the dtype.
    """

    inputs = (In("X", Scalar),)
    outputs = (Out("Y"),)
    role = "fill"
    ours = True

    cost = free

    def infer(self, X: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.zeros_like(X)
