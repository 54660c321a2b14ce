"""Cases of the pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, normal, spread
from tests.ops.nn.windows import channels_back, channels_first, per_axis, windows


def pooled(fold: Callable[[np.ndarray, int], Any], X: np.ndarray, args: Any) -> np.ndarray:
    """``fold`` the elements of each window (and the size of the window) in float64, one window at a time."""
    order = args.get("order", "NCHW")
    x = channels_first(X, order)
    rank, whole = x.ndim - 2, args.get("global_pooling")
    kernel = (
        x.shape[2:]
        if whole
        else per_axis(rank, args.get("kernel"), args.get("kernels"), h=args.get("kernel_h"), w=args.get("kernel_w"))
    )
    stride = per_axis(rank, args.get("stride"), args.get("strides"), h=args.get("stride_h"), w=args.get("stride_w"))
    sides = args.get("pads") or [args.get(f"pad_{side}", args.get("pad", 0)) for side in "tlbr"]
    sides = sides if len(sides) == 2 * rank else [0] * (2 * rank)
    counts = [(n + sides[i] + sides[rank + i] - kernel[i]) // stride[i] + 1 for i, n in enumerate(x.shape[2:])]
    y = np.zeros((*x.shape[:2], *counts))
    for place, inside in windows(x.shape[2:], kernel, stride, [1] * rank, sides[:rank], counts):
        for n, c in np.ndindex(*x.shape[:2]):
            y[(n, c, *place)] = fold(np.array([x[n, c][at] for _, at in inside]), int(np.prod(kernel)))
    return channels_back(y, order)


def largest(X: np.ndarray, **args: Any) -> np.ndarray:
    return pooled(lambda values, _: values.max(), X, args)


def mean(X: np.ndarray, **args: Any) -> np.ndarray:
    padding = args.get("count_include_pad")
    return pooled(lambda values, size: values.sum() / (size if padding else values.size), X, args)


def sizes(legacy: dict[str, int], counts: dict[int, int]) -> list[Case]:
    """Windows of 3 at distance 2: how many there are along an axis of each extent."""
    return [
        Case(
            "MaxPool",
            (spread(1, 1, extent, 3),),
            {"kernel_h": 3, "kernel_w": 1, "stride_h": 2, "stride_w": 1, **legacy},
            holds=lambda _, outputs, count=count: np.testing.assert_equal(outputs[0].shape[2], count),
            label=f"{extent} gives {count}, {legacy}",
        )
        for extent, count in counts.items()
    ]


PLANE, LINE, CUBE = spread(2, 3, 5, 6), spread(2, 3, 7), spread(1, 2, 3, 4, 3)
HW = {"kernel_h": 2, "kernel_w": 3, "stride_h": 1, "stride_w": 2}
ONE_SIDED = {"kernel": 3, "stride": 2, "pad_t": 1, "pad_l": 0, "pad_b": 0, "pad_r": 2}
ALIKE: list[tuple[str, np.ndarray, dict[str, Any]]] = [
    ("", PLANE, {"kernel": 2, "stride": 2}),
    ("", PLANE, {"kernel": 3}),
    ("", PLANE, {"kernel": 3, "stride": 2, "pad": 1}),
    ("", PLANE, HW),
    ("", PLANE, ONE_SIDED),
    ("", PLANE, {"kernel": 2, "stride": 3}),
    ("", PLANE, {"kernels": [2, 3], "strides": [1, 2], "pads": [1, 0, 0, 1]}),
    ("", PLANE, {"kernel": 2, "stride": 2, "order": "NHWC"}),
    ("", PLANE, {"kernel": 3, "pad": 1, "order": "NHWC"}),
    ("", PLANE, {"global_pooling": 1}),
    ("", LINE, {"kernels": [3], "strides": [2], "pads": [1, 0]}),
    ("", CUBE, {"kernels": [2, 2, 2], "strides": [1, 2, 1]}),
    ("", CUBE, {"kernels": [2, 2, 2], "pads": [1, 1, 1, 0, 0, 0]}),
    ("", CUBE, {"global_pooling": 1, "order": "NHWC"}),
    ("", spread(1, 2, 3, 3, 2, 3), {"kernels": [2, 1, 2, 2]}),
    ("1D", LINE, {"kernels": [2], "strides": [2]}),
    ("1D", LINE, {"global_pooling": 1}),
    ("2D", PLANE, {"kernel": 3, "stride": 2, "pad": 1}),
    ("3D", CUBE, {"kernels": [2, 2, 2], "strides": [1, 2, 1]}),
]

CASES = [
    *(
        Case(f"{kind}Pool{dims}", (x,), args, expect, batch=(0,), label=f"{x.ndim - 2}-d {args}")
        for kind, expect in (("Max", largest), ("Average", mean))
        for dims, x, args in ALIKE
    ),
    Case("MaxPool", (-np.abs(PLANE),), {"kernel": 3, "stride": 2, "pad": 1}, largest, label="padding never wins"),
    Case(
        "MaxPool",
        (np.array([[[[1, np.nan, 3], [np.nan, 2, 1]]]], np.float32),),
        {"kernel": 2},
        np.array([[[[2, np.nan]]]], np.float32),
        grad=False,
        label="NaN counts as the first element",
    ),
    Case(
        "MaxPoolGradient",
        (
            np.array([[[[1, 1, 0], [1, 0, 2]]]], np.float32),
            np.array([[[[1, 2]]]], np.float32),
            np.array([[[[3, 5]]]], np.float32),
        ),
        {"kernel": 2},
        np.array([[[[3, 3, 0], [3, 0, 5]]]], np.float32),
        label="ties share nothing",
    ),
    Case("AveragePool", (PLANE,), {"kernel": 3, "stride": 2, "pad": 1, "count_include_pad": 1}, mean),
    Case("AveragePool", (PLANE,), {**ONE_SIDED, "count_include_pad": 1}, mean),
    Case(
        "AveragePool",
        (np.ones((1, 1, 4, 4), np.float32),),
        {"kernel": 3, "stride": 2, "pad": 1, "legacy_pad": 3},
        np.ones((1, 1, 3, 3), np.float32),
        label="rounded up",
    ),
    Case(
        "AveragePool",
        (np.ones((1, 1, 4, 4), np.float32),),
        {"kernel": 3, "stride": 2, "legacy_pad": 3, "count_include_pad": 1},
        np.array([[[[1, 2 / 3], [2 / 3, 4 / 9]]]], np.float32),
        label="rounded up, padding counts",
    ),
    Case(
        "AveragePool",
        (normal(1, 1, 4, 4),),
        {"kernel": 1, "stride": 2, "legacy_pad": 2},
        lambda X, **_: X[:, :, ::2, ::2],
    ),
    Case("MaxPool", (spread(1, 1, 4, 4),), {"kernel": 2, "legacy_pad": 1}, lambda X, **_: largest(X, kernel=2)),
    *sizes({}, {6: 2, 7: 3, 8: 3, 112: 55}),
    *sizes({"legacy_pad": 2}, {6: 3, 7: 4, 8: 4, 112: 56}),
    *sizes({"legacy_pad": 3}, {6: 3, 7: 3, 8: 4, 112: 56}),
    *sizes({"pad_t": 1, "pad_b": 1}, {6: 3, 7: 4, 8: 4, 112: 56}),
    *sizes({"pad_t": 1, "pad_b": 1, "legacy_pad": 3}, {6: 4, 7: 4, 8: 5, 112: 57}),
    *(
        case
        for op in ("MaxPool", "AveragePool")
        for case in (
            Case(op, (PLANE,), refuses="needs the extent of its window", label="no kernel"),
            Case(op, (PLANE,), {"kernel": 2, "dilation": 2}, refuses="takes no dilation"),
            Case(op, (PLANE,), {"kernel": 2, "group": 3}, refuses="every channel is pooled alone"),
            Case(op, (PLANE,), {"kernel": 2, "pad": 2}, refuses="padding must be smaller than the window"),
            Case(op, (PLANE,), {"global_pooling": 1, "pad": 1}, refuses="global_pooling leaves no room"),
            Case(op, (PLANE,), {"kernel": 6}, refuses="larger than the padded input"),
            Case(op, (PLANE[..., :0],), {"global_pooling": 1}, refuses="nothing to pool", label="empty"),
            Case(op, (LINE,), {"kernel": 2}, refuses="kernels, strides and pads", label="kernel is for two axes"),
            Case(f"{op}1D", (PLANE,), {"kernels": [2]}, refuses="does not fit the rank"),
            Case(f"{op}Gradient", (PLANE, PLANE, PLANE), {"kernel": 2}, refuses="do not fit the windows"),
        )
    ),
]
