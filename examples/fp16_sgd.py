"""Build Caffe2's FP16 optimizer, and see what `netdsl check` finds in it.

    python examples/fp16_sgd.py

A parameter made by PseudoFP16Initializer has two blobs: a half one to compute with, and a single-precision
master that small updates are added to without being lost. FP16SGD updates the half blob and forgets the
master: what a checkpoint would save never changes. MultiPrecisionSGD updates the master and rounds it.
"""

import netdsl as nd
from netdsl import initializers, layers, optimizers
from netdsl.analysis.check import check
from netdsl.analysis.findings import Finding


def build(optimizer: optimizers.Optimizer) -> nd.Model:
    """A classifier in half precision with the updates of ``optimizer``."""
    model = nd.Model("half")
    model.initializer_class = initializers.PseudoFP16Initializer
    x = model.input("x", ("N", 64), "float16")
    label = model.input("label", ("N",), "int32")
    hidden = layers.relu(model, layers.fc(model, x, "fc1", 64, 32), "fc1_relu")
    scores = model.net.HalfToFloat(layers.fc(model, hidden, "fc2", 32, 10), "scores")
    loss = layers.softmax_with_loss(model, scores, label)
    model.add_gradients(loss)
    optimizer.build(model)
    model.net.output(loss)
    return model


def findings(model: nd.Model) -> list[Finding]:
    """What the check says about the init net and the training step."""
    return check(model.init_net.definition, model.net.definition)


def main() -> None:
    """Print the findings about both optimizers, and the flaw in numbers."""
    for optimizer in (
        optimizers.FP16SGD(base_learning_rate=0.1, momentum=0.9),
        optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9),
    ):
        found = findings(build(optimizer))
        print(f"== {type(optimizer).__name__}: {len(found)} findings")
        for finding in found:
            print(finding)
        if found:
            print(f"\n{found[0].rule.text}")


if __name__ == "__main__":
    main()
