"""Renaming blobs in records, nested nets included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from netdsl.ir.defs import NetDef


def map_nets(args: Mapping[str, Any], function: Callable[[NetDef], NetDef]) -> Mapping[str, Any]:
    """Return an operator's arguments with ``function`` applied to every nested net."""
    changed: dict[str, Any] = {}
    for name, value in args.items():
        if isinstance(value, NetDef):
            changed[name] = function(value)
        elif nets := _nets(value):
            changed[name] = tuple(map(function, nets))
    return {**args, **changed} if changed else args


def _nets(value: Any) -> tuple[NetDef, ...]:
    """The argument itself if it is a tuple of nets, which is never mixed."""
    items: Any = value if type(value) is tuple else ()  # pyright: ignore[reportUnknownVariableType]
    return items if items and isinstance(items[0], NetDef) else ()


def rename_blobs(net: NetDef, mapping: Mapping[str, str]) -> NetDef:
    """Return ``net`` with every mention of a blob renamed by ``mapping``, whether that merges blobs or not."""

    def names(blobs: Iterable[str]) -> list[str]:
        return [mapping.get(name, name) for name in blobs]

    ops = [
        attrs.evolve(
            op,
            inputs=names(op.inputs),
            outputs=names(op.outputs),
            control_inputs=names(op.control_inputs),
            args=map_nets(op.args, lambda nested: rename_blobs(nested, mapping)),
        )
        for op in net.ops
    ]
    types = {mapping.get(name, name): type_ for name, type_ in net.types.items()}
    return attrs.evolve(net, ops=ops, inputs=names(net.inputs), outputs=names(net.outputs), types=types)
