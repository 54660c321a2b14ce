"""Max pooling into the planned buffer: one call for each element of the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.nn.pool import (
    MaxPool,
    MaxPool1D,
    MaxPool1DGradient,
    MaxPool2D,
    MaxPool2DGradient,
    MaxPool3D,
    MaxPool3DGradient,
    MaxPoolGradient,
    Pooling,
)
from netdsl.ops.nn.window import offsets
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.kernels.numpy.wide import Wide
from netdsl.runtime.memory import Arena


def _covers(op: Pooling, x: TensorType) -> bool:
    """Images that are not empty, without padding."""
    axes = op.axes(x.shape or ())
    return all(x.shape or ()) and not any(a.head or a.tail for a in axes)


@kernel(MaxPool)
@kernel(MaxPool1D)
@kernel(MaxPool2D)
@kernel(MaxPool3D)
def max_pool(op: MaxPool, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """The largest so far, element by element of the window; NaN counts only as the first."""
    if not _covers(op, inputs[0]):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        wide = Wide(scratch)
        x, y = op.first(wide.read(arrays[0])), op.first(wide.write(results[0]))
        windows = [x[(..., *covered)] for _, covered in offsets(op.axes(arrays[0].shape))]
        missing = scratch(y.shape, bool)
        calls: list[Call] = [(np.copyto, (y, windows[0]))]
        calls += [(np.fmax, (y, window, y)) for window in windows[1:]]
        calls += [(np.isnan, (windows[0], missing)), (np.copyto, (y, windows[0], "no", missing))]
        return wide.around(calls)

    return make


@kernel(MaxPoolGradient)
@kernel(MaxPool1DGradient)
@kernel(MaxPool2DGradient)
@kernel(MaxPool3DGradient)
def max_pool_gradient(op: MaxPoolGradient, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """dY to the places of the window that hold its largest element; it is added where windows overlap.

    Choosing is multiplying the bits of dY by 0 or 1: quick, and it makes no NaN of an infinity.
    """
    if not _covers(op, inputs[0]):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        wide = Wide(scratch)
        x, y, dy = (wide.read(a) for a in arrays)
        dx, axes = wide.write(results[0]), op.axes(x.shape)
        bits = np.dtype(f"i{dx.itemsize}")
        chosen, largest = scratch(dy.shape, dy.dtype), scratch(op.first(y).shape, bool)
        apart = all(a.stride >= a.kernel for a in axes)
        calls: list[Call] = [(dx.fill, (0,))]
        for _, covered in offsets(axes):
            calls.append((np.equal, (op.first(x)[(..., *covered)], op.first(y), largest)))
            into = dx.view(bits) if apart else chosen.view(bits)
            place = op.first(into)[(..., *covered)] if apart else op.first(into)
            calls.append((np.multiply, (op.first(dy.view(bits)), largest, place)))
            if not apart:
                target = op.first(dx)[(..., *covered)]
                calls.append((np.add, (target, op.first(chosen), target)))
        return wide.around(calls)

    return make
