"""Renaming blobs, extracting the part that computes given outputs, and switching to test mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from netdsl.errors import BlobError, NetError, did_you_mean
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import Region, all_reads, all_writes, flow, map_nets, rename_blobs
from netdsl.ops.schema import Trims, bound, is_known, lookup


def rename(net: NetDef, mapping: Mapping[str, str]) -> NetDef:
    """Return ``net`` with blobs renamed, in nested nets too; names may be exchanged.

    What nested nets have for themselves keeps its names. Random operators draw what they drew.

    Raises:
        BlobError: a blob to rename that the net has not.
        NetError: two blobs would get one name.
    """
    moved = {old: new for old, new in mapping.items() if old != new}
    known = {*flow(net).named}
    for old in mapping:
        if old not in known:
            raise BlobError(f"net {net.name!r} has no blob {old!r} to rename", did_you_mean=did_you_mean(old, known))
    holders = {name: name for name in known - moved.keys()}
    for old, new in moved.items():
        if new in holders:
            raise NetError(
                f"blob {old!r} of net {net.name!r} cannot be called {new!r}",
                taken_by=holders[new] if holders[new] == new else f"{holders[new]}, which is renamed to it too",
            )
        holders[new] = old
    return rename_blobs(net, moved) if moved else net


def extract(net: NetDef, outputs: Iterable[str]) -> NetDef:
    """Return the operators of ``net`` that the final values of ``outputs`` need, with what they read as inputs.

    An operator with nested nets may leave an output as it was, so what wrote it before is kept too.

    Raises:
        BlobError: an output that the net does not compute.
    """
    wanted = tuple(dict.fromkeys(outputs))
    written = flow(net).writes
    for name in wanted:
        if name not in written and name not in net.inputs:
            near = did_you_mean(name, written)
            raise BlobError(f"net {net.name!r} does not compute blob {name!r}", did_you_mean=near)
    needed, perhaps = set(wanted), set[str]()
    kept: list[OperatorDef] = []
    for op in reversed(net.ops):
        writes = all_writes(op)
        if needed.isdisjoint(writes) and perhaps.isdisjoint(writes):
            continue
        if any(op.nested):
            perhaps.update(needed.intersection(writes))
        else:
            perhaps.difference_update(writes)
        needed.difference_update(writes)
        needed.update(all_reads(op))
        kept.append(op)
    given = [name for name in dict.fromkeys(net.inputs) if name in needed or name in perhaps]
    inputs = [*given, *sorted(needed.difference(given))]
    left = set(inputs)
    ops = _without_lost_control(kept[::-1], left)
    types = {name: type_ for name, type_ in net.types.items() if name in left}
    return attrs.evolve(net, ops=ops, inputs=inputs, outputs=wanted, types=types, metadata={})


def _without_lost_control(ops: list[OperatorDef], inputs: Iterable[str]) -> list[OperatorDef]:
    """Leave out control inputs that nothing provides any more."""
    if not any(op.control_inputs for op in ops):
        return ops
    there = {*inputs, *(name for op in ops for name in all_writes(op))}
    return [attrs.evolve(op, control_inputs=[n for n in op.control_inputs if n in there]) for op in ops]


def for_test(net: NetDef) -> NetDef:
    """Return ``net`` with every operator that has a test mode switched to it, in nested nets too.

    Outputs that exist in training only (masks, statistics of a batch) are left out.

    Raises:
        NetError: one of them is read, or is an output of the net.
    """
    return _for_test(net, dict.fromkeys(net.outputs, f"the outputs of net {net.name!r}"))


def _for_test(net: NetDef, readers: dict[str, object]) -> NetDef:
    """Switch a net to test mode; ``readers`` are those of what it leaves behind."""
    ops: list[OperatorDef] = []
    for op in reversed(net.ops):
        made = _switched(op, readers)
        if not any(op.nested):
            for name in op.outputs:
                readers.pop(name, None)
        readers.update(dict.fromkeys(all_reads(made), made))
        ops.append(made)
    return attrs.evolve(net, ops=ops[::-1])


def _switched(op: OperatorDef, readers: Mapping[str, object]) -> OperatorDef:
    def inside(region: Region) -> NetDef:
        around = {name: readers[outer] for name, outer in region.outer().items() if outer in readers}
        outputs = dict.fromkeys(region.net.outputs, f"the outputs of net {region.net.name!r}")
        return _for_test(region.net, {**around, **outputs})

    args: Mapping[str, Any] = map_nets(op, inside)
    declared = lookup(op.type) if is_known(op.type) else None
    if declared is None or declared.test_arg is None:
        return op if args is op.args else attrs.evolve(op, args=args)
    for name in op.outputs[declared.test_outputs :] if declared.test_outputs is not None else ():
        if name in readers and name not in op.inputs:
            raise NetError(
                f"blob {name!r} exists in training only",
                computed_by=op,
                needed_by=str(readers[name]),
                added_at=op.where,
            )
    return attrs.evolve(op, args={**args, declared.test_arg: 1}, outputs=op.outputs[: declared.test_outputs])


def inference(net: NetDef, outputs: Iterable[str]) -> NetDef:
    """Return the operators that ``outputs`` need where nothing is trained, in test mode.

    Operators of which only a part is needed are trimmed to it: a softmax with loss to a softmax.

    Raises:
        BlobError: an output that the net does not compute.
        NetError: an output that exists in training only.
    """
    wanted = tuple(outputs)
    return extract(_trimmed(for_test(extract(net, wanted))), wanted)


def _trimmed(net: NetDef) -> NetDef:
    read = {*net.outputs, *(name for op in net.ops for name in all_reads(op))}
    ops = list(net.ops)
    for index, op in enumerate(ops):
        declared = bound(op) if is_known(op.type) else None
        if isinstance(declared, Trims):
            ops[index] = declared.trimmed(op, read)
    return attrs.evolve(net, ops=ops)
