"""A first program: recognise handwritten digits with a small convolutional net.

    python examples/digits.py

It builds the net that `netdsl demo` trains, in single precision, trains it, and prints the share of unseen
digits that it gets right after every pass.
"""

import sys

import numpy as np

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.data import digits, stratified_split

BATCH = 32


def build() -> nd.Model:
    """The model: two convolutions, two fully connected layers, gradients, and an optimizer."""
    model = nd.Model("digits")
    data = model.input("data", ("N", 1, 8, 8))
    label = model.input("label", ("N",), "int32")
    x = layers.relu(model, layers.conv(model, data, "conv1", 1, 16, 3, pad=1), "conv1_relu")
    x = layers.relu(model, layers.conv(model, x, "conv2", 16, 32, 3, pad=1), "conv2_relu")
    x = layers.max_pool(model, x, "pool", kernel=2, stride=2)
    x = layers.relu(model, layers.fc(model, x, "fc1", 32 * 4 * 4, 64), "fc1_relu")
    scores = layers.fc(model, x, "scores", 64, 10)
    loss = layers.softmax_with_loss(model, scores, label)
    model.add_gradients(loss)
    schedule = {"stepsize": 44, "gamma": 0.85}
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9, policy="step", schedule=schedule).build(model)
    return model


def main(epochs: int = 10) -> float:
    """Train for some passes over the digits; return the share of unseen ones that are recognised."""
    images, labels = digits()
    chosen, unseen = stratified_split(labels)
    model = build()
    predict = model.for_inference("scores").net
    workspace, random = nd.Workspace(seed=0), np.random.default_rng(0)
    workspace.run(model.init_net)
    share = 0.0
    for epoch in range(epochs):
        for batch in np.array_split(random.permutation(chosen), len(chosen) // BATCH):
            workspace.feed("data", images[batch])
            workspace.feed("label", labels[batch])
            workspace.run(model.net)
        workspace.feed("data", images[unseen])
        workspace.run(predict)
        share = float((workspace.fetch("scores").argmax(axis=1) == labels[unseen]).mean())
        print(f"epoch {epoch + 1}: {share:.2%} of {len(unseen)} unseen digits")
    return share


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
