"""Findings as people read them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from netdsl import io
from netdsl.analysis.findings import Finding, aligned
from netdsl.cli.terminal import console
from netdsl.errors import UnknownArgumentWarning, printable
from netdsl.ir import NetDef

STYLES = {"error": "bold red", "warning": "bold yellow"}


def load_to_check(path: Path) -> NetDef:
    """Return the net in a file; of unknown arguments the check tells, so loading need not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownArgumentWarning)
        return io.load(path)


def print_findings(found: Sequence[Finding]) -> None:
    """Print every finding, why and what to do once per code, and how many there are."""
    explained: set[str] = set()
    for finding in found:
        _print(finding, full=finding.code not in explained)
        explained.add(finding.code)
    if not found:
        console().print("nothing found")
        return
    say = console().print
    say(f"{tally(found)}; `netdsl check --explain {found[0].code}` tells more", markup=False)


def tally(found: Sequence[Finding]) -> str:
    """``2 errors, 1 warning``."""
    errors = sum(finding.rule.is_error for finding in found)
    counts = [(errors, "error"), (len(found) - errors, "warning")]
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts if n)


def _print(finding: Finding, *, full: bool) -> None:
    from rich.text import Text

    line = Text(finding.title, style=STYLES[finding.rule.severity])
    line.append(printable(f" {finding.message}", keep=""), style="bold")
    rows = [(label, _shortened(text) if label == "added at" else text) for label, text in finding.rows(full=full)]
    console().print(line)
    for row in aligned(rows):
        console().print(Text(row))
    console().print()


def _shortened(place: str) -> str:
    """A path below the current folder, relative to it."""
    return place.removeprefix(os.getcwd() + os.sep)
