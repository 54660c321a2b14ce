"""Arithmetic over every place and stretching of B, reductions over any axes, in both dtypes: where slow tests run."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from netdsl.testing import Case, normal, spread, uniform
from tests.ops.math.case_arithmetic import FORMULAS, by_axis
from tests.ops.math.case_reduce import FUNCTIONS, reduced


def arithmetic(op: str, dtype: str, axis: int, count: int, ones: tuple[int, ...]) -> Case:
    """B stands for ``count`` axes of A from ``axis`` on, with extent 1 at its axes ``ones``."""
    extents = [1 if i in ones else (2, 3, 4)[axis + i] for i in range(count)]
    a, b = normal(2, 3, 4), uniform(*extents, low=0.5, high=2, seed=1)
    label = f"{dtype} from {axis}, {extents}"
    expect, args = by_axis(FORMULAS[op], axis), {"broadcast": 1, "axis": axis}
    return Case(op, (a.astype(dtype), b.astype(dtype)), args, expect, label=label, slow=True)


PLACES = [
    (axis, count, ones)
    for axis in range(3)
    for count in range(1, 4 - axis)
    for size in range(count + 1)
    for ones in itertools.combinations(range(count), size)
]

CASES = [
    *(
        arithmetic(op, dtype, *place)
        for op, dtype, place in itertools.product(FORMULAS, ("float32", "float64"), PLACES)
    ),
    *(
        Case(
            op,
            (spread(2, 3, 2).astype(dtype),),
            {"axes": list(axes), "keepdims": keep},
            functools.partial(reduced, FUNCTIONS[op]),
            label=f"{np.dtype(dtype)} over {axes}, keepdims {keep}",
            slow=True,
        )
        for op, dtype, keep in itertools.product(FUNCTIONS, ("float32", "float64"), (0, 1))
        for size in (1, 2, 3)
        for axes in itertools.combinations(range(3), size)
    ),
]
