"""Layers without parameters; ``name`` names the output, and ``args`` go to the operator as they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.dsl import Blob
from netdsl.model.layers.scope import layer
from netdsl.model.model import Model

BlobLike = Blob | str


def beside(name: BlobLike, prefix: str, suffix: str) -> BlobLike:
    """Name a blob after another, in its scope: ``_d_mask`` beside ``d``."""
    if isinstance(name, str):
        return f"{prefix}{name}{suffix}"
    scope, slash, leaf = name.name.rpartition("/")
    return Blob(f"{scope}{slash}{prefix}{leaf}{suffix}", name.net)


@layer
def relu(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """``max(x, 0)``; in place when ``name`` is x."""
    return model.net.Relu(x, name)


@layer
def leaky_relu(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """x where positive, else ``alpha * x``; ``alpha`` is 0.01 by default."""
    return model.net.LeakyRelu(x, name, **args)


@layer
def sigmoid(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """``1 / (1 + exp(-x))``."""
    return model.net.Sigmoid(x, name)


@layer
def tanh(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """The hyperbolic tangent."""
    return model.net.Tanh(x, name)


@layer
def gelu(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """x times the normal distribution function of x; ``fast_gelu`` uses the tanh form."""
    return model.net.Gelu(x, name, **args)


@layer
def softmax(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Softmax over the axes from ``axis`` (1 by default) on."""
    return model.net.Softmax(x, name, **args)


@layer
def max_pool(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Maximum over windows: ``kernel``, ``stride``, ``pad``, ..."""
    return model.net.MaxPool(x, name, **args)


@layer
def average_pool(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Mean over windows: ``kernel``, ``stride``, ``pad``, ..."""
    return model.net.AveragePool(x, name, **args)


@layer
def lrn(model: Model, x: BlobLike, name: BlobLike, *, size: int, alpha: float, beta: float, **args: Any) -> Blob:
    """Local response normalisation over ``size`` neighbouring channels; ``bias`` is 1 by default."""
    outputs = [name, beside(name, "_", "_scale")]
    return model.net.LRN(x, outputs, size=size, alpha=alpha, beta=beta, **args)[0]


@layer
def dropout(model: Model, x: BlobLike, name: BlobLike, *, is_test: bool = False, **args: Any) -> Blob:
    """Zero elements with probability ``ratio`` (0.5 by default) while training, and scale the rest."""
    return model.net.Dropout(x, [name, beside(name, "_", "_mask")], is_test=is_test, **args)[0]


@layer
def concat(model: Model, xs: Sequence[BlobLike], name: BlobLike, **args: Any) -> Blob:
    """Join blobs along ``axis`` (1 by default), or with ``add_axis`` along a new one."""
    return model.net.Concat(list(xs), [name, beside(name, "_", "_concat_dims")], **args)[0]


@layer
def accuracy(model: Model, scores: BlobLike, label: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Share of rows [N, classes] whose ``label`` is among the ``top_k`` (1 by default) largest scores."""
    return model.net.Accuracy([scores, label], name, **args)


@layer
def softmax_with_loss(
    model: Model, scores: BlobLike, label: BlobLike, name: BlobLike = "softmax", loss: BlobLike = "loss", **args: Any
) -> Blob:
    """Softmax of scores [N, classes] as ``name``, and the mean cross-entropy with ``label`` [N], which is returned."""
    return model.net.SoftmaxWithLoss([scores, label], [name, loss], **args)[1]
