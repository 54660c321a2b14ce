"""Accuracy in scratch memory: how many classes rank above the label, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.ir import TensorType
from netdsl.ops.loss.accuracy import Accuracy
from netdsl.ops.loss.softmax_with_loss import check_classes
from netdsl.runtime.backends import Call, Make
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.memory import Arena

_xp: Any = np
_sum: Any = np.add.reduce


@kernel(Accuracy)
def accuracy(op: Accuracy, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Make | None:
    """The formula of the body with ``out=``; matrices that are empty run generically."""
    if not all(inputs[0].shape or ()):
        return None

    def make(arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], scratch: Arena) -> list[Call]:
        scores, labels = arrays
        n, classes = scores.shape
        unsigned, column = labels.view(np.uint32), labels.reshape(n, 1)
        starts, places = np.arange(n) * classes, scratch((n,), np.intp)
        own, order = scratch((n,), scores.dtype), np.arange(classes, dtype=np.int32)
        better, equal, lower = (scratch((n, classes), bool) for _ in range(3))
        ranks, right = scratch((n,), np.intp), scratch((n,), bool)
        total = scratch((), np.float32)

        def check() -> None:
            if unsigned.max() >= classes:  # as unsigned numbers, those below 0 are large
                check_classes(_xp, type(op).__name__, labels, classes)

        return [
            (check, ()),
            (np.add, (starts, labels, places)),
            (scores.take, (places, None, own, "clip")),
            (np.greater, (scores, own.reshape(n, 1), better)),
            (np.equal, (scores, own.reshape(n, 1), equal)),
            (np.less, (order, column, lower)),
            (np.logical_and, (equal, lower, equal)),
            (np.logical_or, (better, equal, better)),
            (_sum, (better, 1, None, ranks)),
            (np.less, (ranks, op.top_k, right)),
            (_sum, (right, 0, np.float32, total)),
            (np.divide, (total, np.float32(n), results[0])),
        ]

    return make
