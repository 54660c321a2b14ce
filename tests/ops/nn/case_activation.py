"""Cases of the activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal, spread


def relu(X: Any) -> Any:
    return (np.abs(X) + X) / 2


CASES = [
    Case("Relu", (spread(3, 4),), {}, relu, batch=(0,)),
    Case("Relu", (spread(2, 3, 2, 2, seed=1),), {}, relu, label="4-d"),
    Case("Relu", (np.float32(-2.5),), {}, relu, label="a number"),
    Case("Relu", (spread(7, dtype=np.float16),), {}, relu, grad=False, label="half"),
    Case("Relu", (np.array([np.nan, -np.inf, np.inf, -0.0], np.float32),), {}, (np.array([np.nan, 0, np.inf, 0]),),
         grad=False, label="special values"),
    Case("Relu", (np.arange(3),), refuses="is of the wrong type", label="integers"),
    Case("ReluGradient", (relu(spread(3, 4)), normal(3, 4, seed=1)), {}, lambda Y, dY: dY * (Y != 0), batch=(0, 1)),
]  # fmt: skip
