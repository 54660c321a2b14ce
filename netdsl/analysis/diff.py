"""The difference of two nets by structure: operators are matched by what they compute, not by line."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

import attrs

from netdsl.errors import NetError
from netdsl.ir import Args, NetDef, OperatorDef
from netdsl.ops.regions import flow, renamed

METADATA = frozenset({"is_gradient", "where"})
"""Fields of an operator that are not compared."""


@attrs.frozen
class Change:
    """One difference: ``kind`` is "added", "removed", "changed", "moved" or "renamed".

    ``where`` says what it is about: an operator (by its outputs), a blob, an input, an output, the name.
    ``details`` lists what differs in a changed operator, as (what, before, after).
    """

    kind: str
    where: str
    before: OperatorDef | str | None = None
    after: OperatorDef | str | None = None
    details: tuple[tuple[str, object, object], ...] = ()


def diff(a: NetDef, b: NetDef) -> list[Change]:
    """Return what turns ``a`` into ``b``, in the order of ``b``'s operators.

    Operators that write the same blobs are one operator whose type, inputs or arguments changed. A blob
    that only one of the nets has, in the place of one that only the other has, was renamed.
    """
    renames = _renames(a, b)
    changes = [Change("changed", "name", a.name, b.name)] if a.name != b.name else []
    changes += [Change("renamed", f"blob {old}", old, new) for old, new in renames.items()]
    changes += _declared("input", a.inputs, b.inputs, renames)
    changes += _input_types(a, b, renames)
    changes += _operators(a.ops, b.ops, renames)
    changes += _declared("output", a.outputs, b.outputs, renames)
    for what in ("type", "num_workers", "device", "args"):
        before, after = getattr(a, what), getattr(b, what)
        if before != after:
            changes.append(Change("changed", f"net {what}", str(before), str(after)))
    return changes


# ---------------------------------------------------------------------- renamed blobs


def _renames(a: NetDef, b: NetDef) -> dict[str, str]:
    """Blobs of ``a`` that stand under another name in ``b``, by operators that are otherwise alike."""
    before, after = flow(a).named, flow(b).named
    found: dict[str, str] = {}
    taken: set[str] = set()
    for x, y in _alike(a.ops, b.ops):
        for old, new in (*zip(x.inputs, y.inputs, strict=True), *zip(x.outputs, y.outputs, strict=True)):
            if old not in after and new not in before and old not in found and new not in taken:
                found[old] = new
                taken.add(new)
    return found


def _alike(a: Sequence[OperatorDef], b: Sequence[OperatorDef]) -> Iterator[tuple[OperatorDef, OperatorDef]]:
    """Operators that match but for the names of their blobs: by what they write, else by kind and place."""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, _keys(a), _keys(b), autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (pair for pair in zip(a[i1:i2], b[j1:j2], strict=True) if _kind(pair[0]) == _kind(pair[1]))
        elif tag == "replace":
            ours, theirs = a[i1:i2], b[j1:j2]
            kinds = SequenceMatcher(None, [_kind(op) for op in ours], [_kind(op) for op in theirs], autojunk=False)
            for i, j, size in kinds.get_matching_blocks():
                yield from zip(ours[i : i + size], theirs[j : j + size], strict=True)


def _kind(op: OperatorDef) -> tuple[object, ...]:
    nested = {name for name, _ in op.nested}  # their blobs may be renamed as well
    args = Args({name: value for name, value in op.args.items() if name not in nested}) if nested else op.args
    return op.type, len(op.inputs), len(op.outputs), args, op.device, op.engine


def _renamed(op: OperatorDef, renames: Mapping[str, str], there: Container[OperatorDef]) -> OperatorDef:
    """``op`` under the new names, with the argument that keeps its random numbers if the other net has it so."""
    try:
        plain, kept = (renamed(op, renames, streams=streams) for streams in (False, True))
    except NetError:  # a nested net has a blob of its own so called: not the same operator under other names
        return op
    return kept if kept in there else plain


# ---------------------------------------------------------------------- inputs and outputs


def _declared(side: str, before: Sequence[str], after: Sequence[str], renames: Mapping[str, str]) -> list[Change]:
    old = {renames.get(name, name): name for name in before}
    new = dict.fromkeys(after)
    found = [Change("removed", f"{side} {name}", name) for renamed, name in old.items() if renamed not in new]
    return found + [Change("added", f"{side} {name}", None, name) for name in new if name not in old]


def _input_types(a: NetDef, b: NetDef, renames: Mapping[str, str]) -> list[Change]:
    declared = set(b.inputs)
    found: list[Change] = []
    for name in dict.fromkeys(a.inputs):
        new = renames.get(name, name)
        old_type, new_type = a.types.get(name), b.types.get(new)
        if new in declared and old_type != new_type:
            found.append(Change("changed", f"input {new}", str(old_type or "?"), str(new_type or "?")))
    return found


# ---------------------------------------------------------------------- operators


def _operators(a: Sequence[OperatorDef], b: Sequence[OperatorDef], renames: Mapping[str, str]) -> list[Change]:
    changes: list[Change] = []
    there = set(b) if renames else ()
    now = [_renamed(op, renames, there) for op in a] if renames else a
    removed: dict[OperatorDef, list[OperatorDef]] = {}
    added: list[tuple[int, OperatorDef]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, _keys(now), _keys(b), autojunk=False).get_opcodes():
        if tag == "equal":
            triples = zip(a[i1:i2], now[i1:i2], b[j1:j2], strict=True)
            changes += [change for old, x, y in triples if (change := _changed(old, x, y))]
            continue
        for old, op in zip(a[i1:i2], now[i1:i2], strict=True):
            removed.setdefault(op, []).append(old)
        for op in b[j1:j2]:
            added.append((len(changes), op))
            changes.append(Change("added", _title(op), None, op))
    for at, op in added:
        if removed.get(op):
            changes[at] = Change("moved", _title(op), removed[op].pop(0), op)
    return changes + [Change("removed", _title(op), op) for left in removed.values() for op in left]


def _keys(ops: Sequence[OperatorDef]) -> list[tuple[object, ...]]:
    """What makes two operators the same one: the blobs they write, or for effects type and inputs."""
    return [op.outputs if op.outputs else (op.type, op.inputs) for op in ops]


def _title(op: OperatorDef) -> str:
    return ", ".join(op.outputs) or op.type


def _changed(old: OperatorDef, a: OperatorDef, b: OperatorDef) -> Change | None:
    """What differs between two operators; ``a`` is ``old`` under its new names."""
    if a == b:
        return None
    details: list[tuple[str, object, object]] = []
    for field in attrs.fields(OperatorDef):
        before, after = getattr(a, field.name), getattr(b, field.name)
        if field.name not in METADATA and field.name != "args" and before != after:
            details.append((field.name, before, after))
    for name in sorted({*a.args, *b.args}):
        before, after = a.args.get(name), b.args.get(name)
        if isinstance(before, NetDef) and isinstance(after, NetDef):
            details += [detail for change in diff(before, after) for detail in _nested(name, change)]
        elif before != after or type(before) is not type(after):
            details.append((f"argument {name}", before, after))
    return Change("changed", _title(b), old, b, tuple(details))


def _nested(argument: str, change: Change) -> Iterator[tuple[str, object, object]]:
    """A difference in a nested net as details of the operator that has it."""
    what = f"{argument}: {change.where}"
    for inner, before, after in change.details:
        yield f"{what}: {inner}", before, after
    if not change.details:
        yield f"{what} {change.kind}", change.before, change.after
