"""Finding the author's line: the nearest frame outside the packages that append operators."""

from __future__ import annotations

import sys

from netdsl.ir import SourceLine

_AUTHORING = tuple(
    f"netdsl.{package}"
    for package in ("dsl", "model", "optimizers", "initializers", "ops", "analysis", "passes", "compat", "predict")
)


def author_line() -> SourceLine | None:
    """Return where the author's code is now, or None when there is only ours."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(_AUTHORING) and name != "contextlib":
            return SourceLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
