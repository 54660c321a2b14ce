"""Gradients written in several steps, and those of operators that worked in place."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.analysis.gradient import gradient
from netdsl.errors import GradientError
from netdsl.ir import NetDef, OperatorDef
from netdsl.testing import execute


def net(*ops: OperatorDef) -> NetDef:
    return NetDef("composed", ops)


def lines(of: NetDef, loss: str) -> list[str]:
    return [str(op) for op in gradient(of, {loss: None}).ops]


def gradient_of(of: NetDef, loss: str, blob: str, **feeds: np.ndarray) -> np.ndarray:
    """Run a net and its backward pass, and return the gradient of a blob."""
    made = gradient(of, {loss: None})
    return execute(NetDef("both", (*of.ops, *made.ops)), feeds)[str(made.grads[blob])]


def twice(op: str) -> NetDef:
    return net(
        OperatorDef(op, ("x",), ("y",)),
        OperatorDef(op, ("x",), ("z",)),
        OperatorDef("Sum", ("y", "z"), ("s",)),
        OperatorDef("SumElements", ("s",), ("loss",)),
    )


def test_every_step_of_a_later_contribution_is_renamed() -> None:
    assert lines(twice("Sqrt"), "loss")[2:] == [
        "x_grad = Scale(s_grad)",
        "x_grad = Div(x_grad, z)",
        "_x_grad_autosplit_0 = Scale(s_grad)",
        "_x_grad_autosplit_0 = Div(_x_grad_autosplit_0, y)",
        "x_grad = Sum(x_grad, _x_grad_autosplit_0)",
    ]


def test_a_gradient_that_two_blobs_share_is_not_overwritten() -> None:
    assert "x_grad = Scale(s_grad)" in lines(twice("Sqr"), "loss")
    alone = net(OperatorDef("Sqr", ("x",), ("y",)), OperatorDef("SumElements", ("y",), ("loss",)))
    assert "y_grad = Scale(y_grad)" in lines(alone, "loss")


def test_a_gradient_that_is_a_blob_of_the_net_is_not_overwritten() -> None:
    of = net(OperatorDef("Sqr", ("x",), ("y",)), OperatorDef("Abs", ("seed",), ("size",)))
    assert next(str(op) for op in gradient(of, {"y": "seed"}).ops) == "x_grad = Scale(seed)"


@pytest.mark.parametrize(
    ("op", "slope"), [("Sqrt", lambda x: 0.5 / np.sqrt(x)), ("Sqr", lambda x: 2 * x)], ids=["Sqrt", "Sqr"]
)
def test_two_readers_of_one_blob_add_up(op: str, slope: object) -> None:
    x = np.array([1, 4, 9], np.float32)
    np.testing.assert_allclose(gradient_of(twice(op), "loss", "x", x=x), 2 * slope(x), rtol=1e-6)  # type: ignore[operator]


def test_a_blob_that_is_base_and_exponent() -> None:
    x = np.array([0.5, 1, 2], np.float32)
    of = net(OperatorDef("Pow", ("x", "x"), ("y",)), OperatorDef("SumElements", ("y",), ("loss",)))
    np.testing.assert_allclose(gradient_of(of, "loss", "x", x=x), x**x * (np.log(x) + 1), rtol=1e-5)


@pytest.mark.parametrize(
    "op",
    [
        OperatorDef("Sqr", ("x",), ("x",)),
        OperatorDef("Log", ("x",), ("x",)),
        OperatorDef("Mul", ("x", "b"), ("x",)),
        OperatorDef("Mul", ("b", "x"), ("x",)),
        OperatorDef("Pow", ("x",), ("x",), {"exponent": 2.0}),
    ],
    ids=str,
)
def test_an_input_overwritten_in_place_is_refused_where_its_value_is_needed(op: OperatorDef) -> None:
    with pytest.raises(GradientError, match="needs blob 'x' as it was"):
        gradient(net(op), {"x": None})


@pytest.mark.parametrize(
    ("op", "slope"),
    [
        (OperatorDef("Add", ("x", "b"), ("x",)), lambda x, b: np.ones_like(x)),
        (OperatorDef("Sub", ("b", "x"), ("x",)), lambda x, b: -np.ones_like(x)),
        (OperatorDef("Div", ("x", "b"), ("x",)), lambda x, b: 1 / b),
        (OperatorDef("Exp", ("x",), ("x",)), lambda x, b: np.exp(x)),
        (OperatorDef("Sqrt", ("x",), ("x",)), lambda x, b: 0.5 / np.sqrt(x)),
        (OperatorDef("Clip", ("x",), ("x",), {"min": 0.0, "max": 2.0}), lambda x, b: (x < 2) * 1.0),
    ],
    ids=["Add", "Sub", "Div", "Exp", "Sqrt", "Clip"],
)
def test_in_place_is_right_where_shape_or_output_suffice(op: OperatorDef, slope: object) -> None:
    x, b = np.array([1, 4], np.float32), np.array([2, 5], np.float32)
    of = net(op, OperatorDef("SumElements", ("x",), ("loss",)))
    made = gradient(of, {"loss": None})
    found = execute(NetDef("both", (*of.ops, *made.ops)), {"x": x.copy(), "b": b})[str(made.grads["x"])]
    np.testing.assert_allclose(found, slope(x, b), rtol=1e-6)  # type: ignore[operator]
