"""Signatures of the control operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class ControlCalls:
    def If(self, inputs: _Ins = ..., outputs: _Outs = ..., *, then_net: Any = ..., else_net: Any = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Ys... = If(condition, Xs...)

        Run ``then_net`` where the condition is true, else ``else_net``, in the same workspace.

        Inputs after the condition and the outputs are the blobs that either net reads and writes; they
        go by their own names, not by position.

        then_net: Run where the condition is true.

        else_net: Run where it is false; nothing is run without it.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""
