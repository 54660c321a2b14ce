"""``Turns``: who holds something, told by the frames that run, so that no interrupt leaves it held."""

from __future__ import annotations

from contextlib import suppress
from types import FrameType


class Turns(list[FrameType]):
    """The frames of calls that hold something or want it, in their order; the first that is still running holds it.

    What is taken and given back in two steps stays taken where Ctrl-C comes between them. So a call takes its turn
    by one step, ``append`` of its own frame, which the interpreter knows to be running or over. A frame that is
    over, because something was raised before it could leave, counts for nothing.
    """

    def before(self, mine: FrameType) -> FrameType | None:
        """Return the running frame whose turn is before that of ``mine``; those that are over leave."""
        for other in tuple(self):
            if other is mine:
                return None
            if _runs(other):
                return other
            with suppress(ValueError):  # another thread has found it too
                self.remove(other)
        return None


def _runs(frame: FrameType) -> bool:
    """Whether a frame has neither returned nor raised."""
    try:
        frame.clear()
    except RuntimeError:  # what clearing a running frame raises, by its documentation; one that is over needs no locals
        return True
    return False


def called(caller: FrameType, frame: FrameType) -> bool:
    """Whether ``frame`` was called by ``caller``, or by what that called."""
    above: FrameType | None = frame
    while above is not None and above is not caller:
        above = above.f_back
    return above is not None
