"""Rewrite a net: rename blobs, replace an activation, take out a part; and see the difference.

    python examples/rewrite.py

A NetDef is an immutable value. A rewrite is a function that returns another one.
"""

import attrs

import netdsl as nd
from netdsl import layers
from netdsl.analysis.check import check
from netdsl.analysis.diff import diff
from netdsl.passes.edit import extract, rename


def build() -> nd.NetDef:
    """An inference net with two hidden layers."""
    model = nd.Model("mlp")
    x = model.input("x", ("N", 64))
    for name, (dim_in, dim_out) in {"fc1": (64, 32), "fc2": (32, 16)}.items():
        x = layers.relu(model, layers.fc(model, x, name, dim_in, dim_out), f"{name}_relu")
    model.net.output(layers.fc(model, x, "scores", 16, 10))
    return model.net.definition


def replaced(net: nd.NetDef, old: str, new: str) -> nd.NetDef:
    """Return ``net`` with operators of type ``new`` in the place of those of type ``old``."""
    return attrs.evolve(net, ops=[attrs.evolve(op, type=new) if op.type == old else op for op in net.ops])


def show_difference(title: str, before: nd.NetDef, after: nd.NetDef) -> None:
    """Print what turns one net into the other, as `netdsl diff` does."""
    print(f"== {title}")
    for change in diff(before, after):
        print(f"{change.kind:8} {change.where}")
        for what, old, new in change.details:
            print(f"{'':8} {what}: {old} -> {new}")
    print()


def main() -> None:
    """Rewrite the net in three ways."""
    net = build()
    tanh = replaced(net, "Relu", "Tanh")
    show_difference("Tanh instead of Relu", net, tanh)
    renamed = rename(tanh, {"fc1_relu": "fc1_tanh", "fc2_relu": "fc2_tanh"})
    show_difference("names that tell the truth", tanh, renamed)
    features = extract(renamed, ["fc2_tanh"])
    show_difference("only the features, without the scores", renamed, features)
    assert check(features) == []
    print(features)


if __name__ == "__main__":
    main()
