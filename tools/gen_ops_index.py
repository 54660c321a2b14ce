"""Generates ``netdsl/ops/_index.py``: which module declares each operator."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPS = ROOT / "netdsl" / "ops"


def declared() -> dict[str, str]:
    """Which module (below ``netdsl.ops``) declares each operator, read from the source without importing it."""
    found: dict[str, str] = {}
    for path in sorted(OPS.glob("*/*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and any(getattr(d, "id", "") == "operator" for d in node.decorator_list):
                found[node.name] = ".".join(path.with_suffix("").relative_to(OPS).parts)
    return dict(sorted(found.items()))


def known() -> dict[str, str]:
    """What :func:`declared` says, and from now on also what the package itself goes by, if its index is stale."""
    from netdsl.ops._index import MODULES

    found = declared()
    MODULES.clear()
    MODULES.update(found)
    return found


def generate() -> dict[str, str]:
    """Return the text of the index by its path."""
    lines = "".join(f'    "{name}": "{module}",\n' for name, module in declared().items())
    doc = '"""Which module declares each operator; generated, do not edit."""'
    return {"netdsl/ops/_index.py": f"{doc}\n\nMODULES: dict[str, str] = {{\n{lines}}}\n"}
