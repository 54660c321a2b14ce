"""Cases of SparseMomentumSGDUpdate: the dense update, row after row."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.optim.case_momentum import updated


def sparse(grad: Any, m: Any, lr: Any, p: Any, indices: Any, **args: Any) -> tuple[Any, ...]:
    steps, m, p = np.zeros(grad.shape), np.array(m, np.float64), np.array(p, np.float64)
    for at, row in enumerate(indices):
        steps[at], m[row], p[row] = updated(grad[at], m[row], lr, p[row], **args)
    return steps, m, p


LR = np.array([0.1], np.float32)
m, p = normal(5, 3), normal(5, 3, seed=1)
twice, once, none = (np.array(rows, np.int64) for rows in ([3, 1, 3, 3], [4, 0], []))

CASES = [
    *(Case("SparseMomentumSGDUpdate", (normal(len(rows), 3, seed=2), m, LR, p, rows), args, sparse)
      for rows in (twice, once, none)
      for args in ({}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": 1})),
    Case("SparseMomentumSGDUpdate", (normal(4, 3), m, LR, p, twice - 4), refuses="out of range"),
    Case("SparseMomentumSGDUpdate", (normal(3, 3), m, LR, p, twice), refuses="one row for each index"),
]  # fmt: skip
