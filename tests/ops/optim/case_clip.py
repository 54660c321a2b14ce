"""Cases of clipping by norms: what PyTorch measured, and norms by ``numpy.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.optim.golden_torch import TORCH

INF = float("inf")


def one(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def norm_of(*grads: Any, norm_type: float = 2.0) -> np.ndarray:
    together = np.concatenate([np.ravel(g).astype(np.float64) for g in grads])
    return np.array([np.linalg.norm(together, norm_type) if together.size else 0.0])


def clipped(grad: Any, max_norm: float, norm_type: float = 2.0) -> np.ndarray:
    norm = norm_of(grad, norm_type=norm_type)[0]
    return grad.astype(np.float64) * (max_norm / (norm + 1e-6) if norm > max_norm else 1)


three = tuple(TORCH["grads"][:3])
single, half, double = normal(3, 4), normal(5, seed=1).astype(np.float16), normal(2, 3, seed=2).astype(np.float64)
empty, large = np.zeros((0, 4), np.float32), np.full((3, 2), 1e30, np.float32)
worse, bad = single.copy(), single.copy()
worse[1, 2], bad[0, 1] = np.nan, np.inf
blocks = normal(300_001, seed=4)

CASES = [
    *(Case("GlobalNorm", three, {"norm_type": p}, TORCH[f"clip_{p:g}_0.5_norm"], label=f"PyTorch {p:g}")
      for p in (1.0, 2.0, 3.0, INF)),
    *(Case("GlobalNorm", (single, half, double, empty), {"norm_type": p}, norm_of, half=False, label=f"mixed {p:g}")
      for p in (1.0, 2.0, 2.5, INF)),
    Case("GlobalNorm", (single,), {}, norm_of, batch=(0,)),
    Case("GlobalNorm", (single,), {"norm_type": INF}, norm_of, batch=(0,), label="largest"),
    Case("GlobalNorm", (blocks, single), {}, norm_of, half=False, label="several blocks"),
    Case("GlobalNorm", (np.full(7, 60000, np.float16),), {}, one(60000 * 7**0.5), half=False, label="large halves"),
    Case("GlobalNorm", (large,), {}, one(1e30 * 6**0.5), half=False, label="squares beyond float32"),
    Case("GlobalNorm", (np.float32(-3), one(4)), {}, one(5), label="numbers"),
    *(Case("GlobalNorm", (half, g), {"norm_type": p}, one(norm), half=False, label=f"{norm} {p:g}")
      for g, norm in ((worse, np.nan), (bad, np.inf)) for p in (1.0, 2.0, INF)),
    *(Case("GlobalNorm", (single,), {"norm_type": p}, refuses="'norm_type' must be positive", label=f"of {p:g}")
      for p in (0.0, -INF, np.nan)),
    Case("GlobalNorm", (np.zeros(3, np.int32),), refuses="is of the wrong type", label="integers"),
    *(Case("ClipFactor", (one(norm),), {"max_norm": 2.0}, one(factor), label=f"{norm:g}")
      for norm, factor in ((8, 0.25), (2, 1), (1, 1), (0, 1), (INF, 0), (np.nan, np.nan))),
    Case("ClipFactor", (one(2e-6),), {"max_norm": 1.5e-6}, one(0.5), label="as small as what is added"),
    Case("ClipFactor", (np.float32(8),), {"max_norm": 2.0}, np.float32(0.25), label="of shape []"),
    Case("ClipFactor", (normal(2),), {"max_norm": 2.0}, refuses="norm must be one number", label="norms"),
    Case("ClipFactor", (one(1),), {"max_norm": 0.0}, refuses="'max_norm' must be positive", label="to nothing"),
    Case("ClipFactor", (one(1),), {}, refuses="needs the argument 'max_norm'", label="to what"),
    *(Case("ClipByNorm", (single,), {"max_norm": limit, "norm_type": p}, clipped, batch=(0,), label=f"{p:g} {limit}")
      for p in (1.0, 2.0, 3.0, INF) for limit in (0.5, 100.0)),
    Case("ClipByNorm", (half,), {"max_norm": 0.5}, clipped, label="half"),
    Case("ClipByNorm", (double,), {"max_norm": 0.5}, clipped, label="double"),
    Case("ClipByNorm", (np.float32(-3),), {"max_norm": 0.5}, np.float32(-0.5), label="a number"),
    Case("ClipByNorm", (worse,), {"max_norm": 0.5}, np.full((3, 4), np.nan), half=False, label="a NaN"),
    Case("ClipByNorm", (bad,), {"max_norm": 0.5}, np.where(np.isinf(bad), np.nan, 0), half=False, label="an infinity"),
    Case("ClipByNorm", (single,), {"max_norm": -1.0}, refuses="'max_norm' must be positive", label="below nothing"),
    Case("ClipByNorm", (single,), {"max_norm": 1.0, "norm_type": 0.0}, refuses="'norm_type' must be positive"),
]  # fmt: skip
