"""Layer functions: each appends operators to ``model.net`` (and fills to ``model.init_net``) and returns a Blob."""

from netdsl.model.layers.attention import multi_head_attention
from netdsl.model.layers.parametric import conv, embedding, fc, layer_norm, spatial_bn
from netdsl.model.layers.plain import (
    accuracy,
    average_pool,
    concat,
    dropout,
    gelu,
    leaky_relu,
    lrn,
    max_pool,
    relu,
    sigmoid,
    softmax,
    softmax_with_loss,
    tanh,
)
from netdsl.model.layers.scope import arg_scope, layer

__all__ = [
    "accuracy",
    "arg_scope",
    "average_pool",
    "concat",
    "conv",
    "dropout",
    "embedding",
    "fc",
    "gelu",
    "layer",
    "layer_norm",
    "leaky_relu",
    "lrn",
    "max_pool",
    "multi_head_attention",
    "relu",
    "sigmoid",
    "softmax",
    "softmax_with_loss",
    "spatial_bn",
    "tanh",
]
