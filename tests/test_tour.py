"""The tour of the README, typed as it stands there, in a fresh folder (with one pass over the digits a training)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
TOUR = re.search(r"^## A short tour\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)
SHIM = """\
#!/bin/sh
[ "$1" = demo ] && set -- "$@" --epochs 1
exec {python} -W error -m netdsl "$@"
"""


@attrs.frozen
class Typed:
    """A command of the tour and what came of it."""

    command: str
    status: int
    out: str
    err: str


def commands() -> list[str]:
    """The commands of the tour's first block, without their remarks."""
    assert TOUR is not None
    block = re.search(r"```sh\n(.*?)```", TOUR[1], re.DOTALL)
    assert block is not None
    lines = block[1].replace("\\\n", " ").splitlines()
    return [" ".join(line.split("  #")[0].split()) if "sed" not in line else line.split("  #")[0] for line in lines]


@pytest.fixture(scope="module")
def typed(tmp_path_factory) -> list[Typed]:
    folder = tmp_path_factory.mktemp("tour")
    shim = folder / "bin" / "netdsl"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(python=sys.executable))
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    found: list[Typed] = []
    for command in commands():
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        found.append(Typed(command, done.returncode, done.stdout, done.stderr))
    return found


def test_the_tour_goes_through_every_step_and_nothing_fails(typed):
    steps = [each.command.split()[1] for each in typed if each.command.startswith("netdsl")]
    assert steps == ["demo", "show", "check", "check", "diff", "demo"]
    assert [(each.command, each.err) for each in typed if each.status not in (0, 1) or each.err] == []
    assert [each.status for each in typed if each.command.startswith("netdsl")] == [0, 0, 1, 0, 1, 0]


def test_the_demo_says_how_well_it_did_and_what_to_try_next(typed):
    first, last = (each.out for each in (typed[0], typed[-1]))
    for out in (first, last):
        assert re.search(r"held-out accuracy [0-9.]+% in [0-9.]+ s: 44 steps in half on numpy", out)
    assert "netdsl demo --from mine" in first
    assert "left in mine" in last


def test_the_whole_step_is_shown(typed):
    (shown,) = (each.out for each in typed if each.command.startswith("netdsl show"))
    assert shown.startswith('net "digits"\n')
    assert shown.endswith("output loss\noutput accuracy\n")


def test_the_check_says_what_the_readme_says_that_it_says(typed):
    assert TOUR is not None
    quoted = re.search(r"```text\n(.*?)```", TOUR[1], re.DOTALL)
    assert quoted is not None
    broken, mended = (each.out for each in typed if each.command.startswith("netdsl check"))
    assert broken.startswith(quoted[1])
    assert mended == "nothing found\n"


def test_the_difference_is_the_two_lines_that_were_changed(typed):
    (out,) = (each.out for each in typed if each.command.startswith("netdsl diff"))
    assert [line.split("     ")[0] for line in out.splitlines() if line.startswith(("~", "+", "-", ">", "="))] == [
        "~ fc1_relu = Tanh(fc1)",
        "~ fc1_grad = TanhGradient(fc1_relu, fc1_relu_grad)",
    ]
