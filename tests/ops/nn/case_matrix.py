"""Every combination of what convolutions and pools can be told, rare ones included: only where slow tests run."""

from __future__ import annotations

import itertools
from typing import Any

from netdsl.testing import Case, normal, spread
from tests.ops.nn.case_conv import conv
from tests.ops.nn.case_pool import largest, mean

PADS = {"none": [0, 0, 0, 0], "even": [1, 1, 1, 1], "one-sided": [2, 0, 1, 1]}


def convolution(
    order: str, group: int, stride: int, dilation: int, pads: str, kernel: tuple[int, int], bias: bool
) -> Case:
    image, filters = [2, 4, 5, 6], [4, 4 // group, *kernel]
    if order == "NHWC":
        image, filters = [2, 5, 6, 4], [4, *kernel, 4 // group]
    inputs = [normal(*image), normal(*filters, seed=1), normal(4, seed=2)][: 3 if bias else 2]
    args: dict[str, Any] = {"kernels": list(kernel), "pads": PADS[pads], "strides": [stride, 1]}
    args |= {"dilations": [1, dilation], "group": group, "order": order}
    label = f"{order} group {group} stride {stride} dilation {dilation} pads {pads} kernel {kernel} bias {bias}"
    return Case("Conv", tuple(inputs), args, conv, label=label, slow=True)


def pool(op: str, order: str, stride: int, pads: str, kernel: tuple[int, int], padding: int) -> Case:
    x = spread(2, 3, 5, 6) if order == "NCHW" else spread(2, 5, 6, 3)
    args: dict[str, Any] = {"kernels": list(kernel), "strides": [1, stride], "pads": PADS[pads], "order": order}
    if padding:
        args["count_include_pad"] = 1
    label = f"{order} stride {stride} pads {pads} kernel {kernel} padding counts {padding}"
    return Case(op, (x,), args, mean if op == "AveragePool" else largest, label=label, slow=True)


ORDERS, KERNELS = ("NCHW", "NHWC"), [(3, 3), (3, 2)]

CASES = [
    *itertools.starmap(
        convolution, itertools.product(ORDERS, (1, 2, 4), (1, 2), (1, 2), PADS, [(1, 1), (2, 3)], (False, True))
    ),
    *itertools.starmap(pool, itertools.product(["MaxPool"], ORDERS, (1, 2, 3), PADS, KERNELS, [0])),
    *itertools.starmap(pool, itertools.product(["AveragePool"], ORDERS, (1, 2, 3), PADS, KERNELS, [0, 1])),
]
