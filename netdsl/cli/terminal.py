"""The terminal: one rich console for all commands, and numbers as people read them."""

from __future__ import annotations

import functools
import sys
from typing import Any


@functools.cache
def console() -> Any:
    """Return the console on standard output; colours only where they are shown."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def plain(text: str) -> None:
    """Print text exactly as it is, so that it can be piped into a file and read back."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def count(number: float | None) -> str:
    """``1234567`` as ``1.23 M``; a question mark where it is not known."""
    if number is None:
        return "?"
    for unit in ("", " k", " M", " G"):
        if abs(number) < 1000:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g} T"


def size(number: float | None) -> str:
    """``1536`` as ``1.5 KiB``; a question mark where it is not known."""
    if number is None:
        return "?"
    for unit in ("B", "KiB", "MiB"):
        if abs(number) < 1024:
            return f"{number:.4g} {unit}"
        number /= 1024
    return f"{number:.4g} GiB"
