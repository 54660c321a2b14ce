"""Hot kernels give the very bits of the bodies they replace."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.ir import OperatorDef
from netdsl.ops import bound
from netdsl.runtime import Workspace
from netdsl.runtime.backends.numpy import make
from tests.runtime.operators import net, op


def both_ways(record: OperatorDef, *inputs: np.ndarray) -> None:
    ws = Workspace()
    for name, value in zip(record.inputs, inputs, strict=True):
        ws.feed(name, value)
    program = ws.create(net(record))
    program.run(2)
    assert program.steps[0].make is not None
    operator = bound(record)
    with np.errstate(all="ignore"):
        expected = operator.compute(make().xp, *operator.formal_inputs.group(inputs))
    expected = expected if isinstance(expected, tuple) else (expected,)
    for name, value in zip(record.outputs, expected, strict=False):
        found = ws.fetch(name)
        assert found.dtype == value.dtype
        np.testing.assert_array_equal(found, value)


def values(*shape: int, dtype: str) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


DTYPES = pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])


@DTYPES
@pytest.mark.parametrize(
    ("x", "w", "axes"),
    [
        ((5, 7), (3, 7), {}),
        ((0, 7), (3, 7), {}),
        ((2, 3, 4), (6, 2, 2), {"axis": 2, "axis_w": 1}),
        ((1, 1), (1, 1), {}),
    ],
)
def test_fc(x, w, axes, dtype):
    lead = x[: axes.get("axis", 1)]
    arrays = values(*x, dtype=dtype), values(*w, dtype=dtype), values(w[0], dtype=dtype)
    both_ways(op("y = FC(x, w, b)", **axes), *arrays)
    dy = values(*lead, w[0], dtype=dtype)
    both_ways(op("dw, db, dx = FCGradient(x, w, dy)", **axes), *arrays[:2], dy)
    both_ways(op("dw, db = FCGradient(x, w, dy)", **axes), *arrays[:2], dy)
