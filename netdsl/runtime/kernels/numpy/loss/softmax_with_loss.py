"""SoftmaxWithLoss and its gradient for labels that are classes; those with ``label_prob`` run generically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.loss.softmax_with_loss import SoftmaxWithLoss, SoftmaxWithLossGradient, check_classes
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.kernels.numpy.nn.softmax import as_rows, covers, exps, shift
from netdsl.runtime.memory import Arena

_xp: Any = np
_Op = SoftmaxWithLoss | SoftmaxWithLossGradient


def _covers(op: _Op, inputs: Sequence[TensorType | None]) -> bool:
    scores = inputs[0]
    others = [t for i, t in enumerate(inputs) if i != 1 and t is not None]
    return scores is not None and not op.label_prob and covers(scores, op.axis) and len({t.dtype for t in others}) == 1


class _Rows:
    """The labels of one run as places in the flat scores, and the factor of each row."""

    def __init__(
        self, op: _Op, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray, scratch: Arena
    ) -> None:
        self.n, self.classes = rows.shape
        self.name = type(op).__name__
        self.labels, self.unsigned = labels.reshape(-1), labels.reshape(-1).view(np.uint32)
        self.weights = None if weights is None else weights.reshape(-1)
        self.averages = op.average_by_batch_size
        self.scale = op.scale
        self.starts = np.arange(self.n) * self.classes
        self.places = scratch((self.n,), np.intp)

    def locate(self) -> None:
        """Find the places; RunError where a label is no class (as unsigned numbers, those below 0 are large)."""
        if self.unsigned.max() >= self.classes:
            check_classes(_xp, self.name, self.labels, self.classes)
        np.add(self.starts, self.labels, self.places)

    def mean(self, total: np.ndarray) -> Any:
        """``total * scale`` over the number of rows or the sum of the weights; 0 where that is 0."""
        scaled = total * self.scale
        if self.weights is None or self.averages:
            return scaled / self.n
        weight = np.add.reduce(self.weights)
        return scaled / weight if weight else scaled * 0


@kernel(SoftmaxWithLoss)
def softmax_with_loss(op: SoftmaxWithLoss, inputs: Sequence[Any], outputs: Sequence[TensorType]) -> Make | None:
    """The probabilities are computed in their buffer, where the score of the label is picked on the way."""
    if not _covers(op, inputs) or len(outputs) > 2:
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        y, loss = as_rows(results[0], op.axis), results[1]
        rows = _Rows(op, arrays[1], arrays[2], y, scratch)
        flat, picked, sums = y.reshape(-1), scratch((rows.n,), y.dtype), scratch((rows.n, 1), y.dtype)
        log_sums = scratch((rows.n,), y.dtype)

        def average() -> None:
            np.log(sums.reshape(-1), log_sums)
            np.subtract(log_sums, picked, picked)
            if rows.weights is not None:
                np.multiply(picked, rows.weights, picked)
            loss[...] = rows.mean(np.add.reduce(picked))

        return [
            (rows.locate, ()),
            *shift(as_rows(arrays[0], op.axis), y, scratch),
            (flat.take, (rows.places, None, picked, "clip")),
            *exps(y, sums),
            (np.divide, (y, sums, y)),
            (average, ()),
        ]

    return make


@kernel(SoftmaxWithLossGradient)
def softmax_with_loss_gradient(
    op: SoftmaxWithLossGradient, inputs: Sequence[Any], outputs: Sequence[TensorType]
) -> Make | None:
    """Scale the probabilities into dX, then put right the one element of each row that is the label's."""
    if not _covers(op, inputs):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        p, dx = as_rows(arrays[3], op.axis), as_rows(results[0], op.axis)
        rows = _Rows(op, arrays[1], arrays[2], p, scratch)
        flat_p, flat_dx, dloss = p.reshape(-1), dx.reshape(-1), arrays[4].reshape(-1)[:1]

        def differentiate() -> None:
            rows.locate()
            at = flat_p.take(rows.places) - 1
            step = rows.mean(dloss)
            if rows.weights is None:
                np.multiply(p, step, dx)
            else:
                np.multiply(p, rows.weights[:, None], dx)
                np.multiply(dx, step, dx)
                at *= rows.weights
            flat_dx[rows.places] = at * step

        return [(differentiate, ())]

    return make
