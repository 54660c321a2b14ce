"""The net that the demo trains, as an author would write it."""

from __future__ import annotations

from netdsl import initializers, layers, optimizers
from netdsl.model import Model

PRECISIONS = ("half", "float32")


def build(precision: str = "half") -> Model:
    """Return the model with its gradients and optimizer.

    It reads ``data`` float32 [N, 1, 8, 8] and ``label`` int32 [N], and computes ``scores`` float32 [N, 10],
    ``loss`` and ``accuracy``. In half precision, parameters and everything between the two conversions
    are float16, and the optimizer updates float32 masters.
    """
    half = precision == "half"
    model = Model("digits")
    model.initializer_class = initializers.PseudoFP16Initializer if half else initializers.Initializer
    data = model.input("data", ("N", 1, 8, 8))
    label = model.input("label", ("N",), "int32")

    x = model.net.FloatToHalf(data, "data_half") if half else data
    x = layers.relu(model, layers.conv(model, x, "conv1", 1, 16, 3, pad=1), "conv1_relu")
    x = layers.relu(model, layers.conv(model, x, "conv2", 16, 32, 3, pad=1), "conv2_relu")
    x = layers.max_pool(model, x, "pool", kernel=2, stride=2)
    x = layers.relu(model, layers.fc(model, x, "fc1", 32 * 4 * 4, 64), "fc1_relu")
    scores = layers.fc(model, x, "scores_half" if half else "scores", 64, 10)
    if half:
        scores = model.net.HalfToFloat(scores, "scores")

    loss = layers.softmax_with_loss(model, scores, label)
    accuracy = layers.accuracy(model, "softmax", label, "accuracy")
    model.add_gradients(loss)
    optimizer = optimizers.MultiPrecisionSGD if half else optimizers.SGD
    schedule = {"stepsize": 44, "gamma": 0.9}  # every epoch
    optimizer(base_learning_rate=0.1, momentum=0.9, policy="step", schedule=schedule).build(model)
    model.net.output(loss, accuracy)
    return model
