"""Signatures of the utility operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device, NetDef

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class UtilityCalls:
    def CheckTensor(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> None:
        """CheckTensor(X)

        Raise unless a blob that the author provides is there, with the shape and dtype expected.

        shape: The shape expected; any by default.

        dtype: The dtype expected; any by default."""
