"""Sums and means of rows by segment, their gradients, and segments written in other ways."""

from __future__ import annotations

from collections.abc import Sequence

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import AnyTensor, Float, Index
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free, need_rank
from netdsl.ops.sparse.common import add_rows, check_indices, segment_ids
from netdsl.ops.xp import Array, ArrayModule

_LENGTHS = In("LENGTHS", Index, doc="How many rows each segment has.")
_NUM_SEGMENTS = "The number of segments; by default the largest id plus one."


def _by_lengths(op: str, rows: TensorType, lengths: TensorType, dtype: DType | None = None) -> TensorType:
    need_rank(op, "LENGTHS", lengths, 1)
    need_rank(op, "DATA", rows, 1, least=True)
    return TensorType(dtype or rows.dtype, (*dims_of(lengths), *dims_of(rows)[1:]))


def _repeated(dY: TensorType, count: Dim) -> TensorType:
    return dY.with_shape((count, *dims_of(dY)[1:]))


@operator
class LengthsSum(Operator):
    """Sum consecutive rows: the first ``LENGTHS[0]`` rows, the next ``LENGTHS[1]``, and so on."""

    inputs = (In("DATA", Float, doc="As many rows as the lengths add up to."), _LENGTHS)
    outputs = (Out("OUTPUT", doc="One row a segment; zeros for an empty one."),)

    def infer(self, DATA: TensorType, LENGTHS: TensorType) -> TensorType:
        return _by_lengths("LengthsSum", DATA, LENGTHS)

    def gradient(self, g: Gradients) -> None:
        g.add(LengthsIndicesInGradientSumGradient, [g.grad.OUTPUT, g.blob.LENGTHS, g.blob.DATA], [g.grad.DATA])

    def compute(self, xp: ArrayModule, DATA: Array, LENGTHS: Array) -> Array:
        return add_rows(xp, LENGTHS.size, segment_ids("LengthsSum", xp, LENGTHS, DATA.shape[0]), DATA)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        added = product(dims_of(inputs[0]))
        return added if isinstance(added, int) else None


@operator
class LengthsSumGradient(Operator):
    """Gradient of :class:`LengthsSum`: the row of each segment, once for each of its rows."""

    inputs = (In("dY", Float), _LENGTHS)
    outputs = (Out("dDATA"),)

    cost = free

    def infer(self, dY: TensorType, LENGTHS: TensorType) -> TensorType:
        _by_lengths("LengthsSumGradient", dY, LENGTHS)
        return _repeated(dY, None)

    def compute(self, xp: ArrayModule, dY: Array, LENGTHS: Array) -> Array:
        return xp.take(dY, segment_ids("LengthsSumGradient", xp, LENGTHS), axis=0)


@operator
class LengthsIndicesInGradientSumGradient(Operator):
    """As :class:`LengthsSumGradient`, told the data, and so the number of rows."""

    inputs = (In("dY", Float), _LENGTHS, In("DATA", AnyTensor, doc="What was summed; only its rows are counted."))
    outputs = (Out("dDATA"),)

    cost = free

    def infer(self, dY: TensorType, LENGTHS: TensorType, DATA: TensorType) -> TensorType:
        _by_lengths("LengthsIndicesInGradientSumGradient", dY, LENGTHS)
        return _repeated(dY, dims_of(DATA)[0] if DATA.shape else None)

    def compute(self, xp: ArrayModule, dY: Array, LENGTHS: Array, DATA: Array) -> Array:
        ids = segment_ids("LengthsIndicesInGradientSumGradient", xp, LENGTHS, DATA.shape[0])
        return xp.take(dY, ids, axis=0)


@operator
class SparseLengthsSum(Operator):
    """Sum the rows of DATA that INDICES names, segment by segment: a Gather and a LengthsSum in one.

    Half data is summed, and returned, in float32. The gradient is sparse.
    """

    inputs = (In("DATA", Float, doc="The table."), In("INDICES", Index, doc="A vector of rows to sum."), _LENGTHS)
    outputs = (Out("OUTPUT", doc="One row a segment; zeros for an empty one."),)

    def infer(self, DATA: TensorType, INDICES: TensorType, LENGTHS: TensorType) -> TensorType:
        need_rank("SparseLengthsSum", "INDICES", INDICES, 1)
        half = DATA.dtype is DType.FLOAT16
        return _by_lengths("SparseLengthsSum", DATA, LENGTHS, DType.FLOAT if half else None)

    def gradient(self, g: Gradients) -> None:
        values = f"{g.grad.DATA}_values"
        g.add(SparseLengthsIndicesInGradientSumGradient, [g.grad.OUTPUT, g.blob.LENGTHS, g.blob.INDICES], [values])
        g.sparse(g.grad.DATA, g.blob.INDICES, values)

    def compute(self, xp: ArrayModule, DATA: Array, INDICES: Array, LENGTHS: Array) -> Array:
        check_indices("SparseLengthsSum", xp, INDICES, DATA.shape[0])
        ids = segment_ids("SparseLengthsSum", xp, LENGTHS, INDICES.size)
        rows = xp.take(DATA, INDICES, axis=0)
        return add_rows(xp, LENGTHS.size, ids, rows.astype(xp.float32) if rows.dtype == xp.float16 else rows)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        added = product((*dims_of(inputs[1]), *dims_of(inputs[0])[1:]))
        return added if isinstance(added, int) else None


@operator
class SparseLengthsSumGradient(Operator):
    """Values of the sparse gradient of :class:`SparseLengthsSum`."""

    inputs = (In("dY", Float), _LENGTHS)
    outputs = (Out("values"),)

    cost = free

    def infer(self, dY: TensorType, LENGTHS: TensorType) -> TensorType:
        _by_lengths("SparseLengthsSumGradient", dY, LENGTHS)
        return _repeated(dY, None)

    def compute(self, xp: ArrayModule, dY: Array, LENGTHS: Array) -> Array:
        return xp.take(dY, segment_ids("SparseLengthsSumGradient", xp, LENGTHS), axis=0)


@operator
class SparseLengthsIndicesInGradientSumGradient(Operator):
    """As :class:`SparseLengthsSumGradient`, told the indices, and so the number of rows."""

    inputs = (In("dY", Float), _LENGTHS, In("INDICES", Index))
    outputs = (Out("values"),)

    cost = free

    def infer(self, dY: TensorType, LENGTHS: TensorType, INDICES: TensorType) -> TensorType:
        _by_lengths("SparseLengthsIndicesInGradientSumGradient", dY, LENGTHS)
        return _repeated(dY, dims_of(INDICES)[0] if INDICES.shape else None)

    def compute(self, xp: ArrayModule, dY: Array, LENGTHS: Array, INDICES: Array) -> Array:
        ids = segment_ids("SparseLengthsIndicesInGradientSumGradient", xp, LENGTHS, INDICES.size)
        return xp.take(dY, ids, axis=0)


def _by_ids(op: str, data: TensorType, ids: TensorType, num_segments: int) -> TensorType:
    need_rank(op, "SEGMENT_IDS", ids, 1)
    need_rank(op, "DATA", data, 1, least=True)
    if conflict(dims_of(ids)[0], dims_of(data)[0]):
        raise InferenceError(f"{op}: one segment id for each row", expected=dims_of(data)[0], got=dims_of(ids)[0])
    return _repeated(data, num_segments if num_segments >= 0 else None)


def _check_num_segments(op: str, num_segments: int) -> None:
    if num_segments < -1:
        raise SchemaError(f"{op}: no number of segments", expected="num_segments >= 0, or -1", got=num_segments)


def _segments(op: str, xp: ArrayModule, ids: Array, num_segments: int) -> int:
    """The number of segments, once every id is checked to be below it."""
    count = num_segments if num_segments >= 0 else (int(xp.max(ids)) + 1 if ids.size else 0)
    check_indices(op, xp, ids, count)
    return count


def _counts(xp: ArrayModule, ids: Array, count: int, like: Array) -> Array:
    """How many rows each segment has, at least 1, ready to divide rows of ``like``."""
    ones = xp.ones((ids.size, *(1 for _ in like.shape[1:])), dtype=xp.float32)
    wide = xp.float32 if like.dtype == xp.float16 else like.dtype
    return xp.maximum(add_rows(xp, count, ids, ones), 1).astype(wide)


@operator
class UnsortedSegmentSum(Operator):
    """Sum the rows that have the same segment id."""

    inputs = (In("DATA", Float), In("SEGMENT_IDS", Index, doc="The segment of each row."))
    outputs = (Out("OUTPUT", doc="One row a segment; zeros for a missing one."),)

    num_segments: int = arg(-1, doc=_NUM_SEGMENTS)

    def __attrs_post_init__(self) -> None:
        _check_num_segments("UnsortedSegmentSum", self.num_segments)

    def infer(self, DATA: TensorType, SEGMENT_IDS: TensorType) -> TensorType:
        return _by_ids("UnsortedSegmentSum", DATA, SEGMENT_IDS, self.num_segments)

    def gradient(self, g: Gradients) -> None:
        g.add(UnsortedSegmentSumGradient, [g.grad.OUTPUT, g.blob.SEGMENT_IDS], [g.grad.DATA])

    def compute(self, xp: ArrayModule, DATA: Array, SEGMENT_IDS: Array) -> Array:
        count = _segments("UnsortedSegmentSum", xp, SEGMENT_IDS, self.num_segments)
        return add_rows(xp, count, SEGMENT_IDS, DATA)


@operator
class UnsortedSegmentSumGradient(Operator):
    """Gradient of :class:`UnsortedSegmentSum`: the row of each row's segment."""

    inputs = (In("dY", Float), In("SEGMENT_IDS", Index))
    outputs = (Out("dDATA"),)

    num_segments: int = arg(-1, doc=_NUM_SEGMENTS)

    cost = free

    def infer(self, dY: TensorType, SEGMENT_IDS: TensorType) -> TensorType:
        need_rank("UnsortedSegmentSumGradient", "SEGMENT_IDS", SEGMENT_IDS, 1)
        return _repeated(dY, dims_of(SEGMENT_IDS)[0])

    def compute(self, xp: ArrayModule, dY: Array, SEGMENT_IDS: Array) -> Array:
        check_indices("UnsortedSegmentSumGradient", xp, SEGMENT_IDS, dY.shape[0])
        return xp.take(dY, SEGMENT_IDS, axis=0)


@operator
class UnsortedSegmentMean(Operator):
    """Average the rows that have the same segment id."""

    inputs = (In("DATA", Float), In("SEGMENT_IDS", Index, doc="The segment of each row."))
    outputs = (Out("OUTPUT", doc="One row a segment; zeros for a missing one."),)

    num_segments: int = arg(-1, doc=_NUM_SEGMENTS)

    def __attrs_post_init__(self) -> None:
        _check_num_segments("UnsortedSegmentMean", self.num_segments)

    def infer(self, DATA: TensorType, SEGMENT_IDS: TensorType) -> TensorType:
        return _by_ids("UnsortedSegmentMean", DATA, SEGMENT_IDS, self.num_segments)

    def gradient(self, g: Gradients) -> None:
        g.add(UnsortedSegmentMeanGradient, [g.grad.OUTPUT, g.blob.SEGMENT_IDS], [g.grad.DATA])

    def compute(self, xp: ArrayModule, DATA: Array, SEGMENT_IDS: Array) -> Array:
        count = _segments("UnsortedSegmentMean", xp, SEGMENT_IDS, self.num_segments)
        counts = _counts(xp, SEGMENT_IDS, count, DATA)
        return (add_rows(xp, count, SEGMENT_IDS, DATA.astype(counts.dtype)) / counts).astype(DATA.dtype)


@operator
class UnsortedSegmentMeanGradient(Operator):
    """Gradient of :class:`UnsortedSegmentMean`: each row's share of its segment's row."""

    inputs = (In("dY", Float), In("SEGMENT_IDS", Index))
    outputs = (Out("dDATA"),)

    num_segments: int = arg(-1, doc=_NUM_SEGMENTS)

    def infer(self, dY: TensorType, SEGMENT_IDS: TensorType) -> TensorType:
        need_rank("UnsortedSegmentMeanGradient", "SEGMENT_IDS", SEGMENT_IDS, 1)
        return _repeated(dY, dims_of(SEGMENT_IDS)[0])

    def compute(self, xp: ArrayModule, dY: Array, SEGMENT_IDS: Array) -> Array:
        check_indices("UnsortedSegmentMeanGradient", xp, SEGMENT_IDS, dY.shape[0])
        counts = _counts(xp, SEGMENT_IDS, dY.shape[0], dY)
        return xp.take((dY.astype(counts.dtype) / counts).astype(dY.dtype), SEGMENT_IDS, axis=0)


@operator
class LengthsToSegmentIds(Operator):
    """Number each row by its segment: lengths [2, 0, 3] give [0, 0, 2, 2, 2]."""

    inputs = (In("lengths", Index, doc="How many rows each segment has."),)
    outputs = (Out("segment_ids", doc="int32."),)

    def infer(self, lengths: TensorType) -> TensorType:
        need_rank("LengthsToSegmentIds", "lengths", lengths, 1)
        return TensorType(DType.INT32, (None,))

    def compute(self, xp: ArrayModule, lengths: Array) -> Array:
        return segment_ids("LengthsToSegmentIds", xp, lengths).astype(xp.int32)
