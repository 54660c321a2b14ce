"""Print the reference of an operator, or list them all.

With --coverage, Caffe2's operators by family and how many of them exist here.
"""

from __future__ import annotations

import argparse
from typing import Any


from netdsl.cli.terminal import console, plain
from netdsl.ops.reference import reference
from netdsl.ops.schema import all_types, lookup

HELP = "print an operator's reference, or list all operators"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="?", help="an operator's type, as FC")
    parser.add_argument("--coverage", action="store_true", help="how many of Caffe2's operators there are here")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.coverage:
        _coverage()
    elif options.name:
        plain(reference(options.name))
    else:
        _list()
    return 0


def _list() -> None:
    families: dict[str, list[str]] = {}
    for name in all_types():
        families.setdefault(lookup(name).__module__.split(".")[2], []).append(name)
    for family, names in sorted(families.items()):
        console().print(f"[bold]{family}[/bold]\n  {', '.join(names)}\n")
    console().print("`netdsl ops NAME` prints what an operator takes and computes.")


def _coverage() -> None:
    from rich.table import Table

    from netdsl.data.caffe2_operators import operators

    table = Table(box=None, pad_edge=False)
    for column, justify in (("family", "left"), ("mainstream", "right"), ("others", "right"), ("missing", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    known = set(all_types())
    totals = [0, 0, 0, 0]
    for family, rows in operators().items():
        main: list[Any] = [r for r in rows if r.tier == 1]
        rest: list[Any] = [r for r in rows if r.tier != 1]
        have = [sum(r.name in known for r in part) for part in (main, rest)]
        missing = [r.name for r in main if r.name not in known]
        for i, value in enumerate((have[0], len(main), have[1], len(rest))):
            totals[i] += value
        table.add_row(family, f"{have[0]}/{len(main)}", f"{have[1]}/{len(rest)}", ", ".join(missing))
    console().print(table)
    console().print(f"\nmainstream: {totals[0]} of {totals[1]}; others: {totals[2]} of {totals[3]}")
    ours = [name for name in sorted(known) if lookup(name).ours]
    console().print(f"only here: {', '.join(ours)}")


