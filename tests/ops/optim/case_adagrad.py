"""Cases of the Adagrad family: in float64, row after row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def adagrad(p: Any, h: Any, g: Any, lr: Any, epsilon: float = 1e-5, decay: float = 1.0, weight_decay: float = 0.0,
            mean_square: Callable[[Any], Any] = np.square) -> tuple[Any, ...]:  # fmt: skip
    p, h, g = (np.array(a, np.float64) for a in (p, h, g))
    g = g + weight_decay * p
    h = decay * h + mean_square(g)
    rate = float(lr[0]) / (h**0.5 + epsilon)
    return p + rate * g, h, rate, rate * g


def sparse(p: Any, h: Any, indices: Any, grad: Any, lr: Any, **args: Any) -> tuple[Any, Any]:
    """One index after the other."""
    p, h = np.array(p, np.float64), np.array(h, np.float64)
    for at in np.ndindex(indices.shape):
        row = indices[at]
        p[row], h[row], *_ = adagrad(p[row], h[row], grad[at], lr, **args)
    return p, h


def row_wise(*inputs: Any, **args: Any) -> tuple[Any, Any]:
    return sparse(*inputs, **args, mean_square=lambda g: np.mean(g**2))


LR = np.array([-0.1], np.float32)
dense = (normal(3, 4), normal(3, 4, seed=1) ** 2, normal(3, 4, seed=2), LR)
table, sums = normal(5, 2, 3), normal(5, 2, 3, seed=1) ** 2
twice = (np.array([3, 1, 3, 3], np.int64), normal(4, 2, 3, seed=2), LR)
once = (np.array([[4, 0]], np.int32), normal(1, 2, 2, 3, seed=2), LR)
none = (np.zeros(0, np.int64), np.zeros((0, 2, 3), np.float32), LR)
some = [("twice", twice), ("once", once), ("none", none)]
decayed = {"epsilon": 0.25, "weight_decay": 0.5}

CASES = [
    Case("Adagrad", dense, {}, adagrad, outputs=4, batch=(0, 1, 2)),
    Case("Adagrad", dense, {**decayed, "decay": 0.75}, adagrad, outputs=4),
    Case("Adagrad", (*dense[:3], np.ones(2, np.float32)), refuses="lr must be one number", label="rates"),
    Case("Adagrad", (dense[0], sums, *dense[2:]), refuses="moment and the parameter differ in shape", label="shapes"),
    *(Case("SparseAdagrad", (table, sums, *rows), decayed, sparse, label=name) for name, rows in some),
    *(Case("RowWiseSparseAdagrad", (table, sums[:, 0, 0], *rows), decayed, row_wise, label=name)
      for name, rows in some),
    Case("RowWiseSparseAdagrad", (table[:, 0, 0], sums[:, 0, 0], twice[0], twice[1][:, 0, 0], LR), {}, row_wise,
         label="rows of one"),
    Case("SparseAdagrad", (table, sums, *twice), {"decay": 0.9}, refuses="'decay' must be 1"),
    Case("SparseAdagrad", (table, sums, np.array([5]), normal(1, 2, 3), LR), refuses="out of range", label="index"),
    Case("RowWiseSparseAdagrad", (table, sums, *twice), refuses="one number for each row", label="sums"),
]  # fmt: skip
