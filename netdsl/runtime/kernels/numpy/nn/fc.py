"""FC and its gradient as matrix products straight into the planned buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.nn.fc import FC, FCGradient, matrix
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.kernels.numpy.wide import Wide, convert
from netdsl.runtime.memory import Arena


@kernel(FC)
def fc(op: FC, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Product into Y, then the bias added in place."""

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        x, w = matrix(arrays[0], op.axis), matrix(arrays[1], op.axis_w)
        wide = Wide(scratch)
        x, w, bias = (wide.read(a) for a in (x, w, arrays[2]))
        half = results[0].reshape(x.shape[0], w.shape[0])
        y = wide.write(half)
        product: list[Call] = [(np.matmul, (x, w.T, y))]
        if y is not half:  # the product of halves is a half, to which the bias is added
            product += [*convert(half, y, scratch), *convert(y, half, scratch)]
        return wide.around([*product, (np.add, (y, bias, y))])

    return make


@kernel(FCGradient)
def fc_gradient(op: FCGradient, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """Products into dW and dX, and the sum over rows into db."""
    if not all(outputs[0].shape or ()):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        w = matrix(arrays[1], op.axis_w)
        x, dy = matrix(arrays[0], op.axis), arrays[2].reshape(-1, w.shape[0])
        wide = Wide(scratch)
        dy, x = wide.read(dy), wide.read(x)
        total: Any = np.add.reduce
        calls: list[Call] = [
            (np.matmul, (dy.T, x, wide.write(results[0].reshape(w.shape)))),
            (total, (dy, 0, None, wide.write(results[1]))),
        ]
        if len(results) > 2:
            calls.append((np.matmul, (dy, wide.read(w), wide.write(results[2].reshape(x.shape)))))
        return wide.around(calls)

    return make
