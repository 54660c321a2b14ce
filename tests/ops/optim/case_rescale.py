"""Cases of LARS and of clipping by a norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def one(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def lars(x: Any, dx: Any, wd: Any, trust: Any, lr_max: Any, offset: float = 0.5, lr_min: float = 0.02) -> np.ndarray:
    """Without a quotient of quotients."""
    norm, slope = (np.linalg.norm(np.asarray(a, np.float64)) for a in (x, dx))
    rate = trust[0] * norm / (slope + (wd[0] + offset) * norm) if norm else 1.0
    return np.array([np.clip(rate, lr_min, lr_max[0])])


def clipped(x: Any, norm: Any, more: Any = (1.0,), threshold: float = 0.0) -> np.ndarray:
    limit = threshold * float(more[0])
    return np.asarray(x, np.float64) * (limit / float(norm[0]) if norm[0] > limit else 1)


x, dx = normal(3, 4), normal(3, 4, seed=1)
settings = (one(0.01), one(0.5), one(10.0))

CASES = [
    Case("Lars", (x, dx, *settings), {}, lars, batch=(0, 1)),
    Case("Lars", (x, dx, one(0.0), one(100.0), one(0.25)), {"offset": 0.0}, lars, label="at most"),
    Case("Lars", (x, dx, *settings), {"lr_min": 3.0}, lars, label="at least"),
    Case("Lars", (x * 0, dx, *settings), {}, lars, label="no parameter"),
    Case("Lars", (x, dx[:2], *settings), refuses="gradient and the parameter differ in shape", label="shapes"),
    Case("ClipTensorByScaling", (x, one(2.0)), {"threshold": 0.5}, clipped, batch=(0,), label="above"),
    Case("ClipTensorByScaling", (x, one(0.5)), {"threshold": 0.5}, clipped, label="equal"),
    Case("ClipTensorByScaling", (x, one(0.0)), {"threshold": 0.5}, clipped, label="zero"),
    Case("ClipTensorByScaling", (x, one(1.0), one(3.0)), {"threshold": 0.5}, clipped, label="below a product"),
    Case("ClipTensorByScaling", (x, one(2.0), one(3.0)), {"threshold": 0.5}, clipped, label="above a product"),
    Case("ClipTensorByScaling", (x, one(np.nan)), {"threshold": 0.5}, x, label="no norm"),
    Case("ClipTensorByScaling", (x, one(2.0)), refuses="'threshold' must be positive"),
    Case("ClipTensorByScaling", (x, normal(2)), {"threshold": 0.5}, refuses="val must be one number", label="norms"),
]  # fmt: skip
