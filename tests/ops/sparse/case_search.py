"""Cases of ArgMax, ArgMin, TopK and the one-hot encodings, by sorting pairs in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal, spread

X = spread(3, 4, 2)
NAN, INF = np.nan, np.inf


def along(x: Any, axis: int, find: Any) -> Any:
    """Apply ``find`` to every line along an axis."""
    rows = np.moveaxis(x, axis, -1)
    found = np.array([find(row.tolist()) for row in rows.reshape(-1, rows.shape[-1])])
    return np.moveaxis(found.reshape(*rows.shape[:-1], -1), -1, axis)


def arg(best: Any) -> Any:
    def expect(x: Any, axis: int = -1, keepdims: int = 1) -> Any:
        found = along(x, axis, lambda row: [row.index(best(row))]).astype(np.int64)
        return found if keepdims else found.squeeze(axis)

    return expect


def topk(x: Any, k: int, axis: int = -1) -> Any:
    def places(row: list[float]) -> list[int]:
        return sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]

    fill = max(k - x.shape[axis], 0)
    at = along(x, axis, lambda row: places(row) + [-1] * fill)
    values = along(x, axis, lambda row: [row[i] for i in places(row)] + [0.0] * fill)
    numbers = np.arange(x.size).reshape(x.shape)
    flat = along(numbers, axis, lambda row: row)
    flat = np.where(at < 0, -1, np.take_along_axis(flat, np.maximum(at, 0), axis))
    return values.astype(x.dtype), at.astype(np.int64), flat.reshape(-1)


def rows(*values: float) -> np.ndarray:
    return np.array([values], np.float32)


arguments = [{}, {"axis": 0}, {"axis": 1, "keepdims": 0}, {"axis": 2}]
data = np.array([[1, 5], [2, 5], [1, 7]], np.int64)
CASES = [
    *(Case("ArgMax", (X,), args, arg(max)) for args in arguments),
    *(Case("ArgMin", (X,), args, arg(min)) for args in arguments),
    Case("ArgMax", (integers(3, 5, high=3, dtype=np.int32),), {}, arg(max), label="ties"),
    Case("ArgMin", (integers(3, 5, high=3),), {}, arg(min), label="ties"),
    Case("ArgMax", (X[:, 0],), {}, lambda x: (x[:, 1:] > x[:, :1]).astype(np.int64), batch=(0,), label="batch"),
    Case("ArgMax", (rows(0, NAN, -1, 2),), {}, np.array([[3]]), half=False, label="NaN"),
    Case("ArgMax", (rows(NAN, 1, 2),), {}, np.array([[0]]), label="NaN first"),
    Case("ArgMax", (rows(-INF, NAN),), {}, np.array([[0]]), label="NaN and -inf"),
    Case("ArgMin", (rows(3, NAN, 2),), {}, np.array([[2]]), label="NaN"),
    Case("ArgMax", (np.empty((2, 0), np.float32),), {}, np.zeros((2, 1), np.int64), label="nothing"),
    Case("ArgMax", (X,), {"axis": 3}, refuses="the axis is out of range"),
    Case("ArgMin", (X,), {"axis": -2}, refuses="the axis is out of range"),
    Case("TopK", (X,), {"k": 1}, topk, outputs=3, batch=()),
    Case("TopK", (X,), {"k": 2, "axis": 0}, topk, outputs=3),
    Case("TopK", (X,), {"k": 3, "axis": 1}, topk, outputs=3),
    Case("TopK", (X,), {"k": 6, "axis": 1}, topk, outputs=3, label="more than there are"),
    Case("TopK", (spread(4, 5),), {"k": 2}, lambda x, k: (np.sort(x)[:, :-3:-1], np.argsort(x)[:, :-3:-1]), batch=(0,),
         label="batch"),
    Case("TopK", (X, np.array([2], np.int64)), {}, topk(X, 2)[:2], label="k by input"),
    Case("TopK", (X, np.array([1, 9], np.int32)), {"k": 7}, topk(X, 1)[:2], label="k by input, first"),
    Case("TopK", (integers(2, 6, high=3, dtype=np.float32),), {"k": 4}, topk, outputs=3, grad=False, label="ties"),
    Case("TopK", (rows(1, 3, 2, NAN),), {"k": 2}, (rows(3, 2), np.array([[1, 2]])), grad=False, label="NaN last"),
    Case("TopK", (rows(1, NAN, 3, 2),), {"k": 2}, (rows(1, NAN), np.array([[0, 1]])), grad=False, label="NaN early"),
    Case("TopK", (rows(NAN, 1, 3, 2, 7),), {"k": 3}, (rows(3, 2, NAN), np.array([[2, 3, 0]])), grad=False,
         label="NaN first"),
    Case("TopK", (X,), {"k": 0}, refuses="k says how many"),
    Case("TopK", (X,), {}, refuses="k says how many", label="no k"),
    Case("TopK", (X,), {"k": 1, "axis": -2}, refuses="the axis is out of range"),
    Case("TopK", (integers(2, 3),), {"k": 1}, refuses="wrong type", label="integers"),
    Case("OneHot", (np.array([2, 0, 1]), np.array([4])), {}, np.eye(4, dtype=np.float32)[[2, 0, 1]], grad=False),
    Case("OneHot", (np.array([1], np.int32), np.array(2, np.int32)), {}, rows(0, 1), grad=False, label="int32"),
    Case("OneHot", (np.empty(0, np.int64), np.array([3])), {}, np.empty((0, 3), np.float32), grad=False, label="none"),
    Case("OneHot", (np.array([4]), np.array([4])), refuses="an index is out of range", label="range"),
    Case("OneHot", (np.array([-1]), np.array([4])), refuses="an index is out of range", label="negative"),
    Case("OneHot", (np.array([[1]]), np.array([4])), refuses="wrong rank", label="matrix"),
    Case("OneHot", (np.array([1]), np.array([4, 5])), refuses="is one number", label="two sizes"),
    Case("BatchOneHot", (data, np.array([2, 1], np.int32), np.array([2, 1, 5])), {},
         np.array([[0, 1, 1], [1, 0, 1], [0, 1, 0]]), grad=False),
    Case("BatchOneHot", (data.astype(np.int32), np.array([0, 2]), np.array([7, 9], np.int32)), {},
         np.array([[0, 0], [0, 0], [1, 0]], np.int32), grad=False, label="no values"),
    Case("BatchOneHot", (data, np.array([2]), np.array([1, 2])), refuses="one length for each column", label="columns"),
    Case("BatchOneHot", (data, np.array([2, 2]), np.array([1, 2])), refuses="do not add up", label="lengths"),
    Case("BatchOneHot", (normal(2, 1), np.array([1]), np.array([1])), refuses="wrong type", label="floats"),
]  # fmt: skip
