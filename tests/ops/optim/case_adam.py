"""Cases of the Adam family: in float64, the moments divided by what is missing to 1 first, row after row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def wide(*arrays: Any) -> list[np.ndarray]:
    return [np.array(a, np.float64) for a in arrays]


def adam(p: Any, m1: Any, m2: Any, g: Any, lr: Any, iteration: Any, beta1: float = 0.9, beta2: float = 0.999,
         epsilon: float = 1e-5, mean_square: Callable[[Any], Any] = np.square) -> tuple[Any, ...]:  # fmt: skip
    """As the paper has it, with epsilon scaled as by its second formula."""
    p, m1, m2, g = wide(p, m1, m2, g)
    beta1, beta2 = float(np.float32(beta1)), float(np.float32(beta2))
    t = int(iteration[0]) + 1
    m1 = beta1 * m1 + (1 - beta1) * g
    m2 = beta2 * m2 + (1 - beta2) * mean_square(g)
    unbiased = m1 / (1 - beta1**t)
    root = np.sqrt(m2 / (1 - beta2**t)) + epsilon / np.sqrt(1 - beta2**t)
    step = unbiased / root
    return p + float(lr[0]) * step, m1, m2, step


def sparse(p: Any, m1: Any, m2: Any, indices: Any, grad: Any, lr: Any, iteration: Any, **args: Any) -> tuple[Any, ...]:
    """One index after the other."""
    p, m1, m2, grad = wide(p, m1, m2, grad)
    steps = np.zeros_like(grad)
    for at in np.ndindex(indices.shape):
        row = indices[at]
        p[row], m1[row], m2[row], steps[at] = adam(p[row], m1[row], m2[row], grad[at], lr, iteration, **args)
    return p, m1, m2, steps


def row_wise(*inputs: Any, **args: Any) -> tuple[Any, ...]:
    return sparse(*inputs, **args, mean_square=lambda g: np.mean(g**2))


def rectified(p: Any, m1: Any, m2: Any, indices: Any, grad: Any, lr: Any, iteration: Any, enableRAdam: int) -> Any:
    """Algorithm 2 of the paper on RAdam, its threshold 5; epsilon is added before the root is corrected."""
    p, m1, m2, grad = wide(p, m1, m2, grad)
    b1, b2, t, eps = float(np.float32(0.9)), float(np.float32(0.999)), int(iteration[0]) + 1, 1e-5
    longest = 2 / (1 - b2) - 1
    length = longest - 2 * t * b2**t / (1 - b2**t)
    for row, g in zip(indices, grad, strict=True):
        m1[row] = b1 * m1[row] + (1 - b1) * g
        m2[row] = b2 * m2[row] + (1 - b2) * g * g
        step = m1[row] / (1 - b1**t)
        if length >= 5:
            r = np.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            step = r * step * np.sqrt(1 - b2**t) / (np.sqrt(m2[row]) + eps)
        p[row] += float(lr[0]) * step
    return p, m1, m2


def at(iteration: int) -> np.ndarray:
    return np.array([iteration], np.int64)


LR = np.array([-0.1], np.float32)
dense = (normal(3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2) ** 2, normal(3, 4, seed=3), LR)
tables = (normal(5, 2, 3), normal(5, 2, 3, seed=1), normal(5, 2, 3, seed=2) ** 2)
by_row = (*tables[:2], normal(5, seed=2) ** 2)
twice = (np.array([3, 1, 3, 3], np.int32), normal(4, 2, 3, seed=3), LR)
once = (np.array([[4], [0]], np.int64), normal(2, 1, 2, 3, seed=3), LR)
none = (np.zeros(0, np.int64), np.zeros((0, 2, 3), np.float32), LR)
other = {"beta1": 0.5, "beta2": 0.75, "epsilon": 0.25}

CASES = [
    Case("Adam", (*dense, at(0)), {}, adam, outputs=4, batch=(0, 1, 2, 3)),
    Case("Adam", (*dense, at(1_000_000)), {"epsilon": 0.125}, adam, outputs=4, label="late"),
    Case("Adam", (*dense, at(7)), other, adam, outputs=4),
    Case("Adam", (*dense[:4], np.ones(2, np.float32), at(7)), refuses="lr must be one number", label="rates"),
    Case("Adam", (*dense[:3], normal(4, 3), LR, at(7)), refuses="gradient and the parameter differ", label="shapes"),
    Case("Adam", (*dense, at(7)), {"beta2": 1.0}, refuses="'beta2' is out of range", label="beta2"),
    Case("Adam", (*dense, np.zeros(1, np.int32)), refuses="is of the wrong type", label="int32"),
    *(Case("SparseAdam", (*tables, *rows, at(3)), other, sparse, outputs=4, label=name)
      for name, rows in (("twice", twice), ("once", once), ("none", none))),
    *(Case("RowWiseSparseAdam", (*by_row, *rows, at(3)), other, row_wise, outputs=4, label=name)
      for name, rows in (("twice", twice), ("once", once), ("none", none))),
    *(Case("SparseAdam", (*tables, *twice, at(i)), {"enableRAdam": 1}, rectified, label=f"rectified {i}")
      for i in (0, 3, 4, 5, 500)),
    Case("SparseAdam", (*tables, np.array([5], np.int32), normal(1, 2, 3), LR, at(3)), refuses="out of range"),
    Case("SparseAdam", (*tables, np.array([-1], np.int32), normal(1, 2, 3), LR, at(3)), refuses="out of range"),
    Case("SparseAdam", (*tables, np.array([1], np.int32), normal(2, 2, 3), LR, at(3)), refuses="one row for each"),
    Case("RowWiseSparseAdam", (*tables, *twice, at(3)), refuses="moment_2 needs one number for each row"),
]  # fmt: skip
