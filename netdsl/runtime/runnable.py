"""``Runnable``: what can be run in a workspace, by one thread at a time."""

from __future__ import annotations

import abc
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from netdsl.errors import NetError, RunError
from netdsl.ir import NetDef
from netdsl.ops.turns import Turns
from netdsl.runtime.cells import Frame
from netdsl.runtime.executable import Executable
from netdsl.runtime.threads import apply_once

CONCURRENT = frozenset(["dag", "prof_dag", "async_dag", "async_scheduling", "async_polling", "parallel"])
"""The types of nets whose operators may run as soon as those that they depend on have; as Caffe2 calls them."""


class Runnable(abc.ABC):
    """An executable in a frame, for one thread at a time."""

    def __init__(self, frame: Frame, executable: Executable) -> None:
        self.frame, self.executable = frame, executable
        self._turns = Turns()

    @property
    def net(self) -> NetDef:
        """The net that it runs."""
        return self.executable.net

    def run(self, times: int = 1, *, hooks: Iterable[Any] = ()) -> None:
        """Run the net ``times`` times; with ``hooks``, see :mod:`netdsl.runtime.hooks`.

        Raises:
            BlobError: a blob that the net reads does not exist; nothing has run.
            RunError: it is running already.
            NetError: the workspace is closed.
            Exception: whatever an operator raises, with a note that tells which one; earlier operators' results stay.
        """
        if self.frame.clock.closed and self.frame.root.closed:
            raise NetError("the workspace is closed")
        apply_once()
        frame, watching = sys._getframe, tuple(hooks) if hooks else ()  # the frame in a variable would be a cycle
        self._turns.append(frame())
        try:
            if self._turns[0] is not frame() and self._turns.before(frame()) is not None:
                raise RunError(
                    f"net {self.net.name!r} is running already, in this program",
                    fix="run it in another workspace, or wait until it has ended",
                )
            self._run(times, watching)
        finally:
            self._turns.remove(frame())

    @property
    @abc.abstractmethod
    def remembers(self) -> bool:
        """Whether an operator keeps something from run to run."""

    @abc.abstractmethod
    def _run(self, times: int, hooks: Sequence[Any]) -> None:
        """Run the net, of which this thread has the turn."""

    def __reduce__(self) -> Any:
        raise TypeError("a program cannot be pickled: it runs in the memory of one process; send the NetDef")
