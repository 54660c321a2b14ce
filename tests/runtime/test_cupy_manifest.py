"""What operator bodies use exists in CuPy: every name and every keyword, also on paths that no case takes."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import netdsl.ops
from netdsl.ops.primitives import PRIMITIVES
from netdsl.ops.xp import ArrayModule
from netdsl.runtime.backends import get
from netdsl.runtime.backends.strict import StrictModule, manifest

BODIES = Path(netdsl.ops.__path__[0])
SUPPLIED = {name for name in vars(StrictModule) if not name.startswith("_")}
SUPPLIED |= {name for name, primitive in PRIMITIVES.items() if primitive.own}


def calls() -> Iterator[tuple[str, str, list[str]]]:
    """Give every ``xp.name`` in the modules of operators: where, the name, and the keywords if it is called."""
    for path in sorted(BODIES.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        called = {id(n.func): n for n in ast.walk(tree) if isinstance(n, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "xp":
                call = called.get(id(node))
                keywords = [k.arg for k in call.keywords if k.arg] if call else []
                yield f"{path.relative_to(BODIES)}:{node.lineno}", node.attr, keywords


def test_the_record_covers_the_interface():
    names = {n for n in (*ArrayModule.__annotations__, *vars(ArrayModule)) if not n.startswith("_")}
    record = {*manifest()["constants"], *manifest()["functions"]}
    assert names - SUPPLIED == record - {"matmul"}, "run, where CuPy is installed: python tools/cupy_manifest.py"
    assert names >= SUPPLIED
    assert manifest()["cupy"].startswith("14.")


def test_bodies_use_what_cupy_has():
    xp, functions, found = get("strict").xp, manifest()["functions"], list(calls())
    assert len(found) > 100
    missing = [f"{where} xp.{name}" for where, name, _ in found if not hasattr(xp, name)]
    unknown = [
        f"{where} xp.{name}({keyword}=)"
        for where, name, keywords in found
        if name in functions and not functions[name].get("any_keyword")
        for keyword in keywords
        if keyword not in functions[name]["keywords"]
    ]
    assert not missing
    assert not unknown


if importlib.util.find_spec("cupy"):

    def test_the_record_is_what_cupy_has():
        from tools.cupy_manifest import generate

        assert generate() == manifest()
