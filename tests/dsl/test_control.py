"""``cond`` and the gradient of If."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import netdsl as nd
from netdsl.dsl import cond
from netdsl.errors import GradientError, NetError
from netdsl.ir import DType, TensorType


def start() -> tuple[nd.Net, nd.Blob, nd.Blob, nd.Blob, nd.Blob]:
    net = nd.Net("n")
    condition = net.input("c", (1,), "bool")
    x, w, v = (net.input(name, (2, 3)) for name in "xwv")
    return net, condition, x, w, v


def both_branches() -> nd.Net:
    """Branches that share x; only one reads w, only the other v."""
    net, condition, x, w, v = start()
    cond(net, condition, lambda n: n.Mul([x, w], "y"), lambda n: n.Mul([n.Sqr(v, "q"), x], "y"))
    return net


def one_branch() -> nd.Net:
    net, condition, x, w, _ = start()
    net.Mul([x, w], "y")
    cond(net, condition, lambda n: n.Exp(x, "y"))
    return net


def in_place() -> nd.Net:
    net, condition, x, w, _ = start()
    net.Mul([x, w], "y")
    cond(net, condition, lambda n: n.Tanh("y", "y"))
    return net


def nested() -> nd.Net:
    """An If in a branch of an If, on another condition."""
    net, condition, x, w, v = start()
    inner = net.input("d", (1,), "bool")

    def then(outer: nd.Net) -> object:
        h = outer.Sqr(x, "h")
        return cond(outer, inner, lambda n: n.Mul([h, w], "y"), lambda n: n.Mul([h, v], "y"))

    cond(net, condition, then, lambda n: n.Exp(x, "y"))
    return net


def shared_outside() -> nd.Net:
    """What the branches read is read outside too, before and after: its gradients add up."""
    net, condition, x, w, _ = start()
    before = net.Sqr(x, "before")
    y = cond(net, condition, lambda n: n.Mul([x, w], "z"), lambda n: n.Tanh(x, "z"))
    net.Add([net.Add([y, before], "s"), net.Exp(x, "after")], "y")
    return net


def two_results() -> nd.Net:
    net, condition, x, w, v = start()
    a, b = cond(
        net,
        condition,
        lambda n: (n.Mul([x, w], "one"), n.Exp(v, "two")),
        lambda n: (n.Tanh(x, "three"), w),
        outputs=["a", "b"],
    )
    net.Mul([a, b], "y")
    return net


NETS: list[Callable[[], nd.Net]] = [both_branches, one_branch, in_place, nested, shared_outside, two_results]


def feeds(**conditions: bool) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    values: dict[str, np.ndarray] = {name: rng.uniform(0.5, 1.5, (2, 3)) for name in "xwv"}
    return values | {name: np.array([value]) for name, value in conditions.items()}


def run(net: nd.Net, values: Mapping[str, np.ndarray]) -> nd.Workspace:
    workspace = nd.Workspace()
    for name, value in values.items():
        workspace.feed(name, value.astype(np.float32) if value.dtype == np.float64 else value)
    workspace.run(net)
    return workspace


@pytest.mark.parametrize("d", [True, False])
@pytest.mark.parametrize("c", [True, False])
@pytest.mark.parametrize("build", NETS)
def test_the_gradient_equals_finite_differences(build: Callable[[], nd.Net], c: bool, d: bool) -> None:
    net = build()
    loss = net.SumElements("y", "loss")
    values = feeds(c=c, d=d)
    grads = net.add_gradients(loss)
    found = run(net, values)
    step = 1e-2
    for name in grads:
        if name not in "xwv":
            continue
        expected = np.zeros((2, 3))
        for at in np.ndindex(2, 3):
            ends = []
            for sign in (1, -1):
                moved = values[name].copy()
                moved[at] += sign * step
                ends.append(float(run(build_loss(build), {**values, name: moved}).fetch("loss")))
            expected[at] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(found.fetch(grads[name].name), expected, rtol=2e-3, atol=2e-3)


def build_loss(build: Callable[[], nd.Net]) -> nd.Net:
    net = build()
    net.SumElements("y", "loss")
    return net


def test_what_if_reads_and_writes_is_derived_and_sorted() -> None:
    op = both_branches().definition.ops[0]
    assert op.inputs == ("c", "v", "w", "x")
    assert op.outputs == ("q", "y")
    assert {name: nested.outputs for name, nested in op.nested} == {"else_net": ("y",), "then_net": ("y",)}


def test_the_gradient_is_an_if_over_both_gradient_nets_with_sorted_names() -> None:
    net = both_branches()
    net.add_gradients(net.SumElements("y", "loss"))
    gradient = net.definition.ops[-1]
    assert gradient.type == "If"
    assert gradient.is_gradient
    assert gradient.inputs == ("c", "q", "v", "w", "x", "y_grad")
    assert gradient.outputs == ("v_grad", "w_grad", "x_grad")
    assert [inner.outputs for _, inner in gradient.nested] == [gradient.outputs] * 2
    assert nd.parse(net.dump()) == net.definition


def test_results_of_other_names_are_copied_to_unnamed_ones() -> None:
    net, condition, x, w, _ = start()
    y = cond(net, condition, lambda n: n.Relu(x, "a"), lambda n: w)
    assert str(y) == "n/If"
    assert [inner.ops[-1].type for _, inner in net.definition.ops[0].nested] == ["Copy", "Copy"]
    z = cond(net, condition, lambda n: (x, w), lambda n: (w, x))
    assert list(map(str, z)) == ["n/If_2:0", "n/If_2:1"]


def test_unnamed_blobs_of_two_ifs_do_not_meet() -> None:
    net, condition, x, w, _ = start()
    with nd.name_scope("s"):
        first = cond(net, condition, lambda n: n.Mul([n.Sqr(x), x]), lambda n: x)
        second = cond(net, condition, lambda n: n.Mul([n.Sqr(w), w]), lambda n: w)
        net.SumElements(net.Add([first, second]), "loss")
    grads = net.add_gradients("s/loss")
    workspace = run(net, feeds(c=True))
    np.testing.assert_allclose(workspace.fetch(str(grads["x"])), 3 * workspace.fetch("x") ** 2, rtol=1e-5)


def test_types_known_outside_are_known_inside_and_come_out() -> None:
    net, condition, x, _, _ = start()
    seen: list[object] = []

    def then(inner: nd.Net) -> nd.Blob:
        y = inner.FloatToHalf(x, "y")
        seen.append(y.type)
        return y

    y = cond(net, condition, then, lambda n: n.FloatToHalf(x, "y"))
    assert seen == [y.type] == [TensorType(DType.FLOAT16, (2, 3))]
    other = cond(net, condition, lambda n: n.FloatToHalf(x, "z"), lambda n: n.Relu(x, "z"))
    assert other.type == TensorType()


def test_half_gradients_stay_half_where_nothing_flows() -> None:
    net, condition, x, w, _ = start()
    x, w = net.FloatToHalf(x, "xh"), net.FloatToHalf(w, "wh")
    y = cond(net, condition, lambda n: n.Relu(x, "y"), lambda n: n.Relu(w, "y"))
    loss = net.SumElements(net.HalfToFloat(y, "single"), "loss")
    net.add_gradients(loss)
    workspace = run(net, feeds(c=True))
    assert workspace.fetch("wh_grad").dtype == np.float16
    assert not workspace.fetch("wh_grad").any()
    assert (workspace.fetch("xh_grad") == 1).all()


def test_author_lines_of_branches_are_the_callers() -> None:
    for op in both_branches().definition.ops:
        assert str(op.where).split(":")[0] == __file__
        for _, inner in op.nested:
            assert all(str(made.where).split(":")[0] == __file__ for made in inner.ops)


class TestErrors:
    """What cond and the gradient of If refuse."""

    def test_results_that_differ_in_number(self) -> None:
        net, condition, x, w, _ = start()
        with pytest.raises(NetError, match="must return as many blobs") as caught:
            cond(net, condition, lambda n: (x, w), lambda n: x)
        assert caught.value.details["then"] == "x, w"
        with pytest.raises(NetError, match="cond has 1 results"):
            cond(net, condition, lambda n: x, lambda n: w, outputs=["a", "b"])
        assert not net.definition.ops

    def test_nothing_to_keep_where_the_condition_is_false(self) -> None:
        net, condition, x, _, _ = start()
        with pytest.raises(NetError, match="no blob 'y' to keep") as caught:
            cond(net, condition, lambda n: n.Relu(x, "y"))
        assert "test_control.py" in str(caught.value.details["added at"])

    def test_results_that_would_overwrite_each_other(self) -> None:
        net, condition, x, w, _ = start()
        with pytest.raises(NetError, match="which is another result"):
            cond(net, condition, lambda n: (n.Relu(x, "a"), n.Relu(w, "b")), lambda n: (w, x), outputs=["b", "a"])

    def test_a_branch_that_reads_what_the_other_overwrites(self) -> None:
        net, condition, x, w, _ = start()
        net.Mul([x, w], "y")
        y, z = cond(net, condition, lambda n: (n.Tanh("y", "y"), n.Relu(x, "z")), lambda n: ("y", n.Sqr("y", "z")),
                    outputs=["y", "z"])  # fmt: skip
        loss = net.SumElements(net.Add([y, z], "s"), "loss")
        with pytest.raises(GradientError, match="reads blob 'y', which the other net overwrites"):
            net.add_gradients(loss)

    def test_in_place_after_another_reader(self) -> None:
        net, condition, x, w, _ = start()
        net.Mul([x, w], "y")
        before = net.Sqr("y", "before")
        y = cond(net, condition, lambda n: n.Tanh("y", "y"))
        loss = net.SumElements(net.Add([y, before], "s"), "loss")
        with pytest.raises(GradientError, match="blob 'y'"):
            net.add_gradients(loss)

    def test_blobs_of_the_nets_that_if_does_not_list(self) -> None:
        net, condition, x, _, _ = start()
        then = nd.Net("then")
        then.Mul([then.Sqr("x", "q"), "x"], "y")
        net.If([condition, x], ["y"], then_net=then, else_net=then)
        with pytest.raises(GradientError, match="reads blob 'q', which is not among") as caught:
            net.add_gradients(net.SumElements("y", "loss"))
        assert "among the outputs" in str(caught.value.details["fix"])
