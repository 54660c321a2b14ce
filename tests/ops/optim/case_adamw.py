"""Cases of AdamW: steps that PyTorch made, and in float64 with the decay as a step of its own, row after row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.optim.case_adam import at, wide
from tests.ops.optim.golden_torch import ADAMW, TORCH


def adamw(p: Any, m1: Any, m2: Any, g: Any, lr: Any, iteration: Any, found: Any = (False,), beta1: float = 0.9,
          beta2: float = 0.999, epsilon: float = 1e-8, weight_decay: float = 0.0) -> tuple[Any, ...]:  # fmt: skip
    """The means are weighted sums whose weights are divided by what they add up to."""
    p, m1, m2, g = wide(p, m1, m2, g)
    if found[0]:
        return p, m1, m2
    t, rate = int(iteration[0]), float(np.ravel(lr)[0])
    m1, m2 = m1 + (1 - beta1) * (g - m1), m2 + (1 - beta2) * (g * g - m2)
    total_1, total_2 = (sum((1 - b) * b**k for k in range(t)) for b in (beta1, beta2))
    decay = rate * weight_decay * p
    return p - decay - rate * (m1 / total_1) / (np.sqrt(m2 / total_2) + epsilon), m1, m2


def sparse(p: Any, m1: Any, m2: Any, indices: Any, grad: Any, lr: Any, iteration: Any, found: Any = (False,),
           **args: Any) -> tuple[Any, ...]:  # fmt: skip
    """One index after the other."""
    p, m1, m2, grad = wide(p, m1, m2, grad)
    for place in np.ndindex(indices.shape):
        row = indices[place]
        p[row], m1[row], m2[row] = adamw(p[row], m1[row], m2[row], grad[place], lr, iteration, found, **args)
    return p, m1, m2


def measured(name: str) -> Iterator[Case]:
    """Steps of PyTorch from where the step before ended."""
    rate, args = ADAMW[name]
    for step in (1, 2, 10, 20):
        before = TORCH[f"adamw_{name}"][step - 2] if step > 1 else (TORCH["start"], *np.zeros((2, 3, 4), np.float32))
        grad, lr = TORCH["grads"][step - 1], np.array([rate], np.float32)
        after = tuple(TORCH[f"adamw_{name}"][step - 1])
        yield Case("AdamW", (*before, grad, lr, at(step)), args, after, label=f"PyTorch {name} {step}")


LR = np.array([0.1], np.float32)
NO, YES = np.array([False]), np.array([True])
dense = (normal(3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2) ** 2, normal(3, 4, seed=3), LR)
bad = np.where(np.eye(3, 4) > 0, np.float32(np.nan), dense[3])
tables = (normal(5, 2, 3), normal(5, 2, 3, seed=1), normal(5, 2, 3, seed=2) ** 2)
twice = (np.array([3, 1, 3, 3], np.int32), normal(4, 2, 3, seed=3), LR)
once = (np.array([[4], [0]], np.int64), normal(2, 1, 2, 3, seed=3), LR)
none = (np.zeros(0, np.int64), np.zeros((0, 2, 3), np.float32), LR)
other = {"beta1": 0.5, "beta2": 0.75, "epsilon": 0.25, "weight_decay": 0.05}

CASES = [
    *(case for name in ADAMW for case in measured(name)),
    Case("AdamW", (*dense, at(1)), {}, adamw, batch=(0, 1, 2, 3)),
    Case("AdamW", (*dense, at(500)), {"epsilon": 0.125, "weight_decay": 0.5}, adamw, label="late"),
    Case("AdamW", (*dense[:4], np.float32(0.1), at(7)), other, adamw, label="rate of shape []"),
    Case("AdamW", (*dense, at(7), NO), other, adamw, label="not found"),
    Case("AdamW", (*dense[:3], bad, LR, at(7), YES), other, dense[:3], label="skips a NaN"),
    Case("AdamW", (*dense[:3], bad * np.float32(np.inf), LR, at(0), YES), {}, dense[:3], label="skips the rest too"),
    Case("AdamW", (*dense, at(0)), {}, (np.full((3, 4), np.nan), None, None), label="before the first"),
    Case("AdamW", (*dense[:4], np.ones(2, np.float32), at(7)), refuses="lr must be one number", label="rates"),
    Case("AdamW", (*dense[:3], normal(4, 3), LR, at(7)), refuses="gradient and the parameter differ", label="shapes"),
    Case("AdamW", (*dense, at(7), np.zeros(12, bool)), refuses="found must be one number", label="founds"),
    Case("AdamW", (*dense, at(7)), {"beta2": 1.0}, refuses="'beta2' is out of range", label="beta2"),
    Case("AdamW", (*dense, np.ones(1, np.int32)), refuses="is of the wrong type", label="int32"),
    Case("AdamW", (dense[0].astype(np.float16), *dense[1:], at(1)), refuses="is of the wrong type", label="half"),
    *(Case("SparseAdamW", (*tables, *rows, at(3)), other, sparse, label=name)
      for name, rows in (("twice", twice), ("once", once), ("none", none))),
    Case("SparseAdamW", (*(t[:, 0, 0] for t in tables), twice[0], twice[1][:, 0, 0], LR, at(3)), other, sparse,
         label="rows of one"),
    Case("SparseAdamW", (*tables, *twice, at(3), NO), other, sparse, label="not found"),
    Case("SparseAdamW", (*tables, twice[0], twice[1] * np.float32(np.nan), LR, at(3), YES), other, tables,
         label="skips a NaN"),
    Case("SparseAdamW", (*tables, np.array([5], np.int32), normal(1, 2, 3), LR, at(3)), refuses="out of range"),
    Case("SparseAdamW", (*tables, np.array([1], np.int32), normal(2, 2, 3), LR, at(3)), refuses="one row for each"),
    Case("SparseAdamW", (*tables, *twice, at(3)), {"beta1": -0.5}, refuses="'beta1' is out of range", label="beta1"),
]  # fmt: skip
