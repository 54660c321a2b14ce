"""Cases of Softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def softmax(X: Any, axis: int = 1) -> Any:
    """In float64, one row at a time, each probability as the inverse of a sum of ratios."""
    axis %= X.ndim
    rows = X.astype(np.float64).reshape(math.prod(X.shape[:axis]), math.prod(X.shape[axis:]))
    return np.array([[1 / math.fsum(np.exp(row - x)) for x in row] for row in rows]).reshape(X.shape)


def softmax_gradient(Y: Any, dY: Any, axis: int = 1) -> Any:
    """By the matrix of all derivatives of a row."""
    axis %= Y.ndim
    y, dy = (a.astype(np.float64).reshape(math.prod(Y.shape[:axis]), math.prod(Y.shape[axis:])) for a in (Y, dY))
    return np.array([(np.diag(p) - np.outer(p, p)) @ d for p, d in zip(y, dy, strict=True)]).reshape(Y.shape)


P = softmax(normal(3, 4)).astype(np.float32)

CASES = [
    Case("Softmax", (normal(3, 4),), {}, softmax, batch=(0,)),
    Case("Softmax", (normal(2, 3, 2),), {}, softmax, label="classes of two axes"),
    Case("Softmax", (normal(2, 3, 4),), {"axis": 2}, softmax, batch=(0,)),
    Case("Softmax", (normal(2, 3, 2),), {"axis": -2}, softmax),
    Case("Softmax", (normal(5),), {"axis": 0}, softmax),
    Case("Softmax", (normal(3, 1),), {}, (np.ones((3, 1)),), label="one class"),
    Case("Softmax", (normal(3, 0),), {}, (np.zeros((3, 0)),), label="no class"),
    Case("Softmax", (np.float32([[1000, 0, -1000], [-1000, -1000, -2000]]),), {},
         (np.array([[1, 0, 0], [0.5, 0.5, 0]]),), grad=False, label="large"),
    Case("Softmax", (np.array([[1, np.nan], [np.inf, 0], [-np.inf, 0]], np.float32),), {},
         (np.array([[np.nan] * 2, [np.nan] * 2, [0, 1]]),), grad=False, label="special values"),
    Case("Softmax", (normal(5),), refuses="axis 1 is out of range", label="a vector"),
    Case("Softmax", (normal(3, 4),), {"axis": -3}, refuses="axis -3 is out of range"),
    Case("Softmax", (np.ones((2, 3), np.int32),), refuses="is of the wrong type", label="integers"),
    Case("SoftmaxGradient", (P, normal(3, 4, seed=1)), {}, softmax_gradient, batch=(0, 1)),
    Case("SoftmaxGradient", (P, normal(3, 4, seed=1)), {"axis": 0}, softmax_gradient),
    Case("SoftmaxGradient", (P, normal(4, 3)), refuses="differ in shape"),
]  # fmt: skip
