"""Convolutions as matrix products of filters with unrolled windows, in scratch memory planned once.

Windows are unrolled with a few images innermost, so that copies run along whole rows of all of these
images; wide images go one by one. A sweep cuts the work so that the unrolled windows stay in cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.nn.conv import (
    Conv,
    Conv1D,
    Conv1DGradient,
    Conv2D,
    Conv2DGradient,
    Conv3D,
    Conv3DGradient,
    ConvGradient,
    Convolution,
)
from netdsl.ops.nn.window import Axis, offsets, padded_extents, shape_of
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.kernels.numpy.wide import Wide
from netdsl.runtime.memory import Arena

COLUMNS = 1 << 20
"""Elements of unrolled windows at a time, where that can be had."""

WIDE = 16
"""Rows of so many windows are long enough to copy image by image."""

SMALL = 1 << 14
"""Elements of padded images that are zeroed as a whole in less time than their borders one by one."""

LANES = 8
"""Images moved innermost at a time; more of them would fall into the same places of the cache."""


@attrs.frozen
class Part:
    """Some images, and some windows along the first spatial axis."""

    images: slice
    rows: slice

    @property
    def count(self) -> int:
        return self.images.stop - self.images.start


class Sweep:
    """How one convolution goes through images and windows, with the scratch memory for one part at a time.

    Images are N x C x spatial, whatever the order of the operator; scratch has the images last.
    """

    def __init__(
        self, axes: Sequence[Axis], group: int, shape: Sequence[int], filters: int, dtype: Any, arena: Arena
    ) -> None:
        self.axes, self.group, self.dtype = axes, group, dtype
        self.batch, self.channels, self.spatial = shape[0], shape[1], tuple(shape[2:])
        self.kernel, self.windows = tuple(a.kernel for a in axes), tuple(a.count for a in axes)
        self.filters, self.depth = filters, shape[1] * math.prod(self.kernel)
        self.pointwise = all(a.kernel == a.stride == 1 and a.head == a.tail == 0 for a in axes)
        self.row = math.prod(self.windows[1:])
        self._arena = arena
        self._scratch: dict[tuple[Any, ...], np.ndarray] = {}

    def parts(self) -> Iterator[Part]:
        """Cut images and windows into parts of about COLUMNS."""
        an_image = self.depth * math.prod(self.windows)
        together = 1
        if not self.pointwise and self.windows[-1] < WIDE:
            together = min(max(COLUMNS // max(an_image, 1), 1), max(self.batch, 1))
        rows = self.windows[0] if self.pointwise else max(COLUMNS // (self.depth * self.row * together), 1)
        for image in range(0, self.batch, together):
            for row in range(0, self.windows[0], rows):
                yield Part(
                    slice(image, min(image + together, self.batch)), slice(row, min(row + rows, self.windows[0]))
                )

    def scratch(self, name: str, *shape: int) -> np.ndarray:
        """The scratch array of this name and shape."""
        key = (name, *shape)
        if key not in self._scratch:
            self._scratch[key] = self._arena(shape, self.dtype)
        return self._scratch[key]

    def padded(self, name: str, count: int) -> np.ndarray:
        """Scratch for that many padded images, images last."""
        return self.scratch(name, self.channels, *padded_extents(self.axes, self.spatial), count)

    def border(self, images: np.ndarray) -> list[Call]:
        """The calls that zero the padding of images, images last; all of it where that is quicker."""
        if images.size <= SMALL:
            return [(images.fill, (0,))]
        calls: list[Call] = []
        for at, (axis, n) in enumerate(zip(self.axes, self.spatial, strict=True), 1):
            sides = slice(0, axis.head), slice(axis.head + n, None)
            calls += [(part.fill, (0,)) for side in sides if (part := images[(slice(None),) * at + (side,)]).size]
        return calls

    def inner(self, images: np.ndarray) -> np.ndarray:
        """View of padded images, images last, without the padding."""
        return images[(slice(None), *(slice(a.head, a.head + n) for a, n in zip(self.axes, self.spatial, strict=True)))]

    def covered(self, place: Sequence[slice], rows: slice) -> tuple[slice, ...]:
        """Of the places an element of the window covers, those of some windows along the first axis."""
        first, stride = place[0], self.axes[0].stride
        start = first.start + rows.start * stride
        return (slice(start, start + (rows.stop - rows.start - 1) * stride + 1, stride), *place[1:])

    def load(self, x: np.ndarray, part: Part) -> tuple[np.ndarray, list[Call]]:
        """The padded images of a part, images last, and the calls that fill them."""
        last = np.moveaxis(x[part.images], 0, -1)
        if part.count == 1 and not any(a.head or a.tail for a in self.axes):
            return last, []
        known = len(self._scratch)
        images = self.padded("images", part.count)
        zero = self.border(images) if len(self._scratch) > known else []  # what is copied into it leaves it so
        return images, [*zero, *moves(self.inner(images), last)]

    def unroll(self, images: np.ndarray, part: Part) -> tuple[np.ndarray, list[Call]]:
        """The windows of a part as a matrix for each group, and the calls that fill it."""
        rows = part.rows.stop - part.rows.start
        if self.pointwise:
            return images.reshape(self.group, self.depth // self.group, self.row * rows * part.count), []
        columns = self.scratch("columns", self.channels, *self.kernel, rows, *self.windows[1:], part.count)
        strides = images.strides[1:-1]
        view = np.lib.stride_tricks.as_strided(
            images[:, part.rows.start * self.axes[0].stride :],
            columns.shape,
            (
                images.strides[0],
                *(s * a.dilation for s, a in zip(strides, self.axes, strict=True)),
                *(s * a.stride for s, a in zip(strides, self.axes, strict=True)),
                images.strides[-1],
            ),
            writeable=False,
        )
        return columns.reshape(self.group, self.depth // self.group, -1), [(np.copyto, (columns, view))]

    def outputs(self, y: np.ndarray, name: str, part: Part) -> tuple[np.ndarray, np.ndarray | None]:
        """A part of the images y (N x M x windows) as a matrix for each group.

        It is a view of y if that can be, else scratch, and then the second value is the same scratch
        shaped as the part of y, images last.
        """
        rows, group = part.rows.stop - part.rows.start, self.group
        if part.count == 1 and y.flags.c_contiguous:
            matrix = y[part.images.start].reshape(group, self.filters // group, -1)
            return matrix[:, :, part.rows.start * self.row : part.rows.stop * self.row], None
        last = self.scratch(name, self.filters, rows, *self.windows[1:], part.count)
        return last.reshape(group, self.filters // group, -1), last

    def images_of(self, y: np.ndarray, part: Part) -> np.ndarray:
        """View of a part of y, images last."""
        return np.moveaxis(y[part.images, :, part.rows], 0, -1)


def moves(target: np.ndarray, source: np.ndarray) -> list[Call]:
    """The calls that copy an array whose last axis is the slowest of ``source``."""
    lanes = range(0, target.shape[-1], LANES)
    return [(np.copyto, (target[..., i : i + LANES], source[..., i : i + LANES])) for i in lanes]


def _sweep(op: Convolution, x: np.ndarray, w: np.ndarray, arena: Arena) -> Sweep:
    return Sweep(op.axes(op.last(x).shape), op.group, x.shape, w.shape[0], x.dtype, arena)


def _covers(op: Convolution, inputs: Sequence[TensorType]) -> bool:
    """Crops and empty arrays are left to the generic body."""
    axes = op.axes(shape_of(inputs[0]))
    return all(a.head >= 0 and a.tail >= 0 for a in axes) and all(shape_of(inputs[0])) and all(shape_of(inputs[1]))


@kernel(Conv)
@kernel(Conv1D)
@kernel(Conv2D)
@kernel(Conv3D)
def conv(op: Conv, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Unroll windows, multiply, and add the bias while bringing images to the front."""
    if not _covers(op, inputs):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        wide = Wide(scratch)
        x, w, y = op.first(wide.read(arrays[0])), op.first(wide.read(arrays[1])), op.first(wide.write(results[0]))
        sweep = _sweep(op, x, w, scratch)
        bias = None if arrays[2] is None else wide.read(arrays[2]).reshape(-1, *[1] * len(sweep.axes))
        return wide.around(_forward(sweep, x, w, bias, y))

    return make


def _forward(sweep: Sweep, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, y: np.ndarray) -> list[Call]:
    """The calls of one Conv: every part unrolled, multiplied, and moved to its place with the bias."""
    calls, filters = _filters(sweep, w)
    if sweep.pointwise and x.flags.c_contiguous and y.flags.c_contiguous:
        calls.append((np.matmul, (filters, _matrices(x, sweep.group), _matrices(y, sweep.group))))
        return calls if bias is None else [*calls, (np.add, (y, bias, y))]
    images, loaded = x, None
    for part in sweep.parts():
        if loaded != part.images:
            loaded = part.images
            images, load = sweep.load(x, part)
            calls += load
        columns, unroll = sweep.unroll(images, part)
        product, last = sweep.outputs(y, "products", part)
        calls += [*unroll, (np.matmul, (filters, columns, product))]
        target = y[part.images, :, part.rows]
        source = target if last is None else np.moveaxis(last, -1, 0)
        if bias is not None:
            calls.append((np.add, (source, bias, target)))
        elif source is not target:
            calls.append((np.copyto, (target, source)))
    return calls


def _filters(sweep: Sweep, w: np.ndarray) -> tuple[list[Call], np.ndarray]:
    """The filters as a matrix for each group; those with channels last are copied first."""
    shape = (sweep.group, sweep.filters // sweep.group, sweep.depth // sweep.group)
    if w.flags.c_contiguous:
        return [], w.reshape(shape)
    copy = sweep.scratch("filters", *w.shape)
    return [(np.copyto, (copy, w))], copy.reshape(shape)


def _matrices(x: np.ndarray, group: int) -> np.ndarray:
    """Images as a matrix channels x places for each group."""
    return x.reshape(x.shape[0], group, x.shape[1] // group, math.prod(x.shape[2:]))


@kernel(ConvGradient)
@kernel(Conv1DGradient)
@kernel(Conv2DGradient)
@kernel(Conv3DGradient)
def conv_gradient(op: ConvGradient, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Unroll windows again; products with dY give dfilter, and unrolled dX, which is added up in place."""
    if not _covers(op, inputs):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        wide = Wide(scratch)
        reads, writes = [wide.read(a) for a in arrays], [wide.write(a) for a in results]
        return wide.around(_Backward(op, reads, writes, scratch).calls)

    return make


class _Backward:
    """The calls of one ConvGradient."""

    def __init__(
        self, op: ConvGradient, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], arena: Arena
    ) -> None:
        self.x, w, self.dy = (op.first(a) for a in arrays)
        self.sweep = _sweep(op, self.x, w, arena)
        self.calls, self.filters = _filters(self.sweep, w)
        self.dw = self.sweep.scratch("dfilters", *self.filters.shape)
        dw = op.first(results[0])
        if dw.flags.c_contiguous:
            self.dw = dw.reshape(self.filters.shape)
        self.dx = op.first(results[-1]) if op.wants_input else None
        self._parts()
        if not dw.flags.c_contiguous:
            self.calls.append((np.copyto, (dw, self.dw.reshape(w.shape))))
        if not op.no_bias and len(results) > 1:
            self._bias(results[1])

    def _parts(self) -> None:
        loaded: slice | None = None
        images, gradient = self.x, None
        parts = list(self.sweep.parts())
        for index, part in enumerate(parts):
            if loaded != part.images:
                loaded = part.images
                images, load = self.sweep.load(self.x, part)
                self.calls += load
                gradient = self._start_gradient(part)
            dy = self._products(images, part, first=index == 0)
            if gradient is not None:
                self._add_up(gradient, dy, part)
                if index + 1 == len(parts) or parts[index + 1].images != loaded:
                    self._finish_gradient(gradient, part)

    def _products(self, images: np.ndarray, part: Part, *, first: bool) -> np.ndarray:
        """Add a part to the gradient of the filters; return that part of dY as matrices."""
        dy, last = self.sweep.outputs(self.dy, "dY", part)
        if last is not None:
            self.calls += moves(last, self.sweep.images_of(self.dy, part))
        columns, unroll = self.sweep.unroll(images, part)
        self.calls += unroll
        target = self.dw if first else self.sweep.scratch("more", *self.dw.shape)
        self.calls.append((np.matmul, (dy, columns.swapaxes(1, 2), target)))
        if not first:
            self.calls.append((np.add, (self.dw, target, self.dw)))
        return dy

    def _start_gradient(self, part: Part) -> np.ndarray | None:
        if self.dx is None:
            return None
        if self.sweep.pointwise and part.count == 1 and self.dx.flags.c_contiguous:
            return np.moveaxis(self.dx[part.images], 0, -1)
        gradient = self.sweep.padded("gradient", part.count)
        if not self.sweep.pointwise:
            self.calls.append((gradient.fill, (0,)))
        return gradient

    def _add_up(self, gradient: np.ndarray, dy: np.ndarray, part: Part) -> None:
        sweep, filters = self.sweep, self.filters.swapaxes(1, 2)
        if sweep.pointwise:
            self.calls.append((np.matmul, (filters, dy, gradient.reshape(filters.shape[0], filters.shape[1], -1))))
            return
        rows = part.rows.stop - part.rows.start
        unrolled = sweep.scratch("unrolled", sweep.channels, *sweep.kernel, rows, *sweep.windows[1:], part.count)
        self.calls.append((np.matmul, (filters, dy, unrolled.reshape(sweep.group, filters.shape[1], -1))))
        for place, covered in offsets(sweep.axes):
            target = gradient[(slice(None), *sweep.covered(covered, part.rows))]
            self.calls.append((np.add, (target, unrolled[(slice(None), *place)], target)))

    def _finish_gradient(self, gradient: np.ndarray, part: Part) -> None:
        assert self.dx is not None
        target = np.moveaxis(self.dx[part.images], 0, -1)
        if not np.shares_memory(gradient, target):
            self.calls.append((np.copyto, (target, self.sweep.inner(gradient))))

    def _bias(self, db: np.ndarray) -> None:
        """Sum places first, which are next to each other, then images."""
        dy = self.dy
        if not dy.flags.c_contiguous:
            self.calls.append((np.add.reduce, (dy, (0, *range(2, dy.ndim)), None, db)))
            return
        by_image = self.sweep.scratch("bias", *dy.shape[:2])
        flat = dy.reshape(*dy.shape[:2], math.prod(dy.shape[2:]))
        self.calls += [(np.add.reduce, (flat, 2, None, by_image)), (np.add.reduce, (by_image, 0, None, db))]
