"""Cases of sums and means by segment, by loops over segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal

D = normal(6, 2)
L = np.array([2, 0, 3, 1], np.int32)
IDS = np.array([2, 0, 2, 4, 0, 2], np.int32)
I = np.array([5, 0, 0, 3], np.int64)  # noqa: E741
SHORT = np.array([1, 0, 3], np.int32)


def by_lengths(data: Any, lengths: Any) -> Any:
    """In float64, each segment cut out."""
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    parts = [data[end - n : end].astype(np.float64).sum(axis=0) for end, n in zip(ends, lengths, strict=True)]
    return np.array(parts).reshape(len(lengths), *data.shape[1:])


def repeated(rows: Any, lengths: Any, *_: Any) -> Any:
    found = [row for row, n in zip(rows, lengths, strict=True) for _ in range(n)]
    return np.array(found).reshape(len(found), *rows.shape[1:])


def by_ids(data: Any, ids: Any, num_segments: int = -1, mean: bool = False) -> Any:
    count = num_segments if num_segments >= 0 else max(ids, default=-1) + 1
    made = np.zeros((count, *data.shape[1:]))
    for i in range(count):
        rows = data[ids == i].astype(np.float64)
        made[i] = rows.sum(axis=0) / (max(len(rows), 1) if mean else 1)
    return made


def mean_by_ids(data: Any, ids: Any, num_segments: int = -1) -> Any:
    return by_ids(data, ids, num_segments, mean=True)


CASES = [
    Case("LengthsSum", (D, L), {}, by_lengths, batch=(0, 1)),
    Case("LengthsSum", (D[:, 0], L.astype(np.int64)), {}, by_lengths, label="vector"),
    Case("LengthsSum", (normal(6, 2, 2), L), {}, by_lengths, label="rank 3"),
    Case("LengthsSum", (D, L + 1), refuses="do not add up", label="too many"),
    Case("LengthsSum", (D[:5], L), refuses="do not add up", label="too few"),
    Case("LengthsSum", (D, np.array([-1, 7])), refuses="a length is negative", label="negative"),
    Case("LengthsSum", (D, L.reshape(2, 2)), refuses="wrong rank", label="matrix of lengths"),
    Case("LengthsSumGradient", (D[:4], L), {}, repeated),
    Case("LengthsIndicesInGradientSumGradient", (D[:4], L, D), {}, repeated),
    Case("LengthsIndicesInGradientSumGradient", (D[:4], L, D[:3]), refuses="do not add up", label="rows"),
    Case("SparseLengthsSum", (D, I, SHORT), {}, lambda d, i, n: by_lengths(d[i], n), batch=(1, 2)),
    Case("SparseLengthsSum", (D[:, 0], I.astype(np.int32), SHORT), {}, lambda d, i, n: by_lengths(d[i], n),
         label="vector"),
    Case("SparseLengthsSum", (D.astype(np.float16), I, SHORT), {},
         lambda d, i, n: by_lengths(d[i], n).astype(np.float32), grad=False, label="half sums to single"),
    Case("SparseLengthsSum", (D, I + 1, SHORT), refuses="an index is out of range", label="range"),
    Case("SparseLengthsSum", (D, I - 1, SHORT), refuses="an index is out of range", label="negative"),
    Case("SparseLengthsSum", (D, I, L), refuses="do not add up", label="lengths"),
    Case("SparseLengthsSum", (D, I.reshape(2, 2), SHORT), refuses="wrong rank", label="matrix of indices"),
    Case("SparseLengthsSumGradient", (D[:3], SHORT), {}, repeated),
    Case("SparseLengthsIndicesInGradientSumGradient", (D[:3], SHORT, I), {}, repeated),
    Case("UnsortedSegmentSum", (D, IDS), {}, by_ids, batch=(0, 1)),
    Case("UnsortedSegmentSum", (D, IDS.astype(np.int64)), {"num_segments": 7}, by_ids, batch=(0, 1)),
    Case("UnsortedSegmentSum", (D[:, 0], IDS), {}, by_ids, label="vector"),
    Case("UnsortedSegmentSum", (D, IDS), {"num_segments": 4}, refuses="an index is out of range"),
    Case("UnsortedSegmentSum", (D, IDS - 1), {}, refuses="an index is out of range", label="negative"),
    Case("UnsortedSegmentSum", (D, IDS[:5]), refuses="one segment id for each row", label="rows"),
    Case("UnsortedSegmentSum", (D, IDS), {"num_segments": -2}, refuses="no number of segments"),
    Case("UnsortedSegmentMean", (D, IDS), {}, mean_by_ids, batch=(0, 1)),
    Case("UnsortedSegmentMean", (normal(6, 2, 2), IDS), {"num_segments": 5}, mean_by_ids, label="rank 3"),
    Case("UnsortedSegmentMean", (D, IDS), {"num_segments": 4}, refuses="an index is out of range"),
    Case("UnsortedSegmentMean", (D, IDS), {"num_segments": -2}, refuses="no number of segments"),
    Case("LengthsToSegmentIds", (L,), {}, np.array([0, 0, 2, 2, 2, 3])),
    Case("LengthsToSegmentIds", (np.zeros(2, np.int64),), {}, np.empty(0, np.int32), label="none"),
    Case("LengthsToSegmentIds", (-L,), refuses="a length is negative", label="negative"),
]  # fmt: skip
