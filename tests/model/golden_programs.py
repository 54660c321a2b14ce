"""The programs whose whole text is kept in ``tests/data/golden_text``.

``python -m tests.model.golden_programs`` prints them all; with ``--write`` it replaces the files: read the
diff before you commit it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import netdsl as nd
from netdsl import initializers, layers, optimizers
from netdsl.dsl import cond

FILES = Path(__file__).parent.parent / "data" / "golden_text"


def mlp() -> nd.Model:
    """The sample of the architecture: a perceptron with momentum."""
    model = nd.Model("mlp")
    x = model.input("x", ("N", 64))
    label = model.input("label", ("N",), "int32")
    h = layers.relu(model, layers.fc(model, x, "fc1", 64, 32), "fc1_relu")
    scores = layers.fc(model, h, "fc2", 32, 10)
    _, loss = model.net.SoftmaxWithLoss([scores, label], ["softmax", "loss"])
    model.add_gradients(loss)
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(model)
    model.net.output(loss)
    return model


def half() -> nd.Model:
    """Half precision with single-precision masters; batch normalisation stays in single precision."""
    model = nd.Model("half")
    model.initializer_class = initializers.PseudoFP16Initializer
    x = model.net.FloatToHalf(model.input("x", ("N", 3, 8, 8)), "x_half")
    label = model.input("label", ("N",), "int32")
    with nd.name_scope("stem"):
        x = layers.conv(model, x, "conv", 3, 4, 3, pad=1, no_bias=True)
        x = layers.spatial_bn(model, x, "bn", 4)
        x = layers.relu(model, x, x)
    x = layers.max_pool(model, x, "pool", kernel=2, stride=2)
    x = layers.dropout(model, x, "drop", ratio=0.25)
    scores = model.net.HalfToFloat(layers.fc(model, x, "fc", 64, 10), "scores")
    loss = layers.softmax_with_loss(model, scores, label)
    model.add_gradients(loss)
    optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9).build(model)
    model.net.output(loss)
    return model


def branches() -> nd.Model:
    """In-place operators, an If whose branches read different blobs, and one without an alternative."""
    model = nd.Model("branches")
    x = model.input("x", ("N", 4))
    condition = model.input("is wide", (1,), "bool")
    h = layers.fc(model, x, "fc", 4, 4)
    h = layers.relu(model, h, h)
    factor = model.parameter("factor", [4], ("ConstantFill", {"value": 2.0})).blob

    def scaled(net: nd.Net) -> nd.Blob:
        return net.Mul([net.Sqr(h, "squared"), factor], "y")

    y = cond(model.net, condition, scaled, lambda net: net.Tanh(x, "y"))
    model.net.Copy(y, "z")
    z = cond(model.net, condition, lambda net: net.Sigmoid(y, "z"))
    loss = model.net.ReduceMean(z, "loss", keepdims=False)
    model.add_gradients(loss)
    optimizers.SGD(base_learning_rate=0.5).build(model)
    model.net.output(loss)
    return model


PROGRAMS: Mapping[str, Callable[[], nd.Model]] = {"mlp": mlp, "half": half, "branches": branches}


def texts() -> dict[str, str]:
    """Build every program; return the text of each file."""
    found: dict[str, str] = {}
    for name, build in PROGRAMS.items():
        model = build()
        found[f"{name}_init.net"] = model.init_net.dump()
        found[f"{name}.net"] = model.net.dump()
    return found


if __name__ == "__main__":
    for file, text in texts().items():
        print(f"# {file}\n{text}")
        if "--write" in sys.argv:
            (FILES / file).write_text(text, encoding="utf-8")
