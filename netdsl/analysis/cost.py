"""What a net costs: FLOPs and bytes of each operator, parameters, and the memory of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs

from netdsl.analysis.infer import infer_writes
from netdsl.errors import NetdslError
from netdsl.ir import UNKNOWN, BlobType, NetDef, OperatorDef, TensorType
from netdsl.ops.regions import all_reads, all_writes, flow
from netdsl.ops.schema import Operator, bound


@attrs.frozen
class OpCost:
    """One operator: floating-point operations and bytes read and written; None where a type is not known.

    ``problem`` is why its types cannot be told: an operator that nothing declares or that does not fit.
    """

    op: OperatorDef
    flops: int | None
    bytes_read: int | None
    bytes_written: int | None
    outputs: tuple[BlobType, ...]
    problem: str | None = None


@attrs.frozen
class NetCost:
    """A whole net. ``held`` is the memory of all blobs at once; ``peak`` what a run with freeing needs."""

    ops: tuple[OpCost, ...]
    held: int
    peak: int
    unknown: int

    @property
    def flops(self) -> int:
        """Floating-point operations of all operators whose types are known."""
        return sum(c.flops or 0 for c in self.ops)

    @property
    def bytes_moved(self) -> int:
        """Bytes read and written by all operators whose types are known."""
        return sum((c.bytes_read or 0) + (c.bytes_written or 0) for c in self.ops)


def nbytes(type_: BlobType) -> int | None:
    """Bytes of a blob of this type; None where it is not known, 0 for what is no tensor."""
    if not isinstance(type_, TensorType):
        return 0
    if not type_.is_static or type_.dtype is None or type_.shape is None:
        return None
    return math.prod(d for d in type_.shape if isinstance(d, int)) * type_.dtype.itemsize


def cost(net: NetDef, types: Mapping[str, BlobType] | None = None) -> NetCost:
    """Return the cost of one run of ``net``, given the types of what it reads."""
    known: dict[str, BlobType] = {**net.types, **(types or {})}
    rows: list[OpCost] = []
    for op in net.ops:
        row, written = _op_cost(op, known)
        rows.append(row)
        known.update(written)
    held, peak = _memory(net, known)
    return NetCost(tuple(rows), held, peak, sum(row.flops is None for row in rows))


def _op_cost(op: OperatorDef, known: Mapping[str, BlobType]) -> tuple[OpCost, Mapping[str, BlobType]]:
    """The cost of an operator, and the types of what it writes."""
    inputs = [known.get(name, UNKNOWN) for name in op.inputs]
    read = _total(inputs)
    try:
        declared = bound(op)
        found = infer_writes(declared, op, known)
    except NetdslError as error:
        unknown = dict.fromkeys(all_writes(op), UNKNOWN)
        return OpCost(op, None, read, None, (UNKNOWN,) * len(op.outputs), error.what), unknown
    outputs = tuple([found[name] for name in op.outputs])
    written = _total(outputs)
    # what nested nets do depends on values, so only the operator itself can tell
    told = not any(op.nested) or type(declared).cost is not Operator.cost
    flops = declared.cost(inputs, outputs) if told and read is not None and written is not None else None
    return OpCost(op, flops, read, written, outputs), found


def _total(types: Sequence[BlobType]) -> int | None:
    sizes = [nbytes(t) for t in types]
    return None if None in sizes else sum(s for s in sizes if s is not None)


def _memory(net: NetDef, types: Mapping[str, BlobType]) -> tuple[int, int]:
    """Bytes of all blobs, and the most that live at once (inputs and outputs live throughout)."""
    uses = [(*all_reads(op), *all_writes(op)) for op in net.ops]
    last = {name: index for index, names in enumerate(uses) for name in names}
    inside = flow(net)
    always = {*net.inputs, *net.outputs, *inside.reads}
    size = {name: nbytes(types.get(name, UNKNOWN)) or 0 for name in inside.named}
    live = peak = sum(size[name] for name in always)
    born = set(always)
    for index, op in enumerate(net.ops):
        for name in all_writes(op):
            if name not in born:
                born.add(name)
                live += size[name]
        peak = max(peak, live)
        for name in {*uses[index]}:
            if last[name] == index and name not in always:
                live -= size[name]
    return sum(size.values()), peak
