"""The mutex that some counters want."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from netdsl.errors import RunError
from netdsl.ir import Opaque
from netdsl.ops.context import RunContext
from netdsl.ops.schema import Operator, Out, operator

T = TypeVar("T")
PAUSE = 0.0005
"""Seconds between two looks at a mutex that is held: mostly for microseconds."""


class Mutex:
    """A mutex as a blob: one call at a time holds it, and no call beyond its own end, however it ends.

    A lock that is taken and given back in two steps stays locked where Ctrl-C comes between them. So a call takes
    its turn by one step: it queues its own frame, which the interpreter knows to be running or over. The first frame
    that is still running holds the mutex; one that is over, because something was raised before it could leave the
    queue, counts for nothing.
    """

    kind = "mutex"

    def __init__(self) -> None:
        self._queue: list[FrameType] = []

    def during(self, ctx: RunContext, action: Callable[..., T], *args: Any) -> T:
        """Return ``action(*args)``, called while this call holds the mutex.

        Raises:
            RunError: this thread holds it already, and so would wait for itself; or the run is to end.
        """
        frame = sys._getframe  # pyright: ignore[reportPrivateUsage]  (the frame in a variable would be a cycle)
        self._queue.append(frame())
        try:
            if self._queue[0] is not frame() and self._held(frame()):
                ctx.wait(partial(self._turn, frame()), "a mutex that another thread holds")
            return action(*args)
        finally:
            self._queue.remove(frame())

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
        """Whether a frame before ``mine`` is still running; those that are over leave the queue.

        Raises:
            RunError: the one that holds the mutex called, in the end, ``mine``.
        """
        for other in tuple(self._queue):
            if other is mine:
                return False
            if _runs(other):
                if _called(other, mine):
                    raise RunError(
                        "a mutex is wanted by the thread that holds it, which would wait for ever",
                        fix="let what runs while a mutex is held take another mutex, or none",
                    )
                return True
            with suppress(ValueError):  # another thread that waits has found it too
                self._queue.remove(other)
        return False


def _runs(frame: FrameType) -> bool:
    """Whether a frame has neither returned nor raised."""
    try:
        frame.clear()
    except RuntimeError:  # what clearing a running frame raises, by its documentation; one that is over needs no locals
        return True
    return False


def _called(caller: FrameType, frame: FrameType) -> bool:
    """Whether ``frame`` was called by ``caller``, or by what that called."""
    above: FrameType | None = frame
    while above is not None and above is not caller:
        above = above.f_back
    return above is not None


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
