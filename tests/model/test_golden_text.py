"""Whole programs build the text that is kept, in any process (C21)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import netdsl as nd
from tests.model.golden_programs import FILES, PROGRAMS, texts

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", [f"{program}{part}.net" for program in PROGRAMS for part in ("", "_init")])
def test_the_text_is_the_one_kept(name: str) -> None:
    assert texts()[name].encode() == (FILES / name).read_bytes()


def test_every_kept_text_has_its_program() -> None:
    assert {file.name for file in FILES.glob("*.net")} == set(texts())


@pytest.mark.parametrize("name", sorted(texts()))
def test_the_kept_text_reads_back_as_the_net(name: str) -> None:
    text = (FILES / name).read_text(encoding="utf-8")
    program, init = name.removesuffix(".net").removesuffix("_init"), name.endswith("_init.net")
    model = PROGRAMS[program]()
    assert nd.parse(text) == (model.init_net if init else model.net).definition
    assert nd.parse(text) == nd.from_json(nd.to_json(nd.parse(text)))


def test_two_processes_with_other_hash_seeds_build_the_same_bytes() -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.model.golden_programs"]
    seen = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        seen.append(subprocess.run(command, capture_output=True, check=True, cwd=ROOT, env=environment).stdout)
    assert seen[0] == seen[1]
    assert seen[0].decode() == "".join(f"# {file}\n{text}\n" for file, text in texts().items())


def test_adding_one_operator_changes_only_its_own_line() -> None:
    before = PROGRAMS["mlp"]()
    after = PROGRAMS["mlp"]()
    after.net.Copy("softmax", "kept")
    lines = set(after.net.dump().splitlines()) - set(before.net.dump().splitlines())
    assert lines == {"kept = Copy(softmax)"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kept_texts_train(name: str) -> None:
    init, net = (nd.parse((FILES / file).read_text(encoding="utf-8")) for file in (f"{name}_init.net", f"{name}.net"))
    workspace = nd.Workspace(seed=3)
    rng = np.random.default_rng(0)
    workspace.feed("x", rng.normal(size=[6, *net.types["x"].shape[1:]]).astype(np.float32))
    workspace.feed("label", rng.integers(0, 10, 6).astype(np.int32))
    workspace.feed("is wide", np.array([True]))
    workspace.run(init)
    workspace.run(net)
    first = float(workspace.fetch("loss"))
    workspace.run(net, times=5)
    assert np.isfinite(first)
    assert float(workspace.fetch("loss")) < first
