"""Generates the elementwise functions in ``netdsl/ops/xp.py`` from the table of primitives."""

from __future__ import annotations

from pathlib import Path

from netdsl.ops.primitives import PRIMITIVES, Primitive

PATH = "netdsl/ops/xp.py"
BEGIN = "    # elementwise; formulas of these are traced. Generated from netdsl/ops/primitives.py\n"
END = "\n    # reductions and scans\n"


def generate() -> dict[str, str]:
    """Return the text of the module by its path."""
    text = (Path(__file__).resolve().parent.parent / PATH).read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PATH} lacks the line before its generated part, or that after it")
    return {PATH: before + BEGIN + "".join(map(_method, PRIMITIVES.values())) + END + after}


def _method(p: Primitive) -> str:
    arguments = ", ".join(["self", *(f"{name}: Any" for name in p.operands.split())])
    head = f"    def {p.name}({arguments}) -> Array:"
    return f'{head}\n        """{p.doc}"""\n        ...\n\n' if p.doc else f"{head} ...\n"
