"""Signatures of the shape operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device, NetDef

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class ShapeCalls:
    def Concat(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., order: str = ..., add_axis: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """Y, split_info = Concat(Xs...)

        Join tensors along an axis, or stack them along a new one (``add_axis``).

        axis: The axis; by default the channels of ``order``.

        order: NCHW or NHWC: where the channels stand, for the default axis.

        add_axis: Put the inputs along a new axis."""

    def Split(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., split: Sequence[int] = ..., order: str = ..., add_axis: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Ys... = Split(X, [lengths])

        Cut a tensor into pieces along an axis: equal ones, or of the extents given.

        axis: The axis; by default the channels of ``order``.

        split: The extent of each piece; equal ones by default.

        order: NCHW or NHWC: where the channels stand, for the default axis.

        add_axis: Remove the axis from every piece (undoes Concat's add_axis)."""
