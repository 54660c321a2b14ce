"""Cases of the elementwise functions of one tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, spread, uniform

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, -2], np.float32)
POSITIVE = uniform(3, 4, low=0.2, high=3)


def each(function: Any) -> Any:
    """Apply a function of the standard library element by element."""
    return lambda X: np.array([function(x) for x in X.reshape(-1).tolist()]).reshape(X.shape)


def kept(Y: Any, dY: Any, min: float, max: float) -> Any:
    return np.array([d if min < y < max else 0 for y, d in zip(Y.tolist(), dY.tolist(), strict=True)])


CASES = [
    Case("Negative", (normal(3, 4),), {}, lambda X: 0 - X, batch=(0,)),
    Case("Negative", (integers(3, 4, low=-9),), {}, lambda X: 0 - X, grad=False, label="int64"),
    Case("Negative", (np.array([True]),), refuses="is of the wrong type"),
    Case("Abs", (spread(3, 4),), {}, lambda X: np.sqrt(X.astype(float) ** 2), batch=(0,)),
    Case("Abs", (SPECIAL,), {}, (np.array([np.nan, np.inf, np.inf, 0, 0, 1, 1, 2]),), grad=False, label="special"),
    Case("AbsGradient", (SPECIAL, np.ones_like(SPECIAL)), {}, (np.array([-1, 1, -1, 0, 0, 1, -1, -1]),), half=False),
    Case("AbsGradient", (spread(3, 4), normal(4)), {"broadcast": 1},
         lambda X, dY, broadcast: np.copysign(1, X) * np.tile(dY, (3, 1))),
    Case("Sqr", (normal(3, 4),), {}, lambda X: np.power(X.astype(float), 2), batch=(0,)),
    Case("Sqr", (normal(5, dtype=np.float16),), {}, lambda X: X.astype(np.float32) ** 2, grad=False, label="half"),
    Case("Sqrt", (POSITIVE,), {}, each(math.sqrt), batch=(0,)),
    Case("Sqrt", (SPECIAL,), {}, (np.array([np.nan, np.inf, np.nan, 0, 0, 1, np.nan, np.nan]),), grad=False,
         label="special"),
    Case("Exp", (normal(3, 4),), {}, each(math.exp), batch=(0,)),
    Case("Exp", (SPECIAL[:5],), {}, (np.array([np.nan, np.inf, 0, 1, 1]),), grad=False, label="special"),
    Case("Log", (POSITIVE,), {}, each(math.log), batch=(0,)),
    Case("Log", (SPECIAL,), {}, (np.array([np.nan, np.inf, np.nan, -np.inf, -np.inf, 0, np.nan, np.nan]),), grad=False,
         label="special"),
    Case("Scale", (normal(3, 4),), {"scale": -2.5}, lambda X, scale: X / (1 / scale), batch=(0,)),
    Case("Scale", (normal(3, 4),), {}, lambda X: X, label="default"),
    Case("Scale", (np.array([1, 3], np.float16),), {"scale": 0.1}, (np.array([0.1, 0.3]),), grad=False,
         label="half: the factor keeps its digits"),
    Case("Clip", (spread(3, 4),), {"min": -0.45, "max": 0.6}, lambda X, min, max: np.clip(X, min, max), batch=(0,)),
    Case("Clip", (SPECIAL,), {"min": -0.5, "max": 0.5}, (np.array([np.nan, 0.5, -0.5, 0, 0, 0.5, -0.5, -0.5]),),
         grad=False, label="special"),
    Case("Clip", (SPECIAL,), {"min": 1.0, "max": -1.0}, (np.array([np.nan, *[-1] * 7]),), grad=False,
         label="bounds the wrong way round"),
    Case("Clip", (SPECIAL,), {}, (np.array([np.nan, 3.4028235e38, -3.4028235e38, 0, 0, 1, -1, -2]),), grad=False,
         half=False, label="default"),
    Case("ClipGradient", (np.float32([-1, -0.5, 0.25, 1, np.nan]), np.float32([1, 2, 3, 4, 5])),
         {"min": -1.0, "max": 1.0}, kept),
    Case("ClipGradient", (np.array([-0.1, 0.05, 0.1], np.float16), np.ones(3, np.float16)), {"min": -0.1, "max": 0.1},
         (np.array([0, 1, 0]),), label="half bounds"),
    Case("IsNaN", (SPECIAL,), {}, (np.array([1, 0, 0, 0, 0, 0, 0, 0], np.uint8),)),
    Case("IsNaN", (normal(3, 4),), {}, lambda tensor: np.zeros(tensor.shape, np.uint8), batch=(0,)),
    Case("IsNaN", (integers(3),), refuses="is of the wrong type"),
    Case("Pow", (POSITIVE,), {"exponent": 2.5}, lambda X, exponent: np.exp(exponent * np.log(X.astype(float))),
         batch=(0,)),
    Case("Pow", (normal(3, 4),), {"exponent": 2}, lambda X, exponent: X.astype(float) * X, label="square"),
    Case("Pow", (POSITIVE,), {"exponent": -0.5}, lambda X, exponent: 1 / np.sqrt(X.astype(float)), label="root below"),
    Case("Pow", (POSITIVE, normal(3, 4)), {}, lambda X, E: np.exp(E * np.log(X.astype(float))), batch=(0, 1),
         label="tensors"),
    Case("Pow", (uniform(2, 3, 4, low=0.2, high=3), normal(3)), {"broadcast": 1, "axis": 1},
         lambda X, E, **_: np.exp(E[:, None] * np.log(X.astype(float))), label="tensors, axis"),
    Case("Pow", (POSITIVE, normal(1)), {"broadcast": 1}, lambda X, E, broadcast: np.exp(E[0] * np.log(X.astype(float))),
         label="tensors, one exponent"),
    Case("Pow", (normal(2),), refuses="needs an exponent"),
    Case("Pow", (normal(2, 3), normal(3)), refuses="without broadcast"),
    Case("Pow", (normal(2, 3), normal(3)), {"axis": 1}, refuses="need broadcast"),
]  # fmt: skip
