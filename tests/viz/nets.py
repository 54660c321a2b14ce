"""Nets to draw."""

from __future__ import annotations

from pathlib import Path

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.ir import NetDef, OperatorDef

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
MODEL_FILES = sorted(path for path in MODELS.rglob("*") if path.suffix in (".pb", ".pbtxt"))

NASTY = (
    "<b>bold</b>",
    'quo"te',
    "apostro'phe",
    "line\nbreak",
    "a]]>b",
    "</script><script>alert(1)</script>",
    "<!--",
    "back\\slash\\",
    "amp&amp;",
    "nul\x00bell\x07",
    "sur\ud800rogate\uffff",
    "scope</g>/inner",
    "{brace}|$x",
)


def residual(blocks: int) -> nd.Model:
    """A train net of about 13 operators a block, each block a scope of two layers and a shortcut."""
    model = nd.Model("residual")
    x = model.input("x", ("N", 8))
    label = model.input("label", ("N",), "int32")
    for block in range(blocks):
        with nd.name_scope(f"block{block}"):
            h = layers.relu(model, layers.fc(model, x, "fc1", 8, 8), "relu")
            x = model.net.Add([layers.fc(model, h, "fc2", 8, 8), x], "sum")
    _, loss = model.net.SoftmaxWithLoss([x, label], ["softmax", "loss"])
    model.add_gradients(loss)
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(model)
    model.net.output(loss)
    model.save_tables()
    return model


def chain(length: int) -> NetDef:
    """A net of ``length`` operators, each reading what the one before wrote."""
    return NetDef("chain", [OperatorDef("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(length)], inputs=["x0"])


def branches() -> NetDef:
    """Two parallel branches and a shortcut of the whole, joined at the end."""
    ops = [
        OperatorDef("Relu", ["data"], ["a"]),
        OperatorDef("Sigmoid", ["a"], ["left"]),
        OperatorDef("Tanh", ["a"], ["right1"]),
        OperatorDef("Tanh", ["right1"], ["right2"]),
        OperatorDef("Sum", ["left", "right2", "a"], ["out"]),
    ]
    return NetDef("branches", ops, inputs=["data"], outputs=["out"])


def nested(inner: int = 2) -> NetDef:
    """An If whose net reads a blob of the outer net."""
    body = [OperatorDef("Relu", ["a" if i == 0 else f"t{i}"], [f"t{i + 1}"]) for i in range(inner)]
    ops = [
        OperatorDef("Relu", ["data"], ["a"]),
        OperatorDef("If", ["flag"], [f"t{inner}"], {"then_net": NetDef("then", body), "else_net": NetDef("else")}),
        OperatorDef("Relu", [f"t{inner}"], ["out"]),
    ]
    return NetDef("outer", ops, inputs=["data", "flag"])


def nasty() -> NetDef:
    """Every name that can be chosen is hostile: net, operators, blobs, arguments, engines, scopes."""
    ops = [
        OperatorDef(name, [name], [f"{name}_out", other], {name: other}, engine=name, name=name)
        for name, other in zip(NASTY, NASTY[1:] + NASTY[:1], strict=True)
    ]
    rows = [{"name": name, "shape": [1, 2], name: {name: name}} for name in NASTY]
    return NetDef(NASTY[5], ops, inputs=NASTY, metadata={"parameters": rows})
