"""Generates ``docs/operators``: a page for each family of operators, and an index of them all."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

from netdsl.data.caffe2_operators import operators as caffe2_operators
from netdsl.ops.reference import markdown, reference, signature
from netdsl.ops.schema import Operator, is_known, lookup
from tools.gen_ops_index import known

FOLDER = "docs/operators"
NOTE = "<!-- Generated from the declarations by tools/regen.py; do not edit. -->"


def generate() -> dict[str, str]:
    """Return the text of every page by its path."""
    families: dict[str, list[str]] = {}
    for name, module in known().items():
        families.setdefault(module.partition(".")[0], []).append(name)
    pages = {f"{FOLDER}/{family}.md": _page(family, names) for family, names in sorted(families.items())}
    return {f"{FOLDER}/README.md": _index(families), **pages}


def _index(families: dict[str, list[str]]) -> str:
    count = sum(map(len, families.values()))
    ours = sum(lookup(name).ours for names in families.values() for name in names)
    common = [row.name for rows in caffe2_operators().values() for row in rows if row.tier == 1]
    lines = [
        "# Operators",
        "",
        NOTE,
        "",
        f"There are {count} operators, gradient operators included. {ours} of them Caffe2 does not have; names,"
        " arguments and numbers of the others are Caffe2's. Of the"
        f" {len(common)} operators that Caffe2 programs mostly use, {sum(map(is_known, common))} are here:"
        " `netdsl ops --coverage` lists the rest, and `netdsl ops NAME` prints one operator's page.",
        "",
        "A signature such as `Y, [mask] = Dropout(X)` puts optional blobs in brackets; in a net,"
        ' `net.Dropout("x", ["y", "mask"], ratio=0.5)` appends it.',
    ]
    for family, names in sorted(families.items()):
        lines += ["", f"## [{family}]({family}.md)", "", _about(family), "", "| operator | |", "|---|---|"]
        lines += [f"| [{name}]({family}.md#{name.lower()}) | {_first_sentence(lookup(name))} |" for name in names]
    return "\n".join(lines) + "\n"


def _page(family: str, names: list[str]) -> str:
    parts = [f"# Operators: {family}", NOTE, f"{_about(family)} All families: [index](README.md)."]
    for name in names:
        cls = lookup(name)
        head, doc = signature(cls), inspect.cleandoc(cls.__doc__ or "")
        facts = reference(name).removeprefix(f"{head}\n\n{doc}\n\n").rstrip()
        parts += [f"## {name}", f"`{head}`", markdown(doc), f"```text\n{markdown(facts)}\n```"]
    return "\n\n".join(parts) + "\n"


def _about(family: str) -> str:
    return inspect.cleandoc(import_module(f"netdsl.ops.{family}").__doc__ or "")


def _first_sentence(cls: type[Operator]) -> str:
    paragraph = " ".join(markdown(inspect.cleandoc(cls.__doc__ or "")).split("\n\n")[0].split())
    return re.split(r"(?<=[.;:])\s", paragraph)[0].rstrip(".;:").replace("|", "\\|")
