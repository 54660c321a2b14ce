"""What is known of the parameters of a training step."""

from __future__ import annotations

from netdsl.analysis.training import ParameterUse, Training
from netdsl.cli.digits.model import build
from netdsl.ir import parse


def test_parameters_with_gradient_update_and_copy():
    model = build("half")
    net = model.net.definition
    found = {use.name: use for use in Training(net, model.init_net.definition).parameters()}
    assert list(found) == list(model.parameters)
    for name, use in found.items():
        (index,) = use.updates
        assert use.gradient == f"{name}_grad"
        assert use.copies == (f"{name}_fp32",)
        assert f"{name}_fp32" in net.ops[index].outputs
        assert "MomentumSGDUpdate" in net.ops[index].type


def test_without_the_init_net_the_trained_blobs_are_the_parameters():
    net = parse(build("half").net.dump())
    found = Training(net).parameters()
    assert [use.name for use in found] == list(build("half").parameters)
    for use in found:  # the net itself rounds every master
        assert use.copies == (f"{use.name}_fp32",)
        assert [net.ops[index].type for index in use.updates] == ["MomentumSGDUpdate"]


def test_what_is_not_updated_says_so():
    init = parse(
        'net "i"\nw = ConstantFill() {shape = [2]}\nv = ConstantFill() {shape = [2]}\n'
        "one = ConstantFill() {shape = [1]}\n"
    )
    net = parse(
        'net "n"\ninput w, v, one\nloss = Mul(w, v)\nloss_autogen_grad = ConstantFill(loss) {value = 1.0}\n'
        "w_grad, v_grad = MulGradient(loss_autogen_grad, w, v)\nw = WeightedSum(w, one, w_grad, one)\n"
    )
    assert Training(net, init).parameters() == [
        ParameterUse("w", "w_grad", (3,), ()),
        ParameterUse("v", "v_grad", (), ()),
    ]


def test_an_inference_net_trains_nothing():
    found = Training(parse('net "n"\ninput x\ny = Relu(x)\noutput y\n'))
    assert not found.trains
    assert found.parameters() == []
