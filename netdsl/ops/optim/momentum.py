"""Momentum SGD updates, in single and in half precision."""

from __future__ import annotations

from typing import Any

from netdsl.ir import TensorType
from netdsl.ops.dtypes import Half, Index, Single
from netdsl.ops.optim.update import INDICES_DOC, LR_DOC, check_rows, check_update, update_rows
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

MOMENTUM_DOC = "How much of the last step is kept."
NESTEROV_DOC = "Look ahead along the new momentum."


def momentum_step(grad: Array, m: Array, lr: Array, mu: Any, one: Any, nesterov: bool) -> tuple[Array, Array]:
    """Return the step to subtract from the parameter, and the new momentum (which includes ``lr``)."""
    new_m = mu * m + lr * grad
    return ((one + mu) * new_m - mu * m if nesterov else new_m), new_m


@operator
class MomentumSGD(Operator):
    """The step of momentum SGD and the new momentum; applying the step is left to another operator."""

    inputs = (In("grad", Single), In("momentum_in", Single), In("lr", Single))
    outputs = (Out("step", inplace="grad"), Out("momentum_out", inplace="momentum_in"))
    elementwise = True
    role = "update"

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)

    def infer(self, grad: TensorType, momentum_in: TensorType, lr: TensorType) -> tuple[TensorType, TensorType]:
        check_update(self, grad, momentum=momentum_in, lr=lr)
        return grad, momentum_in

    def compute(self, xp: ArrayModule, grad: Array, momentum_in: Array, lr: Array) -> tuple[Array, Array]:
        return momentum_step(grad, momentum_in, lr, xp.float32(self.momentum), xp.float32(1), self.nesterov)


@operator
class MomentumSGDUpdate(Operator):
    """One step of momentum SGD: writes the step over the gradient, the new momentum and the parameter.

    ``momentum' = momentum * m + lr * grad`` and ``param' = param - step``, where the step is the new momentum,
    or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``.
    """

    inputs = (
        In("grad", Single, doc="Gradient of the parameter."),
        In("momentum_in", Single, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("param", Single, doc="The parameter."),
    )
    outputs = (
        Out("step", inplace="grad", doc="What was subtracted."),
        Out("momentum_out", inplace="momentum_in"),
        Out("param_out", inplace="param"),
    )
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)

    def infer(
        self, grad: TensorType, momentum_in: TensorType, lr: TensorType, param: TensorType
    ) -> tuple[TensorType, ...]:
        check_update(self, param, gradient=grad, momentum=momentum_in, lr=lr)
        return grad, momentum_in, param

    def compute(self, xp: ArrayModule, grad: Array, momentum_in: Array, lr: Array, param: Array) -> tuple[Array, ...]:
        mu, one = xp.float32(self.momentum), xp.float32(1)
        step, new_m = momentum_step(grad, momentum_in, lr, mu, one, self.nesterov)
        return step, new_m, param - step


@operator
class SparseMomentumSGDUpdate(Operator):
    """As :class:`MomentumSGDUpdate`, for the rows of the parameter that ``indices`` names.

    A row that occurs more than once is updated as often, one time after the other.
    """

    inputs = (
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("momentum_in", Single, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("param", Single, doc="The parameter."),
        In("indices", Index, doc=INDICES_DOC),
    )
    outputs = (
        Out("step", inplace="grad", doc="What was subtracted for each index."),
        Out("momentum_out", inplace="momentum_in", enforced="momentum_in", rows="indices"),
        Out("param_out", inplace="param", enforced="param", rows="indices"),
    )
    role = "update"
    updates = (("param_out", "param"),)

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)

    def infer(
        self, grad: TensorType, momentum_in: TensorType, lr: TensorType, param: TensorType, indices: TensorType
    ) -> tuple[TensorType, ...]:
        check_update(self, param, momentum=momentum_in, lr=lr)
        check_rows(self, param, indices, grad)
        return grad, momentum_in, param

    def compute(
        self, xp: ArrayModule, grad: Array, momentum_in: Array, lr: Array, param: Array, indices: Array
    ) -> tuple[Array, ...]:
        mu, one = xp.float32(self.momentum), xp.float32(1)

        def step(p: Array, m: Array, g: Array) -> tuple[Array, ...]:
            taken, new_m = momentum_step(g, m, lr, mu, one, self.nesterov)
            return p - taken, new_m, taken

        taken = xp.empty(grad.shape, dtype=grad.dtype)
        update_rows(self, xp, indices, [param, momentum_in], grad, step, taken)
        return taken, momentum_in, param


@operator
class FP16MomentumSGDUpdate(Operator):
    """As :class:`MomentumSGDUpdate` on half-precision blobs, with weight decay fused in.

    Arithmetic is in float16, rounded after each operation, or in float32 with one rounding at the end
    (``fp32_update``). The learning rate stays float32.
    """

    inputs = (
        In("grad", Half, doc="Gradient of the parameter."),
        In("momentum_in", Half, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("param", Half, doc="The parameter."),
    )
    outputs = MomentumSGDUpdate.outputs
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)
    weight_decay: float = arg(0.0, doc="Decay added to the gradient: weight_decay * param.")
    fp32_update: bool = arg(False, doc="Compute in single precision.")

    def infer(
        self, grad: TensorType, momentum_in: TensorType, lr: TensorType, param: TensorType
    ) -> tuple[TensorType, ...]:
        check_update(self, param, gradient=grad, momentum=momentum_in, lr=lr)
        return grad, momentum_in, param

    def compute(self, xp: ArrayModule, grad: Array, momentum_in: Array, lr: Array, param: Array) -> tuple[Array, ...]:
        f16, f32 = xp.float16, xp.float32
        if self.fp32_update:
            g, m, p = grad.astype(f32), momentum_in.astype(f32), param.astype(f32)
            mu, one = f32(self.momentum), f32(1)
            step, new_m = momentum_step(g + f32(self.weight_decay) * p, m, lr, mu, one, self.nesterov)
            return step.astype(f16), new_m.astype(f16), (p - step).astype(f16)
        mu, decay = f16(self.momentum), f16(self.weight_decay)
        kept = mu * momentum_in
        new_m = _fused(xp, lr.astype(f16), _fused(xp, decay, param, grad), kept)
        step = _fused(xp, mu, new_m, new_m) - kept if self.nesterov else new_m
        return step, new_m, param - step


@operator
class FP32MomentumSGDUpdate(Operator):
    """As :class:`MomentumSGDUpdate`, with weight decay fused in."""

    inputs = MomentumSGDUpdate.inputs
    outputs = MomentumSGDUpdate.outputs
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)
    weight_decay: float = arg(0.0, doc="Decay added to the gradient: weight_decay * param.")

    def infer(
        self, grad: TensorType, momentum_in: TensorType, lr: TensorType, param: TensorType
    ) -> tuple[TensorType, ...]:
        check_update(self, param, gradient=grad, momentum=momentum_in, lr=lr)
        return grad, momentum_in, param

    def compute(self, xp: ArrayModule, grad: Array, momentum_in: Array, lr: Array, param: Array) -> tuple[Array, ...]:
        mu, one = xp.float32(self.momentum), xp.float32(1)
        decayed = grad + xp.float32(self.weight_decay) * param
        step, new_m = momentum_step(decayed, momentum_in, lr, mu, one, self.nesterov)
        return step, new_m, param - step


def _fused(xp: ArrayModule, a: Any, b: Any, c: Any) -> Array:
    """``a * b + c`` of halves with one rounding: the product of two halves is exact in float32."""
    return (a.astype(xp.float32) * b.astype(xp.float32) + c.astype(xp.float32)).astype(xp.float16)
