"""Cases of the operators that change a shape, written out element by element or by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

X = normal(2, 3, 4)
INT32, INT64 = np.int32, np.int64


def shaped(*shape: int) -> Any:
    """What X looks like in another shape: its elements in their order."""
    made = np.empty(shape, X.dtype)
    for index, value in zip(np.ndindex(shape), X.flat, strict=True):
        made[index] = value
    return made


def reshape(shape: tuple[int, ...], old: Any = INT64) -> Any:
    return shaped(*shape), np.array([2, 3, 4], old)


CASES = [
    Case("Reshape", (X,), {"shape": [4, 6]}, reshape((4, 6)), label="plain"),
    Case("Reshape", (X,), {"shape": [-1, 2]}, reshape((12, 2)), label="inferred"),
    Case("Reshape", (X,), {"shape": [0, -1]}, lambda x, shape: (x.reshape(len(x), 12), np.array(x.shape, INT64)),
         batch=(0,), label="kept and inferred"),
    Case("Reshape", (X,), {"shape": [0, 0, 2, -1]}, reshape((2, 3, 2, 2)), label="two kept"),
    Case("Reshape", (X, np.array([3, -1], INT32)), {}, reshape((3, 8), INT32), label="by input"),
    Case("Reshape", (X, np.array([0, 12], INT64)), {}, reshape((2, 12)), label="by int64 input"),
    Case("Reshape", (X[:1, 0, 0],), {"shape": []}, (X[0, 0, 0], np.array([1])), label="to a scalar"),
    Case("Reshape", (X[0, 0, 0],), {"shape": [1, 1]}, (X[:1, :1, 0], np.empty(0, INT64)), label="of a scalar"),
    Case("Reshape", (integers(4),), {"shape": [2, 2]}, (integers(4).reshape(2, 2), np.array([4])), grad=False,
         label="integers"),
    Case("Reshape", (X,), {"shape": [5, 5]}, refuses="another number of elements", label="size"),
    Case("Reshape", (X,), {"shape": [5, -1]}, refuses="another number of elements", label="remainder"),
    Case("Reshape", (X,), {"shape": [-1, -1]}, refuses="at most one -1", label="two inferred"),
    Case("Reshape", (X,), {"shape": [-2, 12]}, refuses="makes no sense", label="negative"),
    Case("Reshape", (X,), {"shape": [2, 3, 4, 0]}, refuses="another number of elements", label="a 0 too many"),
    Case("Reshape", (X,), {}, refuses="no shape is given", label="no shape"),
    Case("Reshape", (X, np.array([24])), {"shape": [24]}, refuses="given twice", label="two shapes"),
    Case("ResizeLike", (X, np.zeros((4, 6), np.int8)), {}, shaped(4, 6)),
    Case("ResizeLike", (X, np.zeros((5, 5))), refuses="differ in their number of elements", label="size"),
    Case("Flatten", (X,), {}, lambda x: x.reshape(len(x), 12), batch=(0,)),
    Case("Flatten", (X,), {"axis": 0}, shaped(1, 24)),
    Case("Flatten", (X,), {"axis": 2}, shaped(6, 4)),
    Case("Flatten", (X,), {"axis": 3}, shaped(24, 1)),
    Case("Flatten", (X,), {"axis": 4}, refuses="out of range"),
    Case("Flatten", (X,), {"axis": -1}, refuses="out of range"),
    Case("FlattenToVec", (X,), {}, lambda x: np.array(list(x.flat), x.dtype), batch=(0,)),
    Case("FlattenToVec", (X[0, 0, 0],), refuses="at least 1 dims", label="scalar"),
    Case("ExpandDims", (X,), {"dims": [0]}, X[np.newaxis], label="front"),
    Case("ExpandDims", (X,), {"dims": [4, 1, 1]}, X[:, np.newaxis, :, :, np.newaxis], label="unsorted, repeated"),
    Case("ExpandDims", (X,), {"dims": [1]}, lambda x, dims: x[:, np.newaxis], batch=(0,), label="inside"),
    Case("ExpandDims", (X,), {"dims": [5]}, refuses="a new dim is out of range", label="range"),
    Case("ExpandDims", (X,), {"dims": [-1]}, refuses="count from the front", label="negative"),
    Case("ExpandDims", (X,), {}, refuses="needs the argument 'dims'", label="no dims"),
    Case("Squeeze", (X[:, :1],), {"dims": [1]}, lambda x, dims: x[:, 0], batch=(0,), label="one"),
    Case("Squeeze", (X[:1, :, :1],), {"dims": [2, 0]}, X[0, :, 0], label="two"),
    Case("Squeeze", (X[:1, 0, 0],), {"dims": [0]}, X[0, 0, 0], label="to a scalar"),
    Case("Squeeze", (X,), {"dims": [0]}, refuses="only dims of extent 1", label="extent"),
    Case("Squeeze", (X,), {"dims": [3]}, refuses="at least 4 dims", label="range"),
    Case("Squeeze", (X,), {"dims": []}, refuses="one or more numbers", label="no dims"),
    Case("Shape", (X,), {}, np.array([2, 3, 4]), batch=(), label="all"),
    Case("Shape", (X,), {"axes": [2, 0]}, np.array([4, 2]), label="some"),
    Case("Shape", (X[0, 0, 0],), {}, np.empty(0, INT64), label="scalar"),
    Case("Shape", (X,), {"axes": [3]}, refuses="out of range", label="range"),
    Case("Transpose", (X,), {}, np.array([[[X[k, j, i] for k in range(2)] for j in range(3)] for i in range(4)])),
    Case("Transpose", (X,), {"axes": [1, 2, 0]}, np.array([[X[:, i, j] for j in range(4)] for i in range(3)]),
         label="cycle"),
    Case("Transpose", (X,), {"axes": [0, 2, 1]}, lambda x, axes: np.einsum("nij->nji", x), batch=(0,), label="batch"),
    Case("Transpose", (integers(2, 3),), {}, integers(2, 3).T, grad=False, label="integers"),
    Case("Transpose", (X,), {"axes": [0, 1]}, refuses="no permutation", label="too few"),
    Case("Transpose", (X,), {"axes": [0, 1, 1]}, refuses="no permutation", label="repeated"),
]  # fmt: skip
