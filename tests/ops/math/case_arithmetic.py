"""Cases of arithmetic on two tensors, its broadcasting and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, spread, uniform


def stretched(A: Any, B: Any, axis: int = -1) -> tuple[Any, Any]:
    """Both operands at full size, B repeated over A from ``axis`` on, by explicit indices."""
    full = np.empty_like(A)
    start = A.ndim - B.ndim if axis == -1 else axis
    for index in np.ndindex(*A.shape):
        at = tuple(0 if extent == 1 else i for i, extent in zip(index[start:], B.shape, strict=False))
        full[index] = B[at]
    return A, full


def by_axis(function: Callable[[Any, Any], Any], axis: int = -1) -> Callable[..., Any]:
    """What the operator must compute when B begins at ``axis``."""
    return lambda A, B, **_: function(*stretched(A, B, axis))


def truncated(A: Any, B: Any) -> Any:
    return np.array([int(a / b) for a, b in zip(A.tolist(), B.tolist(), strict=True)], A.dtype)


FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda A, B: np.subtract(A, -B),
    "Sub": lambda A, B: np.add(A, -B),
    "Mul": lambda A, B: (np.square(A.astype(float) + B) - np.square(A.astype(float) - B)) / 4,
    "Div": lambda A, B: A.astype(float) * np.reciprocal(B.astype(float)),
}


def of_one_shape(name: str) -> list[Case]:
    """What all four have in common; divisors stay away from 0."""
    formula, b = FORMULAS[name], uniform(3, 4, low=0.5, high=2, seed=1)
    two_way = uniform(3, 1, low=1, high=2, seed=2)
    return [
        Case(name, (normal(3, 4), b), {}, formula, batch=(0, 1), label="one shape"),
        Case(name, (normal(3, 4, dtype=np.float64), b.astype(np.float64)), {}, formula, label="float64"),
        Case(name, (normal(4), uniform(2, 3, 4, low=1, high=2)), {}, formula, label="smaller left"),
        Case(name, (normal(2, 1, 4), two_way), {}, formula, label="both ways"),
        Case(name, (normal(2, 1, 4), two_way), {"axis": 1}, lambda A, B, axis: formula(A, B), label="axis alone"),
        Case(name, (np.float32(3), np.float32([2])), {}, formula, label="numbers"),
        Case(name, (normal(2, 3, 4), b), {"broadcast": 1}, by_axis(formula), batch=(0,), label="suffix"),
        Case(name, (normal(2, 3, 4), b[:, 0]), {"broadcast": 1, "axis": 1}, by_axis(formula, 1), label="middle"),
        Case(name, (normal(2, 3, 4), b[:2, :1]), {"broadcast": 1, "axis": 0}, by_axis(formula, 0), label="front and 1"),
        Case(name, (normal(2, 3, 4), b[:1]), {"broadcast": 1}, by_axis(formula), label="1 in B"),
        Case(name, (normal(2, 3, 4, 2), b), {"broadcast": 1, "axis": 1}, by_axis(formula, 1), label="two middle axes"),
        Case(name, (normal(2, 3), b[:1, :1].reshape(1, 1, 1)), {"broadcast": 1},
             lambda A, B, broadcast: formula(A, B[0, 0]), label="number of more dims"),
        Case(name, (np.float32(3), np.float32([2])), {"broadcast": 1}, lambda A, B, broadcast: formula(A, B[0]),
             label="number over a scalar"),
        Case(name, (normal(2, 3, 4, 5), b[:, 0]), {"broadcast": 1, "axis_str": "C"}, by_axis(formula, 1),
             label="letter"),
        Case(name, (normal(2, 4, 5, 3), b[:, 0]), {"broadcast": 1, "axis_str": "C", "order": "NHWC"},
             by_axis(formula, 3), label="letter of NHWC"),
        Case(name, (normal(2, 3), normal(2)), refuses="do not broadcast"),
        Case(name, (normal(4), normal(2, 3, 4)), {"broadcast": 1}, refuses="exceed those of A"),
        Case(name, (normal(2, 1, 4), normal(3, 4)), {"broadcast": 1}, refuses="does not fit A from axis 1 on"),
        Case(name, (normal(2, 3), normal(3)), {"broadcast": 1, "axis": 2}, refuses="from axis 2 on"),
        Case(name, (normal(2, 3), normal(3)), {"broadcast": 1, "axis": -2}, refuses="must not be negative"),
        Case(name, (normal(2, 3), normal(3)), {"broadcast": 1, "axis": 1, "axis_str": "C"}, refuses="not both"),
        Case(name, (normal(2, 3), normal(3)), {"broadcast": 1, "axis_str": "X"}, refuses="a letter of NCHW"),
        Case(name, (normal(3), normal(3, dtype=np.float64)), refuses="must share one dtype"),
        Case(name, (np.ones(3, bool), np.ones(3, bool)), refuses="is of the wrong type"),
    ]  # fmt: skip


HALVES = normal(5, dtype=np.float16), uniform(5, low=1, high=2, dtype=np.float16)
INTS = integers(6, low=-9, high=9), np.array([2, -2, 3, -4, 5, -1])
ONES = uniform(3, 4, low=1, high=2)

CASES = [
    *(case for name in FORMULAS for case in of_one_shape(name)),
    *(Case(name, HALVES, {}, FORMULAS[name], grad=False, label="half") for name in FORMULAS),
    *(Case(name, INTS, {}, FORMULAS[name], grad=False, label="int64") for name in ("Add", "Sub")),
    Case("Mul", INTS, {}, lambda A, B: np.diag(np.outer(A, B)), grad=False, label="int64"),
    *(Case("Div", tuple(x.astype(d) for x in INTS), {}, truncated, grad=False, label=d)
      for d in ("int32", "int64", "int8")),
    Case("Div", (np.array([1, 2]), np.array([1, 0])), refuses="divided by zero"),
    Case("Div", (np.float32([1, -1, 0]), np.float32([0, 0, 0])), {}, (np.array([np.inf, -np.inf, np.nan]),), grad=False,
         label="float by zero"),
    Case("AddGradient", (normal(2, 3, 4), normal(2, 3, 4), normal(1, 4)), {"broadcast": 1},
         lambda dC, A, B, broadcast: (dC, np.einsum("ijk->k", dC)[None])),
    Case("SubGradient", (normal(2, 3), normal(2, 1), normal(3)), {},
         lambda dC, A, B: (dC @ np.ones((3, 1)), -np.ones(2) @ dC)),
    Case("MulGradient", (normal(2, 3), normal(2, 3), normal(2, seed=1)), {"broadcast": 1, "axis": 0},
         lambda dC, A, B, **_: (np.diag(B) @ dC, np.einsum("ij,ij->i", dC, A)), batch=(0, 1, 2)),
    Case("MulGradient", HALVES + HALVES[:1], {}, lambda dC, A, B: (FORMULAS["Mul"](dC, B), FORMULAS["Mul"](dC, A)),
         label="half"),
    Case("DivGradient", (normal(3, 4), normal(3, 4), ONES, normal(3, 4, seed=2)), {},
         lambda dC, A, B, C: (dC / B, -dC / B * C), label="four inputs"),
    Case("DivGradient", (ONES, normal(3, 4, seed=2), normal(3, 4)), {}, lambda B, C, dC: (dC / B, -dC / B * C),
         label="three inputs", names=("B", "C", "dC")),
    Case("SumReduceLike", (normal(2, 3, 4), normal(4)), {}, lambda A, B: np.einsum("ijk->k", A), batch=(0,)),
    Case("SumReduceLike", (normal(2, 3, 4), normal(3)), {"axis": 1}, lambda A, B, axis: np.einsum("ijk->j", A)),
    Case("SumReduceLike", (normal(2, 3, 4, 5), normal(3)), {"axis_str": "C"},
         lambda A, B, axis_str: np.einsum("ijkl->j", A)),
    Case("SumReduceLike", (normal(2, 3, 4), normal(2, 1, 4)), {}, lambda A, B: np.einsum("ijk->ik", A)[:, None],
         label="1 in the middle"),
    Case("SumReduceLike", (normal(2, 3, 4), normal(1)), {"broadcast": 1},
         lambda A, B, broadcast: A.astype(float).sum()[None], label="a number"),
    Case("SumReduceLike", (spread(2, 3), spread(2, 3)), {}, lambda A, B: A, label="nothing to sum"),
    Case("SumReduceLike", (normal(2, 3), normal(2)), refuses="does not fit A"),
    Case("SumReduceLike", (normal(2, 3), normal(2)), {"axis": -2}, refuses="must not be negative"),
]  # fmt: skip
