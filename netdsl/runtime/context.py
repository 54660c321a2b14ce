"""What an operator with effects is given: the implementation of ``RunContext``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.xp import ArrayModule

if TYPE_CHECKING:
    from netdsl.runtime.program import Program


@attrs.frozen(eq=False)
class Context:
    """See :class:`netdsl.ops.context.RunContext`."""

    program: Program
    op: OperatorDef
    xp: ArrayModule
    memory: dict[str, Any]

    def execute(self, net: NetDef) -> None:
        """Run a nested net in the same workspace, under the same hooks."""
        self.program.workspace.run(net, hooks=self.program.hooks)

    def fetch(self, name: str) -> Any:
        """Return a blob of the workspace, as ``Workspace.fetch`` does."""
        return self.program.workspace.fetch(name)

    def write(self, text: str) -> None:
        """Print one line to the workspace's ``output``."""
        print(text, file=self.program.workspace.output)
