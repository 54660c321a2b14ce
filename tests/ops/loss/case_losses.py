"""Cases of the simple losses and of Accuracy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, spread, uniform


def mean(X: Any) -> float:
    return math.fsum(X.ravel().tolist()) / max(X.size, 1)


def cross_entropy(X: Any, label: Any) -> Any:
    rows = zip(X.reshape(label.size, X.size // max(label.size, 1)).tolist(), label.ravel().tolist(), strict=True)
    return np.array([-math.log(max(row[i], 1e-20)) for row, i in rows])


def cross_entropy_gradient(X: Any, label: Any, dY: Any) -> Any:
    d = np.zeros((label.size, X.size // max(label.size, 1)))
    for i, j in enumerate(label.ravel()):
        d[i, j] = -float(dY[i]) / max(float(X.reshape(d.shape)[i, j]), 1e-20)
    return d.reshape(X.shape)


def squared(X: Any, Y: Any) -> Any:
    return np.array([math.fsum((x - y) ** 2 for x, y in zip(a.flat, b.flat, strict=True)) / 2 for a, b in zip(
        X.astype(np.float64), Y.astype(np.float64), strict=True)])  # fmt: skip


def accuracy(predictions: Any, labels: Any, top_k: int = 1) -> float:
    """By sorting the classes of each row, stably."""
    ranked = [sorted(range(len(row)), key=lambda j: -row[j])[:top_k] for row in predictions.tolist()]
    return sum(i in best for i, best in zip(labels, ranked, strict=True)) / len(labels) if len(labels) else math.nan


X, Y, L = normal(4, 5), normal(4, 5, seed=1), integers(4, high=5, dtype=np.int32)
P = uniform(4, 5, low=0.05)
RANKED = (spread(6, 4), integers(6, high=4, dtype=np.int32))
TIES = np.float32([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]])

CASES = [
    Case("AveragedLoss", (X,), {}, mean, batch=(0,)),
    Case("AveragedLoss", (np.float32(2.5),), {}, 2.5, label="a number"),
    Case("AveragedLoss", (np.float32([1, np.nan]),), {}, np.nan, grad=False, label="nan"),
    Case("AveragedLoss", (np.full(5000, 100, np.float16),), {}, 100.0, grad=False, label="half, a large sum"),
    Case("AveragedLossGradient", (X, np.float32(2)), {}, (np.full((4, 5), 0.1),), label="scalar"),
    Case("AveragedLossGradient", (X, np.float32([2])), {}, (np.full((4, 5), 0.1),), label="one element"),
    Case("AveragedLossGradient", (X, np.ones(2, np.float32)), refuses="one gradient is needed"),

    Case("LabelCrossEntropy", (P, L), {}, cross_entropy, batch=(0, 1)),
    Case("LabelCrossEntropy", (P, L[:, None]), {}, cross_entropy, label="a column of labels"),
    Case("LabelCrossEntropy", (uniform(2, 2, 2, low=0.05), L[:2] % 4), {}, cross_entropy, label="3-d"),
    Case("LabelCrossEntropy", (P[0], L[:1]), {}, cross_entropy, label="a vector"),
    Case("LabelCrossEntropy", (np.float32([[0.2, 0.8], [0.6, 0.4]]), np.int32([1, 0])), {},
         (np.array([0.22314353, 0.51082557]),), rtol=1e-6, label="known"),
    Case("LabelCrossEntropy", (np.float32([[0, 1], [-1, 1], [np.nan, 1]]), np.int32([0, 0, 0])), {},
         (np.array([46.0517, 46.0517, np.nan]),), grad=False, label="floor"),
    Case("LabelCrossEntropy", (P, L.astype(np.int64)), refuses="blob 'label', is of the wrong type", label="int64"),
    Case("LabelCrossEntropy", (P, L.astype(np.float32)), refuses="blob 'label', is of the wrong type", label="float32"),
    Case("LabelCrossEntropy", (P, L + 3), refuses="a label is no class", label="label too large"),
    Case("LabelCrossEntropy", (P, L - 5), refuses="a label is no class", label="label below 0"),
    Case("LabelCrossEntropy", (P, L[:2]), refuses="one class for each row", label="too few labels"),
    Case("LabelCrossEntropy", (P, np.zeros((4, 2), np.int32)), refuses="one class for each row", label="two columns"),
    Case("LabelCrossEntropyGradient", (P, L, Y[:, 0]), {}, cross_entropy_gradient, batch=(0, 1, 2)),
    Case("LabelCrossEntropyGradient", (np.float32([[0, 1], [1e-21, 1]]), np.int32([0, 0]), np.ones(2, np.float32)), {},
         (np.array([[-1e20, 0], [-1e20, 0]]),), half=False, label="floor"),
    Case("LabelCrossEntropyGradient", (P, L, Y[:2, 0]), refuses="one number a row"),
    Case("LabelCrossEntropyGradient", (P, L - 5, Y[:, 0]), refuses="a label is no class"),

    Case("SquaredL2Distance", (X, Y), {}, squared, batch=(0, 1)),
    Case("SquaredL2Distance", (normal(2, 3, 2), normal(2, 3, 2, seed=1)), {}, squared, label="3-d"),
    Case("SquaredL2Distance", (X[0], Y[0]), {}, squared, label="vectors"),
    Case("SquaredL2Distance", (np.float32(3), np.float32(1)), {}, (np.array([2.0]),), label="numbers"),
    Case("SquaredL2Distance", (X, Y.T), refuses="differ in shape"),
    Case("SquaredL2DistanceGradient", (X, Y, normal(4, seed=2)), {},
         lambda X, Y, d: (np.einsum("ij,i->ij", X - Y, d), np.einsum("ij,i->ij", Y - X, d)), batch=(0, 1, 2)),
    Case("SquaredL2DistanceGradient", (X, Y, normal(3)), refuses="one number a row"),

    Case("Accuracy", RANKED, {}, accuracy, batch=(0, 1)),
    *(Case("Accuracy", RANKED, {"top_k": k}, accuracy, batch=(0, 1)) for k in (2, 4, 5)),
    Case("Accuracy", RANKED, {"top_k": 0}, 0.0),
    Case("Accuracy", (TIES, np.int32([0, 1, 2, 0])), {}, 0.5, label="ties"),
    Case("Accuracy", (TIES, np.int32([0, 1, 2, 1])), {"top_k": 2}, 1.0),
    Case("Accuracy", (np.full((4, 3), np.nan), np.int32([0, 1, 2, 0])), {}, 1.0, label="all NaN, as Caffe2"),
    Case("Accuracy", (np.tile(np.float32([1, np.nan, 2]), (4, 1)), np.int32([0, 1, 2, 0])), {}, 0.5, label="some NaN"),
    Case("Accuracy", (X, L.astype(np.int64)), refuses="blob 'labels', is of the wrong type", label="int64"),
    Case("Accuracy", (X, L[:, None]), refuses="one class a row", label="a column of labels"),
    Case("Accuracy", (X, L[:3]), refuses="one class a row", label="too few labels"),
    Case("Accuracy", (X[0], L), refuses="must be a matrix", label="a vector"),
    Case("Accuracy", (X, L + 3), refuses="a label is no class", label="label too large"),
]  # fmt: skip
