"""Finding the author's line: the nearest frame outside the packages that append operators."""

from __future__ import annotations

import sys
from functools import lru_cache

from netdsl.ir import SourceLine

_AUTHORING = tuple(
    f"netdsl.{package}"
    for package in ("dsl", "model", "optimizers", "initializers", "ops", "analysis", "passes", "compat", "predict")
)


def author_line() -> SourceLine | None:
    """Return where the author's code is now, or None when there is only ours."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if not _is_authoring(frame.f_globals.get("__name__", "")):
            return SourceLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


@lru_cache(1024)
def _is_authoring(module: str) -> bool:
    return module.startswith(_AUTHORING) or module == "contextlib"
