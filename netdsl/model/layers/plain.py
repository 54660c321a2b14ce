"""Layers without parameters; ``name`` names the output, and ``args`` go to the operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.dsl import Blob
from netdsl.model.layers.scope import layer
from netdsl.model.model import Model

BlobLike = Blob | str


@layer
def relu(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """``max(x, 0)``; in place when ``name`` is x."""
    return model.net.Relu(x, name)


@layer
def leaky_relu(model: Model, x: BlobLike, name: BlobLike, *, alpha: float = 0.01) -> Blob:
    """x where positive, else ``alpha * x``."""
    return model.net.LeakyRelu(x, name, alpha=alpha)


@layer
def sigmoid(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """``1 / (1 + exp(-x))``."""
    return model.net.Sigmoid(x, name)


@layer
def tanh(model: Model, x: BlobLike, name: BlobLike) -> Blob:
    """The hyperbolic tangent."""
    return model.net.Tanh(x, name)


@layer
def gelu(model: Model, x: BlobLike, name: BlobLike, *, fast: bool = False) -> Blob:
    """x times the normal distribution function of x; ``fast`` uses the tanh form."""
    return model.net.Gelu(x, name, fast_gelu=fast)


@layer
def softmax(model: Model, x: BlobLike, name: BlobLike, *, axis: int = 1) -> Blob:
    """Softmax over the axes from ``axis`` on."""
    return model.net.Softmax(x, name, axis=axis)


@layer
def max_pool(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Maximum over windows: ``kernel``, ``stride``, ``pad``, ..."""
    return model.net.MaxPool(x, name, **args)


@layer
def average_pool(model: Model, x: BlobLike, name: BlobLike, **args: Any) -> Blob:
    """Mean over windows: ``kernel``, ``stride``, ``pad``, ..."""
    return model.net.AveragePool(x, name, **args)


@layer
def lrn(model: Model, x: BlobLike, name: str, *, size: int, alpha: float, beta: float, bias: float = 1.0) -> Blob:
    """Local response normalisation over ``size`` neighbouring channels."""
    return model.net.LRN(x, [name, f"_{name}_scale"], size=size, alpha=alpha, beta=beta, bias=bias)[0]


@layer
def dropout(model: Model, x: BlobLike, name: str, *, ratio: float = 0.5, is_test: bool = False) -> Blob:
    """Zero elements with probability ``ratio`` while training, and scale the rest."""
    return model.net.Dropout(x, [name, f"_{name}_mask"], ratio=ratio, is_test=is_test)[0]


@layer
def concat(model: Model, xs: Sequence[BlobLike], name: str, *, axis: int = 1, add_axis: bool = False) -> Blob:
    """Join blobs along ``axis``, or along a new one."""
    args = {"axis": axis, "add_axis": 1} if add_axis else {"axis": axis}
    return model.net.Concat(list(xs), [name, f"_{name}_concat_dims"], **args)[0]


@layer
def accuracy(model: Model, scores: BlobLike, label: BlobLike, name: BlobLike, *, top_k: int = 1) -> Blob:
    """Share of rows [N, classes] whose ``label`` is among the ``top_k`` largest scores."""
    return model.net.Accuracy([scores, label], name, **({"top_k": top_k} if top_k != 1 else {}))


@layer
def softmax_with_loss(model: Model, scores: BlobLike, label: BlobLike, name: str = "softmax", loss: str = "loss") -> Blob:
    """Softmax of scores [N, classes] as ``name``, and the mean cross-entropy with ``label`` [N], which is returned."""
    return model.net.SoftmaxWithLoss([scores, label], [name, loss])[1]
