"""Gradients: names, order and accumulation as measured on Caffe2, and clear refusals."""

from __future__ import annotations

from typing import Any

import pytest

import netdsl as nd
from netdsl.errors import GradientError


def lines(net: nd.Net, start: int = 0) -> list[str]:
    return [str(op) for op in net.definition.ops[start:]]


def test_a_blob_read_twice_gets_the_sum_of_its_gradients() -> None:
    net = nd.Net("n")
    net.Mul(["x", "w"], "a")
    net.Mul(["x", "a"], "b")
    net.Add(["a", "b"], "c")
    net.SumElements("c", "l")
    grads = net.add_gradients("l")
    assert lines(net, 4) == [
        "l_autogen_grad = ConstantFill(l)",
        "c_grad = SumElementsGradient(c, l_autogen_grad)",
        "a_grad, b_grad = AddGradient(c_grad, a, b)",
        "x_grad, _a_grad_autosplit_0 = MulGradient(b_grad, x, a)",
        "a_grad = Sum(a_grad, _a_grad_autosplit_0)",
        "_x_grad_autosplit_0, w_grad = MulGradient(a_grad, x, w)",
        "x_grad = Sum(x_grad, _x_grad_autosplit_0)",
    ]
    assert {k: str(v) for k, v in grads.items()} == {
        "l": "l_autogen_grad",
        "c": "c_grad",
        "a": "a_grad",
        "b": "b_grad",
        "x": "x_grad",
        "w": "w_grad",
    }
    assert [op.is_gradient for op in net.definition.ops[4:]] == [False, True, True, True, False, True, False]


def test_sparse_gradients_are_joined_by_concatenation() -> None:
    net = nd.Net("n")
    net.Gather(["w", "i"], "a")
    net.Gather(["w", "j"], "b")
    net.Add(["a", "b"], "s")
    net.SumElements("s", "l")
    grads = net.add_gradients("l")
    assert lines(net, 4) == [
        "l_autogen_grad = ConstantFill(l)",
        "s_grad = SumElementsGradient(s, l_autogen_grad)",
        "a_grad, b_grad = AddGradient(s_grad, a, b)",
        "w_grad_indices_concat, w_grad_indices_concat_split = Concat(j, i)",
        "w_grad_values_concat, w_grad_values_concat_split = Concat(b_grad, a_grad)",
    ]
    found = grads["w"]
    assert isinstance(found, nd.SparseGradient)
    assert (str(found.indices), str(found.values)) == ("w_grad_indices_concat", "w_grad_values_concat")


def test_dense_and_sparse_gradients_of_one_blob_are_refused() -> None:
    net = nd.Net("n")
    net.Gather(["w", "i"], "a")
    net.FC(["a", "w", "b"], "y")
    net.SumElements("y", "l")
    with pytest.raises(GradientError, match="blob 'w' gets a dense and a sparse gradient"):
        net.add_gradients("l")


def test_in_place_relu_after_fc() -> None:
    net = nd.Net("n")
    net.FC(["x", "w", "b"], "y")
    net.Relu("y", "y")
    net.SumElements("y", "l")
    net.add_gradients("l")
    assert lines(net, 3) == [
        "l_autogen_grad = ConstantFill(l)",
        "y_grad = SumElementsGradient(y, l_autogen_grad)",
        "y_grad = ReluGradient(y, y_grad)",
        "w_grad, b_grad, x_grad = FCGradient(x, w, y_grad)",
    ]


def overwritten_sqr(net: Any, fresh: bool) -> str:
    net.Sqr("x", "y")
    x = net.Relu("x", "x2" if fresh else "x")
    net.Add(["y", x], "s")
    return "s"


def overwritten_relu(net: Any, fresh: bool) -> str:
    net.FC(["x", "w", "b"], "y")
    net.Relu("y", "y")
    net.Dropout("y", ["z" if fresh else "y", "mask"], is_test=0, ratio=0.5)
    return "z" if fresh else "y"


@pytest.mark.parametrize("build", [overwritten_sqr, overwritten_relu])
def test_an_overwritten_input_is_refused(build: Any) -> None:
    """C07: the gradient needs a value that the forward pass overwrote."""
    net = nd.Net("bad")
    net.SumElements(build(net, False), "l")
    before = net.dump()
    with pytest.raises(GradientError, match="is overwritten later") as caught:
        net.add_gradients("l")
    assert {"needed by", "overwritten by", "fix"} <= set(caught.value.details)
    assert net.dump() == before
    fresh = nd.Net("good")
    fresh.SumElements(build(fresh, True), "l")
    fresh.add_gradients("l")


def test_overwritten_input_names_both_operators_and_versions() -> None:
    net = nd.Net("bad")
    net.SumElements(overwritten_sqr(net, False), "l")
    with pytest.raises(GradientError) as caught:
        net.add_gradients("l")
    details = caught.value.details
    assert "blob 'x'" in caught.value.what
    assert str(details["needed by"]).startswith("y = Sqr(x)")
    assert "version 0" in str(details["needed by"])
    assert str(details["overwritten by"]).startswith("x = Relu(x)")
    assert "version 1" in str(details["overwritten by"])


@pytest.mark.parametrize("in_place", [False, True])
def test_stop_gradient(in_place: bool) -> None:
    """C08: nothing flows past StopGradient."""
    net = nd.Net("n")
    net.FC(["x", "w1", "b1"], "h")
    h = net.StopGradient("h", "h" if in_place else "h2")
    net.FC([h, "w2", "b2"], "y")
    net.AveragedLoss("y", "loss")
    expected = {"b2", "loss", "w2", "y"} | (set() if in_place else {"h2"})
    assert set(net.add_gradients("loss")) == expected


def test_wrt_leaves_out_what_is_not_needed() -> None:
    net = nd.Net("n")
    net.FC(["x", "w1", "b1"], "h")
    net.FC(["h", "w2", "b2"], "y")
    net.AveragedLoss("y", "loss")
    grads = net.add_gradients("loss", wrt=["w2", "b2"])
    assert lines(net, 3) == [
        "loss_autogen_grad = ConstantFill(loss)",
        "y_grad = AveragedLossGradient(y, loss_autogen_grad)",
        "w2_grad, b2_grad = FCGradient(h, w2, y_grad)",
    ]
    assert "w1" not in grads


def test_wrt_a_blob_that_is_not_there() -> None:
    net = nd.Net("n")
    net.FC(["x", "weight", "b"], "y")
    net.AveragedLoss("y", "loss")
    with pytest.raises(GradientError, match="wrt names blob 'wieght'") as caught:
        net.add_gradients("loss", wrt="wieght")
    assert caught.value.details["did you mean"] == "weight"


def test_several_losses_and_given_gradients() -> None:
    net = nd.Net("n")
    net.FC(["x", "w", "b"], "y")
    net.AveragedLoss("y", "l1")
    net.SumElements("y", "l2")
    net.add_gradients({"l1": None, "l2": "seed"})
    assert lines(net, 3) == [
        "l1_autogen_grad = ConstantFill(l1)",
        "y_grad = SumElementsGradient(y, seed)",
        "_y_grad_autosplit_0 = AveragedLossGradient(y, l1_autogen_grad)",
        "y_grad = Sum(y_grad, _y_grad_autosplit_0)",
        "w_grad, b_grad, x_grad = FCGradient(x, w, y_grad)",
    ]


def test_a_loss_nobody_computes() -> None:
    net = nd.Net("n")
    net.AveragedLoss("y", "loss")
    with pytest.raises(GradientError, match="no operator of net 'n' computes the loss 'los'") as caught:
        net.add_gradients("los")
    assert caught.value.details["did you mean"] == "loss"


def test_an_operator_without_gradient_on_the_path() -> None:
    net = nd.Net("n")
    net.FC(["x", "w", "b"], "y")
    net.ArgMax("y", "best")
    net.Cast("best", "z", to="float32", from_type="int64")
    net.AveragedLoss("z", "loss")
    with pytest.raises(GradientError, match="ArgMax has no gradient"):
        net.add_gradients("loss")


def test_a_loss_made_of_another_loss_adds_to_its_seed() -> None:
    net = nd.Net("n")
    net.SumElements("x", "l1")
    net.Sqr("l1", "l2")
    net.add_gradients(["l1", "l2"])
    assert lines(net, 2) == [
        "l1_autogen_grad = ConstantFill(l1)",
        "l2_autogen_grad = ConstantFill(l2)",
        "l2_autogen_grad = Scale(l2_autogen_grad)",
        "_l1_grad_autosplit_0 = Mul(l2_autogen_grad, l1)",
        "l1_autogen_grad = Sum(l1_autogen_grad, _l1_grad_autosplit_0)",
        "x_grad = SumElementsGradient(x, l1_autogen_grad)",
    ]


def test_no_gradient_flows_into_a_value_that_is_overwritten_unread() -> None:
    net = nd.Net("n")
    net.Copy("z", "t")
    net.Negative("x", "t")
    net.SumElements("t", "l")
    grads = net.add_gradients("l")
    assert list(grads) == ["l", "t", "x"]
    assert lines(net, 3)[1:] == ["t_grad = SumElementsGradient(t, l_autogen_grad)", "x_grad = Negative(t_grad)"]


@pytest.mark.parametrize(("dtype", "args"), [("float16", {"dtype": 12, "value": 1.0}), ("float32", {"value": 1.0})])
def test_the_seed_has_the_dtype_of_its_loss(dtype: str, args: dict[str, Any]) -> None:
    net = nd.Net("n")
    net.input("x", (3,), dtype)
    net.SumElements("x", "l")
    net.add_gradients("l")
    assert dict(net.definition.ops[1].args) == args


def test_wrt_tells_no_gradient_that_is_only_a_part() -> None:
    net = nd.Net("n")
    net.Mul(["y", "z"], "t")
    net.SumElements("t", "l1")
    net.SumElements("y", "l2")
    assert list(net.add_gradients(["l1", "l2"], wrt="z")) == ["l1", "t", "z"]


def test_memory_written_under_another_name_is_refused() -> None:
    net = nd.Net("n")
    net.Alias("x", "y")
    net.Relu("y", "y")
    net.SumElements("x", "l")
    net.SumElements("y", "l2")
    assert list(net.add_gradients("l2")) == ["l2", "y", "x"]
    with pytest.raises(GradientError, match="depends on blob 'x' after its memory is written under another name"):
        net.add_gradients({"l": "seed"})


def test_a_value_overwritten_under_another_name_is_missed() -> None:
    net = nd.Net("n")
    net.Sqr("x", "z")
    net.Alias("x", "y")
    net.Relu("y", "y")
    net.SumElements("z", "l")
    with pytest.raises(GradientError, match="the gradient of Sqr needs blob 'x' as it was"):
        net.add_gradients("l")


def test_a_gradient_passed_on_is_not_overwritten_while_another_blob_needs_it() -> None:
    net = nd.Net("n")
    net.Sqr("x", "q")
    net.Copy("y", "z")
    net.Negative("z", "z")
    net.Sum(["z", "q"], "z")
    net.SumElements("z", "l")
    net.add_gradients("l")
    assert lines(net, 6) == [
        "z_grad = SumElementsGradient(z, l_autogen_grad)",
        "_z_grad_apart = Negative(z_grad)",
        "y_grad = CopyOnDeviceLike(_z_grad_apart, y)",
        "x_grad = Scale(z_grad)",
        "x_grad = Mul(x_grad, x)",
    ]


def test_a_gradient_passed_on_is_not_overwritten_by_what_is_added_to_it() -> None:
    net = nd.Net("n")
    net.Exp("z", "e")
    net.Sum(["z", "e"], "z")
    net.SumElements("z", "l")
    net.add_gradients("l")
    assert lines(net, 4) == [
        "z_grad = SumElementsGradient(z, l_autogen_grad)",
        "_z_grad_apart = Mul(e, z_grad)",
        "_z_grad_apart = Sum(_z_grad_apart, z_grad)",
    ]


def test_a_gradient_passed_on_is_not_overwritten_by_a_sum_that_another_blob_does_not_share() -> None:
    net = nd.Net("n")
    net.Sum(["z", "x"], "s")
    net.Sum(["z", "y"], "z")
    net.SumElements("s", "l1")
    net.SumElements("z", "l2")
    grads = net.add_gradients(["l1", "l2"])
    assert lines(net, 6) == [
        "z_grad = SumElementsGradient(z, l2_autogen_grad)",
        "s_grad = SumElementsGradient(s, l1_autogen_grad)",
        "_z_grad_joined = Sum(z_grad, s_grad)",
    ]
    assert {k: str(grads[k]) for k in "xyz"} == {"x": "s_grad", "y": "z_grad", "z": "_z_grad_joined"}
