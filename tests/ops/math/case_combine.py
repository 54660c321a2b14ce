"""Cases of sums, means and weighted sums of several tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

THREE = normal(3, 4), normal(3, 4, seed=1), normal(3, 4, seed=2)
ONE = np.float32([1])


def total(*Xs: Any) -> Any:
    return np.einsum("i...->...", np.stack(Xs).astype(float))


def weighted(*pairs: Any, **_: Any) -> Any:
    xs, ws = np.stack(pairs[::2]).astype(float), np.array([np.float64(w.item()) for w in pairs[1::2]])
    return np.tensordot(ws, xs, 1)


def weighted_grads(dY: Any, *pairs: Any, grad_on_w: int = 0) -> tuple[Any, ...]:
    xs, ws = pairs[::2], pairs[1::2]
    on_w = [np.full(w.shape, np.vdot(dY.astype(float), x)) for x, w in zip(xs, ws, strict=True)]
    return (*(float(w.item()) * dY for w in ws), *(on_w if grad_on_w else ()))


def weights(*values: float) -> list[Any]:
    return [np.float32([v]) for v in values]


W = weights(1, -0.25, 3)
PAIRS = (THREE[0], W[0], THREE[1], W[1], THREE[2], W[2])
HALVES = [x.astype(np.float16) for x in THREE]

CASES = [
    Case("Sum", THREE, {}, total, batch=(0, 1, 2)),
    Case("Sum", THREE[:1], {}, total, label="one"),
    Case("Sum", (integers(4), integers(4, seed=1)), {}, lambda A, B: A - -B, grad=False, label="int64"),
    Case("Sum", (np.float16([2048]), np.float16([1]), np.float16([1])), {}, (np.array([2050]),), grad=False,
         label="halves are rounded once"),
    Case("Sum", (normal(3), normal(2)), refuses="the terms differ in shape"),
    Case("Mean", THREE, {}, lambda *Xs: total(*Xs) / 3, batch=(0, 1, 2)),
    Case("Mean", THREE[:1], {}, total, label="one"),
    Case("Mean", HALVES, {}, lambda *Xs: total(*Xs) / 3, grad=False, label="halves"),
    Case("Mean", (integers(4), integers(4)), refuses="is of the wrong type"),
    Case("Mean", (normal(3), normal(2)), refuses="the terms differ in shape"),
    Case("MeanGradient", (normal(3),), {}, lambda dY: (dY * 0.5, dY * 0.5), outputs=("a", "b")),
    Case("WeightedSum", PAIRS, {}, weighted, batch=(0, 2, 4), grad=(0, 2, 4)),
    Case("WeightedSum", PAIRS, {"grad_on_w": 1}, weighted, grad=(0, 1, 2, 3, 4, 5)),
    Case("WeightedSum", (normal(3), np.float32(2)), {}, lambda X, w: X + X, grad=(0,), label="a scalar weight"),
    Case("WeightedSum", (np.float32(3), np.float32([2])), {"grad_on_w": 1}, lambda X, w, grad_on_w: X + X,
         label="a scalar tensor"),
    Case("WeightedSum", (HALVES[0], W[0], HALVES[1], W[1]), {}, weighted, grad=False, label="halves"),
    Case("WeightedSum", (normal(4), ONE, np.float32([np.nan, np.inf, 1, -np.inf]), 0 * ONE), {}, lambda X, *_: X,
         grad=False, label="a weight of 0 leaves NaN out"),
    Case("WeightedSum", (normal(3), normal(2)), refuses="a weight must be one number"),
    Case("WeightedSum", (normal(3), ONE, normal(2), ONE), refuses="the terms differ in shape"),
    Case("WeightedSum", (normal(3), ONE, normal(3, dtype=np.float64), ONE), refuses="the tensors differ in dtype"),
    Case("WeightedSum", (normal(3), ONE, normal(3)), refuses="in groups of 2"),
    Case("WeightedSumGradient", (normal(3, 4, seed=9), *PAIRS), {}, weighted_grads, outputs=("a", "b", "c")),
    Case("WeightedSumGradient", (normal(3, 4, seed=9), *PAIRS), {"grad_on_w": 1}, weighted_grads,
         outputs=("a", "b", "c", "d", "e", "f"), batch=(0, 1, 3, 5)),
    Case("WeightedSumGradient", (normal(3, 4), *PAIRS), {"grad_on_w": 1}, refuses="one output a gradient",
         outputs=("a", "b", "c")),
]  # fmt: skip
