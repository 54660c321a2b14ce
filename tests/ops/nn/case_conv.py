"""Cases of the convolutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.nn.windows import channels_back, channels_first, per_axis, windows


def conv(
    X: Any, filter: Any, bias: Any = None, *, group: int = 1, order: str = "NCHW", pads: Any = None, **args: Any
) -> Any:
    """In float64, one window, filter and channel at a time."""
    x, w = channels_first(X, order), channels_first(filter, order)
    rank, kernel = x.ndim - 2, w.shape[2:]
    stride = per_axis(rank, args.get("stride"), args.get("strides"), h=args.get("stride_h"), w=args.get("stride_w"))
    dilation = per_axis(
        rank, args.get("dilation"), args.get("dilations"), h=args.get("dilation_h"), w=args.get("dilation_w")
    )
    sides = [args.get(f"pad_{side}", args.get("pad", 0)) for side in "tlbr"] if pads is None and rank == 2 else pads
    sides = sides or [0] * (2 * rank)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    counts = [(n + sides[i] + sides[rank + i] - reach[i]) // stride[i] + 1 for i, n in enumerate(x.shape[2:])]
    y = np.zeros((len(x), len(w), *counts))
    per_group, filters = w.shape[1], len(w) // group
    for place, inside in windows(x.shape[2:], kernel, stride, dilation, sides[:rank], counts):
        for n, m in np.ndindex(len(x), len(w)):
            first = m // filters * per_group
            terms = [x[n, first + c][at] * w[m, c][offset] for c in range(per_group) for offset, at in inside]
            y[(n, m, *place)] = math.fsum(terms) + (0.0 if bias is None else bias[m])
    return channels_back(y, order)


X, W, B = normal(2, 3, 5, 6), normal(4, 3, 3, 2, seed=1), normal(4, seed=2)
SQUARE = normal(2, 3, 3, 3, seed=1)
HW = {"kernel_h": 3, "kernel_w": 2}
LINE, CUBE = normal(2, 4, 7), normal(1, 2, 3, 4, 3)
THREE = {"kernel": 3}

CASES = [
    Case("Conv", (X, W, B), HW, conv, batch=(0,)),
    Case("Conv", (X, W), HW, conv, label="no bias"),
    Case("Conv", (X, normal(4, 3, 1, 1, seed=1), B), {"kernel": 1}, conv, batch=(0,)),
    Case("Conv", (X, normal(4, 3, 1, 1, seed=1), B), {"kernel": 1, "stride": 2, "pad": 1}, conv),
    Case("Conv", (X, SQUARE, B[:2]), {"kernel": 3, "pad": 1, "stride": 2}, conv),
    Case("Conv", (X, SQUARE, B[:2]), {"kernel": 3, "dilation": 2, "pad": 2}, conv),
    Case("Conv", (X, W, B), {**HW, "stride_h": 2, "stride_w": 3, "dilation_h": 1, "dilation_w": 2}, conv),
    Case("Conv", (X, W, B), {**HW, "pad_t": 2, "pad_l": 0, "pad_b": 1, "pad_r": 3}, conv),
    Case("Conv", (X, W, B), {"kernels": [3, 2], "pads": [2, 0, 1, 1], "strides": [2, 1]}, conv, label="lists"),
    Case(
        "Conv", (normal(2, 4, 4, 4), normal(6, 2, 3, 3, seed=1), normal(6)), {"kernel": 3, "group": 2, "pad": 1}, conv
    ),
    Case("Conv", (normal(1, 4, 4, 4), normal(4, 1, 3, 3, seed=1)), {"kernel": 3, "group": 4}, conv, label="depthwise"),
    Case(
        "Conv", (normal(2, 5, 4, 3), normal(2, 3, 3, 3, seed=1), B[:2]), {"kernel": 3, "pad": 1, "order": "NHWC"}, conv
    ),
    Case(
        "Conv",
        (normal(1, 5, 4, 4), normal(6, 2, 2, 2, seed=1), normal(6)),
        {"kernel": 2, "group": 2, "stride": 2, "order": "NHWC"},
        conv,
        batch=(0,),
        label="groups, channels last",
    ),
    Case(
        "Conv", (LINE, normal(3, 4, 3, seed=1), B[:3]), {"kernels": [3], "pads": [1, 2]}, conv, label="1-d", batch=(0,)
    ),
    Case(
        "Conv",
        (CUBE, normal(3, 2, 2, 2, 2, seed=1), B[:3]),
        {"kernels": [2, 2, 2], "strides": [1, 2, 1]},
        conv,
        label="3-d",
    ),
    Case(
        "Conv",
        (normal(1, 2, 3, 3, 2, 3), normal(2, 2, 2, 2, 2, 2, seed=1), B[:2]),
        {"kernels": [2] * 4, "dilations": [2, 1, 1, 1]},
        conv,
        label="4-d",
    ),
    Case("Conv", (X[:1], SQUARE, B[:2]), {"kernel": 3, "no_gradient_to_input": 1}, conv, grad=(1, 2)),
    Case(
        "Conv",
        (X, SQUARE, B[:2]),
        {"kernel": 3, "stride": 2, "legacy_pad": 1},
        lambda *a, **_: conv(*a, stride=2),
        label="VALID",
    ),
    Case(
        "Conv",
        (normal(1, 1, 6, 8), normal(2, 1, 4, 4, seed=1)),
        {"kernel": 4, "stride": 3, "legacy_pad": 2},
        lambda *a, **_: conv(*a, stride=3, pads=[0, 1, 1, 1]),
        label="SAME",
    ),
    Case(
        "Conv",
        (normal(1, 1, 9, 8), normal(1, 1, 1, 1, seed=1)),
        {"kernel": 1, "stride": 3, "legacy_pad": 2},
        lambda x, w, **_: conv(x[:, :, 1:], w, stride=3),
        label="SAME crops",
    ),
    Case(
        "Conv",
        (normal(1, 1, 6, 8), SQUARE[:, :1]),
        {"kernel": 3, "stride": 2, "legacy_pad": 3},
        lambda *a, **_: conv(*a, stride=2, pads=[0, 0, 1, 1]),
        label="CAFFE_LEGACY_POOLING",
    ),
    Case("Conv1D", (LINE, normal(3, 4, 2, seed=1)), {"kernels": [2], "dilations": [3]}, conv),
    Case("Conv2D", (X, SQUARE, B[:2]), {"kernel": 3, "pad": 1}, conv),
    Case(
        "Conv3D", (CUBE, normal(2, 2, 1, 2, 3, seed=1), B[:2]), {"kernels": [1, 2, 3], "pads": [0, 1, 1, 0, 0, 1]}, conv
    ),
    Case("Conv", (X, SQUARE), refuses="needs the extent of its window", label="no kernel"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "global_pooling": 1}, refuses="does not pool"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "group": 0}, refuses="group must be positive"),
    Case("Conv", (X, SQUARE), {"kernel": 2}, refuses="another window"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "kernels": [3, 2]}, refuses="given twice, and differently"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "pad": 1, "pad_t": 2}, refuses="given twice, and differently"),
    Case("Conv", (X, SQUARE), {"kernel_h": 3}, refuses="must come together"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "pad": 1, "legacy_pad": 2}, refuses="no room for other padding"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "dilation": 2, "legacy_pad": 2}, refuses="takes no dilation"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "legacy_pad": 4}, refuses="unknown legacy_pad"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "strides": [1]}, refuses="do not fit a window of 2 axes"),
    Case("Conv", (X, SQUARE), {"kernel": -3}, refuses="must be positive"),
    Case("Conv", (X, SQUARE), {"kernel": 3, "order": "CHWN"}, refuses="cannot be 'CHWN'"),
    Case("Conv", (X, SQUARE[:, :2]), THREE, refuses="channels of the input", label="channels"),
    Case("Conv", (normal(1, 6, 4, 4), normal(3, 3, 3, 3)), {"kernel": 3, "group": 2}, refuses="divide into groups"),
    Case("Conv", (X, SQUARE, B), THREE, refuses="one element for each filter", label="bias"),
    Case("Conv", (X[:, :, :2], SQUARE), THREE, refuses="larger than the padded input", label="small"),
    Case("Conv", (LINE, normal(3, 4, 3)), THREE, refuses="kernels, strides and pads", label="kernel is for two axes"),
    Case("Conv1D", (X, SQUARE), THREE, refuses="does not fit the rank", label="rank"),
]
