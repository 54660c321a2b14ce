"""Which lane of a training step an operator belongs to."""

from __future__ import annotations

import pytest

import netdsl as nd
from netdsl import initializers, layers, optimizers
from netdsl.analysis.roles import Role, classify
from netdsl.cli.digits.model import build
from netdsl.ir import NetDef, parse


def lanes(net: NetDef) -> dict[str, Role]:
    """The role of the last writer of each blob."""
    return {name: role for op, role in zip(net.ops, classify(net), strict=True) for name in op.outputs}


@pytest.mark.parametrize("precision", ["half", "float32"])
def test_a_training_step_falls_into_three_parts_in_order(precision):
    net = build(precision).net.definition
    roles = classify(net)
    order = [role for i, role in enumerate(roles) if i == 0 or role is not roles[i - 1]]
    assert order == [Role.FORWARD, Role.GRADIENT, Role.UPDATE]
    found = lanes(net)
    assert found["accuracy"] is Role.FORWARD
    assert found["loss_autogen_grad"] is Role.GRADIENT
    assert found["fc1_grad"] is Role.GRADIENT
    assert found["optimizer_iteration"] is Role.UPDATE


def test_conversions_and_rates_that_serve_updates_are_updates():
    net = build("half").net.definition
    found = lanes(net)
    for name in ("conv1_w_grad_fp32", "conv1_w_fp32", "conv1_w", "multi_precision_sgd_lr"):
        assert found[name] is Role.UPDATE


def test_the_text_form_has_the_same_roles():
    model = build("half")
    assert classify(parse(model.net.dump())) == classify(model.net.definition)


def test_the_factors_of_lars_are_updates_and_weight_decay_is_part_of_the_gradient():
    model = nd.Model("m")
    x = model.input("x", ("N", 4))
    loss = model.net.AveragedLoss(layers.fc(model, x, "fc", 4, 3), "loss")
    model.add_gradients(loss)
    optimizers.add_weight_decay(model, 0.1)
    optimizers.SGD(lars=0.5).build(model)
    roles = dict(zip(map(str, model.net.definition.ops), classify(model.net.definition), strict=True))
    assert roles["sgd_fc_w_lars = Lars(fc_w, fc_w_grad, weight_decay, trust, lr_max)"] is Role.UPDATE
    assert roles["fc_w_grad = WeightedSum(fc_w_grad, ONE_0_0, fc_w, wd_0_0)"] is Role.GRADIENT
    (step,) = (text for text in roles if text.startswith("fc_w = WeightedSum(fc_w, "))
    assert roles[step] is Role.UPDATE


def test_loss_scaling_is_part_of_forward_and_update():
    model = nd.Model("m")
    model.initializer_class = initializers.PseudoFP16Initializer
    x = model.input("x", ("N", 4), "float16")
    scores = model.net.HalfToFloat(layers.fc(model, x, "fc", 4, 3), "scores")
    scale = optimizers.LossScale()
    model.add_gradients(scale.scaled(model, model.net.AveragedLoss(scores, "loss")))
    optimizers.MasterWeightSGD(loss_scale=scale).build(model)
    found = lanes(model.net.definition)
    assert found["scaled_loss"] is Role.FORWARD
    assert found["nonfinite"] is Role.UPDATE
    assert found["fc_w"] is found["fc_w_fp32"] is found["loss_scale"] is Role.UPDATE


def test_running_statistics_are_forward():
    model = nd.Model("m")
    x = model.input("x", ("N", 2, 4, 4))
    y = layers.spatial_bn(model, x, "bn", 2)
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    optimizers.SGD().build(model)
    assert lanes(model.net.definition)["bn_rm"] is Role.FORWARD


def test_gradients_are_told_by_name_where_nothing_else_tells():
    net = parse('net "n"\ninput x, y_grad\ny = Relu(x)\nx_grad = ReluGradient(y, y_grad)\n')
    assert classify(net) == [Role.FORWARD, Role.GRADIENT]


def test_an_inference_net_is_forward():
    net = parse('net "n"\ninput x\ny = Relu(x)\nz = Nobodys(y)\noutput z\n')
    assert classify(net) == [Role.FORWARD, Role.FORWARD]
