"""Signatures of the nn operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device, NetDef

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class NnCalls:
    def Dropout(self, inputs: _Ins = ..., outputs: _Outs = ..., *, is_test: bool, ratio: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Y, [mask] = Dropout(X)

        Zero each element with probability ``ratio`` and scale the others by ``1 / (1 - ratio)``.

        In test mode Y is X, and a mask is neither drawn nor written.

        is_test: Pass the input on unchanged.

        ratio: Probability of zeroing an element."""

    def DropoutGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, is_test: bool, ratio: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = DropoutGradient(dY, [mask])

        Gradient of :class:`Dropout`: dY scaled where the mask kept the input; in test mode dY.

        is_test: As in Dropout.

        ratio: As in Dropout."""

    def FC(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., axis_w: int = ..., float16_compute: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = FC(X, W, b)

        Multiply by a weight matrix and add a bias: ``Y = X @ W.T + b``.

        ``X`` and ``W`` are first coerced to matrices at ``axis`` and ``axis_w``; ``Y`` keeps the dims of X
        before ``axis``.

        axis: First axis of X that counts as features.

        axis_w: First axis of W that counts as features.

        float16_compute: Allow half accumulation; products here always accumulate in float32."""

    def FCGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., axis_w: int = ..., float16_compute: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dW, db, [dX] = FCGradient(X, W, dY)

        Gradients of :class:`FC` for its weights, its bias and, where asked for, its input.

        axis: As in FC.

        axis_w: As in FC.

        float16_compute: As in FC."""

    def Relu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, cudnn_exhaustive_search: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Relu(X)

        ``Y = max(X, 0)``; NaN stays NaN.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def ReluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, cudnn_exhaustive_search: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReluGradient(Y, dY)

        Gradient of :class:`Relu`, from its output: dY where Y > 0, else 0.

        cudnn_exhaustive_search: A hint for cuDNN."""
