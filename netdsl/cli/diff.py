"""Compare two nets by structure: operators that write the same blobs are the same operator.

Exit status: 0 where the nets are equal, 1 where they differ, 2 where a file cannot be read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netdsl.cli.terminal import console, plain
from netdsl.errors import printable
from netdsl.ir.text import float_text

if TYPE_CHECKING:
    from netdsl.analysis.diff import Change

HELP = "compare two nets by structure"
MARKS = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
    "moved": (">", "cyan"),
    "renamed": ("=", "magenta"),
}
LONGEST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("a", type=Path, metavar="A", help="the net before")
    parser.add_argument("b", type=Path, metavar="B", help="the net after")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from netdsl import io
    from netdsl.analysis.diff import diff

    changes = diff(io.load(options.a), io.load(options.b))
    if options.json:
        plain(json.dumps([_as_data(change) for change in changes], indent=2))
        return int(bool(changes))
    for change in changes:
        _print(change)
    counts = [(kind, sum(change.kind == kind for change in changes)) for kind in MARKS]
    told = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    console().print(f"\n{told}" if changes else "the nets are equal")
    return int(bool(changes))


def _as_data(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "where": change.where,
        "before": None if change.before is None else str(change.before),
        "after": None if change.after is None else str(change.after),
        "details": [{"what": what, "before": _text(a), "after": _text(b)} for what, a, b in change.details],
    }


def _print(change: Change) -> None:
    from rich.text import Text

    mark, style = MARKS[change.kind]
    shown = change.before if change.after is None else change.after
    place = getattr(shown, "where", None)
    if change.kind == "renamed":
        shown = f"{change.before} -> {change.after}"
    elif isinstance(shown, str):
        both = change.before is not None and change.after is not None
        shown = f"{change.where}: {change.before} -> {change.after}" if both else change.where
    line = Text(printable(f"{mark} {shown}", keep=""), style=style)
    if place is not None:
        line.append(printable(f"     ({place})"), style="dim")
    console().print(line)
    for what, before, after in change.details:
        console().print(Text(printable(f"    {what}: {_text(before)} -> {_text(after)}", keep="")))


def _text(value: object) -> str:
    """A value as the text form writes it, cut where it is long."""
    if value is None:
        return "nothing"
    if isinstance(value, tuple):
        text = ", ".join(map(_text, value))
    else:
        text = float_text(value) if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
