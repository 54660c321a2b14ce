"""Softmax and its gradient, computed in the planned buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ir.dims import canonical_axis
from netdsl.ops.nn.softmax import Softmax, SoftmaxGradient, row_dims
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.memory import Arena

_max: Any = np.maximum.reduce
_sum: Any = np.add.reduce


@kernel(Softmax)
def softmax(op: Softmax, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """The exponentials are computed in Y and divided there."""
    if not covers(inputs[0], op.axis):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        y = as_rows(results[0], op.axis)
        sums = scratch((len(y), 1), y.dtype)
        return [*shift(as_rows(arrays[0], op.axis), y, scratch), *exps(y, sums), (np.divide, (y, sums, y))]

    return make


@kernel(SoftmaxGradient)
def softmax_gradient(op: SoftmaxGradient, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """dX serves as the scratch memory."""
    if not covers(inputs[0], op.axis):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        y, dy, dx = (as_rows(a, op.axis) for a in (*arrays, *results))
        sums = scratch((len(y), 1), y.dtype)
        return [
            (np.multiply, (y, dy, dx)),
            (_sum, (dx, 1, None, sums, True)),
            (np.subtract, (dy, sums, dx)),
            (np.multiply, (y, dx, dx)),
        ]

    return make


def covers(scores: TensorType, axis: int) -> bool:
    """Whether there are rows and classes, in a dtype that is computed in as it is."""
    return scores.dtype is not None and scores.dtype.itemsize >= 4 and all(row_dims(scores, axis))


def as_rows(a: np.ndarray, axis: int) -> np.ndarray:
    """View a buffer as a matrix whose columns are the axes from ``axis`` on; not for empty ones."""
    lead = a.shape[: canonical_axis(axis, a.ndim)]
    return a.reshape(int(np.prod(lead)), -1)


def shift(x: np.ndarray, y: np.ndarray, scratch: Arena) -> list[Call]:
    """The calls for: y = x less the maximum of each row."""
    highest = scratch((len(x), 1), x.dtype)
    return [(_max, (x, 1, None, highest, True)), (np.subtract, (x, highest, y))]


def exps(y: np.ndarray, sums: np.ndarray) -> list[Call]:
    """The calls for: y = exp(y) in place, and the sums of its rows."""
    return [(np.exp, (y, y)), (_sum, (y, 1, None, sums, True))]
