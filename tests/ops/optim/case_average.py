"""Cases of averages of a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.optim.case_adam import at


def moving(average: Any, param: Any, decay: float) -> np.ndarray:
    """By two weights."""
    return decay * average.astype(np.float64) + (1 - decay) * param.astype(np.float64)


def mean(average: Any, count: Any, param: Any, iteration: Any, start: int = 1, interval: int = 1) -> tuple[Any, ...]:
    """From the sum."""
    n, i = int(count[0]), int(iteration[0])
    if i not in range(start, i + 1, interval):
        return average, count
    total = average.astype(np.float64) * n if n else 0
    return (total + param.astype(np.float64)) / (n + 1), np.array([n + 1])


average, param = normal(3, 4), normal(3, 4, seed=1)
half = param.astype(np.float16)
every = {"start": 4, "interval": 3}
unknown = np.full((3, 4), np.nan, np.float32)

CASES = [
    Case("MovingAverage", (average, param), {"decay": 0.9}, moving, batch=(0, 1)),
    Case("MovingAverage", (average, param), {"decay": 0.0}, param),
    Case("MovingAverage", (average, half), {"decay": 0.9999}, moving, half=False, label="half parameter"),
    Case("MovingAverage", (average, param.astype(np.float64)), {"decay": 0.5}, moving, half=False, label="double"),
    Case("MovingAverage", (average, average), {"decay": 0.9999}, average, rtol=0, atol=0, label="stays"),
    Case("MovingAverage", (np.zeros(1, np.float32), np.ones(1, np.float32)), {"decay": 0.9999}, np.array([1e-4]),
         atol=1e-10, label="the decay as written"),
    Case(
        "MovingAverage",
        (average, param, np.array([False])),
        {"decay": 0.9},
        moving(average, param, 0.9),
        label="not found",
    ),
    Case("MovingAverage", (average, unknown, np.array([True])), {"decay": 0.9}, average, rtol=0, atol=0,
         label="skips a NaN"),
    Case("MovingAverage", (average, param, np.zeros(4, bool)), {"decay": 0.9}, refuses="found must be one number"),
    Case("MovingAverage", (average, param), {"decay": 1.0}, refuses="'decay' is out of range"),
    Case("MovingAverage", (average, param), {}, refuses="needs the argument 'decay'", label="no decay"),
    Case("MovingAverage", (average, param[:2]), {"decay": 0.9}, refuses="differ in shape", label="shapes"),
    Case("MovingAverage", (half, param), {"decay": 0.9}, refuses="is of the wrong type", label="half average"),
    Case("StochasticAverage", (average, at(3), param, at(9)), {}, mean, outputs=2, batch=(0, 2)),
    *(Case("StochasticAverage", (average, at(2), param, at(i)), every, mean, outputs=2, label=f"iteration {i}")
      for i in (1, 3, 4, 5, 6, 7, 9, 10)),
    Case("StochasticAverage", (average, at(1), half, at(4)), every, mean, outputs=2, half=False, label="half"),
    Case("StochasticAverage", (unknown, at(0), param, at(1)), {}, mean, outputs=2, label="the first"),
    Case("StochasticAverage", (average, at(2), unknown, at(5)), every, (average, at(2)), outputs=2, label="not due"),
    Case("StochasticAverage", (average, at(2), param, at(4), np.array([False])), every,
         mean(average, at(2), param, at(4), **every), outputs=2, label="not found"),
    Case("StochasticAverage", (average, at(0), unknown, at(4), np.array([True])), every, (average, at(0)),
         outputs=2, label="skips a NaN"),
    Case("StochasticAverage", (average, at(2), param, at(3 * 10**15 + 1)), {"start": 1, "interval": 3}, mean,
         outputs=2, label="late"),
    Case("StochasticAverage", (average, at(2), param, at(3 * 10**15)), {"start": 1, "interval": 3}, (average, at(2)),
         outputs=2, label="late, not due"),
    *(Case("StochasticAverage", (average, at(0), param, at(1)), {name: 0}, outputs=2, label=name,
           refuses=f"{name!r} must be positive") for name in every),
    Case("StochasticAverage", (average, np.zeros(2, np.int64), param, at(1)), outputs=2,
         refuses="count must be one number", label="counts"),
    Case("StochasticAverage", (average[:2], at(0), param, at(1)), outputs=2, refuses="differ in shape", label="shapes"),
    Case("StochasticAverage", (average, np.zeros(1, np.int32), param, at(1)), outputs=2, refuses="wrong type",
         label="int32"),
]  # fmt: skip
