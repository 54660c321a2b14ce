"""What an operator's ``gradient`` method is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from netdsl.ir import NetDef


class Gradients(Protocol):
    """Names by formal, and places to append the backward operators of one forward operator.

    ``g.blob.X`` is the blob passed (or returned) as X: a name, None where absent, a tuple for a run. Naming
    an input that the operator overwrote in place is an error; naming the output is not.
    ``g.grad.Y`` of an output is the blob that holds its gradient, or None where nothing flows back;
    ``g.grad.X`` of an input is the name its gradient must get.
    """

    blob: Any
    grad: Any

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments given to the forward operator."""
        ...

    def add(
        self,
        type_: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        args: Mapping[str, Any] | None = None,
    ) -> None:
        """Append a backward operator (its class or type name); it copies the forward arguments unless given others.

        Runs (tuples) are opened and None is left out. A gradient may be written in several steps, each
        overwriting ``g.grad.X``; outputs' gradients are overwritten only where ``is_shared`` says no.
        """
        ...

    def same(self, source: Any, target: Any) -> None:
        """Let ``source`` be the gradient ``target`` without an operator."""
        ...

    def sparse(self, target: Any, indices: Any, values: Any) -> None:
        """Let ``target`` be the sparse gradient with these index and value blobs."""
        ...

    def is_shared(self, grad: Any) -> bool:
        """Whether ``grad`` is the gradient of another blob too, or a blob of the net: it must not be overwritten."""
        ...

    def zeros(self, like: str) -> str:
        """Append a fill of zeros shaped as ``like``; for an output nothing flows back to."""
        ...

    def temp(self, suffix: str) -> str:
        """Return the name of a helper blob, made of the first input's gradient and ``suffix``."""
        ...

    def nested(self, net: NetDef, grads: Mapping[str, str]) -> tuple[NetDef, Mapping[str, str]]:
        """Differentiate a nested net: the gradient net, and the gradient blob of each blob, given its outputs'."""
        ...
