"""Print a whole training step: forward pass, gradients and updates, and the net that makes the parameters.

    python examples/print_step.py

Nothing runs here: a net is data, and its text is what is saved, compared, changed by hand and read back.
"""

import netdsl as nd
from netdsl import layers, optimizers


def build() -> nd.Model:
    """A small classifier with dropout, trained by Adam."""
    model = nd.Model("mlp")
    x = model.input("x", ("N", 64))
    label = model.input("label", ("N",), "int32")
    hidden = layers.relu(model, layers.fc(model, x, "fc1", 64, 32), "fc1_relu")
    hidden = layers.dropout(model, hidden, "fc1_dropout", ratio=0.2)
    loss = layers.softmax_with_loss(model, layers.fc(model, hidden, "fc2", 32, 10), label)
    model.add_gradients(loss)
    optimizers.Adam(base_learning_rate=0.001).build(model)
    model.net.output(loss)
    return model


def main() -> None:
    """Print the init net, the training step, and what is left of it for inference."""
    model = build()
    for title, net in (
        ("run once, to make the parameters", model.init_net),
        ("run for every batch", model.net),
        ("what inference needs", model.for_inference("fc2").net),
    ):
        print(f"# {title}\n{net.dump()}")
    assert nd.parse(model.net.dump()) == model.net.definition


if __name__ == "__main__":
    main()
