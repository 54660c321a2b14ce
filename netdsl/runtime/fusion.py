"""``Fusion``: a group of elementwise steps, traced once for all nets and sizes in which it occurs.

A group is looked up by what its steps are, how their blobs hang together, the dtypes, and how every operand
spans the full arrays: along which axes it has their extent (None) and along which it has one element (1).
It is traced and scheduled in names of its own ("0", "1", ...) and bound to arrays of any size.
"""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from netdsl.ir import BlobType, DType
from netdsl.runtime import half
from netdsl.runtime.backends import Backend, MakeGroup, best
from netdsl.runtime.groups import MAX_NODES, MAX_OPERATORS, TINY, Call, Group
from netdsl.runtime.memory import Arena
from netdsl.runtime.steps import Step

REMEMBERED = 4096
"""How many groups, and how many formulas, are remembered."""

Span = tuple[DType, tuple[int | None, ...]]
"""A dtype, and of each axis None where the operand has the extent of the full arrays, 1 where it has one element."""


class Table:
    """What was found out for keys, in the whole process: the last REMEMBERED, for one thread at a time."""

    def __init__(self) -> None:
        self._found: OrderedDict[Any, Any] = OrderedDict()
        self.unlock()

    def unlock(self) -> None:
        """Begin with a lock that nobody holds: in a fork, whose parent's other threads are gone."""
        self._lock = Lock()

    def get(self, key: Any) -> Any:
        """Return what is known for ``key``, None if nothing is."""
        return self._found.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Remember ``value``, and forget the oldest of too many."""
        with self._lock:
            while len(self._found) >= REMEMBERED:
                self._found.popitem(last=False)
            self._found[key] = value


_groups, _formulas, _offers = Table(), Table(), Table()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: [table.unlock() for table in (_groups, _formulas, _offers)])


class Fusion:
    """A group under way: steps whose full arrays share one shape. ``numbers`` are those of its blobs.

    ``reduction`` is what the group ends in: None, as groups that end in a reduction are yet to come.
    """

    reduction: None = None

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.shape: tuple[int, ...] | None = None
        self.numbers: dict[str, int] = {}
        self.spans: list[Span] = []
        self._wiring: list[Any] = []
        self._nodes = 0

    def try_add(self, step: Step, types: Mapping[str, BlobType]) -> bool:
        """Add one more step; return False, and change nothing, if it cannot join."""
        op, shape = step.op, self.shape
        if self.steps and step.backends is not self.steps[0].backends and step.backends != self.steps[0].backends:
            return False
        touched = (*op.inputs, *op.outputs)
        spans: list[Span] = []
        for name in touched:
            type_: Any = types[name]
            extents = type_.shape
            if math.prod(extents) == 1:
                spans.append((type_.dtype, extents))
                continue
            if shape is None:
                shape = extents
            elif shape != extents:
                return False
            spans.append((type_.dtype, (None,) * len(extents)))
        numbers = self.numbers
        for name, span in zip(touched, spans, strict=True):
            if name in numbers and self.spans[numbers[name]] != span:
                return False
        nodes = _formula(step, tuple(spans), types)
        if not nodes or self._nodes + nodes > MAX_NODES or len(self.steps) >= MAX_OPERATORS:
            return False
        for name, span in zip(touched, spans, strict=True):
            if name not in numbers:
                numbers[name] = len(numbers)
                self.spans.append(span)
        self._wiring.append(
            (step.operator, tuple([numbers[n] for n in op.inputs]), tuple([numbers[n] for n in op.outputs]))
        )
        self._nodes += nodes
        self.steps.append(step)
        self.shape = shape
        return True

    def finish(self, stores: set[str], types: Mapping[str, BlobType]) -> tuple[Group, MakeGroup | None]:
        """Return the traced group, of which the blobs ``stores`` reach memory, and the best offer to run it."""
        size = math.prod(self.shape or ())
        stored = tuple(sorted([self.numbers[name] for name in stores]))
        sizes = size < TINY, size >= half.LARGE
        key = (tuple(self._wiring), tuple(self.spans), self.reduction, stored, sizes)
        found = _groups.get(key)
        if found is None:
            found = Group()
            local = {str(at): types[name] for name, at in self.numbers.items()}
            for operator, inputs, outputs in self._wiring:
                names = [str(at) for at in inputs], [str(at) for at in outputs]
                joined = found.try_add(operator, *names, local)
                assert joined, operator
            found.finish({str(at) for at in stored})
            _groups.put(key, found)
        return found, _offer(found, key, self.steps[0].backends)


class Alone:
    """An elementwise step as a group of its own: how it is interpreted on large arrays, without temporary ones.

    It serves every step of the same operator and types whose inputs and outputs are equal in the same places.
    """

    def __init__(self, step: Step, types: Mapping[str, BlobType]) -> None:
        fusion = Fusion()
        self.make: MakeGroup | None = None
        if fusion.try_add(step, types):
            group, self.make = fusion.finish(set(step.op.outputs), types)
            names, touched = list(fusion.numbers), (*step.op.inputs, *step.op.outputs)
            self.places = {at: touched.index(names[int(at)]) for at in group.buffers}
            self.shape = fusion.shape or ()

    def calls(self, arrays: Sequence[Any], arena: Arena) -> list[Call] | None:
        """The calls that run it on the arrays of its inputs and outputs; None where its body is to be called."""
        if self.make is None:
            return None
        return self.make({at: arrays[place] for at, place in self.places.items()}, self.shape, arena.begin())


def _offer(group: Group, key: Any, backends: tuple[Backend, ...]) -> MakeGroup | None:
    known = (key, backends)
    found = _offers.get(known)
    if found is None:
        offer = best([backend.group(group) for backend in backends])
        found = (None if offer is None else offer.make,)
        _offers.put(known, found)
    return found[0]


def _formula(step: Step, spans: tuple[Span, ...], types: Mapping[str, BlobType]) -> int:
    """How many nodes the step's formula has; 0 where it is none."""
    op = step.op
    same = () if len({*op.inputs, *op.outputs}) == len(spans) else (*op.inputs, *op.outputs)
    key = (step.operator, spans, same and tuple([same.index(n) for n in same]))
    found = _formulas.get(key)
    if found is None:
        group = Group()
        found = group.graph.mark() if group.try_add(step.operator, op.inputs, op.outputs, types) else 0
        _formulas.put(key, found)
    return found
