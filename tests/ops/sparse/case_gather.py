"""Cases of Gather, BatchGather and SparseToDense, by loops over the indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

D = normal(4, 3, 2)
I = np.array([2, 0, 2], np.int64)  # noqa: E741
PAIRS = np.array([[0, 3], [3, 1]], np.int32)


def gather(data: Any, indices: Any, axis: int = 0, **_: Any) -> Any:
    """One slice an index, stacked where the axis was."""
    rows = np.moveaxis(data, axis, 0)
    found = np.array([rows[i] for i in indices.flat], data.dtype).reshape((*indices.shape, *rows.shape[1:]))
    at = axis % data.ndim
    return np.moveaxis(found, range(indices.ndim), range(at, at + indices.ndim))


def outer(data: Any, indices: Any, axis: int = 1, **_: Any) -> Any:
    """With match_outer: for each position of the outer dims its own indices."""
    parts = [gather(data[at], indices[at]) for at in np.ndindex(data.shape[:axis])]
    return np.array(parts, data.dtype).reshape((*data.shape[:axis], *parts[0].shape))


def to_dense(indices: Any, values: Any, like: Any = None, output_first_dim: int = 0) -> Any:
    rows = output_first_dim or (len(like) if like is not None else max(indices.flat, default=-1) + 1)
    made = np.zeros((rows, *values.shape[indices.ndim :]), values.dtype)
    for at in np.ndindex(indices.shape):
        made[indices[at]] += values[at]
    return made


CASES = [
    Case("Gather", (D, I), {}, gather, batch=(1,), label="rows"),
    Case("Gather", (D, PAIRS), {}, gather, label="pairs"),
    Case("Gather", (D, np.array(1)), {}, D[1], label="one index"),
    Case("Gather", (D, np.array([-1, 0])), {}, gather, label="from the end"),
    Case("Gather", (D, np.array([-4, 1])), {"wrap_indices": 1}, gather, label="wrapped"),
    Case("Gather", (D, I), {"dense_gradient": 1}, gather, label="dense gradient"),
    Case("Gather", (D, PAIRS), {"dense_gradient": 1}, gather, label="dense gradient of pairs"),
    Case("Gather", (D, I), {"axis": 1}, gather, batch=(0,), label="axis 1"),
    Case("Gather", (D, PAIRS % 3), {"axis": 1}, gather, label="axis 1, pairs"),
    Case("Gather", (D, np.array([1, 1, 0])), {"axis": -1}, gather, label="last axis"),
    Case("Gather", (D, np.array([-1, 2])), {"axis": 1, "wrap_indices": 1}, gather, label="axis 1, wrapped"),
    Case("Gather", (D, integers(4, 5, high=3)), {"axis": 1, "match_outer": 1}, outer, label="outer"),
    Case("Gather", (D, integers(4, 3, 2, 2, high=2)), {"axis": 2, "match_outer": 1}, outer, label="outer, axis 2"),
    Case("Gather", (integers(3, 2), I), {}, gather, grad=False, label="integers"),
    Case("Gather", (D, np.array([4])), refuses="an index is out of range", label="range"),
    Case("Gather", (D, np.array([-5])), refuses="an index is out of range", label="negative"),
    Case("Gather", (D, np.array([-1])), {"axis": 1}, refuses="an index is out of range", label="negative, axis 1"),
    Case("Gather", (D, I), {"axis": 3}, refuses="no such axis"),
    Case("Gather", (D, PAIRS), {"axis": 1, "match_outer": 1}, refuses="before the axis must agree", label="outer dims"),
    Case("Gather", (D, I), {"match_outer": 1}, refuses="before the axis must agree", label="outer, axis 0"),
    Case("Gather", (D, D), refuses="wrong type", label="float indices"),
    Case("BatchGather", (D, I), {}, lambda d, i: gather(d, i, 1), batch=(0,), label="rows"),
    Case("BatchGather", (D, integers(4, 2, high=3)), {"match_outer": 1}, outer, label="outer"),
    Case("BatchGather", (D[:, 0, 0], I), refuses="no such axis", label="vector"),
    Case("BatchGatherGradient", (D, np.array([3]), D[:, :1]), refuses="an index is out of range", label="range"),
    Case("SparseToDense", (I, D[:3]), {}, to_dense, batch=(0, 1), label="as needed"),
    Case("SparseToDense", (I, D[:3]), {"output_first_dim": 5}, to_dense, batch=(0, 1)),
    Case("SparseToDense", (I, D[:3], np.zeros((6, 2), np.int8)), {}, to_dense, label="as another"),
    Case("SparseToDense", (PAIRS, normal(2, 2, 3)), {}, to_dense, label="pairs"),
    Case("SparseToDense", (I, integers(3)), {}, to_dense, grad=False, label="integers"),
    Case("SparseToDense", (I, D[:3]), {"output_first_dim": 2}, refuses="an index is out of range"),
    Case("SparseToDense", (-I, D[:3]), {}, refuses="an index is out of range", label="negative"),
    Case("SparseToDense", (I, D), {}, refuses="one row of values for each index", label="rows"),
    Case("SparseToDense", (I, D[:3], D), {"output_first_dim": 5}, refuses="given twice", label="two sizes"),
    Case("SparseToDense", (I, D[:3]), {"output_first_dim": -1}, refuses="no number of rows"),
]  # fmt: skip
