"""Cases of the momentum updates: another formula, written with velocity before the learning rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def updated(grad: Any, m: Any, lr: Any, p: Any, momentum: float = 0.0, nesterov: int = 0, weight_decay: float = 0.0,
            fp32_update: int = 0) -> Any:  # fmt: skip
    """In float64: the velocity before the learning rate is ``m / lr``."""
    g, m, lr, p = (np.asarray(x, np.float64) for x in (grad, m, lr, p))
    velocity = momentum * (m / lr) + g + weight_decay * p
    step = lr * (g + weight_decay * p + momentum * velocity if nesterov else velocity)
    return step, lr * velocity, p - step


def step_only(grad: Any, m: Any, lr: Any, **args: Any) -> Any:
    return updated(grad, m, lr, np.zeros_like(grad), **args)[:2]


LR = np.array([0.1], np.float32)
single = (normal(3, 4), normal(3, 4, seed=1), LR, normal(3, 4, seed=2))
half = tuple(x if x is LR else x.astype(np.float16) for x in single)
settings = [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": 1}]

CASES = [
    *(Case("MomentumSGD", single[:3], args, step_only, outputs=2, batch=(0, 1)) for args in settings),
    *(Case("MomentumSGDUpdate", single, args, updated, batch=(0, 1, 3)) for args in settings),
    *(Case("FP32MomentumSGDUpdate", single, {**args, "weight_decay": 0.01}, updated) for args in settings),
    *(Case("FP16MomentumSGDUpdate", half, {**args, "weight_decay": 0.01, "fp32_update": 1}, updated, rtol=2e-3,
           atol=1e-4) for args in settings),
    *(Case("FP16MomentumSGDUpdate", half, args, updated, rtol=4e-3, atol=2e-3) for args in settings),
    Case("MomentumSGDUpdate", (*single[:3], normal(2, 4)), refuses="parameter differ in shape", label="shapes"),
    Case("FP16MomentumSGDUpdate", single, refuses="is of the wrong type", label="single"),
]  # fmt: skip
