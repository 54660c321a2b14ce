"""Rules that hold for the project as a whole."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import networkx
import pytest

import netdsl

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
AUTHORING = ("analysis", "dsl", "initializers", "ir", "model", "ops", "optimizers", "passes")
NEVER_EXECUTING = ("dsl", "initializers", "model", "optimizers")


def test_wheel_holds_all_that_is_not_code(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert wheel.name.startswith(f"netdsl-{netdsl.__version__}-")
    assert {"netdsl/py.typed", "netdsl/data/digits.csv.gz", "netdsl/data/digits.LICENSE.txt"} <= names
    licences = f"netdsl-{netdsl.__version__}.dist-info/licenses/"
    assert {licences + "LICENSE", licences + "NOTICE"} <= names
    assert not [name for name in names if name.startswith(("tests/", "tools/"))]


def test_changelog_speaks_of_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == netdsl.__version__


def test_all_brings_everything_but_cupy():
    assert EXTRAS["all"] == ["netdsl[jit,formats,caffe2]"]
    assert set(EXTRAS) == {"jit", "formats", "caffe2", "cupy", "cuda-check", "all", "test", "dev"}


@pytest.mark.parametrize(
    ("contract", "packages"),
    [("Authoring needs no array library", AUTHORING), ("Authoring never executes", NEVER_EXECUTING)],
)
def test_contract_of_layers_names_every_authoring_package(contract, packages):
    contracts = {each["name"]: each for each in PYPROJECT["tool"]["importlinter"]["contracts"]}
    there = [f"netdsl.{name}" for name in packages if find_spec(f"netdsl.{name}")]
    listed = sorted(contracts.get(contract, {}).get("source_modules", []))
    assert listed == there, f"list them in pyproject.toml as source_modules of {contract!r}"


def type_names_compared(source: str) -> list[int]:
    """Return the lines that compare an operator's type name, or match it, with a literal."""
    found: list[int] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            names = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            of_type = any(isinstance(n, ast.Attribute) and n.attr == "type" for n in ast.walk(node))
        elif isinstance(node, ast.MatchValue):
            names = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            of_type = False
        else:
            continue
        camel = any(re.fullmatch(r"[A-Z]\w*[a-z]\w*", name) for name in names)
        if camel or (of_type and names):
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "source",
    ['op.type == "FC"', 'kind in ("Relu", "Sum")', 'op.type.endswith("x") != "LRN"', 'match t:\n case "Copy": pass'],
)
def test_a_comparison_of_type_names_is_found(source):
    assert type_names_compared(source)


@pytest.mark.parametrize("source", ['order == "NCHW"', "op.type in known", 'add("Sum")', "a.type == b.type"])
def test_other_code_is_let_through(source):
    assert not type_names_compared(source)


EMITTED = {
    "analysis/backward.py": {"ZerosLike"},
    "analysis/gradient.py": {"ConstantFill", "Sum", "Concat"},
}
"""The operators that the core may name, because it appends them."""


def test_the_core_names_the_operators_that_it_appends_and_no_other():
    from netdsl.ops import all_types

    known = set(all_types())
    found: dict[str, set[str]] = {}
    for package in ("analysis", "passes", "runtime"):
        for path in sorted((ROOT / "netdsl" / package).rglob("*.py")):
            named = {n.value for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Constant)}
            if types := {value for value in named if isinstance(value, str) and value in known}:
                found[str(path.relative_to(ROOT / "netdsl"))] = types
    assert found == EMITTED


def test_no_operator_is_special_to_the_core():
    """What runtime, analysis and passes must know of an operator, the operator declares."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in ("analysis", "passes", "runtime")
        for path in sorted((ROOT / "netdsl" / package).rglob("*.py"))
        for line in type_names_compared(path.read_text("utf-8"))
    ]
    assert found == []


def test_the_runtime_imports_in_one_direction_and_its_modules_are_short():
    modules = {path: ast.parse(path.read_text("utf-8")) for path in (ROOT / "netdsl/runtime").rglob("*.py")}
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in modules}
    graph = networkx.DiGraph()
    for name, path in names.items():
        for node in ast.walk(modules[path]):
            if isinstance(node, ast.ImportFrom) and node.module:
                asked = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
                graph.add_edges_from((name, other) for other in asked if other in names and other != name)
    package = "netdsl.runtime"  # names what it offers; no module of it asks it for anything
    graph.remove_nodes_from([package])
    # "from netdsl.runtime.backends import numpy" asks for the package as well, which asks for none of its modules
    assert list(networkx.simple_cycles(graph)) == []
    assert {str(p): n for p in modules if (n := len(p.read_text("utf-8").splitlines())) > 400} == {}
