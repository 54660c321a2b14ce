"""FC and its gradient as matrix products straight into the planned buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.nn.fc import FC, FCGradient, matrix
from netdsl.runtime.backends import Call
from netdsl.runtime.kernels import Make, kernel
from netdsl.runtime.kernels.numpy.products import Wide


@kernel(FC, "numpy")
def fc(op: FC, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Product into Y, then the bias added in place."""

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> list[Call]:
        x, w, bias = matrix(arrays[0], op.axis), matrix(arrays[1], op.axis_w), arrays[2]
        y = results[0].reshape(x.shape[0], w.shape[0])
        wide = Wide()
        product = wide.product(wide.read(x), wide.read(w).T, y)
        return [*wide.calls, *product, (np.add, (y, bias, y))]

    return make


@kernel(FCGradient, "numpy")
def fc_gradient(op: FCGradient, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Products into dW and dX, and the sum over rows into db."""
    if not all(outputs[0].shape or ()):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> list[Call]:
        w = matrix(arrays[1], op.axis_w)
        x, dy = matrix(arrays[0], op.axis), arrays[2].reshape(-1, w.shape[0])
        wide = Wide()
        wide_dy = wide.read(dy)
        products = wide.product(wide_dy.T, wide.read(x), results[0].reshape(w.shape))
        products += _rows(wide_dy, results[1])
        if len(results) > 2:
            products += wide.product(wide_dy, wide.read(w), results[2].reshape(x.shape))
        return [*wide.calls, *products]

    return make


def _rows(dy: np.ndarray, db: np.ndarray) -> list[Call]:
    total: Any = np.add.reduce
    if dy.dtype == db.dtype:
        return [(total, (dy, 0, None, db))]
    wide = np.empty(db.shape, dy.dtype)
    return [(total, (dy, 0, None, wide)), (np.copyto, (db, wide))]
