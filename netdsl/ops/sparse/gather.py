"""Picking slices by index, its gradients, and rows scattered into a dense tensor."""

from __future__ import annotations

import math
from typing import Any

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, Shape, TensorType
from netdsl.ir.dims import canonical_axis, conflict
from netdsl.ops.dtypes import AnyTensor, Float, Index, Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free, need_rank
from netdsl.ops.sparse.common import add_rows, check_indices
from netdsl.ops.xp import Array, ArrayModule

_MATCH = "The dims of both inputs before the axis agree, and each index counts within its own part."
_WRAP = "Let negative indices count from the end; along axis 0 they always do."


@operator
class Gather(Operator):
    """Pick slices of DATA along an axis: ``OUTPUT = DATA[INDICES]`` for axis 0.

    Along axis 0 the gradient is sparse, the indices and the output's gradient, unless ``dense_gradient``.
    """

    inputs = (In("DATA", AnyTensor), In("INDICES", Index, doc="Indices of any shape."))
    outputs = (Out("OUTPUT", doc="The dims of INDICES stand where the axis was."),)

    axis: int = arg(0, doc="The axis that is indexed; negative ones count from the end.")
    match_outer: bool = arg(False, doc=_MATCH)
    wrap_indices: bool = arg(False, doc=_WRAP)
    dense_gradient: bool = arg(False, doc="Make the gradient along axis 0 a dense tensor.")

    cost = free

    def infer(self, DATA: TensorType, INDICES: TensorType) -> TensorType:
        return DATA.with_shape(gathered("Gather", dims_of(DATA), dims_of(INDICES), self.axis, self.match_outer))

    def gradient(self, g: Gradients) -> None:
        if self.axis:
            args = {k: g.args[k] for k in ("axis", "match_outer", "wrap_indices") if k in g.args}
            g.add(BatchGatherGradient, [g.blob.DATA, g.blob.INDICES, g.grad.OUTPUT], [g.grad.DATA], args=args)
        elif self.dense_gradient:
            g.add(SparseToDense, [g.blob.INDICES, g.grad.OUTPUT, g.blob.DATA], [g.grad.DATA], args={})
        else:
            g.sparse(g.grad.DATA, g.blob.INDICES, g.grad.OUTPUT)

    def compute(self, xp: ArrayModule, DATA: Array, INDICES: Array) -> Array:
        axis = canonical_axis(self.axis, DATA.ndim)
        return pick("Gather", xp, DATA, INDICES, axis, self.match_outer, self.wrap_indices or axis == 0)


@operator
class BatchGather(Operator):
    """As :class:`Gather` along axis 1."""

    inputs = (In("DATA", AnyTensor), In("INDICES", Index, doc="Indices of any shape."))
    outputs = (Out("OUTPUT"),)

    match_outer: bool = arg(False, doc=_MATCH)

    cost = free

    def infer(self, DATA: TensorType, INDICES: TensorType) -> TensorType:
        return DATA.with_shape(gathered("BatchGather", dims_of(DATA), dims_of(INDICES), 1, self.match_outer))

    def gradient(self, g: Gradients) -> None:
        g.add(BatchGatherGradient, [g.blob.DATA, g.blob.INDICES, g.grad.OUTPUT], [g.grad.DATA])

    def compute(self, xp: ArrayModule, DATA: Array, INDICES: Array) -> Array:
        return pick("BatchGather", xp, DATA, INDICES, 1, self.match_outer, False)


@operator
class BatchGatherGradient(Operator):
    """Dense gradient of :class:`Gather` along any axis, and of :class:`BatchGather`: dY summed by index."""

    inputs = (In("DATA", Float), In("INDICES", Index), In("dY", Float))
    outputs = (Out("dDATA"),)

    axis: int = arg(1, doc="As in Gather.")
    match_outer: bool = arg(False, doc=_MATCH)
    wrap_indices: bool = arg(False, doc=_WRAP)

    def infer(self, DATA: TensorType, INDICES: TensorType, dY: TensorType) -> TensorType:
        gathered("BatchGatherGradient", dims_of(DATA), dims_of(INDICES), self.axis, self.match_outer)
        return DATA

    def compute(self, xp: ArrayModule, DATA: Array, INDICES: Array, dY: Array) -> Array:
        axis = canonical_axis(self.axis, DATA.ndim)
        batches, extent = math.prod(DATA.shape[:axis]), DATA.shape[axis]
        inner = math.prod(DATA.shape[axis + 1 :])
        wrap = self.wrap_indices or axis == 0
        check_indices("BatchGatherGradient", xp, INDICES, extent, negative=wrap)
        indices = xp.where(INDICES < 0, INDICES + extent, INDICES) if wrap else INDICES
        within = xp.reshape(indices, (batches, -1) if self.match_outer and indices.size else (1, indices.size))
        rows = xp.reshape(xp.arange(batches) * extent, (batches, 1)) + within
        flat = xp.reshape(rows, (rows.size,))
        return xp.reshape(add_rows(xp, batches * extent, flat, xp.reshape(dY, (rows.size, inner))), DATA.shape)


def gathered(operator: str, data: Shape, indices: Shape, axis: int, match_outer: bool) -> Shape:
    """The shape of what is picked.

    Raises:
        InferenceError: an axis out of range, or outer dims that do not agree.
    """
    if not -len(data) <= axis < len(data):
        raise InferenceError(
            f"{operator}: DATA has no such axis", expected=f"{-len(data)} to {len(data) - 1}", got=axis
        )
    axis = canonical_axis(axis, len(data))
    outer: tuple[Dim, ...] = ()
    if match_outer:
        outer = indices[:axis]
        if not axis or len(outer) < axis or any(map(conflict, outer, data)):
            raise InferenceError(
                f"{operator}: with match_outer, the dims before the axis must agree",
                expected=list(data[:axis]),
                got=list(outer),
            )
    return (*data[:axis], *indices[len(outer) :], *data[axis + 1 :])


def pick(
    operator: str, xp: ArrayModule, data: Array, indices: Array, axis: int, match_outer: bool, wrap: bool
) -> Array:
    """Return slices of ``data`` along ``axis`` (counted from the front); see :class:`Gather`.

    Raises:
        RunError: an index out of range.
    """
    extent = data.shape[axis]
    check_indices(operator, xp, indices, extent, negative=wrap)
    if wrap:
        indices = xp.where(indices < 0, indices + extent, indices)
    if not match_outer:
        return xp.take(data, indices, axis=axis)
    outer, inner = data.shape[:axis], data.shape[axis + 1 :]
    batches, each = math.prod(outer), math.prod(indices.shape[axis:])
    rows = xp.reshape(data, (batches, extent, *inner))
    found = rows[xp.reshape(xp.arange(batches), (batches, 1)), xp.reshape(indices, (batches, each))]
    return xp.reshape(found, (*outer, *indices.shape[axis:], *inner))


@operator
class SparseToDense(Operator):
    """Add rows into a tensor of zeros: row ``indices[i]`` of the output is the sum of its ``values[i]``.

    The number of rows is that of a third input, or ``output_first_dim``, or the largest index plus one.
    """

    inputs = (
        In("indices", Index, doc="Which row each value belongs to."),
        In("values", Number, doc="One row for each index."),
        In("data_to_infer_dim", AnyTensor, optional=True, doc="A tensor with as many rows as the output gets."),
    )
    outputs = (Out("output"),)

    output_first_dim: int = arg(0, doc="The number of rows; 0 for as many as needed.")

    def __attrs_post_init__(self) -> None:
        if self.output_first_dim < 0:
            raise SchemaError(
                "SparseToDense: no number of rows", expected="output_first_dim >= 0", got=self.output_first_dim
            )

    def infer(self, indices: TensorType, values: TensorType, data_to_infer_dim: TensorType | None = None) -> TensorType:
        at, of = dims_of(indices), dims_of(values)
        if len(of) < len(at) or any(map(conflict, at, of)) or not at:
            raise InferenceError("SparseToDense: one row of values for each index", expected=list(at), got=values)
        rows: Dim = self.output_first_dim or None
        if data_to_infer_dim is not None:
            if rows is not None:
                raise InferenceError(
                    "SparseToDense: the number of rows is given twice", expected="output_first_dim or a third input"
                )
            need_rank("SparseToDense", "data_to_infer_dim", data_to_infer_dim, 1, least=True)
            rows = dims_of(data_to_infer_dim)[0]
        return values.with_shape((rows, *of[len(at) :]))

    def gradient(self, g: Gradients) -> None:
        g.add(Gather, [g.grad.output, g.blob.indices], [g.grad.values], args={})

    def compute(self, xp: ArrayModule, indices: Array, values: Array, data_to_infer_dim: Array | None = None) -> Array:
        flat = xp.reshape(indices, (indices.size,))
        rows: Any = self.output_first_dim or (int(xp.max(flat)) + 1 if flat.size else 0)
        if data_to_infer_dim is not None:
            rows = data_to_infer_dim.shape[0]
        check_indices("SparseToDense", xp, flat, rows)
        return add_rows(xp, rows, flat, xp.reshape(values, (flat.size, *values.shape[indices.ndim :])))
