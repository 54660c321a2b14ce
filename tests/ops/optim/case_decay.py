"""Cases of weight decay on its own; the expectation subtracts the decay in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def decayed(p: Any, lr: Any, found: Any = (False,), weight_decay: float = 0.0) -> np.ndarray:
    p = np.asarray(p, np.float64)
    return p if found[0] else p - float(np.ravel(lr)[0]) * weight_decay * p


def sparse(p: Any, indices: Any, lr: Any, found: Any = (False,), weight_decay: float = 0.0) -> np.ndarray:
    p = np.array(p, np.float64)
    for row in set(indices.reshape(-1).tolist()):
        p[row] = decayed(p[row], lr, found, weight_decay)
    return p


LR = np.array([0.1], np.float32)
NO, YES = np.array([False]), np.array([True])
p, rows = normal(3, 4), normal(5, 2, 3)
bad = np.full((5, 2, 3), np.nan, np.float32)
twice, once, none = (np.array(at, np.int32) for at in ([3, 1, 3, 3], [[4], [0]], []))
decay = {"weight_decay": 0.05}

CASES = [
    Case("DecayWeights", (p, LR), decay, decayed, batch=(0,)),
    Case("DecayWeights", (p, np.float32(0.1)), decay, decayed, label="rate of shape []"),
    Case("DecayWeights", (p, LR, NO), {"weight_decay": 0.5}, decayed, label="not found"),
    Case("DecayWeights", (p, LR, YES), decay, p, rtol=0, atol=0, label="skips"),
    Case("DecayWeights", (p, LR), {"weight_decay": 0.0}, p, rtol=0, atol=0, label="no decay"),
    Case("DecayWeights", (np.ones(1, np.float32), np.ones(1, np.float32)), {"weight_decay": 0.999},
         np.array([1e-3]), rtol=2e-7, atol=0, label="the decay as written"),
    Case("DecayWeights", (p, normal(3)), decay, refuses="lr must be one number", label="rates"),
    Case("DecayWeights", (p, LR, np.zeros(3, bool)), decay, refuses="found must be one number", label="founds"),
    Case("DecayWeights", (p.astype(np.float16), LR), decay, refuses="is of the wrong type", label="half"),
    Case("DecayWeights", (p, LR), {"weight_decay": -0.5}, refuses="'weight_decay' is out of range", label="negative"),
    Case("DecayWeights", (p, LR), {}, refuses="needs the argument 'weight_decay'", label="none given"),
    *(Case("SparseDecayWeights", (rows, at, LR), decay, sparse, label=label)
      for label, at in (("twice", twice), ("once", once), ("none", none))),
    Case("SparseDecayWeights", (rows[:, 0, 0], twice, LR, NO), decay, sparse, label="rows of one"),
    Case("SparseDecayWeights", (bad, twice, LR, YES), decay, bad, label="skips a NaN"),
    Case("SparseDecayWeights", (rows, once, LR, YES), decay, rows, rtol=0, atol=0, label="skips"),
    Case("SparseDecayWeights", (rows, np.array([5], np.int64), LR), decay, refuses="out of range", label="row 5"),
    Case("SparseDecayWeights", (rows, twice, normal(2)), decay, refuses="lr must be one number", label="rates"),
]  # fmt: skip
