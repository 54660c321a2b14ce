"""Signatures of the optim operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device, NetDef

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class OptimCalls:
    def FP16MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., weight_decay: float = ..., fp32_update: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP16MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate` on half-precision blobs, with weight decay fused in.

        Arithmetic is in float16, rounded after each operation, or in float32 with one rounding at the end
        (``fp32_update``). The learning rate stays float32.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param.

        fp32_update: Compute in single precision."""

    def FP32MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP32MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate`, with weight decay fused in.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def MomentumSGD(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """step, momentum_out = MomentumSGD(grad, momentum_in, lr)

        The step of momentum SGD and the new momentum; applying the step is left to another operator.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = MomentumSGDUpdate(grad, momentum_in, lr, param)

        One step of momentum SGD: writes the step over the gradient, the new momentum and the parameter.

        ``momentum' = momentum * m + lr * grad`` and ``param' = param - step``, where the step is the new momentum,
        or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""
