"""``RunContext``: how an operator with effects reaches the runtime, which implements it."""

from __future__ import annotations

from typing import Any, Protocol

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.xp import ArrayModule


class RunContext(Protocol):
    """What ``run`` receives as ``ctx``; valid only during the call."""

    @property
    def xp(self) -> ArrayModule:
        """The array functions of the workspace's backend."""
        ...

    @property
    def op(self) -> OperatorDef:
        """The record being run."""
        ...

    @property
    def memory(self) -> dict[str, Any]:
        """What this operator keeps from one run of its net to the next, in this workspace."""
        ...

    def execute(self, net: NetDef) -> None:
        """Run a nested net in this workspace; what it writes is visible to what follows."""
        ...

    def fetch(self, name: str) -> Any:
        """Return a blob of the workspace by name."""
        ...

    def write(self, text: str) -> None:
        """Show one line to the person at the terminal (or to the workspace's ``output``)."""
        ...
