"""The table of parameters as rows of plain data, and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netdsl.dsl import Net, Parameter, SparseGradient
from netdsl.ir import TensorType

GROUP_COLUMNS = ("name", "shape", "dtype", "kind", "lr", "weight_decay", "optimizer", "decided")
"""What ``describe_groups`` shows."""


def row(parameter: Parameter, net: Net) -> dict[str, Any]:
    """One parameter: name, shape, dtype, tag, kind, copies, gradient, frozen, and its settings."""
    type_, grad = net.type_of(parameter.blob), parameter.grad
    shown = f"rows {grad.indices} of {grad.values}" if isinstance(grad, SparseGradient) else grad
    return {
        "name": parameter.name,
        "shape": list(parameter.shape or ()),
        "dtype": type_.dtype.value if isinstance(type_, TensorType) and type_.dtype else None,
        "tag": parameter.tag.value,
        "kind": parameter.kind,
        "copies": {dtype.value: str(copy) for dtype, copy in parameter.blob_copy.items()},
        "gradient": None if shown is None else str(shown),
        "frozen": parameter.frozen,
        **parameter.settings,
    }


def groups_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """How each parameter is trained, as aligned columns; the last says which rule decided what."""
    cells = [[name.replace("_", " ") for name in GROUP_COLUMNS]]
    cells += [[_cell(found, name) for name in GROUP_COLUMNS] for found in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(GROUP_COLUMNS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _cell(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if name == "shape":
        return "x".join(map(str, value or ())) or "scalar"
    if name == "decided":
        if found.get("frozen"):
            value = {"frozen": (value or {}).get("frozen", "model.freeze")}
        return ", ".join(f"{what.replace('_', ' ')}: {rule}" for what, rule in (value or {}).items()) or "default"
    if name == "optimizer" and found.get("frozen"):
        return "frozen"
    if name == "weight_decay" and value:
        return f"{value:g} {found.get('decay', '')}".rstrip()
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
