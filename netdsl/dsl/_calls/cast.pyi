"""Signatures of the cast operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class CastCalls:
    def Cast(self, inputs: _Ins = ..., outputs: _Outs = ..., *, to: Any = ..., from_type: Any = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Cast(X)

        Convert to another dtype, as C does: floats lose their fraction, bools are 0 and 1.

        to: The dtype, as a number or a name.

        from_type: The dtype of X; needed for a gradient."""

    def FloatToHalf(self, inputs: _Ins = ..., outputs: _Outs = ..., *, clip: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = FloatToHalf(X)

        Round float32 to the nearest float16, ties to even; too large becomes infinite unless clipped.

        clip: Saturate at +-65504 (NaN becomes 65504)."""

    def HalfToFloat(self, inputs: _Ins = ..., outputs: _Outs = ..., *, clip: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = HalfToFloat(X)

        Convert float16 to float32, exactly.

        clip: Kept from FloatToHalf when this is its gradient; changes nothing."""
