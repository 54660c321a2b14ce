"""Cases of Concat and Split, which undo each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal


def concat(*Xs: Any, axis: int = -1, order: str = "NCHW", add_axis: int = 0) -> Any:
    """Element by element, through a dict of positions."""
    rank = Xs[0].ndim + add_axis
    axis = (1 if order == "NCHW" else rank - 1) if axis == -1 else axis % rank
    parts = [np.expand_dims(X, axis) if add_axis else X for X in Xs]
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    joined, start = np.empty(shape, parts[0].dtype), 0
    for part in parts:
        for index in np.ndindex(part.shape):
            joined[(*index[:axis], start + index[axis], *index[axis + 1 :])] = part[index]
        start += part.shape[axis]
    return joined, np.array([part.shape[axis] for part in parts], np.int32)


a, b, c = normal(2, 3, 4), normal(2, 1, 4, seed=1), normal(2, 2, 4, seed=2)
X = normal(2, 6, 3)

CASES = [
    Case("Concat", (a, b, c), {}, concat, batch=(0, 1, 2)),
    Case("Concat", (a, a + 1), {"axis": 2}, concat, batch=(0, 1)),
    Case("Concat", (a, a[:1]), {"axis": 0}, concat),
    Case("Concat", (a, a + 1), {"axis": -2}, concat),
    Case("Concat", (a, a[:, :, :2]), {"order": "NHWC"}, concat),
    Case("Concat", (a, a + 1, a + 2), {"axis": 1, "add_axis": 1}, concat),
    Case("Concat", (a,), {}, concat, label="one input"),
    Case("Concat", (integers(2, 3), integers(2, 2, seed=1)), {}, concat, label="integers", grad=False),
    Case("Concat", (a, normal(3, 3, 4)), refuses="inputs differ outside axis 1", label="shapes"),
    Case("Concat", (a, a), {"axis": 3}, refuses="out of range"),
    Case("Split", (X,), {"axis": 1}, tuple(np.split(X, 3, 1)), outputs=3),
    Case("Split", (X,), {"axis": 1, "split": [1, 5]}, (X[:, :1], X[:, 1:]), outputs=2),
    Case("Split", (X,), {}, (X[:, :3], X[:, 3:]), outputs=2, label="channels"),
    Case("Split", (X,), {"axis": 0, "add_axis": 1}, (X[0], X[1]), outputs=2),
    Case("Split", (X, np.array([2, 4], np.int32)), {"axis": 1}, (X[:, :2], X[:, 2:]), outputs=2, label="lengths"),
    Case("Split", (X,), {"axis": 2}, refuses="equal pieces", outputs=2, label="uneven"),
    Case("Split", (X,), {"axis": 1, "split": [1, 2]}, refuses="do not add up", outputs=2, label="too short"),
]
