"""The difference of two nets by structure: operators are matched by what they compute, not by line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import attrs

from netdsl.ir import NetDef, OperatorDef


@attrs.frozen
class Change:
    """One difference: ``kind`` is "added", "removed", "changed" or "moved".

    ``where`` says what it is about: an operator (by its outputs), an input, an output, the name.
    ``details`` lists what differs in a changed operator, as (what, before, after).
    """

    kind: str
    where: str
    before: OperatorDef | str | None = None
    after: OperatorDef | str | None = None
    details: tuple[tuple[str, object, object], ...] = ()


def diff(a: NetDef, b: NetDef) -> list[Change]:
    """Return what turns ``a`` into ``b``, in the order of ``b``'s operators.

    Operators that write the same blobs are one operator whose type, inputs or arguments changed.
    """
    changes = [Change("changed", "name", a.name, b.name)] if a.name != b.name else []
    changes += _declared("input", a, b, a.inputs, b.inputs)
    changes += _operators(a.ops, b.ops)
    changes += _declared("output", a, b, a.outputs, b.outputs)
    for what in ("type", "num_workers", "device", "args"):
        before, after = getattr(a, what), getattr(b, what)
        if before != after:
            changes.append(Change("changed", f"net {what}", str(before), str(after)))
    return changes


def _declared(side: str, a: NetDef, b: NetDef, before: Sequence[str], after: Sequence[str]) -> list[Change]:
    found = [Change("removed", f"{side} {name}", name) for name in dict.fromkeys(before) if name not in set(after)]
    found += [Change("added", f"{side} {name}", None, name) for name in dict.fromkeys(after) if name not in set(before)]
    if side == "input":
        for name in dict.fromkeys(after):
            old, new = a.types.get(name), b.types.get(name)
            if name in before and old != new:
                found.append(Change("changed", f"input {name}", str(old or "?"), str(new or "?")))
    return found


def _operators(a: Sequence[OperatorDef], b: Sequence[OperatorDef]) -> list[Change]:
    changes: list[Change] = []
    matcher = SequenceMatcher(None, _keys(a), _keys(b), autojunk=False)
    removed: dict[OperatorDef, int] = {}
    added: list[tuple[int, OperatorDef]] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            changes += [c for x, y in zip(a[i1:i2], b[j1:j2], strict=True) if (c := _changed(x, y))]
            continue
        for op in a[i1:i2]:
            removed[op] = removed.get(op, 0) + 1
        for op in b[j1:j2]:
            added.append((len(changes), op))
            changes.append(Change("added", _title(op), None, op))
    for at, op in added:
        if removed.get(op):
            removed[op] -= 1
            changes[at] = Change("moved", _title(op), op, op)
    changes += [Change("removed", _title(op), op) for op, count in removed.items() for _ in range(count)]
    return changes


def _keys(ops: Sequence[OperatorDef]) -> list[tuple[object, ...]]:
    """What makes two operators the same one: the blobs they write, or for effects type and inputs."""
    return [op.outputs if op.outputs else (op.type, op.inputs) for op in ops]


def _title(op: OperatorDef) -> str:
    return ", ".join(op.outputs) or op.type


def _changed(a: OperatorDef, b: OperatorDef) -> Change | None:
    if a == b:
        return None
    details: list[tuple[str, object, object]] = []
    for what in ("type", "inputs", "device", "engine", "name", "control_inputs", "domain", "debug_info"):
        before, after = getattr(a, what), getattr(b, what)
        if before != after:
            details.append((what, before, after))
    for name in sorted({*a.args, *b.args}):
        before, after = a.args.get(name), b.args.get(name)
        if before != after or type(before) is not type(after):
            details.append((f"argument {name}", before, after))
    return Change("changed", _title(b), a, b, tuple(details))
