"""Convolutions as one matrix product for every few images, through scratch memory that is allocated once.

A batch is cut into parts whose unrolled windows fit a cache. The windows of a part are copied into
columns, one copy for each element of the window; the product is then written to its place in the
batch, with the bias, in one pass. Halves become float32 on the way in and are rounded on the way out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

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
from netdsl.ops.nn.window import Axis, offsets, padded_extents
from netdsl.runtime.backends import Call
from netdsl.runtime.kernels import Make, kernel
from netdsl.runtime.kernels.numpy.halves import Wide, working

PART = 1 << 21
"""Bytes of columns to make at a time."""


class Part:
    """Some images of the batch. ``columns`` are channels x window x images x windows; ``matrix`` is a view of them."""

    def __init__(self, batch: Batch, at: int, count: int) -> None:
        self.batch, self.at, self.count = batch, at, count
        self.wide = Wide()
        shape = (batch.channels, *batch.kernel, count, *batch.out)
        self.columns = batch.columns[: math.prod(shape)].reshape(shape)
        self.matrix = self.columns.reshape(batch.group, batch.rows // batch.group, -1)

    def images(self, a: np.ndarray) -> np.ndarray:
        """The images of this part of an array of the whole batch."""
        return a[self.at : self.at + self.count]

    def read(self, a: np.ndarray) -> np.ndarray:
        """View of the part of an input, channels first, in the dtype to compute in."""
        return self.batch.op.first(self.wide.read(self.images(a)))

    def write(self, a: np.ndarray) -> np.ndarray:
        """View of what to write for the part of an output, channels first."""
        return self.batch.op.first(self.wide.write(self.images(a)))

    def by_filter(self, scratch: np.ndarray) -> np.ndarray:
        """Scratch memory for values of every window: filters x images x windows."""
        shape = (self.batch.filters, self.count, *self.batch.out)
        return scratch[: math.prod(shape)].reshape(shape)

    def by_group(self, a: np.ndarray) -> np.ndarray:
        """Those values as a matrix for each group."""
        return a.reshape(self.batch.group, self.batch.filters // self.batch.group, -1)

    def unroll(self, x: np.ndarray) -> list[Call]:
        """The calls that fill the columns with windows of the images of this part."""
        calls: list[Call] = []
        source, frame = self.read(x), self.batch.frame
        if frame is not None:
            frame = frame[: self.count]
            calls.append((np.copyto, (frame[inside(self.batch.axes, source.shape)], source)))
            source = frame
        for place, covered in offsets(self.batch.axes):
            target = self.columns[(slice(None), *place)]
            calls.append((np.copyto, (target, source[(..., *covered)].swapaxes(0, 1))))
        return calls

    def roll_up(self, total: np.ndarray, dx: np.ndarray) -> list[Call]:
        """The calls that add the columns to their windows in ``total``, a frame of dx, and store what is inside."""
        total = total[:, : self.count]
        calls: list[Call] = [(total.fill, (0,))]
        for place, covered in offsets(self.batch.axes):
            target = total[(..., *covered)]
            calls.append((np.add, (target, self.columns[(slice(None), *place)], target)))
        images = self.write(dx)
        calls.append((np.copyto, (images, total[inside(self.batch.axes, images.shape)].swapaxes(0, 1))))
        return calls


class Batch:
    """What the parts of a batch share: geometry, weights and scratch memory."""

    def __init__(self, op: Convolution, x: np.ndarray, w: np.ndarray) -> None:
        self.op, self.axes, self.group = op, op.axes(x.shape), op.group
        self.dtype = working(x.dtype)
        self.out = tuple(a.count for a in self.axes)
        self.kernel = tuple(a.kernel for a in self.axes)
        first = op.first(x)
        self.images, self.channels, self.filters = *first.shape[:2], w.shape[0]
        self.rows = self.channels * math.prod(self.kernel)
        windows = math.prod(self.out)
        self.size = min(self.images, max(1, PART // max(self.rows * windows * self.dtype.itemsize, 1)))
        self.columns = np.empty(self.rows * self.size * windows, self.dtype)
        self.extents = padded_extents(self.axes, first.shape[2:])
        padded = any(a.head or a.tail for a in self.axes)
        self.frame = np.zeros((self.size, self.channels, *self.extents), self.dtype) if padded else None
        self.calls: list[Call] = []
        self.weights = self._weights(w)

    def _weights(self, w: np.ndarray) -> np.ndarray:
        """The filters as a matrix for each group, to be read after ``calls`` ran."""
        wide = Wide()
        first = self.op.first(wide.read(w))
        self.calls += wide.before
        if not first.flags.c_contiguous:
            made = np.empty(first.shape, self.dtype)
            self.calls.append((np.copyto, (made, first)))
            first = made
        return first.reshape(self.group, self.filters // self.group, self.rows // self.group)

    def values(self) -> np.ndarray:
        """Scratch memory for the values of all windows of a part."""
        return np.empty(self.filters * self.size * math.prod(self.out), self.dtype)

    def __iter__(self) -> Iterator[Part]:
        for at in range(0, self.images, self.size):
            yield Part(self, at, min(self.size, self.images - at))


def inside(axes: Sequence[Axis], shape: Sequence[int]) -> tuple[Any, ...]:
    """Where the images stand in their frame of padding."""
    return (..., *(slice(a.head, a.head + n) for a, n in zip(axes, shape[2:], strict=True)))


def covers(op: Convolution, x: TensorType, w: TensorType) -> bool:
    """Whether images and filters are not empty, and padding does not crop."""
    shapes = (*(x.shape or ()), *(w.shape or ()))
    return all(shapes) and all(a.head >= 0 and a.tail >= 0 and a.count > 0 for a in op.axes(x.shape or ()))


@kernel(Conv, "numpy")
@kernel(Conv1D, "numpy")
@kernel(Conv2D, "numpy")
@kernel(Conv3D, "numpy")
def conv(op: Conv, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """Unroll, multiply, and write the product with its bias."""
    if not covers(op, inputs[0], inputs[1]):
        return None

    def make(arrays: Sequence[Any], results: Sequence[Any]) -> list[Call]:
        x, w, bias = arrays
        batch, wide = Batch(op, x, w), Wide()
        if bias is not None:
            bias = wide.read(bias).reshape(-1, *(1,) * len(batch.axes))
        calls, scratch = [*batch.calls, *wide.before], batch.values()
        for part in batch:
            product = part.by_filter(scratch)
            placed, target = product.swapaxes(0, 1), part.write(results[0])
            todo = part.unroll(x)
            todo.append((np.matmul, (batch.weights, part.matrix, part.by_group(product))))
            todo.append((np.copyto, (target, placed)) if bias is None else (np.add, (placed, bias, target)))
            calls += part.wide.around(todo)
        return calls

    return make


@kernel(ConvGradient, "numpy")
@kernel(Conv1DGradient, "numpy")
@kernel(Conv2DGradient, "numpy")
@kernel(Conv3DGradient, "numpy")
def conv_gradient(op: ConvGradient, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """Products with the columns of X, and products rolled up into dX."""
    if not covers(op, inputs[0], inputs[1]):
        return None

    def make(arrays: Sequence[Any], results: Sequence[Any]) -> list[Call]:
        x, w, dy = arrays
        batch, wide = Batch(op, x, w), Wide()
        dx = results[1 if op.no_bias else 2] if op.wants_input else None
        db = wide.write(results[1]) if not op.no_bias and len(results) > 1 else None
        frame = None if dx is None else np.empty((batch.channels, batch.size, *batch.extents), batch.dtype)
        total = np.empty(batch.weights.shape, batch.dtype)
        more, scratch = np.empty_like(total), batch.values()
        calls = list(batch.calls)
        for part in batch:
            given = part.by_filter(scratch)
            todo: list[Call] = [(np.copyto, (given, part.read(dy).swapaxes(0, 1)))]
            todo += part.unroll(x)
            todo.append((np.matmul, (part.by_group(given), part.matrix.swapaxes(1, 2), more if part.at else total)))
            if part.at:
                todo.append((np.add, (total, more, total)))
            if db is not None:
                todo += _add_rows(given, db, first=not part.at)
            if dx is not None and frame is not None:
                todo.append((np.matmul, (batch.weights.swapaxes(1, 2), part.by_group(given), part.matrix)))
                todo += part.roll_up(frame, dx)
            calls += part.wide.around(todo)
        target = op.first(wide.write(results[0]))
        return [*calls, (np.copyto, (target, total.reshape(target.shape))), *wide.after]

    return make


def _add_rows(given: np.ndarray, db: np.ndarray, first: bool) -> list[Call]:
    reduce: Any = np.add.reduce
    rows = given.reshape(len(db), -1)
    if first:
        return [(reduce, (rows, 1, None, db))]
    sums = np.empty_like(db)
    return [(reduce, (rows, 1, None, sums)), (np.add, (db, sums, db))]
