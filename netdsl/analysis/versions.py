"""Which version of each blob every operator of a net reads and writes, blobs that share memory included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import attrs

from netdsl.errors import GradientError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import NOTHING, around, regions
from netdsl.ops.schema import Operator, is_known, lookup


@attrs.frozen
class VersionedOp:
    """A forward operator with the versions of what it reads and writes.

    ``shared`` has the memory that it writes under other names; ``hidden`` what its regions read and write without
    the operator listing it.
    """

    op: OperatorDef
    index: int
    reads: dict[str, int]
    writes: dict[str, int]
    shared: dict[str, int]
    hidden: Hidden


@attrs.frozen
class Hidden:
    """Blobs that an operator reads as no input, and those that it writes as no output, with their versions."""

    reads: dict[str, int]
    writes: dict[str, int]


NONE = Hidden({}, {})


class Versions:
    """The versions of the blobs of one net: 0 is what the workspace held before, each write makes the next.

    ``last`` is the version at the end; ``writer``, ``first_reader`` and ``readers`` (how many) are by name and version.
    """

    def __init__(self, net: NetDef) -> None:
        self.net = net
        self.names = set(net.blobs())
        self.steps: list[VersionedOp] = []
        self.last: dict[str, int] = defaultdict(int)
        self.writer: dict[tuple[str, int], int] = {}
        self.first_reader: dict[tuple[str, int], int] = {}
        self.readers: dict[tuple[str, int], int] = defaultdict(int)
        self._aliases: dict[Name, set[Name]] = {}
        """The blobs that share one memory, by each of them."""
        for index, op in enumerate(net.ops):
            self._record(index, op)

    def _record(self, index: int, op: OperatorDef) -> None:
        reads = {name: self.last[name] for name in op.inputs}
        for name in op.inputs:
            key = (name, reads[name])
            self.first_reader.setdefault(key, index)
            self.readers[key] += 1
        inside = around(op) if op.args.has_nets else NOTHING
        self.names.update(inside.named)
        hidden = NONE if inside is NOTHING else Hidden({n: self.last[n] for n in inside.reads if n not in reads}, {})
        also = [name for name in inside.writes if name not in op.outputs] if inside.writes else []
        shared = self._shared_memory(op, (*op.outputs, *also), index)
        for name in (*op.outputs, *also, *shared):
            self.last[name] += 1
            self.writer[name, self.last[name]] = index
        hidden.writes.update((name, self.last[name]) for name in also)
        writes, memory = ({name: self.last[name] for name in names} for names in (op.outputs, shared))
        self.steps.append(VersionedOp(op, index, reads, writes, memory, hidden))

    def _shared_memory(self, op: OperatorDef, written: Sequence[str], index: int) -> list[str]:
        """The other names of the memory that ``op`` writes; an alias writes none, but gives one more name."""
        pairs = list(_aliases(op, (index,))) if op.args.has_nets or _declares_alias(op) else []
        if not (pairs or self._aliases):
            return []
        surely = not op.args.has_nets  # what regions alias, they may also leave as it was
        given = {name for name, _ in pairs} if surely else set[Name]()
        shared = {m for name in written if name not in given for m in self._aliases.get(name, ())}
        for name, source in pairs:
            group = self._aliases.setdefault(source, {source})
            before = self._aliases.get(name, {name})
            if name in group:
                continue
            if surely:
                before.discard(name)
                before = {name}
            group |= before
            self._aliases.update(dict.fromkeys(before, group))
        return sorted(name for name in shared.difference(written) if isinstance(name, str))

    def overwritten(self, name: str, version: int, step: VersionedOp) -> GradientError:
        """The error that ``name`` will hold another value than ``step`` saw when the backward pass runs."""
        culprit = self.net.ops[self.writer[name, version + 1]]
        return GradientError(
            f"the gradient of {step.op.type} needs blob {name!r} as it was, but it is overwritten later",
            needed_by=f"{step.op}     (operator {step.index} of net {self.net.name!r}, version {version})",
            overwritten_by=f"{culprit}     (version {self.last[name]} at the end)",
            added_at=step.op.where,
            fix=f"let {culprit.type} write a fresh blob instead of {name!r}",
        )


Name = str | tuple[object, ...]
"""A blob of the net, or (with its place) one that a region has for itself."""


def _aliases(op: OperatorDef, place: tuple[object, ...]) -> Iterator[tuple[Name, Name]]:
    """The outputs of ``op`` that share the memory of an input by declaration, each with it; in its regions too."""
    for number, region in enumerate(regions(op)):
        outer, here = region.outer(), (*place, number)

        def out(name: Name, outer: Mapping[str, str] = outer, here: tuple[object, ...] = here) -> Name:
            return outer.get(name, (*here, name)) if isinstance(name, str) else name

        for at, inner in enumerate(region.net.ops):
            yield from ((out(name), out(source)) for name, source in _aliases(inner, (*here, at)))
    if not _declares_alias(op):
        return
    declared = lookup(op.type)
    places = dict(declared.formal_inputs.layout(len(op.inputs)))
    for formal, (_, at) in zip(declared.outputs, declared.formal_outputs.layout(len(op.outputs)), strict=True):
        if formal.alias is not None:
            yield from zip(_blobs(op.outputs, at), _blobs(op.inputs, places[formal.alias]), strict=False)


def _declares_alias(op: OperatorDef) -> bool:
    return is_known(op.type) and _has_alias(lookup(op.type))


@cache
def _has_alias(declared: type[Operator]) -> bool:
    return any(out.alias for out in declared.outputs)


def _blobs(names: Sequence[str], place: slice | int | None) -> Sequence[str]:
    """The blobs at one place of a layout."""
    return names[place] if isinstance(place, slice) else () if place is None else (names[place],)
