"""Convolutions as one matrix product for every few images, through scratch memory that is allocated once.

A batch is cut into parts whose unrolled windows fit a cache. The windows of a part are copied into
columns, one copy for each element of the window; the product is then written to its place in the
batch, with the bias, in one pass. Halves become float32 on the way in and are rounded on the way out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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

PART = 1 << 21
"""Bytes of columns to make at a time."""


class Parts:
    """A batch of images, cut into parts; arrays have the channels first."""

    def __init__(self, op: Convolution, x: np.ndarray, w: np.ndarray) -> None:
        self.op, self.x, self.axes = op, op.first(x), op.axes(x.shape)
        self.group, self.filters = op.group, w.shape[0]
        self.dtype = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype
        self.out = tuple(a.count for a in self.axes)
        self.kernel = tuple(a.kernel for a in self.axes)
        self.images, self.channels = self.x.shape[:2]
        self.rows = self.channels * math.prod(self.kernel)
        per_image = self.rows * math.prod(self.out) * self.dtype.itemsize
        self.size = min(self.images, max(1, PART // max(per_image, 1)))
        self._columns = np.empty(self.rows * self.size * math.prod(self.out), self.dtype)
        self._padded = self._scratch()
        self.calls: list[Call] = []
        self.weights = self._weights(op.first(w))

    def _scratch(self) -> np.ndarray | None:
        """Where images are copied to first: into a frame of zeros, or to widen them."""
        if not any(a.head or a.tail for a in self.axes) and self.x.dtype == self.dtype:
            return None
        return np.zeros((self.size, self.channels, *padded_extents(self.axes, self.x.shape[2:])), self.dtype)

    def _weights(self, w: np.ndarray) -> np.ndarray:
        shape = (self.group, self.filters // self.group, self.rows // self.group)
        if not w.flags.c_contiguous:
            made = np.empty(w.shape, self.dtype)
            self.calls.append((np.copyto, (made, w)))
            return made.reshape(shape)
        return _widened(w, self.dtype, self.calls).reshape(shape)

    def __iter__(self) -> Any:
        """The first image and the number of images of every part."""
        return ((at, min(self.size, self.images - at)) for at in range(0, self.images, self.size))

    def columns(self, count: int) -> np.ndarray:
        """The columns of a part: channels x window x images x windows."""
        shape = (self.channels, *self.kernel, count, *self.out)
        return self._columns[: math.prod(shape)].reshape(shape)

    def matrix(self, columns: np.ndarray) -> np.ndarray:
        """Columns as group x rows x windows."""
        return columns.reshape(self.group, self.rows // self.group, -1)

    def unroll(self, at: int, count: int) -> list[Call]:
        """The calls that fill the columns of a part with windows of x."""
        calls: list[Call] = []
        source = self.x[at : at + count]
        if self._padded is not None:
            padded = self._padded[:count]
            calls.append((np.copyto, (padded[inside(self.axes, source.shape)], source)))
            source = padded
        columns = self.columns(count)
        for place, covered in offsets(self.axes):
            calls.append((np.copyto, (columns[(slice(None), *place)], source[(..., *covered)].swapaxes(0, 1))))
        return calls

    def roll_up(self, at: int, count: int, frame: np.ndarray, dx: np.ndarray) -> list[Call]:
        """The calls that add the columns of a part to the windows of a frame of dx, and store it."""
        columns, total = self.columns(count), frame[:, :count]
        calls: list[Call] = [(total.fill, (0,))]
        for place, covered in offsets(self.axes):
            target = total[(..., *covered)]
            calls.append((np.add, (target, columns[(slice(None), *place)], target)))
        images = dx[at : at + count]
        calls.append((_round, (images, total[inside(self.axes, images.shape)].swapaxes(0, 1))))
        return calls


def inside(axes: Sequence[Axis], shape: Sequence[int]) -> tuple[Any, ...]:
    """Where the images stand in their frame of padding."""
    return (..., *(slice(a.head, a.head + n) for a, n in zip(axes, shape[2:], strict=True)))


def _widened(a: np.ndarray, dtype: np.dtype[Any], calls: list[Call]) -> np.ndarray:
    """Return ``a``, or the scratch array that ``calls`` will fill with its values in ``dtype``."""
    if a.dtype == dtype:
        return a
    made = np.empty(a.shape, dtype)
    calls.append((np.copyto, (made, a)))
    return made


def _round(target: np.ndarray, source: np.ndarray) -> None:
    np.copyto(target, source, "same_kind")


def _covers(op: Convolution, x: TensorType, w: TensorType) -> bool:
    """Images and filters that are not empty, and padding that does not crop."""
    shapes = (*(x.shape or ()), *(w.shape or ()))
    return all(shapes) and all(a.head >= 0 and a.tail >= 0 and a.count > 0 for a in op.axes(x.shape or ()))


@kernel(Conv, "numpy")
@kernel(Conv1D, "numpy")
@kernel(Conv2D, "numpy")
@kernel(Conv3D, "numpy")
def conv(op: Conv, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """Unroll, multiply, and write the product with its bias."""
    return _forward(op) if _covers(op, inputs[0], inputs[1]) else None


def _forward(op: Conv) -> Make:
    def make(arrays: Sequence[Any], results: Sequence[Any]) -> list[Call]:
        x, w, bias = arrays
        parts, y = Parts(op, x, w), op.first(results[0])
        calls = parts.calls
        product = np.empty(parts.filters * parts.size * math.prod(parts.out), parts.dtype)
        wide_bias = None if bias is None else _widened(bias, parts.dtype, calls).reshape(-1, *(1,) * len(parts.axes))
        for at, count in parts:
            made = product[: parts.filters * count * math.prod(parts.out)]
            calls += parts.unroll(at, count)
            columns = parts.matrix(parts.columns(count))
            calls.append((np.matmul, (parts.weights, columns, made.reshape(parts.group, -1, columns.shape[2]))))
            placed = made.reshape(parts.filters, count, *parts.out).swapaxes(0, 1)
            target = y[at : at + count]
            if wide_bias is None:
                calls.append((_round, (target, placed)))
            elif target.dtype == parts.dtype:
                calls.append((np.add, (placed, wide_bias, target)))
            else:
                calls += [(np.add, (placed, wide_bias, placed)), (_round, (target, placed))]
        return calls

    return make


@kernel(ConvGradient, "numpy")
@kernel(Conv1DGradient, "numpy")
@kernel(Conv2DGradient, "numpy")
@kernel(Conv3DGradient, "numpy")
def conv_gradient(op: ConvGradient, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """Products with the columns of x, and products rolled up into those of dX."""
    return _backward(op) if _covers(op, inputs[0], inputs[1]) else None


def _backward(op: ConvGradient) -> Make:
    def make(arrays: Sequence[Any], results: Sequence[Any]) -> list[Call]:
        x, w, dy = arrays
        parts = Parts(op, x, w)
        dx = op.first(results[1 if op.no_bias else 2]) if op.wants_input else None
        db = results[1] if not op.no_bias and len(results) > 1 else None
        total = np.empty(parts.weights.shape, parts.dtype)
        part, rows = np.empty_like(total), np.empty(parts.filters, parts.dtype)
        sums = np.zeros_like(rows)
        wide = np.empty(parts.filters * parts.size * math.prod(parts.out), parts.dtype)
        frame = None
        if dx is not None:
            extents = padded_extents(parts.axes, parts.x.shape[2:])
            frame = np.empty((parts.channels, parts.size, *extents), parts.dtype)
        calls = [*parts.calls, (sums.fill, (0,))]
        for at, count in parts:
            given = wide[: parts.filters * count * math.prod(parts.out)].reshape(parts.filters, count, *parts.out)
            by_filter = given.reshape(parts.group, parts.filters // parts.group, -1)
            calls.append((np.copyto, (given, op.first(dy)[at : at + count].swapaxes(0, 1))))
            calls += parts.unroll(at, count)
            columns = parts.matrix(parts.columns(count))
            into = part if at else total
            calls.append((np.matmul, (by_filter, columns.swapaxes(1, 2), into)))
            if at:
                calls.append((np.add, (total, part, total)))
            if db is not None:
                reduce: Any = np.add.reduce
                calls.append((reduce, (given.reshape(parts.filters, -1), 1, None, rows)))
                calls.append((np.add, (sums, rows, sums)))
            if dx is not None and frame is not None:
                calls.append((np.matmul, (parts.weights.swapaxes(1, 2), by_filter, columns)))
                calls += parts.roll_up(at, count, frame, dx)
        target = op.first(results[0])
        calls.append((_round, (target, total.reshape(target.shape))))
        if db is not None:
            calls.append((_round, (db, sums)))
        return calls

    return make
