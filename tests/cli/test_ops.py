"""``netdsl ops``."""

from __future__ import annotations

import re

from netdsl.cli.main import main
from netdsl.data.caffe2_operators import operators
from netdsl.ops import all_types, lookup


def run(capsys, *arguments: str) -> str:
    assert main(["ops", *arguments]) == 0
    return capsys.readouterr().out


def test_every_operator_is_listed_once(capsys):
    lines = [line for line in run(capsys).splitlines() if line.startswith("  ")]
    assert sorted(name for line in lines for name in re.findall(r"\w+", line)) == all_types()
    assert max(map(len, lines)) <= 80


def test_marks_of_docstrings_do_not_show(capsys):
    out = run(capsys, "Conv")
    assert "``" not in out
    assert ":class:" not in out
    assert "Distance of windows, for two axes; 0 means 1." in out


def test_the_reference_of_an_operator(capsys):
    out = run(capsys, "FC")
    assert out.startswith("Y = FC(X, W, b)\n")
    assert "axis" in out
    assert "gradient: yes" in out


def test_inputs_that_take_everything_say_so(capsys):
    assert "X  (any dtype)" in run(capsys, "Flatten")


def test_coverage_counts_what_caffe2_has(capsys):
    lines = run(capsys, "--coverage").splitlines()
    table, ours = lines[:-2], lines[-1]
    there = [o for family in operators().values() for o in family]
    known = set(all_types())
    counts = []
    for is_main in (True, False):
        part = [o for o in there if (o.tier == 1) is is_main]
        counts.append(f"{sum(o.name in known for o in part)} of {len(part)}")
    assert re.split("  +", table[-1]) == ["all", *counts]
    assert len(table) == len(operators()) + 2
    assert ours == f"only here: {', '.join(sorted(n for n in known if lookup(n).ours))}"


def test_coverage_names_the_mainstream_operators_that_are_missing(capsys):
    out = run(capsys, "--coverage")
    missing = [o.name for family in operators().values() for o in family if o.tier == 1 and o.name not in all_types()]
    for name in missing:
        assert re.search(rf"\b{name}\b", out)
