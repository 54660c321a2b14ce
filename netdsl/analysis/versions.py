"""Which version of each blob every operator of a net reads and writes, blobs that share memory included."""

from __future__ import annotations

from collections import defaultdict

import attrs

from netdsl.errors import GradientError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.schema import is_known, lookup


@attrs.frozen
class VersionedOp:
    """A forward operator with the versions of what it reads and writes; ``shared`` has the memory that it writes."""

    op: OperatorDef
    index: int
    reads: dict[str, int]
    writes: dict[str, int]
    shared: dict[str, int]


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
        self._aliases: dict[str, set[str]] = {}
        """The blobs that share one memory, by each of them."""
        for index, op in enumerate(net.ops):
            self._record(index, op)

    def _record(self, index: int, op: OperatorDef) -> None:
        reads = {name: self.last[name] for name in op.inputs}
        for name in op.inputs:
            key = (name, reads[name])
            self.first_reader.setdefault(key, index)
            self.readers[key] += 1
        shared = self._shared_memory(op)
        for name in (*op.outputs, *shared):
            self.last[name] += 1
            self.writer[name, self.last[name]] = index
        writes, also = ({name: self.last[name] for name in names} for names in (op.outputs, shared))
        self.steps.append(VersionedOp(op, index, reads, writes, also))

    def _shared_memory(self, op: OperatorDef) -> set[str]:
        """The other names of the memory that ``op`` writes; an alias writes none, but gives one more name."""
        if not (is_known(op.type) and any(out.alias for out in lookup(op.type).outputs)):
            return {m for name in op.outputs for m in self._aliases.get(name, ())} - set(op.outputs)
        source, name = op.inputs[0], op.outputs[0]
        joined = {*self._aliases.get(source, {source}), name}
        self._aliases.update(dict.fromkeys(joined, joined))
        return set()

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
