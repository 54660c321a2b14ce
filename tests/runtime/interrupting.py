"""``interrupted``: run something and raise KeyboardInterrupt where a signal's handler could run, at a chosen one.

CPython looks for signals when a Python function begins, behind a call of a C function, and where it jumps back
in a loop. These are told by ``sys.setprofile`` and ``sys.settrace``, so nothing here depends on time.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any


class Points:
    """Counts the points at which a signal could be handled, and raises at number ``at`` (from 1; 0: never).

    Finalizers do not count: what is raised there is lost.
    """

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0
        self.where = ""
        self._lines: dict[int, int] = {}
        self._functions = self._trace, self._profile  # the interpreter holds no reference of its own while it calls

    def __enter__(self) -> Points:
        trace, profile = self._functions
        sys.settrace(trace)
        sys.setprofile(profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        sys.settrace(None)

    def _reach(self, frame: Any) -> None:
        self.count += 1
        if self.count == self.at:
            if _in_finalizer(frame):
                self.at += 1
                return
            code = frame.f_code
            self.where = f"{code.co_filename.rpartition('/')[2]}:{frame.f_lineno} ({code.co_qualname})"
            raise KeyboardInterrupt

    def _profile(self, frame: Any, event: str, argument: Any) -> None:
        if event == "c_return" and frame.f_code is not _EXIT:
            self._reach(frame)

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is _EXIT:
            return None
        if event == "call":
            self._lines[id(frame)] = frame.f_lineno
            if not frame.f_code.co_flags & inspect.CO_GENERATOR:  # which may be on the way out, as finalizers are
                self._reach(frame)
        elif event == "line":
            before, self._lines[id(frame)] = self._lines[id(frame)], frame.f_lineno
            if frame.f_lineno <= before and frame.f_lineno in _loops(frame.f_code):
                self._reach(frame)
        return self._functions[0]


_EXIT = Points.__exit__.__code__


@functools.cache
def _loops(code: types.CodeType) -> frozenset[int | None]:
    """The lines to which a function jumps back."""
    lines = {start: line for start, _, line in code.co_lines()}
    at: dict[int, int | None] = {}
    for instruction in dis.get_instructions(code):
        at[instruction.offset] = lines.get(instruction.offset, next(reversed(at.values()), None))
    back = [i for i in dis.get_instructions(code) if "BACKWARD" in i.opname and "NO_INTERRUPT" not in i.opname]
    return frozenset(at[i.argval] for i in back)


def _in_finalizer(frame: Any) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def points(action: Callable[[], object]) -> int:
    """How many points ``action`` has."""
    with Points(0) as found:
        action()
    return found.count


def interrupted(action: Callable[[], object], at: int) -> str:
    """Run ``action``, interrupted at one of its points; return where that was, "" if it ended before."""
    found = Points(at)
    try:
        with found:
            action()
    except KeyboardInterrupt:
        assert found.where
    return found.where


def busy(turns: Any) -> bool:
    """Whether a call is under way that took a turn."""
    return turns.before(sys._getframe()) is not None
