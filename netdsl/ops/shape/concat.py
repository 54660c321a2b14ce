"""Joining tensors along an axis, and splitting them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.errors import InferenceError
from netdsl.ir import Dim, DType, TensorType
from netdsl.ir.dims import canonical_axis, conflict, divide, merge, same, total
from netdsl.ops.dtypes import AnyDType, Index
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import free
from netdsl.ops.xp import Array, ArrayModule

_AXIS_DOC = "The axis, negative ones from the end; by default the channels of ``order``."
_ORDER_DOC = "NCHW or NHWC: where the channels stand, for the default axis."


@operator
class Concat(Operator):
    """Join tensors along an axis, or stack them along a new one (``add_axis``)."""

    inputs = (In("Xs", AnyDType, many=1, doc="Tensors of one rank, equal but for the axis."),)
    outputs = (
        Out("Y", doc="The joined tensor."),
        Out("split_info", doc="int32: the extent of each input along the axis, for Split."),
    )

    axis: int | None = arg(None, doc=_AXIS_DOC)
    order: str = arg("NCHW", doc=_ORDER_DOC, choices=("NCHW", "NHWC"))
    add_axis: bool = arg(False, doc="Put the inputs along a new axis.")

    cost = free

    def infer(self, Xs: tuple[TensorType, ...]) -> tuple[TensorType, TensorType]:
        shapes = [list(x.shape or ()) for x in Xs]
        axis = self._axis(len(shapes[0]))
        info = TensorType(DType.INT32, (len(Xs),))
        joined = list(shapes[0])
        for x, shape in zip(Xs, shapes, strict=True):
            if len(shape) != len(joined) or any(
                conflict(a, b) for i, (a, b) in enumerate(zip(shape, joined, strict=True)) if self.add_axis or i != axis
            ):
                raise InferenceError(f"Concat: inputs differ outside axis {axis}", expected=Xs[0], got=x)
            joined = [merge(a, b) if i != axis else a for i, (a, b) in enumerate(zip(joined, shape, strict=True))]
        if self.add_axis:
            joined.insert(axis, len(Xs))
        else:
            joined[axis] = total([shape[axis] for shape in shapes])
        return Xs[0].with_shape(tuple(joined)), info

    def gradient(self, g: Gradients) -> None:
        g.add("Split", [g.grad.Y, g.blob.split_info], [g.grad.Xs])

    def compute(self, xp: ArrayModule, Xs: tuple[Array, ...]) -> tuple[Array, Array]:
        axis = self._axis(Xs[0].ndim)
        join = xp.stack if self.add_axis else xp.concatenate
        extents = [1 if self.add_axis else x.shape[axis] for x in Xs]
        return join(Xs, axis=axis), xp.array_of(extents, xp.int32)

    def _axis(self, rank: int) -> int:
        return concat_axis(self.axis, self.order, rank + self.add_axis)


@operator
class Split(Operator):
    """Cut a tensor into pieces along an axis: equal ones, or of the extents given."""

    inputs = (
        In("X", AnyDType, doc="The tensor."),
        In("lengths", Index, optional=True, host=True, doc="The extents, as an input (instead of the argument)."),
    )
    outputs = (Out("Ys", many=1, view="X", doc="The pieces."),)

    axis: int | None = arg(None, doc=_AXIS_DOC)
    split: tuple[int, ...] = arg((), doc="The extent of each piece; equal ones by default.")
    order: str = arg("NCHW", doc=_ORDER_DOC, choices=("NCHW", "NHWC"))
    add_axis: bool = arg(False, doc="Remove the axis from every piece (undoes Concat's add_axis).")

    cost = free

    def infer(self, X: TensorType, lengths: TensorType | None = None) -> tuple[tuple[TensorType, ...]]:
        shape = list(X.shape or ())
        axis = concat_axis(self.axis, self.order, len(shape))
        if lengths is not None:
            self._check_lengths(lengths)
        extents = self._extents(shape[axis]) if lengths is None else (None,) * self.wanted
        if isinstance(shape[axis], int) and None not in extents and sum(extents) != shape[axis]:
            raise InferenceError(f"Split: the pieces do not add up to axis {axis}", expected=shape[axis], got=extents)
        if self.add_axis:
            return ((X.with_shape((*shape[:axis], *shape[axis + 1 :])),) * self.wanted,)
        return (tuple(X.with_shape((*shape[:axis], e, *shape[axis + 1 :])) for e in extents),)

    def gradient(self, g: Gradients) -> None:
        grads = tuple(grad or g.zeros(blob) for grad, blob in zip(g.grad.Ys, g.blob.Ys, strict=True))
        args = {name: g.args[name] for name in ("axis", "order", "add_axis") if name in g.args}
        g.add("Concat", [grads], [g.grad.X, g.temp("_dims")], args=args)

    def compute(self, xp: ArrayModule, X: Array, lengths: Array | None = None) -> tuple[tuple[Array, ...]]:
        axis = concat_axis(self.axis, self.order, X.ndim)
        extents = self._extents(X.shape[axis]) if lengths is None else [int(n) for n in lengths]
        if sum(extents) != X.shape[axis] or len(extents) != self.wanted:
            raise InferenceError(f"Split: the pieces do not fit axis {axis}", expected=X.shape[axis], got=extents)
        pieces, at = [], 0
        for extent in extents:
            where = (slice(None),) * axis + (slice(at, at + extent),)
            pieces.append(xp.squeeze(X[where], axis=axis) if self.add_axis else X[where])
            at += extent
        return (tuple(pieces),)

    def _check_lengths(self, lengths: TensorType) -> None:
        if self.split:
            raise InferenceError("Split: the extents are given twice", expected="'split' or a second input")
        if not same(lengths.shape, (self.wanted,)):
            raise InferenceError("Split: one extent for each output", expected=f"[{self.wanted}]", got=lengths)

    def _extents(self, extent: Dim) -> Sequence[Any]:
        if self.split:
            if len(self.split) != self.wanted:
                raise InferenceError("Split: one extent for each output", expected=self.wanted, got=tuple(self.split))
            return tuple(self.split)
        if isinstance(extent, int) and extent % self.wanted:
            need = f"a multiple of {self.wanted}"
            raise InferenceError("Split: the axis cannot be cut into equal pieces", expected=need, got=extent)
        return (divide(extent, self.wanted),) * self.wanted


def concat_axis(axis: int | None, order: str, rank: int) -> int:
    """The axis meant, counted from the front; where none is given, the channels of ``order``."""
    if axis is None:
        axis = 1 if order == "NCHW" else rank - 1
    return canonical_axis(axis, rank)
