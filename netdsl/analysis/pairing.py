"""Which operators of a backward pass stand for those that its forward pass has, whatever their blobs are called."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

import attrs

from netdsl.errors import SchemaError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import renamed
from netdsl.ops.schema import lookup


@attrs.frozen
class Pairing:
    """Every expected operator, in the names of the net, with the index of the one that stands for it, or None.

    ``names`` maps gradients to what the net calls them, where that is not the usual name.
    """

    pairs: tuple[tuple[OperatorDef, int | None], ...]
    names: Mapping[str, str]


def pair(net: NetDef, indices: Iterable[int], forward: NetDef, expected: Sequence[OperatorDef]) -> Pairing:
    """Pair ``expected`` with the operators of ``net`` at ``indices``: by what they write, else by what they read.

    Where such an operator writes a name that neither pass would have, that is what the net calls the gradient.
    """
    usual = {*forward.blobs(), *(name for op in expected for name in op.outputs)}
    waiting = _Waiting(net, indices)
    names: dict[str, str] = {}
    taken: set[str] = set()
    pairs: list[tuple[OperatorDef, int | None]] = []
    for op in expected:
        wanted = renamed(op, names, streams=False)
        index = waiting.take(wanted, usual)
        if index is not None and _call(net.ops[index]) == _call(wanted):
            for old, new in zip(wanted.outputs, net.ops[index].outputs, strict=False):
                if old != new and new not in usual and new not in taken:
                    names[old] = new
                    taken.add(new)
            wanted = attrs.evolve(wanted, outputs=[names.get(name, name) for name in wanted.outputs])
        pairs.append((wanted, index))
    return Pairing(tuple(pairs), names)


class _Waiting:
    """The operators that stand for no expected one yet, by what they write and by what they read."""

    def __init__(self, net: NetDef, indices: Iterable[int]) -> None:
        self.net = net
        self.taken: set[int] = set()
        self.writers: dict[object, deque[int]] = defaultdict(deque)
        for index in indices:
            op = net.ops[index]
            for key in (*op.outputs, _call(op)):
                self.writers[key].append(index)

    def take(self, wanted: OperatorDef, usual: set[str]) -> int | None:
        found = next((i for name in wanted.outputs if (i := self._first(name)) is not None), None)
        if found is None:
            found = self._first(_call(wanted))
            if found is not None and not usual.isdisjoint(self.net.ops[found].outputs):
                return None  # it stands for another one
        if found is not None:
            self.taken.add(found)
        return found

    def _first(self, key: object) -> int | None:
        waiting = self.writers.get(key, ())
        while waiting and waiting[0] in self.taken:
            waiting.popleft()
        return waiting[0] if waiting else None


def _call(op: OperatorDef) -> tuple[str, tuple[str, ...]]:
    return op.type, op.inputs


# ---------------------------------------------------------------------- meaning


def same_but_arguments(a: OperatorDef, b: OperatorDef) -> bool:
    """Whether two operators are one type, read the same, and write the same as far as both name it."""
    shared = min(len(a.outputs), len(b.outputs))
    return (*_call(a), a.outputs[:shared]) == (*_call(b), b.outputs[:shared])


def other_arguments(there: OperatorDef, here: OperatorDef) -> Iterator[str]:
    """Tell the arguments in which two operators of one type differ; what is given as its default is no difference."""
    for name in _unequal(there, here):
        before, after = there.args.get(name), here.args.get(name)
        if isinstance(before, NetDef) and isinstance(after, NetDef):
            if told := next(_other_operators(before, after), None):
                yield f"in {name}, {told}"
        else:
            yield f"{name} {_told(before)} there, {_told(after)} here"


def _unequal(a: OperatorDef, b: OperatorDef) -> list[str]:
    if a.args == b.args:
        return []
    declared = lookup(a.type)
    try:
        x, y = (declared.bind(op.args, strict=False) for op in (a, b))
    except SchemaError:
        return sorted(name for name in {*a.args, *b.args} if a.args.get(name) != b.args.get(name))
    return sorted(name for name in declared.arguments() if getattr(x, name) != getattr(y, name))


def _other_operators(there: NetDef, here: NetDef) -> Iterator[str]:
    for a, b in zip_longest(there.ops, here.ops):
        if a is None or b is None or not same_but_arguments(a, b):
            yield f"{_quoted(a)} there, {_quoted(b)} here"
        else:
            yield from (f"`{a}`: {told}" for told in other_arguments(a, b))
    if (there.inputs, there.outputs) != (here.inputs, here.outputs):
        yield "other inputs or outputs"


def _quoted(op: OperatorDef | None) -> str:
    return "nothing" if op is None else f"`{op}`"


def _told(value: object) -> str:
    return "not given" if value is None else str(value)
