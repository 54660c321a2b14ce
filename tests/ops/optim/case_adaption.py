"""Cases of what optimizers do besides updating; some numbers were measured on Caffe2."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def one(value: Any, dtype: str = "f4") -> np.ndarray:
    return np.array([value], dtype)


def adapted(lr: Any, grad: Any, step: Any, lr_alpha: float = 0.01) -> np.ndarray:
    """By unit vectors."""
    g, s = (np.asarray(a, np.float64).ravel() / np.linalg.norm(a) for a in (grad, step))
    return lr * (1 - lr_alpha * (g @ s))


grad, step = normal(3, 4), normal(3, 4, seed=1)
w = normal(3, 4)
when, counts = np.array([8, 7, 6, 1, 7]), np.array([0.714774, 0.0, 0.0, 1.2279392307474972, 0.0])

CASES = [
    Case("LearningRateAdaption", (one(0.1), grad, step), {}, adapted),
    Case("LearningRateAdaption", (one(0.1), grad, step), {"lr_alpha": 0.5}, adapted),
    Case("LearningRateAdaption", (one(0.1), grad, grad), {"lr_alpha": 0.5}, one(0.05), label="agree"),
    Case("LearningRateAdaption", (one(0.1), grad * 0, step), {}, one(0.1), label="no gradient"),
    Case("LearningRateAdaption", (one(1), np.float32([1, 2]), np.float32([3, 4])),
         {"normalized_lr_adaption": 0, "lr_alpha": 0.5}, one(-4.5)),
    Case("LearningRateAdaption", (one(0.1), grad, step[:2]), refuses="differ in shape"),
    *(Case("WeightScale", (w, one(i, "i8")), {"stepsize": 10, "scale": 0.5, "upper_bound_iter": 20}, w * factor,
           batch=(0,), label=str(i)) for i, factor in ((0, 1), (8, 1), (9, 0.5), (10, 1), (19, 1), (29, 1))),
    Case("WeightScale", (w, one(3, "i8")), {"scale": 0.5}, w, label="never"),
    Case("WeightScale", (w, one(9, "i4")), {"stepsize": 10}, refuses="of the wrong type"),
    Case("WeightScale", (w, one(9, "i8")), {"stepsize": 0}, refuses="'stepsize' must be positive"),
    Case("RowWiseCounter", (when, counts, np.array([3, 0, 3]), one(10, "i8")), {"counter_halflife": 5},
         (np.array([10, 7, 6, 10, 7]), np.array([0.714774 * 2**-0.4 + 1, 0, 0, 2.3526329435989934, 0]))),
    Case("RowWiseCounter", (when, counts, np.array([[0]], np.int32), one(4, "i8")), {"counter_halflife": 5},
         (when, np.add(counts, [1, 0, 0, 0, 0])), label="earlier"),
    Case("RowWiseCounter", (when, counts, np.array([3]), one(10, "i8")), {}, (when, counts), label="off"),
    Case("RowWiseCounter", (when, counts, np.array([5]), one(10, "i8")), refuses="out of range"),
    Case("RowWiseCounter", (when, counts[:4], np.array([3]), one(10, "i8")), refuses="one number for each row"),
]  # fmt: skip
