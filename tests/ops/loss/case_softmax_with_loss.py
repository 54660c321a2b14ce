"""Cases of SoftmaxWithLoss and its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, uniform
from tests.ops.nn.case_softmax import softmax


def targets(X: Any, labels: Any, axis: int, label_prob: int) -> Any:
    """The distribution that the labels ask of each row."""
    n = math.prod(X.shape[: axis % X.ndim])
    d = math.prod(X.shape[axis % X.ndim :])
    return labels.reshape(n, d).astype(np.float64) if label_prob else np.eye(d)[labels.ravel()]


def divisor(weights: Any, n: int, average_by_batch_size: int) -> float:
    return n if weights is None or average_by_batch_size else float(weights.astype(np.float64).sum())


def loss(X: Any, labels: Any, weights: Any = None, *, axis: int = 1, label_prob: int = 0, scale: float = 1.0,
         average_by_batch_size: int = 0, **_: Any) -> tuple[Any, Any]:  # fmt: skip
    """In float64: the log of a sum of exponentials, less the mean score, for each row."""
    t = targets(X, labels, axis, label_prob)
    scores = X.astype(np.float64).reshape(t.shape)
    losses = [
        math.log(math.fsum(np.exp(row - row.max()))) + row.max() - row @ p for row, p in zip(scores, t, strict=True)
    ]
    weighted = [x * w for x, w in zip(losses, np.ones(len(t)) if weights is None else weights.ravel(), strict=True)]
    by = divisor(weights, len(t), average_by_batch_size)
    return softmax(X, axis), scale * math.fsum(weighted) / by if by else 0.0


def gradient(X: Any, labels: Any, *rest: Any, axis: int = 1, label_prob: int = 0, scale: float = 1.0,
             average_by_batch_size: int = 0, **_: Any) -> Any:  # fmt: skip
    """One row at a time: the difference between the distributions there are and those asked for."""
    weights, probabilities, dloss = rest if len(rest) == 3 else (None, *rest)
    t = targets(X, labels, axis, label_prob)
    by = divisor(weights, len(t), average_by_batch_size)
    p = probabilities.astype(np.float64).reshape(t.shape)
    w = np.ones(len(t)) if weights is None else weights.ravel()
    steps = [float(dloss.item()) * scale * w[i] / by if by else 0.0 for i in range(len(t))]
    return np.array([(p[i] - t[i]) * step for i, step in enumerate(steps)]).reshape(X.shape)


X, L = normal(4, 5), integers(4, high=5, dtype=np.int32)
X3, L3 = normal(2, 3, 4), integers(2, 3, high=4, dtype=np.int32)
W = uniform(4, low=0.1, high=2.0, seed=1)
Q = np.float32([[2, 1, 1, 2, 2], [0, 0, 8, 0, 0], [4, 3, 0, 1, 0], [1, 1, 1, 2, 3]]) / 8
P, G = softmax(X).astype(np.float32), np.float32(1.5)
ONE = {"grad": (0,), "grad_outputs": (1,)}

CASES = [
    Case("SoftmaxWithLoss", (X, L), {}, loss, batch=(0, 1), **ONE),
    Case("SoftmaxWithLoss", (X, L), {"scale": 2.5}, loss, **ONE),
    Case("SoftmaxWithLoss", (X, L, W), {}, loss, batch=(0, 1, 2), label="weights", **ONE),
    Case("SoftmaxWithLoss", (X, L, W), {"average_by_batch_size": 1}, loss, **ONE),
    Case("SoftmaxWithLoss", (X, Q), {"label_prob": 1}, loss, batch=(0, 1), **ONE),
    Case("SoftmaxWithLoss", (X, Q, W), {"label_prob": 1, "scale": 0.5}, loss, **ONE),
    Case("SoftmaxWithLoss", (X, Q, W), {"label_prob": 1, "average_by_batch_size": 1}, loss, **ONE),
    Case("SoftmaxWithLoss", (X3, L3), {"axis": 2}, loss, **ONE),
    Case("SoftmaxWithLoss", (X3, L3), {"axis": -1, "order": "NCHW", "only_loss": 1}, loss, **ONE),
    Case("SoftmaxWithLoss", (X3, L3[:, :1]), {}, loss, label="classes of two axes", **ONE),
    Case("SoftmaxWithLoss", (X, L[:, None], W[:, None]), {}, loss, label="columns", **ONE),
    Case("SoftmaxWithLoss", (X3, L3), {"axis": 2}, loss, grad=(0,), label="gradients of both outputs"),
    Case("SoftmaxWithLoss", (X, L), {}, loss, grad=(0,), grad_outputs=(0,), label="gradient of the softmax"),
    Case("SoftmaxWithLoss", (normal(4, 1), 0 * L), {}, (np.ones((4, 1)), 0.0), label="one class", **ONE),
    Case("SoftmaxWithLoss", (np.float32([[1000, 0], [0, -1000]]), np.int32([1, 0])), {},
         (np.float32([[1, 0], [1, 0]]), 500.0), grad=False, half=False, label="large"),
    Case("SoftmaxWithLoss", (X, L, 0 * W), {}, (softmax(X), 0.0), label="weights of 0", **ONE),
    Case("SoftmaxWithLoss", (X, L), {}, lambda *a: (*loss(*a), None), outputs=3, label="three outputs", **ONE),
    Case("SoftmaxWithLoss", (normal(4, 5, dtype=np.float16), L), {},
         lambda X, L: (softmax(X), loss(X, L)[1]), grad=False, label="half"),
    Case("SoftmaxWithLoss", (X, L.astype(np.int64)), refuses="labels: int64[4]", label="int64"),
    Case("SoftmaxWithLoss", (X, Q), refuses="labels are of the wrong dtype", label="probabilities"),
    Case("SoftmaxWithLoss", (X, L), {"label_prob": 1}, refuses="labels are of the wrong dtype"),
    Case("SoftmaxWithLoss", (X, L[:3]), refuses="one label for each of 4 rows", label="too few labels"),
    Case("SoftmaxWithLoss", (X, L[None]), refuses="one label for each of 4 rows", label="labels in a row"),
    Case("SoftmaxWithLoss", (X, Q[:, :4]), {"label_prob": 1}, refuses="5 probabilities for each"),
    Case("SoftmaxWithLoss", (X, L, W[:3]), refuses="one number for each row", label="too few weights"),
    Case("SoftmaxWithLoss", (X, L + 3), refuses="a label is no class", label="label too large"),
    Case("SoftmaxWithLoss", (X, L - 5), refuses="a label is no class", label="label below 0"),
    Case("SoftmaxWithLoss", (X, Q / 2), {"label_prob": 1}, refuses="sum to 1", label="sum"),
    Case("SoftmaxWithLoss", (X, Q * np.float32([3, 3, 3, -3, 1])), {"label_prob": 1}, refuses="a least one of -0.75"),
    Case("SoftmaxWithLoss", (X, Q * np.float32(np.nan)), {"label_prob": 1}, refuses="sum to 1", label="nan"),
    Case("SoftmaxWithLoss", (X[0], L), refuses="axis 1 is out of range", label="a vector"),
    Case("SoftmaxWithLoss", (X, L), {"order": "NHWC"}, refuses="cannot be 'NHWC'"),
    Case("SoftmaxWithLossGradient", (X, L, P, G), {}, gradient, batch=(0, 1, 2)),
    Case("SoftmaxWithLossGradient", (X, L, W, P, G), {"scale": 2.0}, gradient, batch=(0, 1, 2, 3)),
    Case("SoftmaxWithLossGradient", (X, L, W, P, np.float32([1.5])), {"average_by_batch_size": 1}, gradient),
    Case("SoftmaxWithLossGradient", (X, Q, P, G), {"label_prob": 1}, gradient),
    Case("SoftmaxWithLossGradient", (X, Q, W, P, G), {"label_prob": 1}, gradient),
    Case("SoftmaxWithLossGradient", (X.astype(np.float16), L, P.astype(np.float16), G), {}, gradient, label="half"),
    Case("SoftmaxWithLossGradient", (X, L, 0 * W, P, G), {}, (0 * X,), label="weights of 0"),
    Case("SoftmaxWithLossGradient", (X, L - 5, P, G), refuses="a label is no class"),
]  # fmt: skip
