"""Compare two nets by structure: operators that write the same blobs are the same operator.

Exit status 0 where the nets are equal, 1 where they differ.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import attrs

from netdsl import io
from netdsl.analysis.diff import Change, diff
from netdsl.cli.terminal import console, plain

HELP = "compare two nets by structure"
MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow"), "moved": (">", "cyan")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("a", type=Path, help="the net before")
    parser.add_argument("b", type=Path, help="the net after")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    changes = diff(io.load(options.a), io.load(options.b))
    if options.json:
        plain(json.dumps([_plain(c) for c in changes], indent=2))
    else:
        for change in changes:
            _print(change)
        if not changes:
            console().print("the nets are equal")
    return int(bool(changes))


def _plain(change: Change) -> dict[str, Any]:
    rows = attrs.asdict(change, recurse=False)
    rows["before"], rows["after"] = (None if v is None else str(v) for v in (change.before, change.after))
    rows["details"] = [{"what": w, "before": _text(a), "after": _text(b)} for w, a, b in change.details]
    return rows


def _print(change: Change) -> None:
    from rich.text import Text

    mark, style = MARKS[change.kind]
    shown = change.before if change.after is None else change.after
    if change.kind == "changed" and not change.details:
        shown = f"{change.where}: {change.before} -> {change.after}"
    elif isinstance(shown, str):
        shown = change.where
    console().print(Text(f"{mark} {shown}", style=style))
    for what, before, after in change.details:
        console().print(Text(f"    {what}: {_text(before)} -> {_text(after)}"))


def _text(value: object) -> str:
    if value is None:
        return "nothing"
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
