"""The author's line: the nearest frame outside the authoring packages."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.dsl.author import AUTHORING, author_line


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_every_operator_of_a_model_points_at_the_line_that_asked_for_it() -> None:
    model = nd.Model("m")
    x = model.input("x", ("N", 4))
    label = model.input("label", ("N",), "int32")
    at_layer = here() + 2
    with layers.arg_scope(layers.fc, weight_init="MSRAFill"):
        h = layers.fc(model, x, "fc", 4, 3)
    at_loss = here() + 1
    loss = layers.softmax_with_loss(model, h, label)
    model.add_gradients(loss)
    at_optimizer = here() + 1
    optimizers.Adam().build(model)
    lines = {op.type: op.where for net in (model.net, model.init_net) for op in net.definition.ops}
    expected = {"FC": at_layer, "MSRAFill": at_layer, "FCGradient": at_layer, "SoftmaxWithLoss": at_loss}
    expected |= {"Adam": at_optimizer, "CreateMutex": at_optimizer, "LearningRate": at_optimizer}
    for type_, line in expected.items():
        assert str(lines[type_]) == f"{__file__}:{line}"


def test_a_package_of_layers_outside_is_the_author() -> None:
    outside = ModuleType("netdsl_more.layers")
    exec(compile("def block(net):\n    return net.Relu('x', 'y')\n", "more.py", "exec"), outside.__dict__)
    net = nd.Net("n")
    outside.block(net)
    assert str(net.definition.ops[0].where) == "more.py:2"


def test_where_there_is_only_ours() -> None:
    ours = ModuleType("netdsl.model.something")
    exec("def ask(author_line):\n    return author_line()\n", ours.__dict__)
    assert str(ours.ask(author_line)) == f"{__file__}:{here()}"


def test_every_authoring_package_exists_or_will() -> None:
    there = {path.stem for path in Path(nd.__file__).parent.iterdir()}
    assert there >= AUTHORING - {"compat", "onnx", "predict"}
