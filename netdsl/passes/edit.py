"""Renaming blobs, extracting the part that computes given outputs, and switching to test mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from netdsl.errors import BlobError, did_you_mean
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.schema import is_known, lookup


def rename(net: NetDef, mapping: Mapping[str, str]) -> NetDef:
    """Return ``net`` with blobs renamed, in nested nets too.

    Raises:
        BlobError: a blob to rename that the net has not.
    """
    if not mapping:
        return net
    known = _all_blobs(net)
    for old in mapping:
        if old not in known:
            raise BlobError(f"net {net.name!r} has no blob {old!r} to rename", did_you_mean=did_you_mean(old, known))
    return _rename(net, mapping)


def _all_blobs(net: NetDef) -> set[str]:
    found = set(net.blobs())
    for op in net.ops:
        for _, nested in op.nested:
            found |= _all_blobs(nested)
    return found


def _rename(net: NetDef, mapping: Mapping[str, str]) -> NetDef:
    def names(blobs: Iterable[str]) -> list[str]:
        return [mapping.get(b, b) for b in blobs]

    ops = [
        attrs.evolve(
            op,
            inputs=names(op.inputs),
            outputs=names(op.outputs),
            control_inputs=names(op.control_inputs),
            args=map_nets(op, lambda nested: _rename(nested, mapping)),
        )
        for op in net.ops
    ]
    types = {mapping.get(b, b): t for b, t in net.types.items()}
    return attrs.evolve(net, ops=ops, inputs=names(net.inputs), outputs=names(net.outputs), types=types)


def map_nets(op: OperatorDef, function: Any) -> Mapping[str, Any]:
    """Return the arguments of ``op`` with ``function`` applied to every nested net."""
    changed: dict[str, Any] = {}
    for name, value in op.args.items():
        if isinstance(value, NetDef):
            changed[name] = function(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], NetDef):
            changed[name] = tuple(map(function, value))
    return {**op.args, **changed} if changed else op.args


def extract(net: NetDef, outputs: Iterable[str]) -> NetDef:
    """Return the operators of ``net`` that the final values of ``outputs`` need, with what they read as inputs.

    Raises:
        BlobError: an output that the net does not compute.
    """
    wanted = tuple(dict.fromkeys(outputs))
    written = {name for op in net.ops for name in op.outputs}
    for name in wanted:
        if name not in written and name not in net.inputs:
            near = did_you_mean(name, written)
            raise BlobError(f"net {net.name!r} does not compute blob {name!r}", did_you_mean=near)
    needed = set(wanted)
    kept: list[OperatorDef] = []
    for op in reversed(net.ops):
        if needed.isdisjoint(op.outputs):
            continue
        needed.difference_update(op.outputs)
        needed.update(op.inputs)
        for _, nested in op.nested:
            needed.update(nested.read_first())
        kept.append(op)
    inputs = [name for name in dict.fromkeys([*net.inputs, *sorted(needed)]) if name in needed]
    types = {name: t for name, t in net.types.items() if name in needed}
    return attrs.evolve(net, ops=kept[::-1], inputs=inputs, outputs=wanted, types=types, metadata={})


def for_test(net: NetDef) -> NetDef:
    """Return ``net`` with every operator that has a test mode switched to it.

    Outputs that exist for training only (masks, running statistics) are left out where nothing reads them.
    """
    ops: list[OperatorDef] = []
    read = set(net.outputs)
    for op in reversed(net.ops):
        made = _switched(op, read)
        read.update(made.inputs)
        ops.append(made)
    return attrs.evolve(net, ops=ops[::-1])


def _switched(op: OperatorDef, read: set[str]) -> OperatorDef:
    args: Mapping[str, Any] = map_nets(op, for_test)
    declared = lookup(op.type) if is_known(op.type) else None
    if declared is None or declared.test_arg is None:
        return op if args is op.args else attrs.evolve(op, args=args)
    outputs = list(op.outputs)
    while declared.test_outputs is not None and len(outputs) > declared.test_outputs:
        if outputs[-1] in read and outputs[-1] not in op.inputs:
            break
        outputs.pop()
    return attrs.evolve(op, args={**args, declared.test_arg: 1}, outputs=outputs)
