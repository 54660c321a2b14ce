"""Layer functions: each appends operators to ``model.net`` (and fills to ``model.init_net``) and returns a Blob."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

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

_ELSEWHERE = {
    "avg_pool": "average_pool",
    "avg_pool2d": "average_pool",
    "batch_norm": "spatial_bn",
    "batchnorm": "spatial_bn",
    "conv2d": "conv",
    "cross_entropy": "softmax_with_loss",
    "dense": "fc",
    "linear": "fc",
    "max_pool2d": "max_pool",
}
"""What layers are called in other libraries."""

if not TYPE_CHECKING:  # type checkers know the names above, and those only

    def __getattr__(name: str) -> object:
        here = _ELSEWHERE.get(name)
        told = f"; it is layers.{here} here" if here else ""
        raise AttributeError(f"there is no layer {name!r}{told}", name=name, obj=sys.modules[__name__])
