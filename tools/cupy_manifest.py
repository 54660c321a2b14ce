"""Record which names and keywords the installed CuPy has, of those that operator bodies may use.

The strict backend holds the bodies to this record. It needs CuPy, but no GPU:

    pip install cupy-cuda12x && python tools/cupy_manifest.py [--check]
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "netdsl" / "runtime" / "backends" / "cupy_manifest.json"

ARGUMENT = re.compile(r"(?:\w+ )?([*\w]+)(?:=.*)?$")  # Cython writes the type first: "int axis=-1"


def of_text(signature: str) -> dict[str, Any]:
    """Return the parameters of a signature written as text, ``sum(self, axis=None, ...)``."""
    inside = signature.replace("\\", "").partition("(")[2].partition(")")[0]
    params: dict[str, Any] = {"positional": [], "keywords": []}
    keyword_only = False
    for part in filter(None, map(str.strip, inside.split(","))):
        if part == "/":  # what stands before it has no keyword
            params["keywords"].clear()
            continue
        found = ARGUMENT.match(part)
        assert found, signature
        name = found[1]
        if name == "*":
            keyword_only = True
        elif name.startswith("**"):
            params["any_keyword"] = True
        elif name.startswith("*"):
            params["any_positional"] = keyword_only = True
        elif name != "self":
            params["keywords"].append(name)
            if not keyword_only:
                params["positional"].append(name)
    return params


def of_function(function: Any) -> dict[str, Any]:
    """Return the parameters, and of a ufunc the loops, of one of CuPy's functions."""
    if hasattr(function, "nin"):
        types = sorted(set(function.types))
        return {**of_text(function.__doc__.splitlines()[0]), "inputs": function.nin, "types": types}
    kinds = inspect.Parameter
    params: dict[str, Any] = {"positional": [], "keywords": []}
    for p in inspect.signature(function).parameters.values():
        if p.kind is kinds.VAR_KEYWORD:
            params["any_keyword"] = True
        elif p.kind is kinds.VAR_POSITIONAL:
            params["any_positional"] = True
        else:
            params["keywords"].append(p.name)
            if p.kind is not kinds.KEYWORD_ONLY:
                params["positional"].append(p.name)
    return params


def generate() -> dict[str, Any]:
    """Return the record as it is written to the file."""
    import cupy  # pyright: ignore[reportMissingImports]

    from netdsl.ops.primitives import PRIMITIVES
    from netdsl.ops.xp import ArrayModule

    supplied = {"dot", "total", "scatter_add", "windows", "array_of", "to_host", "from_host"}
    supplied |= {primitive.name for primitive in PRIMITIVES.values() if primitive.own}
    names = [n for n in (*ArrayModule.__annotations__, *vars(ArrayModule)) if not n.startswith("_")]
    functions: dict[str, Any] = {}
    constants: list[str] = []
    for name in sorted({*names, "matmul"} - supplied):
        value = getattr(cupy, name)
        if value is None or isinstance(value, float | type):
            constants.append(name)
        else:
            functions[name] = of_function(value)
    methods: dict[str, Any] = {}
    attributes: list[str] = []
    for name in dir(cupy.ndarray):
        member = getattr(cupy.ndarray, name)
        if name.startswith("_"):
            continue
        if not callable(member):
            attributes.append(name)
        elif member.__doc__:
            methods[name] = of_text(member.__doc__.strip().splitlines()[0])
    return {
        "cupy": cupy.__version__,
        "constants": constants,
        "functions": functions,
        "methods": methods,
        "attributes": attributes,
    }


def main() -> int:
    """Write the file, or with ``--check`` fail if CuPy lacks something that it records."""
    parser = argparse.ArgumentParser(description="Record the names and keywords of the installed CuPy.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the record says otherwise")
    options = parser.parse_args()
    text = json.dumps(generate(), indent=1) + "\n"
    text = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    if not options.check:
        MANIFEST.write_text(text, "utf-8")
        return 0
    same = json.loads(text) == json.loads(MANIFEST.read_text("utf-8"))
    print("the record is what CuPy has" if same else "CuPy differs from the record: run tools/cupy_manifest.py")
    return int(not same)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
