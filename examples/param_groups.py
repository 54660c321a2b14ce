"""Which learning rate does each parameter get? A small transformer, its rules, and the table they make.

It has norms, an embedding that the head shares, position tables, and a frozen tower.
"""

from __future__ import annotations

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.optimizers import Clip, Rule

VOCABULARY, LENGTH, DIM, HEADS, HIDDEN = 11, 5, 8, 2, 16

RULES = [
    Rule(scope="tower", freeze=True),
    Rule(weight_decay=0.05, label="weights decay"),
    Rule(scope="block1", lr_multiplier=0.1, label="block1 is trained already"),
    Rule(regex="absolute_pos_embed|relative_position_bias_table", weight_decay=0, label="position tables"),
    Rule(kind="norm", weight_decay=0),
    Rule(kind="embedding", weight_decay=0.01),
    Rule(tag="bias", weight_decay=0),
]


def build_model() -> tuple[nd.Model, nd.Blob]:
    """Return the model and its loss; it reads ``ids`` [N, 5], ``extra`` [N, 6] and ``label`` [N * 5]."""
    model = nd.Model("transformer")
    net = model.net
    ids = model.input("ids", ("N", LENGTH), "int32")
    extra = model.input("extra", ("N", 6))
    label = model.input("label", ("M",), "int32")

    x = layers.embedding(model, ids, "tokens", VOCABULARY, DIM, dense_gradient=True)
    position = model.parameter("absolute_pos_embed", [LENGTH, DIM], ("GaussianFill", {"std": 0.02}), kind="position")
    x = net.Add([x, position.blob], "placed", broadcast=1)
    with nd.name_scope("tower"):
        tower = layers.fc(model, extra, "fc", 6, DIM)
    x = net.Add([x, net.ExpandDims(tower, "tower_row", dims=[1])], "towered")

    with nd.name_scope("block1"):
        h = layers.layer_norm(model, x, "norm1", DIM, axis=2)
        h = layers.multi_head_attention(model, h, "attn", DIM, HEADS, length=LENGTH)
        x = net.Add([x, h], "residual1")
        h = layers.layer_norm(model, x, "norm2", DIM, axis=2)
        h = layers.gelu(model, layers.fc(model, h, "fc1", DIM, HIDDEN, axis=2), "gelu")
        x = net.Add([x, layers.fc(model, h, "fc2", HIDDEN, DIM, axis=2)], "residual2")

    x = layers.layer_norm(model, x, "norm", DIM, axis=2)
    rows, _ = net.Reshape(x, ["rows", "_rows_shape"], shape=[-1, DIM])
    bias = model.parameter("head_b", [VOCABULARY], "ConstantFill", tag=nd.Tag.BIAS, kind="fc")
    scores = net.FC([rows, "tokens_w", bias.blob], "scores")
    return model, layers.softmax_with_loss(model, scores, label)


def main() -> None:
    """Build the model with AdamW, and print how each parameter is trained."""
    model, loss = build_model()
    groups = optimizers.param_groups(model, RULES)
    model.add_gradients(loss)
    optimizers.build_groups(groups, optimizers.AdamW(base_learning_rate=0.01), clip=Clip("full_model", 0.5))
    print(model.describe_groups())


if __name__ == "__main__":
    main()
