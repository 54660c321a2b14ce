"""Cases of reductions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, spread

SUM, MEAN = sum, (lambda values: sum(values) / max(len(values), 1))
FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "ReduceSum": SUM,
    "ReduceMean": MEAN,
    "ReduceMax": lambda values: max(values, default=-3.4028235e38),
    "ReduceMin": lambda values: min(values, default=3.4028235e38),
}


def reduced(function: Callable[[list[float]], float], X: Any, axes: tuple[int, ...] = (), keepdims: int = 1) -> Any:
    """Collect the elements that make each element of the result, and call a function of lists."""
    gone = {a % X.ndim for a in axes} or set(range(X.ndim))
    kept = tuple(1 if i in gone else d for i, d in enumerate(X.shape))
    lists: dict[tuple[int, ...], list[float]] = {index: [] for index in np.ndindex(*kept)}
    for index in np.ndindex(*X.shape):
        lists[tuple(0 if i in gone else at for i, at in enumerate(index))].append(X[index].item())
    y = np.array([function(values) for values in lists.values()]).reshape(kept)
    return y if keepdims else y.reshape([d for i, d in enumerate(X.shape) if i not in gone])


def share(dY: Any, X: Any, Y: Any, axes: tuple[int, ...], keepdims: int = 1) -> Any:
    """dY on every element of X, by the rule that a column times ones repeats it; for a matrix and axis 1."""
    return dY.reshape(-1, 1) @ np.ones((1, X.shape[1]))


def cases_of(name: str) -> list[Case]:
    expect = functools.partial(reduced, FUNCTIONS[name])
    x = spread(2, 3, 4)
    return [
        Case(name, (x,), {"axes": (1,)}, expect, batch=(0,), label="axis 1"),
        Case(name, (x,), {"axes": (0,)}, expect, label="axis 0"),
        Case(name, (x,), {"axes": (2, 0)}, expect, label="unsorted axes"),
        Case(name, (x,), {"axes": (-1, 1, 2), "keepdims": 0}, expect, label="axes twice, dims dropped"),
        Case(name, (x,), {}, expect, label="all axes"),
        Case(name, (x,), {"keepdims": 0}, expect, label="to a scalar"),
        Case(name, (np.zeros((0, 3), np.float32),), {"axes": (0,)}, expect, half=False, label="nothing"),
        Case(name, (np.zeros((2, 0), np.float32),), {"axes": (1,), "keepdims": 0}, expect, half=False, grad=False,
             label="nothing, dims dropped"),
        Case(name, (np.float32(3),), {}, lambda X: X, label="a scalar"),
        Case(name, (spread(3, 4, dtype=np.float16),), {"axes": (1,)}, expect, grad=False, label="half"),
        Case(name, (x,), {"axes": (3,)}, refuses="axis 3 is out of range"),
        Case(name, (np.array([True]),), {}, refuses="is of the wrong type"),
    ]  # fmt: skip


EXTREMES = {
    d: (np.iinfo(d).min, np.iinfo(d).max) for d in (np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint8))
} | {d: (-np.finfo(d).max, np.finfo(d).max) for d in (np.dtype(np.float16), np.dtype(np.float64))}
TIES = np.float32([[1, 1, 0], [2, 3, 3]])

CASES = [
    *(case for name in FUNCTIONS for case in cases_of(name)),
    *(Case(name, (integers(3, 4, low=-9),), {"axes": (0,)}, functools.partial(reduced, f), grad=False,
           label="int64")
      for name, f in FUNCTIONS.items() if name != "ReduceMean"),
    *(Case(name, (np.zeros((0, 2), d),), {"axes": (0,)}, (np.full((1, 2), ends[end], d),), grad=False, label=f"no {d}")
      for d, ends in EXTREMES.items() for end, name in enumerate(("ReduceMax", "ReduceMin"))),
    *(Case(name, (np.float32([[1, np.nan], [2, 3]]),), {"axes": (1,), "keepdims": 0}, (np.array([np.nan, y]),),
           grad=False, label="NaN") for name, y in (("ReduceMax", 3), ("ReduceMin", 2))),
    Case("ReduceSum", (np.full(3000, 1, np.float16),), {}, (np.array([3000]),), grad=False, label="halves in single"),
    Case("ReduceSumGradient", (normal(2, 1), normal(2, 3), normal(2, 1)), {"axes": (1,)}, share),
    Case("ReduceSumGradient", (normal(2), normal(2, 3), normal(2)), {"axes": (-1,), "keepdims": 0}, share),
    Case("ReduceMeanGradient", (normal(2, 1), normal(2, 3), normal(2, 1)), {"axes": (1,)},
         lambda dY, X, Y, axes: share(dY, X, Y, axes) / 3),
    Case("ReduceMaxGradient", (np.float32([[1], [2]]), TIES, np.float32([[1], [3]])), {"axes": (1,)},
         (np.array([[1, 1, 0], [0, 2, 2]]),), label="ties"),
    Case("ReduceMinGradient", (np.float32([1, 2, 3]), TIES, np.float32([1, 1, 0])), {"axes": (0,), "keepdims": 0},
         (np.array([[1, 2, 3], [0, 0, 0]]),)),
    Case("SumElements", (normal(3, 4),), {}, lambda X: np.float64(SUM(X.reshape(-1).tolist())), batch=(0,)),
    Case("SumElements", (normal(3, 4),), {"average": 1}, lambda X, average: np.float64(MEAN(X.reshape(-1).tolist())),
         batch=(0,)),
    Case("SumElements", (np.full(3000, 1, np.float16),), {}, (np.array(3000),), grad=False, label="halves in single"),
    Case("SumElements", (integers(3),), refuses="is of the wrong type"),
    Case("SumElementsGradient", (normal(2, 3), np.float32(3)), {"average": 1},
         lambda X, dY, average: np.full((2, 3), 0.5)),
    Case("SumElementsGradient", (normal(2, 3), np.float32([3])), {}, lambda X, dY: np.full(X.shape, 3), batch=(0,)),
    Case("SumSqrElements", (normal(3, 4),), {}, lambda X: np.vdot(X.astype(float), X), batch=(0,)),
    Case("SumSqrElements", (normal(3, 4),), {"average": 1},
         lambda X, average: np.vdot(X.astype(float), X) / max(X.size, 1), batch=(0,)),
]  # fmt: skip
