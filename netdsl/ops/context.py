"""``RunContext``: how an operator with effects reaches the runtime, which implements it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.xp import ArrayModule, Stream


class RunFrame(Protocol):
    """Blobs by name, as a nested net sees them; an operator may keep frames in its ``memory``."""


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
        """What this operator keeps from one run of its net to the next, in this frame."""
        ...

    # nested nets

    def frame(self, bound: Mapping[str, str] | None = None, local: Sequence[str] = ()) -> RunFrame:
        """Return a child frame, where blobs of this one go by other names: ``{inner: outer}``.

        A nested net run there reads other blobs of this frame by their own names. What it writes under a name
        that is neither bound nor here stays in the child frame, and so does what is ``local``, which it has
        of its own even where this frame has a blob so called.
        """
        ...

    def execute(self, net: NetDef, frame: RunFrame | None = None) -> None:
        """Run a nested net once, in this frame or in a child; what it writes is visible to what follows."""
        ...

    # blobs by name

    def has(self, name: str, frame: RunFrame | None = None) -> bool:
        """Whether a blob exists."""
        ...

    def take(self, name: str, frame: RunFrame | None = None) -> Any:
        """Return the very value of a blob: do not write to it, nor keep it beyond the call.

        Raises:
            BlobError: it does not exist.
        """
        ...

    def put(self, name: str, value: Any, frame: RunFrame | None = None) -> None:
        """Make a blob hold ``value``.

        An array of the backend is given away, and the caller touches it no more; it is copied only where the blob
        holds one of its dtype and shape already, to which the calls of nets are bound.
        """
        ...

    def fetch(self, name: str) -> Any:
        """Return a copy of a blob by name."""
        ...

    # the world outside

    def stream(self, name: str = "") -> Stream:
        """Return random numbers of this operator's own in the present run; ``name`` tells several apart.

        Raises:
            RunError: the operator's class does not declare ``draws = True``.
        """
        ...

    def function(self, token: str) -> Callable[..., Any] | None:
        """Return the function that the workspace or one of its parents has, or allows, under ``token``, if any."""
        ...

    def write(self, text: str) -> None:
        """Show one line to the person at the terminal (or to the workspace's ``output``)."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether the run is to end, by an error elsewhere, Ctrl-C or ``close``: what waits must give up."""
        ...

    def wait(self, attempt: Callable[[float], Any], what: str) -> Any:
        """Call ``attempt(seconds)``, which may wait for so long, until it returns something but None.

        Args:
            attempt: Returns None where what is waited for has not come within ``seconds``.
            what: What is waited for, for the message of an interrupt: "an item in queue 'q'".

        Raises:
            RunError: the run is to end.
        """
        ...
