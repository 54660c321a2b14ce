"""Cases of the operators that write rows, one occurrence of an index after the other, and of Unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

X = normal(5, 2)
I = np.array([1, 3, 1], np.int64)  # noqa: E741


def weight(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def weighted(x: Any, w0: Any, indices: Any, *pairs: Any) -> Any:
    """In float64: first every occurrence scales, then every occurrence adds."""
    x = x.astype(np.float64)
    for i in indices.flat:
        x[i] *= w0.item()
    for rows, w in zip(pairs[::2], pairs[1::2], strict=True):
        for i, row in zip(indices.flat, rows.reshape(indices.size, *x.shape[1:]), strict=True):
            x[i] += w.item() * row
    return x


def assigned(x: Any, indices: Any, rows: Any) -> Any:
    x = x.copy()
    for i, row in zip(indices.flat, rows.reshape(indices.size, *x.shape[1:]), strict=True):
        x[i] = row
    return x


ROWS, MORE = normal(3, 2, seed=1), normal(3, 2, seed=2)
CASES = [
    Case("ScatterWeightedSum", (X, weight(1), I, ROWS, weight(-0.1)), {}, weighted, batch=(2, 3), label="add"),
    Case("ScatterWeightedSum", (X, weight(0.5), I, ROWS, weight(-0.1)), {}, weighted, label="scale"),
    Case("ScatterWeightedSum", (X, weight(0), I, ROWS, weight(2)), {}, weighted, label="replace"),
    Case("ScatterWeightedSum", (X, weight(1), I, ROWS, weight(2), MORE, weight(3)), {}, weighted, label="two"),
    Case("ScatterWeightedSum", (X, weight(1), I.astype(np.int32).reshape(3, 1), ROWS, np.float32(2)), {}, weighted,
         label="column of indices"),
    Case("ScatterWeightedSum", (X[:, 0], weight(1), I, ROWS[:, 0], weight(2)), {}, weighted, label="vector"),
    Case("ScatterWeightedSum", (X, weight(1), I + 2, ROWS, weight(1)), refuses="an index is out of range"),
    Case("ScatterWeightedSum", (X, weight(1), I, ROWS[:2], weight(1)), refuses="one row for each index", label="rows"),
    Case("ScatterWeightedSum", (X, weight(1), I, ROWS, X[0]), refuses="a weight is one number", label="weight"),
    Case("ScatterWeightedSum", (X, weight(1), I, ROWS.astype(np.float64), weight(1)), refuses="one row for each index",
         label="dtype"),
    Case("ScatterAssign", (X, np.array([4, 0]), ROWS[:2]), {}, assigned, batch=(1, 2), label="rows"),
    Case("ScatterAssign", (X, I, ROWS), {}, assigned, label="the last counts"),
    Case("ScatterAssign", (X, I.astype(np.int32).reshape(3, 1), ROWS), {}, assigned, label="column of indices"),
    Case("ScatterAssign", (integers(5), I, integers(3, seed=1)), {}, assigned, label="integers"),
    Case("ScatterAssign", (X, I - 2, ROWS), refuses="an index is out of range", label="range"),
    Case("ScatterAssign", (X, I, ROWS[:2]), refuses="one row for each index", label="rows missing"),
    Case("Unique", (np.array([3, 1, 3, -2]),), {}, (np.array([-2, 1, 3]), np.array([2, 1, 2, 0])), outputs=2),
    Case("Unique", (np.array([7, 7], np.int32),), {}, np.array([7]), label="values only"),
    Case("Unique", (np.empty(0, np.int64),), {}, (np.empty(0, np.int64), np.empty(0, np.int32)), outputs=2,
         label="empty"),
    Case("Unique", (integers(2, 2),), refuses="wrong rank", label="matrix"),
]  # fmt: skip
