"""The table of parameters as rows of plain data, and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netdsl.dsl import Net, Parameter, SparseGradient
from netdsl.ir import TensorType

GROUP_COLUMNS = ("name", "shape", "dtype", "kind", "lr", "weight_decay", "momentum", "optimizer", "decided")
"""What ``describe_groups`` shows, but for columns that are empty."""

SETTINGS = {
    "lr_multiplier": "lr",
    "weight_decay": "weight decay",
    "decoupled": "decoupled",
    "momentum": "momentum",
    "optimizer": "optimizer",
    "freeze": "freeze",
}
"""What rules decide, in the order and by the names in which tables tell it."""


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
        **{key: _tidy(value) for key, value in parameter.settings.items()},
        **({"decided": _decided(parameter)} if "decided" in parameter.settings else {}),
    }


def _tidy(value: Any) -> Any:
    """A number as people write it: 0.01 and not 0.010000000000000002."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _decided(parameter: Parameter) -> str:
    """Which rule decided what: ``lr: block1; weight decay: kind=norm``. The optimizer decided the rest."""
    decided: Mapping[str, str] = parameter.settings["decided"]
    if parameter.frozen:
        return f"freeze: {decided.get('freeze', 'model.freeze')}"
    return "; ".join(f"{told}: {decided[name]}" for name, told in SETTINGS.items() if name in decided) or "default"


def groups_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """How each parameter is trained, as aligned columns; the last says which rule decided what."""
    if not rows:
        return "no parameters"
    columns = [name for name in GROUP_COLUMNS if any(_cell(found, name) for found in rows)]
    cells = [[name.replace("_", " ") for name in columns]]
    cells += [[_cell(found, name) for name in columns] for found in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _cell(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if name == "shape":
        return "x".join(map(str, value or ())) or "scalar"
    if name == "optimizer" and found.get("frozen"):
        return "frozen"
    if name == "weight_decay" and value:
        return f"{value:g} {found.get('decay', '')}".rstrip()
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
