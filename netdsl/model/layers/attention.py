"""Multi-head attention, made of existing operators."""

from __future__ import annotations

import math

from netdsl.dsl import Blob, Tag
from netdsl.errors import SchemaError
from netdsl.model.layers.parametric import fc
from netdsl.model.layers.scope import layer
from netdsl.model.model import InitializerLike, Model


@layer
def multi_head_attention(
    model: Model,
    x: Blob | str,
    name: str,
    dim: int,
    heads: int,
    *,
    length: int | None = None,
    weight_init: InitializerLike = "XavierFill",
    bias_init: InitializerLike = "ConstantFill",
) -> Blob:
    """Self-attention (https://arxiv.org/abs/1706.03762): x [N, T, dim] -> [N, T, dim].

    Makes the parameters ``<name>_q_w``, ``_k_w``, ``_v_w`` and ``<name>_w`` of the last projection, each with its
    bias. With ``length`` (then T) a learned bias for each pair's distance is added to the scores of each head:
    ``<name>_relative_position_bias_table`` [2 * length - 1, heads] (https://arxiv.org/abs/2103.14030).

    Raises:
        SchemaError: ``dim`` cannot be divided among the heads.
    """
    if heads < 1 or dim % heads:
        expected = f"a multiple of {heads}" if heads > 0 else "one head or more"
        raise SchemaError("attention divides the features among the heads", expected=expected, got=f"{dim} / {heads}")
    net, size = model.net, dim // heads
    q, k, v = (
        _split_heads(
            model,
            fc(model, x, f"{name}_{part}", dim, dim, axis=2, weight_init=weight_init, bias_init=bias_init),
            heads,
            size,
        )
        for part in "qkv"
    )
    scores = net.BatchMatMul([q, k], f"{name}_products", trans_b=1)
    scores = net.Scale(scores, f"{name}_scores", scale=1.0 / math.sqrt(size))
    if length is not None:
        scores = net.Add([scores, _relative_bias(model, name, length, heads)], f"{name}_biased", broadcast=1)
    weights = net.Softmax(scores, f"{name}_weights", axis=3)
    mixed = net.Transpose(net.BatchMatMul([weights, v], f"{name}_mixed"), f"{name}_joined", axes=[0, 2, 1, 3])
    flat, _ = net.Reshape(mixed, [f"{name}_flat", f"_{name}_flat_shape"], shape=[0, 0, dim])
    return fc(model, flat, name, dim, dim, axis=2, weight_init=weight_init, bias_init=bias_init)


def _split_heads(model: Model, x: Blob, heads: int, size: int) -> Blob:
    """[N, T, heads * size] -> [N, heads, T, size]."""
    split, _ = model.net.Reshape(x, [f"{x}_split", f"_{x}_split_shape"], shape=[0, 0, heads, size])
    return model.net.Transpose(split, f"{x}_heads", axes=[0, 2, 1, 3])


def _relative_bias(model: Model, name: str, length: int, heads: int) -> Blob:
    """[heads, length, length]: the table's row for each pair's distance."""
    init = ("GaussianFill", {"std": 0.02})
    table = model.parameter(
        f"{name}_relative_position_bias_table", [2 * length - 1, heads], init, tag=Tag.WEIGHT, kind="attention"
    )
    index = model.net.blob(f"{name}_relative_position_index")
    distances = [i - j + length - 1 for i in range(length) for j in range(length)]
    made = model.init_net.GivenTensorIntFill([], index, shape=[length * length], values=distances)
    model.net.adopt(made, model.init_net)
    rows = model.net.Gather([table.blob, index], f"{name}_bias_rows", dense_gradient=1)
    square = [length, length, heads]
    split, _ = model.net.Reshape(rows, [f"{name}_bias_split", f"_{name}_bias_split_shape"], shape=square)
    return model.net.Transpose(split, f"{name}_bias", axes=[2, 0, 1])
