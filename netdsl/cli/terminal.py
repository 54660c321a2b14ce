"""The terminal: one rich console for all commands, and numbers as people read them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Container, Iterable, Sequence
from typing import Any

from netdsl.errors import printable


@functools.cache
def console() -> Any:
    """Return the console on standard output; colours only where they are shown."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def plain(text: str) -> None:
    """Print text exactly as it is, so that it can be piped into a file and read back."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Container[str] = ()) -> str:
    """Return rows below each other in columns as wide as they need, so that nothing is cut or wrapped.

    The columns named in ``right`` are numbers, set to the right.
    """
    listed = [[printable(cell, keep="") for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in listed) for i in range(len(header))]
    aligned = [
        "  ".join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(row, widths, header, strict=True)
        ).rstrip()
        for row in listed
    ]
    return "\n".join(aligned)


def count(number: float | None) -> str:
    """``1234567`` as ``1.23 M``; a question mark where it is not known."""
    if number is None:
        return "?"
    for unit in ("", " k", " M", " G"):
        if abs(number) < 999.5:  # what three digits would round to 1000 has the next unit
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
