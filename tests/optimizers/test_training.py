"""What optimizers do when their nets run: the numbers of cases.md, masters, and loss scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import initializers, layers, optimizers
from netdsl.dsl import Tag
from netdsl.errors import NetError, SchemaError


def linear(x: list[list[float]], w: list[list[float]], b: list[float]) -> tuple[nd.Model, nd.Workspace]:
    """y = FC(x, w, b), and the mean of y as the loss, with its gradients."""
    model = nd.Model("m")
    model.input("x", (len(x), len(x[0])))
    values = {"w": np.array(w, "f4"), "b": np.array(b, "f4")}
    for name, tag in (("w", Tag.WEIGHT), ("b", Tag.BIAS)):
        model.parameter(name, values[name].shape, initializers.ExternalInitializer(), tag=tag)
    y = model.net.FC(["x", "w", "b"], "y")
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    workspace = nd.Workspace()
    workspace.feed("x", np.array(x, "f4"))
    for name, value in values.items():
        workspace.feed(name, value)
    return model, workspace


def test_c02_sgd_subtracts_with_a_negative_rate() -> None:
    model, ws = linear([[1, 2], [3, 4]], [[1, 1], [1, 1]], [0.5, 0.5])
    before = len(model.net.definition.ops)
    schedule = {"stepsize": 1, "gamma": 0.999}
    optimizers.SGD(base_learning_rate=0.1, policy="step", schedule=schedule).build(model)
    ws.run(model.init_net)
    ws.run(model.net)
    np.testing.assert_allclose(ws.fetch("w_grad"), [[1, 1.5], [1, 1.5]], rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("w"), [[0.9001, 0.85015]] * 2, rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("b"), [0.45005] * 2, rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("sgd_lr"), -0.0999, rtol=1e-6)
    assert [op.type for op in model.net.definition.ops[before:]] == [
        "AtomicIter",
        "LearningRate",
        "WeightedSum",
        "WeightedSum",
    ]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_c14_weight_decay_acts_on_weights_only(momentum: float) -> None:
    model, ws = linear([[1, 2]], [[1, 1]], [1])
    optimizers.add_weight_decay(model, 0.5)
    optimizers.SGD(base_learning_rate=0.1, momentum=momentum, nesterov=False).build(model)
    ws.run(model.init_net)
    ws.run(model.net)
    np.testing.assert_allclose(ws.fetch("w"), [[0.85, 0.75]], rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("b"), [0.9], rtol=1e-6)


STEPS = {
    0: ([0.95, 2.1], [0.855, 2.29], [0.7195, 2.561]),
    1: ([0.905, 2.19], [0.7695, 2.461], [0.59755, 2.8049]),
}


@pytest.mark.parametrize("nesterov", [0, 1])
def test_c30_momentum_over_three_steps(nesterov: int) -> None:
    net = nd.Net("n")
    args = {"momentum": 0.9, "nesterov": nesterov}
    net.MomentumSGDUpdate(["g", "m", "lr", "w"], ["g", "m", "w"], **args)
    ws = nd.Workspace()
    for name, value in {"w": [1, 2], "m": [0, 0], "lr": [0.1]}.items():
        ws.feed(name, np.array(value, "f4"))
    for step, expected in enumerate(STEPS[nesterov]):
        ws.feed("g", np.array([0.5, -1], "f4"))
        ws.run(net)
        np.testing.assert_allclose(ws.fetch("w"), expected, rtol=1e-6)
        if nesterov and not step:
            np.testing.assert_allclose(ws.fetch("g"), [0.095, -0.19], rtol=1e-6)


def test_an_external_parameter_is_checked_when_the_init_net_runs() -> None:
    model, ws = linear([[1, 2]], [[1, 1]], [1])
    ws.feed("w", np.zeros((1, 3), "f4"))
    with pytest.raises(nd.errors.NetdslError, match="'w'") as caught:
        ws.run(model.init_net)
    assert "[1, 2]" in str(caught.value)
    ws.feed("w", np.zeros((1, 2), "f8"))
    with pytest.raises(nd.errors.NetdslError, match="'w'"):
        ws.run(model.init_net)
    ws.remove("w")
    with pytest.raises(nd.errors.BlobError, match="blob 'w' does not exist"):
        ws.run(model.init_net)


def half_model(scale: optimizers.LossScale, **options: Any) -> tuple[nd.Model, nd.Workspace]:
    """A half-precision linear model whose gradient is the input times 1 / N."""
    model = nd.Model("m")
    model.initializer_class = initializers.PseudoFP16Initializer
    x = model.input("x", ("N", 4), "float16")
    y = layers.fc(model, x, "fc", 4, 2, weight_init=("ConstantFill", {"value": 1.0}))
    loss = model.net.AveragedLoss(model.net.HalfToFloat(y, "y32"), "loss")
    model.add_gradients(scale.scaled(model, loss))
    given = {"base_learning_rate": 0.1, "momentum": 0.9, "loss_scale": scale, **options}
    optimizers.MasterWeightSGD(**given).build(model)
    ws = nd.Workspace()
    ws.feed("x", np.ones((8, 4), "f2"))
    ws.run(model.init_net)
    return model, ws


def test_masters_and_halves_move_together() -> None:
    model, ws = half_model(optimizers.LossScale(initial=1024.0))
    ws.run(model.net, times=3)
    np.testing.assert_array_equal(ws.fetch("fc_w"), ws.fetch("fc_w_fp32").astype("f2"))
    plain, velocity = np.float32(1), np.float32(0)
    for _ in range(3):
        velocity, before = np.float32(0.9) * velocity + np.float32(0.1 * 0.5), velocity
        plain -= np.float32(1.9) * velocity - np.float32(0.9) * before
    np.testing.assert_allclose(ws.fetch("fc_w_fp32"), np.full((2, 4), plain), rtol=1e-6)


def test_gradients_too_small_for_half_survive_by_scaling() -> None:
    moved = {}
    for initial in (65536.0, 1.0):
        scale = optimizers.LossScale(initial=initial, dynamic=False)
        model, ws = half_model(scale, momentum=0.0, base_learning_rate=1e5)
        ws.feed("x", np.full((8, 4), 6e-8, "f2"))
        ws.run(model.net)
        moved[initial] = ws.fetch("fc_w_fp32") - np.float32(1)
    np.testing.assert_allclose(moved[65536.0], np.float32(np.float16(6e-8)) * -0.5e5, rtol=1e-3)
    assert not moved[1.0].any()


def test_a_step_that_overflows_is_skipped_and_the_scale_backs_off() -> None:
    model, ws = half_model(optimizers.LossScale(initial=2.0**15, growth_interval=2))
    ws.run(model.net)
    good = {name: ws.fetch(name) for name in ("fc_w", "fc_w_fp32", "fc_w_fp32_momentum")}
    ws.feed("x", np.full((8, 4), 60000, "f2"))
    ws.run(model.net)
    assert ws.fetch("nonfinite").all()
    assert float(ws.fetch("loss_scale")[0]) == 2.0**14
    assert int(ws.fetch("loss_scale_growth_tracker")[0]) == 0
    for name, value in good.items():
        np.testing.assert_array_equal(ws.fetch(name), value)
    ws.feed("x", np.ones((8, 4), "f2"))
    ws.run(model.net, times=2)
    assert float(ws.fetch("loss_scale")[0]) == 2.0**15


def test_a_static_scale_stays() -> None:
    model, ws = half_model(optimizers.LossScale(initial=2.0**15, dynamic=False))
    ws.feed("x", np.full((8, 4), 60000, "f2"))
    before = ws.fetch("fc_w_fp32")
    ws.run(model.net)
    assert float(ws.fetch("loss_scale")[0]) == 2.0**15
    np.testing.assert_array_equal(ws.fetch("fc_w_fp32"), before)


def test_an_unscaled_loss_is_refused() -> None:
    model, _ = linear([[1, 2]], [[1, 1]], [1])
    with pytest.raises(NetError, match="no scaled loss"):
        optimizers.MasterWeightSGD().build(model)


def test_a_negative_rate_is_refused() -> None:
    with pytest.raises(SchemaError, match="zero or positive"):
        optimizers.SGD(base_learning_rate=-0.1)


def test_an_optimizer_added_after_the_init_net_ran() -> None:
    model, ws = linear([[1, 2]], [[1, 1]], [1])
    ws.run(model.init_net)
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(model)
    with pytest.raises(nd.errors.BlobError) as caught:
        ws.run(model.net)
    text = str(caught.value)
    assert "w_momentum" in text
    assert "run_missing" in text
    made = ws.run_missing(model.init_net)
    assert {"w_momentum", "b_momentum", "optimizer_iteration"} <= set(made)
    ws.run(model.net)


def test_an_optimizer_that_refuses_a_parameter_appends_nothing() -> None:
    model = nd.Model("m")
    ids = model.input("ids", ("N",), "int64")
    rows = layers.embedding(model, ids, "rows", 5, 3)
    loss = model.net.AveragedLoss(layers.fc(model, rows, "fc", 3, 2), "loss")
    model.add_gradients(loss)
    before = (model.net.definition, model.init_net.definition)
    with pytest.raises(SchemaError, match="row-wise Adagrad needs a sparse gradient"):
        optimizers.Adagrad(row_wise=True).build(model)
    assert (model.net.definition, model.init_net.definition) == before
    assert not any(p.settings for p in model.params())
