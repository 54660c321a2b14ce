"""The mean of losses."""

from __future__ import annotations

from netdsl.errors import InferenceError
from netdsl.ir import TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class AveragedLoss(Operator):
    """The mean of all elements, 0 of none; halves are summed in float32."""

    inputs = (In("input", Float, doc="Losses of any shape."),)
    outputs = (Out("output", doc="A scalar."),)
    role = "loss"

    def infer(self, input: TensorType) -> TensorType:
        return input.with_shape(())

    def gradient(self, g: Gradients) -> None:
        g.add(AveragedLossGradient, [g.blob.input, g.grad.output], [g.grad.input])

    def compute(self, xp: ArrayModule, input: Array) -> Array:
        wide = xp.float32 if input.dtype == xp.float16 else input.dtype
        mean = xp.sum(input, dtype=wide) / max(input.size, 1)
        return mean.astype(input.dtype)


@operator
class AveragedLossGradient(Operator):
    """Gradient of :class:`AveragedLoss`: its output's, shared evenly among the elements."""

    inputs = (In("input", Float), In("doutput", Float.untied(), doc="A scalar."))
    outputs = (Out("dinput"),)

    def infer(self, input: TensorType, doutput: TensorType) -> TensorType:
        if conflict(product(doutput.shape or ()), 1):
            raise InferenceError("AveragedLossGradient: one gradient is needed", expected="one element", got=doutput)
        return input

    def compute(self, xp: ArrayModule, input: Array, doutput: Array) -> Array:
        share = (doutput / max(input.size, 1)).reshape(()).astype(input.dtype)
        return xp.zeros_like(input) + share
