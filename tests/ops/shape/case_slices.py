"""Cases of Slice and Tile."""

from __future__ import annotations

import numpy as np

from netdsl.testing import Case, integers, normal

X = normal(4, 5, 3)
A = normal(2, 3)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


CASES = [
    Case("Slice", (X,), {"starts": [1, 0, 0], "ends": [3, -1, -1]}, X[1:3], label="rows"),
    Case("Slice", (X,), {"starts": [0, 2], "ends": [-1, 4]}, lambda x, **_: np.stack([x[:, 2], x[:, 3]], axis=1),
         batch=(0,), label="columns"),
    Case("Slice", (X,), {"starts": [0, 0, 1], "ends": [-1, -1, -2]}, X[:, :, 1:2], label="one from the end"),
    Case("Slice", (X,), {"starts": [-3], "ends": [-1]}, X[2:], label="start from the end"),
    Case("Slice", (X,), {"starts": [2], "ends": [99]}, X[2:], label="past the end"),
    Case("Slice", (X,), {"starts": [7], "ends": [9]}, X[:0], label="beyond the end"),
    Case("Slice", (X,), {"starts": [0, 0, 0], "ends": [-1, -1, -1]}, X, label="all"),
    Case("Slice", (X, ints(1), ints(3)), {}, X[1:3], label="by inputs"),
    Case("Slice", (X, ints(0, 1).astype(np.int64), ints(-1, 3).astype(np.int64)), {}, X[:, 1:3], label="by int64"),
    Case("Slice", (integers(5),), {"starts": [1], "ends": [3]}, integers(5)[1:3], grad=False, label="integers"),
    Case("Slice", (X,), {"starts": [1, 1], "ends": [2, 2]}, refuses="only one dim may be cut", label="two dims"),
    Case("Slice", (X,), {"starts": [3], "ends": [1]}, refuses="makes no sense", label="backwards"),
    Case("Slice", (X,), {"starts": [-9], "ends": [-1]}, refuses="makes no sense", label="before the start"),
    Case("Slice", (X,), {"starts": [0, 0], "ends": [1]}, refuses="one start and one end", label="uneven"),
    Case("Slice", (X,), {"starts": [0] * 4, "ends": [-1] * 4}, refuses="at most 3", label="too many"),
    Case("Slice", (X,), {"starts": [1]}, refuses="not given once", label="no ends"),
    Case("Slice", (X, ints(1), ints(3)), {"starts": [1], "ends": [3]}, refuses="not given once", label="twice"),
    Case("Slice", (X, ints(1)), {}, refuses="not given once", label="no ends input"),
    Case("Tile", (A,), {"tiles": 3, "axis": 0}, np.concatenate([A, A, A])),
    Case("Tile", (A,), {"tiles": 2, "axis": 1}, lambda a, **_: a[:, [0, 1, 2, 0, 1, 2]], batch=(0,)),
    Case("Tile", (X,), {"tiles": 2, "axis": -2}, X[:, [0, 1, 2, 3, 4] * 2], label="from the end"),
    Case("Tile", (A,), {"tiles": 1, "axis": 0}, A),
    Case("Tile", (A,), {"tiles": 0, "axis": 0}, A[:0], grad=False),
    Case("Tile", (A, ints(2)), {"axis": 1, "tiles": 7}, A[:, [0, 1, 2, 0, 1, 2]], label="tiles by input"),
    Case("Tile", (A, ints(2), ints(-2)), {}, A[[0, 1, 0, 1]], label="both by input"),
    Case("Tile", (A,), {"tiles": -1, "axis": 0}, refuses="cannot repeat so often"),
    Case("Tile", (A, ints(-1)), {"axis": 0}, refuses="cannot repeat so often", label="negative input"),
    Case("Tile", (A,), {"axis": 0}, refuses="needs tiles"),
    Case("Tile", (A,), {"tiles": 2}, refuses="needs axis"),
    Case("Tile", (A,), {"tiles": 2, "axis": 2}, refuses="out of range"),
    Case("TileGradient", (A,), {"tiles": 2, "axis": 0}, A[:1].astype(float) + A[1:]),
    Case("TileGradient", (A,), {"tiles": 2, "axis": 1}, refuses="is no repetition", label="remainder"),
]  # fmt: skip
