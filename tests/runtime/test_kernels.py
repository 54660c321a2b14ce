"""Hot kernels give the very bits of the bodies they replace."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.ir import OperatorDef
from netdsl.ops import bound
from netdsl.runtime import Workspace
from netdsl.runtime.backends.numpy import make
from netdsl.runtime.kernels.numpy.wide import convert
from tests.runtime.formulas import ARENA
from tests.runtime.operators import net, op


def both_ways(record: OperatorDef, *inputs: np.ndarray) -> None:
    ws = Workspace()
    for name, value in zip(record.inputs, inputs, strict=True):
        ws.feed(name, value)
    program = ws.create(net(record))
    program.run(2)
    assert program.plan.units[0].make is not None
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


def close(record: OperatorDef, *inputs: np.ndarray, exact: bool = False) -> None:
    """As :func:`both_ways`, for sums that a kernel may add up in another order."""
    ws = Workspace()
    for name, value in zip(record.inputs, inputs, strict=True):
        ws.feed(name, value)
    program = ws.create(net(record))
    program.run(2)
    assert program.plan.units[0].make is not None
    operator = bound(record)
    with np.errstate(all="ignore"):
        expected = operator.compute(make().xp, *operator.formal_inputs.group(inputs))
    expected = expected if isinstance(expected, tuple) else (expected,)
    rtol = 0 if exact else {2: 2e-3, 4: 2e-5, 8: 1e-12}[inputs[0].dtype.itemsize]
    for name, value in zip(record.outputs, expected, strict=False):
        np.testing.assert_allclose(ws.fetch(name), value, rtol=rtol, atol=rtol * 10)


CONVOLUTIONS = [
    ((3, 2, 6, 7), (4, 2, 3, 3), {"kernel": 3, "pad": 1}),
    ((3, 2, 6, 7), (4, 2, 3, 2), {"kernel_h": 3, "kernel_w": 2, "stride": 2}),
    ((2, 4, 7, 7), (6, 2, 3, 3), {"kernel": 3, "group": 2, "dilation": 2, "pad": 1}),
    ((2, 5, 6, 3), (4, 2, 2, 3), {"kernel": 2, "order": "NHWC", "pad_t": 1, "stride": 2}),
    ((2, 3, 9), (4, 3, 3), {"kernels": [3], "pads": [1, 0]}),
    ((1, 2, 4, 4, 4), (2, 2, 2, 2, 2), {"kernels": [2, 2, 2]}),
]


@DTYPES
@pytest.mark.parametrize(("x", "w", "window"), CONVOLUTIONS)
def test_conv(x, w, window, dtype):
    arrays = values(*x, dtype=dtype), values(*w, dtype=dtype), values(w[0], dtype=dtype)
    close(op("y = Conv(x, w, b)", **window), *arrays)
    close(op("y = Conv(x, w)", **window), *arrays[:2])
    (shape,) = {bound(op("y = Conv(x, w)", **window)).compute(make().xp, *arrays[:2]).shape}
    dy = values(*shape, dtype=dtype)
    close(op("dw, db, dx = ConvGradient(x, w, dy)", **window), *arrays[:2], dy)
    close(op("dw, db = ConvGradient(x, w, dy)", **window), *arrays[:2], dy)
    close(op("dw, dx = ConvGradient(x, w, dy)", no_bias=1, **window), *arrays[:2], dy)
    close(op("dw = ConvGradient(x, w, dy)", **window), *arrays[:2], dy)


@DTYPES
@pytest.mark.parametrize(
    ("x", "window"),
    [
        ((2, 3, 6, 6), {"kernel": 2, "stride": 2}),
        ((2, 3, 7, 7), {"kernel": 3, "stride": 2}),
        ((2, 6, 6, 3), {"kernel": 2, "stride": 1, "order": "NHWC"}),
        ((2, 3, 6, 6), {"global_pooling": 1}),
    ],
)
def test_max_pool(x, window, dtype):
    array = np.round(values(*x, dtype=dtype) * 3)  # with ties
    array.reshape(-1)[::7] = np.nan
    close(op("y = MaxPool(x)", **window), array, exact=True)
    y = bound(op("y = MaxPool(x)", **window)).compute(make().xp, array)
    dy = values(*y.shape, dtype=dtype)
    dy.reshape(-1)[0] = np.inf
    close(op("dx = MaxPoolGradient(x, y, dy)", **window), array, y, dy, exact=dtype != "float16")


def test_halves_are_converted_as_numpy_does_large_and_small():
    for scale in (1e-6, 1, 1e4):
        single = (values(3000, dtype="float32") * scale).astype(np.float32)
        half, back = np.empty(3000, np.float16), np.empty(3000, np.float32)
        for function, arguments in [*convert(half, single, ARENA), *convert(back, half, ARENA)]:
            function(*arguments)
        with np.errstate(all="ignore"):
            assert half.tobytes() == single.astype(np.float16).tobytes()
        assert back.tobytes() == half.astype(np.float32).tobytes()
