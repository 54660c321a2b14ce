"""Finding the largest and smallest elements, and one-hot encodings."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from netdsl.errors import InferenceError
from netdsl.ir import Dim, DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import Float, Index, Integer, Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free, need_rank
from netdsl.ops.sparse.common import check_indices, segment_ids
from netdsl.ops.xp import Array, ArrayModule

_AXIS_DOC = "The axis, from the front; -1 is the last."


def _axis(op: str, axis: int, rank: int) -> int:
    """As Caffe2 counts: -1 is the last axis, other negative ones are refused."""
    if not (0 <= axis < rank or (axis == -1 and rank)):
        raise InferenceError(
            f"{op}: the axis is out of range", expected=f"0 to {rank - 1}, or -1 for the last", got=axis
        )
    return axis if axis >= 0 else rank - 1


def _infer_arg(op: ArgMax | ArgMin, X: TensorType) -> TensorType:
    dims = dims_of(X)
    axis = _axis(type(op).__name__, op.axis, len(dims))
    kept: tuple[Dim, ...] = (1,) if op.keepdims else ()
    return TensorType(DType.INT64, (*dims[:axis], *kept, *dims[axis + 1 :]))


def _find(xp: ArrayModule, op: ArgMax | ArgMin, X: Array, least: float) -> Array:
    """Where the extreme element stands; ``least`` is what any other beats. NaN counts only if it is the first."""
    axis = _axis(type(op).__name__, op.axis, X.ndim)
    search = xp.argmax if least < 0 else xp.argmin
    shape = (*X.shape[:axis], *((1,) if op.keepdims else ()), *X.shape[axis + 1 :])
    if not X.size:
        return xp.zeros(shape, dtype=xp.int64)
    if X.dtype not in (xp.float16, xp.float32, xp.float64):
        return xp.reshape(search(X, axis=axis), shape).astype(xp.int64)
    missing = xp.isnan(X)
    found = search(xp.where(missing, X.dtype.type(least), X), axis=axis)
    first = missing[(slice(None),) * axis + (0,)]
    return xp.reshape(xp.where(first, 0, found), shape).astype(xp.int64)


@operator
class ArgMax(Operator):
    """Find where the largest element stands along an axis; the first of equal ones."""

    inputs = (In("X", Number),)
    outputs = (Out("Indices", doc="int64."),)

    axis: int = arg(-1, doc=_AXIS_DOC)
    keepdims: bool = arg(True, doc="Keep the axis, with extent 1.")

    def infer(self, X: TensorType) -> TensorType:
        return _infer_arg(self, X)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return _find(xp, self, X, -math.inf)


@operator
class ArgMin(Operator):
    """Find where the smallest element stands along an axis; the first of equal ones."""

    inputs = (In("X", Number),)
    outputs = (Out("Indices", doc="int64."),)

    axis: int = arg(-1, doc=_AXIS_DOC)
    keepdims: bool = arg(True, doc="Keep the axis, with extent 1.")

    def infer(self, X: TensorType) -> TensorType:
        return _infer_arg(self, X)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return _find(xp, self, X, math.inf)


@operator
class TopK(Operator):
    """Find the k largest elements along an axis, largest first; of equal ones the first.

    Where there are fewer than k, values are filled up with 0 and indices with -1.
    """

    inputs = (
        In("X", Float),
        In("k_input", Index, optional=True, host=True, doc="k, as an input (instead of the argument)."),
    )
    outputs = (
        Out("Values"),
        Out("Indices", doc="int64: where they stand along the axis."),
        Out("Flattened_indices", optional=True, doc="int64: where they stand in X as a vector."),
    )

    k: int = arg(-1, doc="How many.")
    axis: int = arg(-1, doc=_AXIS_DOC)

    def infer(self, X: TensorType, k_input: TensorType | None = None) -> tuple[TensorType, ...]:
        dims = dims_of(X)
        axis = _axis("TopK", self.axis, len(dims))
        k = None if k_input is not None else self._k()
        found = (*dims[:axis], k, *dims[axis + 1 :])
        return X.with_shape(found), TensorType(DType.INT64, found), TensorType(DType.INT64, (product(found),))

    def gradient(self, g: Gradients) -> None:
        grad = g.grad.Values or g.zeros(g.blob.Values)
        g.add(TopKGradient, [grad, g.blob.Indices, g.blob.X], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array, k_input: Array | None = None) -> tuple[Array, Array, Array | None]:
        axis = _axis("TopK", self.axis, X.ndim)
        k = self._k() if k_input is None else self._k(int(k_input.reshape(-1)[0]))
        rows = xp.moveaxis(X, axis, -1)
        order = self._order(xp, rows, min(k, rows.shape[-1]))
        missing = (*rows.shape[:-1], k - order.shape[-1])
        values = xp.concatenate([xp.take_along_axis(rows, order, -1), xp.zeros(missing, dtype=X.dtype)], axis=-1)
        indices = xp.concatenate([order, xp.full(missing, -1, dtype=xp.int64)], axis=-1)
        values, indices = xp.moveaxis(values, -1, axis), xp.moveaxis(indices, -1, axis)
        return values, indices, self._flat(xp, X, indices, axis) if self.wants("Flattened_indices") else None

    def _k(self, k: int | None = None) -> int:
        k = self.k if k is None else k
        if k < 1:
            raise InferenceError("TopK: k says how many", expected="an argument or input k >= 1", got=k)
        return k

    @staticmethod
    def _order(xp: ArrayModule, rows: Array, k: int) -> Array:
        if bool(xp.any(xp.isnan(rows))):
            host = xp.to_host(rows)
            lines = [_largest(line.tolist(), k) for line in host.reshape(-1, rows.shape[-1])]
            return xp.reshape(xp.array_of([i for line in lines for i in line], xp.int64), (*rows.shape[:-1], k))
        return xp.argsort(-rows, axis=-1, kind="stable")[..., :k].astype(xp.int64)

    @staticmethod
    def _flat(xp: ArrayModule, X: Array, indices: Array, axis: int) -> Array:
        inner = math.prod(X.shape[axis + 1 :])
        outer = xp.arange(math.prod(X.shape[:axis])) * X.shape[axis] * inner
        starts = xp.reshape(outer, (outer.size, 1, 1)) + xp.reshape(xp.arange(inner), (1, 1, inner))
        places = xp.reshape(indices, (outer.size, indices.shape[axis], inner))
        return xp.reshape(xp.where(places < 0, -1, starts + places * inner), (indices.size,)).astype(xp.int64)


def _largest(values: Sequence[float], k: int) -> list[int]:
    """The order that Caffe2's heap of k elements leaves, which comparisons with NaN disturb."""
    heap = [(value, -i) for i, value in enumerate(values[:k])]
    heapq.heapify(heap)
    for i, value in enumerate(values[k:], k):
        if heap[0][0] < value:
            heapq.heappop(heap)
            heapq.heappush(heap, (value, -i))
    return [-heapq.heappop(heap)[1] for _ in range(len(heap))][::-1]


@operator
class TopKGradient(Operator):
    """Gradient of :class:`TopK`: dValues where the elements stood, zeros elsewhere."""

    inputs = (In("dValues", Float), In("Indices", Index), In("X", Float))
    outputs = (Out("dX"),)

    k: int = arg(-1, doc="As in TopK; the indices tell.")
    axis: int = arg(-1, doc=_AXIS_DOC)

    cost = free

    def infer(self, dValues: TensorType, Indices: TensorType, X: TensorType) -> TensorType:
        _axis("TopKGradient", self.axis, X.rank or 0)
        return X

    def compute(self, xp: ArrayModule, dValues: Array, Indices: Array, X: Array) -> Array:
        axis = _axis("TopKGradient", self.axis, X.ndim)
        values, indices = xp.moveaxis(dValues, axis, -1), xp.moveaxis(Indices, axis, -1)
        moved = xp.moveaxis(X, axis, -1).shape
        extent, count = moved[-1], math.prod(moved[:-1])
        padded = xp.zeros((count * (extent + 1),), dtype=X.dtype)  # a place more in each row takes what was filled up
        places = xp.reshape(xp.where(indices < 0, extent, indices), (count, indices.shape[-1]))
        flat = xp.reshape(xp.arange(count) * (extent + 1), (count, 1)) + places
        xp.scatter_add(padded, xp.reshape(flat, (flat.size,)), xp.reshape(values, (values.size,)))
        found = xp.reshape(padded, (count, extent + 1))[:, :extent]
        return xp.moveaxis(xp.reshape(found, moved), -1, axis)


@operator
class OneHot(Operator):
    """Encode indices as rows that hold a single 1."""

    inputs = (
        In("indices", Index, doc="A vector of numbers from 0."),
        In("index_size_tensor", Index, host=True, doc="One number: the length of a row."),
    )
    outputs = (Out("one_hots", doc="float32, one row an index."),)

    cost = free

    def infer(self, indices: TensorType, index_size_tensor: TensorType) -> TensorType:
        need_rank("OneHot", "indices", indices, 1)
        if conflict(product(dims_of(index_size_tensor)), 1):
            raise InferenceError(
                "OneHot: the length of a row is one number", expected="1 element", got=index_size_tensor
            )
        return TensorType(DType.FLOAT, (*dims_of(indices), None))

    def gradient(self, g: Gradients) -> None:
        """Indices have no gradient."""

    def compute(self, xp: ArrayModule, indices: Array, index_size_tensor: Array) -> Array:
        size = int(index_size_tensor.reshape(-1)[0])
        check_indices("OneHot", xp, indices, size)
        columns = xp.arange(size, dtype=indices.dtype)
        return (xp.reshape(indices, (indices.size, 1)) == xp.reshape(columns, (1, size))).astype(xp.float32)


@operator
class BatchOneHot(Operator):
    """Encode columns of integers: column i of data becomes ``lengths[i]`` columns, one for each of its values.

    An element is 1 where the data equals the value; ``values`` holds those of all columns, one after the other.
    """

    inputs = (
        In("data", Integer, doc="N x D."),
        In("lengths", Index, doc="How many values each column has."),
        In("values", Integer, doc="The values of all columns."),
    )
    outputs = (Out("output", doc="N x the number of values, of the dtype of data."),)

    cost = free

    def infer(self, data: TensorType, lengths: TensorType, values: TensorType) -> TensorType:
        need_rank("BatchOneHot", "data", data, 2)
        need_rank("BatchOneHot", "lengths", lengths, 1)
        need_rank("BatchOneHot", "values", values, 1)
        if conflict(dims_of(data)[1], dims_of(lengths)[0]):
            raise InferenceError("BatchOneHot: one length for each column", expected=dims_of(data)[1], got=lengths)
        return data.with_shape((dims_of(data)[0], dims_of(values)[0]))

    def gradient(self, g: Gradients) -> None:
        """Integers have no gradient."""

    def compute(self, xp: ArrayModule, data: Array, lengths: Array, values: Array) -> Array:
        columns = segment_ids("BatchOneHot", xp, lengths, values.size)
        return (xp.take(data, columns, axis=1) == xp.reshape(values, (1, values.size))).astype(data.dtype)
