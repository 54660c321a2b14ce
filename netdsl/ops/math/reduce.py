"""Reductions over axes and over whole tensors."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import attrs

from netdsl.ir import TensorType
from netdsl.ir.dims import canonical_axis, product
from netdsl.ops.dtypes import Float, Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.unary import as_dtype
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

D = TypeVar("D")

_LARGEST = {2: 65504.0, 4: 3.4028234663852886e38, 8: sys.float_info.max}
"""The largest finite number of the float of so many bytes."""


@attrs.frozen(kw_only=True, slots=False)
class OverAxes(Operator):
    """Base of reductions over some axes and of their gradients."""

    axes: tuple[int, ...] = arg((), doc="The axes to reduce; all by default.")
    keepdims: bool = arg(True, doc="Keep each as an axis of extent 1.")

    def axes_of(self, rank: int) -> tuple[int, ...]:
        """The axes to reduce, sorted, counted from the front; raises ValueError."""
        return tuple(sorted({canonical_axis(a, rank) for a in self.axes})) or tuple(range(rank))

    def kept_shape(self, shape: tuple[D, ...]) -> tuple[D | int, ...]:
        """``shape`` with an extent of 1 on the reduced axes."""
        gone = self.axes_of(len(shape))
        return tuple(1 if i in gone else d for i, d in enumerate(shape))

    def reduced_shape(self, shape: tuple[D, ...]) -> tuple[D | int, ...]:
        """The shape of the result for an input of ``shape``."""
        gone = self.axes_of(len(shape))
        return self.kept_shape(shape) if self.keepdims else tuple(d for i, d in enumerate(shape) if i not in gone)

    def count(self, X: Array) -> int:
        """How many elements of ``X`` make one of the result."""
        return math.prod(X.shape[a] for a in self.axes_of(X.ndim))


@attrs.frozen(kw_only=True, slots=False)
class Reduction(OverAxes):
    """Base of reductions over some axes."""

    inputs = (In("X", Number),)
    outputs = (Out("Y"),)

    def infer(self, X: TensorType) -> TensorType:
        return X.with_shape(self.reduced_shape(X.shape or ()))

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        return _elements(inputs[0])


@attrs.frozen(kw_only=True, slots=False)
class ReductionGradient(OverAxes):
    """Base of the gradients of reductions, from the gradient of the result, the input and the result."""

    inputs = (In("dY", Number), In("X", Number), In("Y", Number))
    outputs = (Out("dX"),)

    def infer(self, dY: TensorType, X: TensorType, Y: TensorType) -> TensorType:
        return X

    def spread(self, xp: ArrayModule, dY: Array, X: Array) -> Array:
        """Return a new array of the shape of X in which every element has its dY."""
        return _spread(xp, dY.reshape(self.kept_shape(X.shape)), X.shape)


@operator
class ReduceSum(Reduction):
    """The sum over some axes; halves are rounded once."""

    def gradient(self, g: Gradients) -> None:
        g.add(ReduceSumGradient, [g.grad.Y, g.blob.X, g.blob.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.total(X, axis=self.axes_of(X.ndim), keepdims=self.keepdims)


@operator
class ReduceSumGradient(ReductionGradient):
    """Gradient of :class:`ReduceSum`: dY for every term."""

    def compute(self, xp: ArrayModule, dY: Array, X: Array, Y: Array) -> Array:
        return self.spread(xp, dY, X)


@operator
class ReduceMean(Reduction):
    """The mean over some axes, 0 of nothing; halves are rounded once."""

    inputs = (In("X", Float),)

    def gradient(self, g: Gradients) -> None:
        g.add(ReduceMeanGradient, [g.grad.Y, g.blob.X, g.blob.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        total = xp.sum(X, axis=self.axes_of(X.ndim), dtype=_wide(xp, X), keepdims=self.keepdims)
        return as_dtype(total / max(self.count(X), 1), X)


@operator
class ReduceMeanGradient(ReductionGradient):
    """Gradient of :class:`ReduceMean`: to each of n elements an n-th of dY."""

    inputs = (In("dY", Float), In("X", Float), In("Y", Float))

    def compute(self, xp: ArrayModule, dY: Array, X: Array, Y: Array) -> Array:
        return self.spread(xp, dY / max(self.count(X), 1), X)


@operator
class ReduceMax(Reduction):
    """The greatest element over some axes, the least finite number of nothing; NaN where there is one."""

    def gradient(self, g: Gradients) -> None:
        g.add(ReduceMaxGradient, [g.grad.Y, g.blob.X, g.blob.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return _extreme(xp, self, X, xp.max, least=True)


@operator
class ReduceMaxGradient(ReductionGradient):
    """Gradient of :class:`ReduceMax`: dY for every element that equals the result, ties included, else 0."""

    def compute(self, xp: ArrayModule, dY: Array, X: Array, Y: Array) -> Array:
        return _where_equal(xp, self, dY, X, Y)


@operator
class ReduceMin(Reduction):
    """The least element over some axes, the greatest finite number of nothing; NaN where there is one."""

    def gradient(self, g: Gradients) -> None:
        g.add(ReduceMinGradient, [g.grad.Y, g.blob.X, g.blob.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return _extreme(xp, self, X, xp.min, least=False)


@operator
class ReduceMinGradient(ReductionGradient):
    """Gradient of :class:`ReduceMin`: dY for every element that equals the result, ties included, else 0."""

    def compute(self, xp: ArrayModule, dY: Array, X: Array, Y: Array) -> Array:
        return _where_equal(xp, self, dY, X, Y)


@operator
class SumElements(Operator):
    """The sum of all elements, or their mean, as a scalar; 0 of nothing."""

    inputs = (In("X", Float),)
    outputs = (Out("sum"),)

    average: bool = arg(False, doc="Divide by the number of elements.")

    def infer(self, X: TensorType) -> TensorType:
        return X.with_shape(())

    def gradient(self, g: Gradients) -> None:
        g.add(SumElementsGradient, [g.blob.X, g.grad.sum], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        total = xp.sum(X, dtype=_wide(xp, X))
        return as_dtype(total / max(X.size, 1) if self.average else total, X)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        return _elements(inputs[0])


@operator
class SumElementsGradient(Operator):
    """Gradient of :class:`SumElements`: dY, or its share of it, for every element."""

    inputs = (In("X", Float), In("dY", Float))
    outputs = (Out("dX"),)

    average: bool = arg(False, doc="As in SumElements.")

    def infer(self, X: TensorType, dY: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array, dY: Array) -> Array:
        return _spread(xp, (dY / max(X.size, 1) if self.average else dY).reshape(()), X.shape)


@operator
class SumSqrElements(Operator):
    """The sum of the squares of all elements, or their mean, as a scalar; 0 of nothing."""

    inputs = (In("X", Float),)
    outputs = (Out("sum"),)

    average: bool = arg(False, doc="Divide by the number of elements.")

    def infer(self, X: TensorType) -> TensorType:
        return X.with_shape(())

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        wide = X.astype(_wide(xp, X))
        total = xp.sum(wide * wide)
        return as_dtype(total / max(X.size, 1) if self.average else total, X)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = _elements(inputs[0])
        return None if size is None else 2 * size


def _elements(x: TensorType) -> int | None:
    size = None if x.shape is None else product(x.shape)
    return size if isinstance(size, int) else None


def _wide(xp: ArrayModule, x: Array) -> Any:
    """The dtype to accumulate in."""
    return xp.float32 if x.dtype == xp.float16 else x.dtype


def _spread(xp: ArrayModule, x: Array, shape: tuple[int, ...]) -> Array:
    made = xp.empty(shape, dtype=x.dtype)
    made[...] = x
    return made


def _extreme(xp: ArrayModule, op: Reduction, X: Array, reduce: Any, *, least: bool) -> Array:
    axes = op.axes_of(X.ndim)
    if op.count(X):
        return reduce(X, axis=axes, keepdims=op.keepdims)
    shape = op.reduced_shape(X.shape)
    return xp.full(shape, _limit(X.dtype, least), dtype=X.dtype)


def _limit(dtype: Any, least: bool) -> float | int:
    """The least or the greatest finite number of a dtype."""
    if dtype.kind == "f":
        return -_LARGEST[dtype.itemsize] if least else _LARGEST[dtype.itemsize]
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    return (-(2**bits) if dtype.kind == "i" else 0) if least else 2**bits - 1


def _where_equal(xp: ArrayModule, op: ReductionGradient, dY: Array, X: Array, Y: Array) -> Array:
    kept = op.kept_shape(X.shape)
    return xp.where(xp.equal(X, Y.reshape(kept)), dY.reshape(kept), 0)
