"""The operators that Caffe2 registers, condensed: names by family and tier."""

from __future__ import annotations

from importlib.resources import files

import attrs


@attrs.frozen
class Caffe2Operator:
    """One of Caffe2's operators. Tier 1 is mainstream, 2 used by its CPU tests, 3 the rest."""

    name: str
    family: str
    tier: int


def operators() -> dict[str, list[Caffe2Operator]]:
    """Return every operator of Caffe2 by family."""
    found: dict[str, list[Caffe2Operator]] = {}
    text = files("netdsl.data").joinpath("caffe2_operators.tsv").read_text("utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            family, tier, names = line.split("\t")
            found.setdefault(family, []).extend(Caffe2Operator(name, family, int(tier)) for name in names.split())
    return found
