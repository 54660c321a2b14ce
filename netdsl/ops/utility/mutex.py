"""The mutex that some counters want."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from netdsl.errors import RunError
from netdsl.ir import Opaque
from netdsl.ops.context import RunContext
from netdsl.ops.schema import Operator, Out, operator
from netdsl.ops.turns import Turns, called

T = TypeVar("T")
PAUSE = 0.0005
"""Seconds between two looks at a mutex that is held: mostly for microseconds."""


class Mutex:
    """A mutex as a blob: one call at a time holds it, and no call beyond its own end, however it ends."""

    kind = "mutex"

    def __init__(self) -> None:
        self._turns = Turns()

    def during(self, ctx: RunContext, action: Callable[..., T], *args: Any) -> T:
        """Return ``action(*args)``, called while this call holds the mutex.

        Raises:
            RunError: this thread holds it already, and so would wait for itself; or the run is to end.
        """
        frame = sys._getframe  # pyright: ignore[reportPrivateUsage]  (the frame in a variable would be a cycle)
        self._turns.append(frame())
        try:
            if self._turns[0] is not frame() and self._held(frame()):
                ctx.wait(partial(self._turn, frame()), "a mutex that another thread holds")
            return action(*args)
        finally:
            self._turns.remove(frame())

    def _turn(self, mine: FrameType, seconds: float) -> bool | None:
        """Wait until it is the turn of ``mine``; None if it is not within ``seconds``."""
        end, pause = time.monotonic() + seconds, 0.0
        while self._held(mine):
            if time.monotonic() >= end:
                return None
            time.sleep(pause)
            pause = PAUSE
        return True

    def _held(self, mine: FrameType) -> bool:
        """Whether it is the turn of another call than ``mine``.

        Raises:
            RunError: the one that holds the mutex called, in the end, ``mine``.
        """
        other = self._turns.before(mine)
        if other is not None and called(other, mine):
            raise RunError(
                "a mutex is wanted by the thread that holds it, which would wait for ever",
                fix="let what runs while a mutex is held take another mutex, or none",
            )
        return other is not None


@operator
class CreateMutex(Operator):
    """Make a mutex, which AtomicIter and other operators that share a blob between nets take."""

    inputs = ()
    outputs = (Out("mutex_ptr"),)
    on_host = True

    def infer(self) -> Opaque:
        return Opaque("mutex")

    def run(self, ctx: RunContext) -> Mutex:
        return Mutex()
