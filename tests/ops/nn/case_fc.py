"""Cases of FC."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def fc(X: Any, W: Any, b: Any, axis: int = 1, axis_w: int = 1) -> Any:
    """In float64, one row and one unit at a time."""
    axis %= X.ndim
    rows = X.astype(np.float64).reshape(math.prod(X.shape[:axis]), -1) if X.size else np.zeros((0, W.shape[1]))
    units = W.astype(np.float64).reshape(math.prod(W.shape[:axis_w]), -1)
    values = [[math.fsum(row * unit) + bias for unit, bias in zip(units, b, strict=True)] for row in rows]
    return np.array(values, np.float64).reshape(*X.shape[:axis], len(units))


CASES = [
    Case("FC", (normal(3, 4), normal(5, 4, seed=1), normal(5, seed=2)), {}, fc, batch=(0,)),
    Case("FC", (normal(2, 3, 2), normal(4, 6, seed=1), normal(4, seed=2)), {}, fc, label="features of two axes"),
    Case("FC", (normal(2, 3, 4), normal(5, 4, seed=1), normal(5, seed=2)), {"axis": 2}, fc, batch=(0,)),
    Case("FC", (normal(2, 3, 4), normal(5, 4, seed=1), normal(5, seed=2)), {"axis": -1}, fc),
    Case("FC", (normal(3, 4), normal(5, 2, 4, seed=1), normal(10, seed=2)), {"axis_w": 2}, fc),
    Case("FC", (normal(1, 1), normal(1, 1, seed=1), normal(1, seed=2)), {}, fc, label="single values"),
    Case("FC", (normal(3, 4), normal(5, 6), normal(5)), refuses="disagree on the number of features", label="features"),
    Case("FC", (normal(3, 4), normal(5, 4), normal(4)), refuses="one element for each row of W", label="bias"),
    Case("FC", (normal(3, 4), normal(5, 4).astype(np.float16), normal(5)), refuses="share one dtype", label="dtypes"),
    Case("FC", (normal(3, 4), normal(5, 4)), refuses="FC takes 3 inputs", label="no bias", names=("X", "W")),
    Case("FC", (normal(3, 4), normal(5, 4), normal(5)), {"axis": 7}, refuses="axis 7 is out of range"),
]
