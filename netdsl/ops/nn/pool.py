"""Pooling: the largest or the mean element of sliding windows."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import TensorType
from netdsl.ir.dims import same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.window import Axis, Windowed, known, offsets, padded, padded_extents, shape_of, unpadded, wide
from netdsl.ops.schema import In, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_X = In("X", Float, doc="N x C x spatial axes, or channels last (order NHWC).")
_Y = Out("Y", doc="N x C x windows, in the order of X.")
_GRADIENT_INPUTS = (In("X", Float), In("Y", Float), In("dY", Float))


@attrs.frozen(kw_only=True, slots=False)
class Pooling(Windowed):
    """What pools and their gradients have in common."""

    def __attrs_post_init__(self) -> None:
        name = type(self).__name__
        super().__attrs_post_init__()
        if any(d != 1 for d in self._per_axis("dilation")):
            raise SchemaError(f"{name} takes no dilation", got=self._per_axis("dilation"))
        if self.group != 1:
            raise SchemaError(f"{name} knows no groups: every channel is pooled alone", got=self.group)
        kernel, pads = self._per_axis("kernel"), self._pads()
        if not self.global_pooling and any(map(int.__ge__, pads, kernel * 2)):
            raise SchemaError(
                f"{name}: the padding must be smaller than the window", expected=f"below {kernel}", got=pads
            )

    def pooled(self, X: TensorType) -> TensorType:
        """The type of the pooled X."""
        shape = shape_of(X)
        windows = [axis.out for axis in self.axes(shape)]  # checks the rank
        return X.with_shape(self.shaped(shape[0], shape[self.channel_axis], windows))

    def elements(self, X: TensorType, windows: TensorType) -> int | None:
        """How many elements all windows have together."""
        if not (X.is_static and windows.is_static):
            return None
        return known([*shape_of(windows), *(a.kernel for a in self.axes(shape_of(X)))])


@attrs.frozen(kw_only=True, slots=False)
class Pool(Pooling):
    """What pools have in common."""

    def infer(self, X: TensorType) -> TensorType:
        return self.pooled(X)

    def gradient(self, g: Gradients) -> None:
        g.add(f"{type(self).__name__}Gradient", [g.blob.X, g.blob.Y, g.grad.Y], [g.grad.X])

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        return self.elements(inputs[0], outputs[0])


@attrs.frozen(kw_only=True, slots=False)
class PoolGradient(Pooling):
    """What the gradients of pools have in common."""

    def infer(self, X: TensorType, Y: TensorType, dY: TensorType) -> TensorType:
        windows = self.pooled(X)
        for given in (Y, dY):
            if not same(given.shape, windows.shape):
                name = type(self).__name__
                raise InferenceError(f"{name}: output and input do not fit the windows", expected=windows, got=given)
        return X

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        return self.elements(inputs[0], inputs[2])


def reduce_windows(fold: Callable[[Array, Array], Array], x: Array, axes: Sequence[Axis]) -> Array:
    """Fold the elements of every window of the (padded) trailing axes: one axis after the other, for boxes split."""
    for index, axis in enumerate(axes):
        at = x.ndim - len(axes) + index
        parts = [x[(*[slice(None)] * at, axis.slice_of(i))] for i in range(axis.kernel)]
        x = functools.reduce(fold, parts)
    return x


def spread_windows(xp: ArrayModule, dy: Array, axes: Sequence[Axis], spatial: Sequence[int]) -> Array:
    """The adjoint of summing windows: add each element to all places of its window of an input of these extents."""
    extents = padded_extents(axes, spatial)
    for index, axis in enumerate(axes):
        at = dy.ndim - len(axes) + index
        total = xp.zeros((*dy.shape[:at], extents[index], *dy.shape[at + 1 :]), dtype=dy.dtype)
        for i in range(axis.kernel):
            total[(*[slice(None)] * at, axis.slice_of(i))] += dy
        dy = total
    return unpadded(xp, dy, axes, spatial)


@operator
class MaxPool(Pool):
    """The largest element of each window; padding never wins, NaN only as the first element."""

    inputs = (_X,)
    outputs = (_Y,)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        axes = self.axes(X.shape)
        x = padded(xp, self.first(X), axes, -xp.inf)
        first = x[(..., *(a.slice_of(0) for a in axes))]
        y = reduce_windows(xp.maximum, xp.where(xp.isnan(x), -xp.inf, x), axes)
        return xp.ascontiguousarray(self.last(xp.where(xp.isnan(first), first, y).astype(X.dtype)))


@operator
class MaxPoolGradient(PoolGradient):
    """Gradient of :class:`MaxPool`: dY to every place of the window that equals its largest element."""

    inputs = _GRADIENT_INPUTS
    outputs = (Out("dX"),)

    def compute(self, xp: ArrayModule, X: Array, Y: Array, dY: Array) -> Array:
        axes = self.axes(X.shape)
        x, y, dy = self.first(X), self.first(Y), self.first(wide(xp, dY))
        extents = x.shape[2:]
        x = padded(xp, x, axes, xp.nan)  # equals nothing
        total = xp.zeros(x.shape, dtype=dy.dtype)
        for _, covered in offsets(axes):
            total[(..., *covered)] += xp.where(x[(..., *covered)] == y, dy, 0)
        return xp.ascontiguousarray(self.last(unpadded(xp, total, axes, extents)).astype(X.dtype))


@attrs.frozen(kw_only=True, slots=False)
class Averaging:
    """The argument of average pools and of their gradients, and what follows from it."""

    count_include_pad: bool = arg(False, doc="Divide by the size of the window even where it covers padding.")

    def share(self, xp: ArrayModule, x: Array, axes: Sequence[Axis]) -> Array:
        """What each element of a window of ``x`` (channels first) counts, by window."""
        if self.count_include_pad or not any(a.head or a.tail for a in axes):
            return xp.full((1,) * len(axes), 1 / math.prod(a.kernel for a in axes), dtype=x.dtype)
        ones = padded(xp, xp.ones(x.shape[2:], dtype=x.dtype), axes)
        return 1 / reduce_windows(xp.add, ones, axes)


@operator
class AveragePool(Averaging, Pool):
    """The mean of each window, padding left out unless ``count_include_pad``."""

    inputs = (_X,)
    outputs = (_Y,)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        axes, x = self.axes(X.shape), self.first(wide(xp, X))
        y = reduce_windows(xp.add, padded(xp, x, axes), axes) * self.share(xp, x, axes)
        return xp.ascontiguousarray(self.last(y).astype(X.dtype))


@operator
class AveragePoolGradient(Averaging, PoolGradient):
    """Gradient of :class:`AveragePool`: dY shared out among the elements of its window."""

    inputs = _GRADIENT_INPUTS
    outputs = (Out("dX"),)

    def compute(self, xp: ArrayModule, X: Array, Y: Array, dY: Array) -> Array:
        axes, x, dy = self.axes(X.shape), self.first(X), self.first(wide(xp, dY))
        dx = spread_windows(xp, dy * self.share(xp, wide(xp, x[:0, :0]), axes), axes, x.shape[2:])
        return xp.ascontiguousarray(self.last(dx).astype(X.dtype))


@operator
class MaxPool1D(MaxPool):
    """:class:`MaxPool` over one spatial axis."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class MaxPool1DGradient(MaxPoolGradient):
    """Gradient of :class:`MaxPool1D`."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class MaxPool2D(MaxPool):
    """:class:`MaxPool` over two spatial axes."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class MaxPool2DGradient(MaxPoolGradient):
    """Gradient of :class:`MaxPool2D`."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class MaxPool3D(MaxPool):
    """:class:`MaxPool` over three spatial axes."""

    spatial_rank: ClassVar[int | None] = 3


@operator
class MaxPool3DGradient(MaxPoolGradient):
    """Gradient of :class:`MaxPool3D`."""

    spatial_rank: ClassVar[int | None] = 3


@operator
class AveragePool1D(AveragePool):
    """:class:`AveragePool` over one spatial axis."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class AveragePool1DGradient(AveragePoolGradient):
    """Gradient of :class:`AveragePool1D`."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class AveragePool2D(AveragePool):
    """:class:`AveragePool` over two spatial axes."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class AveragePool2DGradient(AveragePoolGradient):
    """Gradient of :class:`AveragePool2D`."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class AveragePool3D(AveragePool):
    """:class:`AveragePool` over three spatial axes."""

    spatial_rank: ClassVar[int | None] = 3


@operator
class AveragePool3DGradient(AveragePoolGradient):
    """Gradient of :class:`AveragePool3D`."""

    spatial_rank: ClassVar[int | None] = 3
