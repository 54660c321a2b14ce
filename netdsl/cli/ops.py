"""Print the reference of an operator, or list them all.

With --coverage, Caffe2's operators by family and how many of them exist here.
"""

from __future__ import annotations

import argparse
import textwrap

from netdsl.cli.terminal import console, plain, table

HELP = "print an operator's reference, or list all operators"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="an operator's type, as FC")
    parser.add_argument("--coverage", action="store_true", help="how many of Caffe2's operators there are here")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from netdsl.ops.reference import markdown, reference

    if options.coverage:
        plain(coverage())
    elif options.name:
        plain(markdown(reference(options.name)))
    else:
        _list()
    return 0


def _list() -> None:
    from netdsl.ops.schema import all_types, lookup

    families: dict[str, list[str]] = {}
    for name in all_types():
        home = lookup(name).__module__
        family = home.split(".")[2] if home.startswith("netdsl.ops.") else home
        families.setdefault(family, []).append(name)
    for family, names in sorted(families.items()):
        listed = textwrap.fill(", ".join(names), console().width, initial_indent="  ", subsequent_indent="  ")
        console().print(f"[bold]{family}[/bold]\n{listed}\n")
    plain("`netdsl ops NAME` prints what an operator takes and computes.")


def coverage() -> str:
    """Return how many of Caffe2's operators there are here, family by family; mainstream ones missing by name."""
    from netdsl.data.caffe2_operators import operators
    from netdsl.ops.schema import all_types, lookup

    known = set(all_types())
    rows: list[tuple[str, str, str, str]] = []
    have, there = [0, 0], [0, 0]
    for family, listed in operators().items():
        counts: list[str] = []
        for place, part in enumerate(([o for o in listed if o.tier == 1], [o for o in listed if o.tier != 1])):
            found = sum(o.name in known for o in part)
            have[place] += found
            there[place] += len(part)
            counts.append(f"{found} of {len(part)}")
        missing = ", ".join(o.name for o in listed if o.tier == 1 and o.name not in known)
        rows.append((family, *counts, missing))  # type: ignore[arg-type]
    rows.append(("all", f"{have[0]} of {there[0]}", f"{have[1]} of {there[1]}", ""))
    text = table(("family", "mainstream", "others", "mainstream ones missing"), rows, right=("mainstream", "others"))
    return f"{text}\n\nonly here: {', '.join(name for name in sorted(known) if lookup(name).ours)}"
