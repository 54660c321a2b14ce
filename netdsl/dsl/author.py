"""Finding the author's line: the nearest frame outside the packages that append operators."""

from __future__ import annotations

import sys

from netdsl.ir import SourceLine

AUTHORING = frozenset(
    ("analysis", "compat", "dsl", "initializers", "ir", "model", "onnx", "ops", "optimizers", "passes", "predict")
)
"""The packages of netdsl whose functions append operators for their caller."""

_PLUMBING = ("contextlib", "functools")


def author_line() -> SourceLine | None:
    """Return where the author's code is now, or None when there is only ours."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not _is_ours(name):
            return SourceLine(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def _is_ours(module: str) -> bool:
    if not module.startswith("netdsl."):
        return module in _PLUMBING
    return module.split(".", 2)[1] in AUTHORING
