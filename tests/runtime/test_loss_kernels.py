"""The hot kernels of softmax and its loss give the bits of the bodies they replace, and refuse as they do."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.errors import RunError
from netdsl.runtime import Workspace
from tests.runtime.operators import net, op
from tests.runtime.test_kernels import both_ways, values

DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
SHAPES = pytest.mark.parametrize(
    ("shape", "axis"), [((5, 7), 1), ((1, 1), 1), ((2, 3, 4), 1), ((2, 3, 4), -1), ((6,), 0), ((40, 300), 1)]
)


@DTYPES
@SHAPES
def test_softmax(shape, axis, dtype):
    both_ways(op("y = Softmax(x)", axis=axis), values(*shape, dtype=dtype) * 20)
    y, dy = abs(values(*shape, dtype=dtype)), values(*shape, dtype=dtype)
    both_ways(op("dx = SoftmaxGradient(y, dy)", axis=axis), y, dy)


@DTYPES
@SHAPES
@pytest.mark.parametrize("weights", ["none", "some", "zero"])
@pytest.mark.parametrize("args", [{}, {"scale": 2.5}, {"average_by_batch_size": 1}])
def test_softmax_with_loss(shape, axis, weights, args, dtype):
    x = values(*shape, dtype=dtype)
    lead = shape[: axis % len(shape)]
    n = int(np.prod(lead))
    labels = np.random.default_rng(n).integers(0, x.size // n, lead or (1,)).astype(np.int32)
    w = [] if weights == "none" else [abs(values(n, dtype=dtype)) * (weights == "some")]
    p, dloss = abs(values(*shape, dtype=dtype)), np.array(1.5, dtype)
    named = "".join(", w" for _ in w)
    both_ways(op(f"p, loss = SoftmaxWithLoss(x, t{named})", axis=axis, **args), x, labels, *w)
    both_ways(op(f"dx = SoftmaxWithLossGradient(x, t{named}, p, d)", axis=axis, **args), x, labels, *w, p, dloss)


@pytest.mark.parametrize("label", [3, -1, 2**31 - 1])
def test_a_wrong_label_is_refused_before_anything_is_written(label):
    ws = Workspace()
    ws.feed("x", values(2, 3, dtype="float32"))
    ws.feed("t", np.array([0, 1], np.int32))
    program = ws.create(net(op("p, loss = SoftmaxWithLoss(x, t)")))
    program.run()
    assert program.plan.units[0].make is not None
    before = ws.fetch("p").copy()
    ws.feed("x", 2 * values(2, 3, dtype="float32"))
    ws.feed("t", np.array([0, label], np.int32))
    with pytest.raises(RunError, match="a label is no class"):
        program.run()
    np.testing.assert_array_equal(ws.fetch("p"), before)


def test_what_the_kernels_do_not_cover_runs_all_the_same():
    ws = Workspace()
    ws.feed("x", values(2, 4, dtype="float16"))
    ws.feed("t", np.full((2, 4), 0.25, np.float16))
    program = ws.create(net(op("p, loss = SoftmaxWithLoss(x, t)", label_prob=1)))
    program.run()
    assert program.plan.units[0].make is None
    np.testing.assert_allclose(ws.fetch("p").sum(axis=1, dtype=np.float64), 1, rtol=1e-3)
