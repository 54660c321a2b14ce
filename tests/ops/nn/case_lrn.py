"""Cases of LRN."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def lrn(X: Any, *, size: int, alpha: float = 0.0, beta: float = 0.0, bias: float = 1.0, order: str = "NCHW") -> Any:
    """In float64, one channel at a time."""
    x = np.moveaxis(X, 1 if order == "NCHW" else 3, 0).astype(np.float64)
    before = (size - 1) // 2
    scale = [
        bias + alpha / size * np.square(x[max(c - before, 0) : c - before + size]).sum(axis=0) for c in range(len(x))
    ]
    back = [np.moveaxis(v, 0, 1 if order == "NCHW" else 3) for v in (x / np.power(scale, beta), np.array(scale))]
    return tuple(back)


CASES = [
    Case(
        "LRN",
        (normal(2, 5, 2, 3),),
        {"size": 3, "alpha": 0.5, "beta": 0.75},
        lrn,
        outputs=2,
        grad_outputs=(0,),
        batch=(0,),
    ),
    Case(
        "LRN",
        (normal(2, 4, 2, 2),),
        {"size": 5, "alpha": 1.0, "beta": 0.5, "bias": 2.0},
        lrn,
        outputs=2,
        grad_outputs=(0,),
    ),
    Case(
        "LRN",
        (normal(1, 2, 3, 6),),
        {"size": 3, "alpha": 0.5, "beta": 0.75, "order": "NHWC"},
        lrn,
        outputs=2,
        grad_outputs=(0,),
    ),
    Case("LRN", (normal(1, 5, 2, 2),), {"size": 4, "alpha": 0.5, "beta": 1.25}, lrn, outputs=2, grad_outputs=(0,)),
    Case("LRN", (normal(1, 3, 2, 2),), {"size": 1}, lrn, outputs=2, grad_outputs=(0,), label="defaults"),
    Case(
        "LRN",
        (normal(1, 3, 2, 2),),
        {"size": 3, "alpha": 0.5, "beta": 0.75},
        lambda X, **a: lrn(X, **a)[0],
        label="no scale",
    ),
    Case("LRN", (normal(1, 3, 2),), {"size": 3}, refuses="four axes"),
    Case("LRN", (normal(1, 3, 2, 2),), {}, refuses="how many channels"),
]
