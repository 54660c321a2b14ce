"""Cases of SpatialBN and LayerNorm."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal, uniform


def spatial_bn(
    X: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    var: Any,
    sums: Any = None,
    sumsq: Any = None,
    *,
    is_test: int,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    order: str = "NCHW",
    num_batches: int = 1,
) -> Any:
    """In float64, one channel at a time."""
    x = np.moveaxis(X, 1 if order == "NCHW" else -1, 0).astype(np.float64)
    y, results = np.zeros_like(x), []
    for c, channel in enumerate(x):
        count = channel.size * num_batches
        if is_test:
            centre, variance = float(mean[c]), float(var[c])
        elif num_batches > 1:
            centre = float(sums[c]) / count
            variance = float(sumsq[c]) / count - centre**2
        else:
            centre, variance = np.mean(channel), np.var(channel)
        y[c] = (channel - centre) / np.sqrt(variance + epsilon) * scale[c] + bias[c]
        unbiased = variance * count / (count - 1) if count > 1 else np.nan
        results.append(
            (
                momentum * mean[c] + (1 - momentum) * centre,
                momentum * var[c] + (1 - momentum) * unbiased,
                centre,
                (variance + epsilon) ** -0.5,
            )
        )
    y = np.moveaxis(y, 0, 1 if order == "NCHW" else -1)
    return y if is_test else (y, *np.array(results).T)


def layer_norm(
    X: Any, gamma: Any = None, beta: Any = None, *, axis: int = 1, epsilon: float = 1e-5, elementwise_affine: int = 0
) -> Any:
    """In float64, one example at a time."""
    lead = X.shape[:axis] if axis >= 0 else X.shape[: X.ndim + axis]
    y, means, stds = np.zeros(X.shape), np.zeros((*lead, 1)), np.zeros((*lead, 1))
    for i in np.ndindex(*lead):
        example = X[i].astype(np.float64)
        means[i], stds[i] = example.mean(), np.sqrt(example.var() + epsilon)
        y[i] = (example - means[i]) / stds[i]
        if elementwise_affine:
            y[i] = y[i] * np.reshape(gamma, example.shape) + np.reshape(beta, example.shape)
    return y, means, stds


C4 = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
KNOWN = [np.array(v, np.float32) for v in ([1, 2], [0, 1], [1, 5], [4, 0.25])]
CHANNELS = (normal(3, seed=1), normal(3, seed=2), normal(3, seed=3), uniform(3, low=0.2, high=2.0, seed=4))
BATCH, LAST = normal(4, 3, 2, 3), normal(4, 2, 3, 3)
SUMS = (normal(3, seed=5), uniform(3, low=20, high=40, seed=6))
HALF = tuple(a.astype(np.float32) for a in CHANNELS)
TRAIN: dict[str, Any] = {"outputs": 5, "grad": (0, 1, 2), "grad_outputs": (0,)}

CASES = [
    Case("SpatialBN", (BATCH, *CHANNELS), {"is_test": 0}, spatial_bn, **TRAIN),
    Case("SpatialBN", (LAST, *CHANNELS), {"is_test": 0, "order": "NHWC", "momentum": 0.5}, spatial_bn, **TRAIN),
    Case("SpatialBN", (normal(5, 3), *CHANNELS), {"is_test": 0, "epsilon": 0.1}, spatial_bn, **TRAIN, label="matrix"),
    Case("SpatialBN", (normal(2, 3, 2, 1, 2), *CHANNELS), {"is_test": 0}, spatial_bn, **TRAIN, label="three axes"),
    Case(
        "SpatialBN",
        (BATCH.astype(np.float16), *CHANNELS),
        {"is_test": 0},
        lambda X, *rest, **args: tuple(
            v.astype(np.float16 if i == 0 else np.float32) for i, v in enumerate(spatial_bn(X, *rest, **args))
        ),
        **{**TRAIN, "grad": False},
        label="half beside single",
    ),
    Case(
        "SpatialBN",
        (BATCH, *CHANNELS, *SUMS),
        {"is_test": 0, "num_batches": 3},
        spatial_bn,
        **{**TRAIN, "grad": False},
        half=False,
    ),
    Case(
        "SpatialBN",
        (BATCH, *CHANNELS, *SUMS),
        {"is_test": 0},
        lambda *a, **args: spatial_bn(*a[:5], **args),
        **TRAIN,
        label="sums unread",
    ),
    Case(
        "SpatialBN",
        (C4, *KNOWN),
        {"is_test": 0, "momentum": 0.9},
        (
            np.array(
                [-1.3416355, -0.4472118, 0.4472119, 1.3416355, -1.6832709, 0.1055765, 1.8944235, 3.6832714]
            ).reshape(C4.shape),
            np.array([1.05, 5.05]),
            np.array([3.7666667, 0.3916667]),
            np.array([1.5, 5.5]),
            np.array([0.89442366, 0.89442366]),
        ),
        **TRAIN,
        label="by hand",
    ),
    Case(
        "SpatialBN",
        (C4, *KNOWN),
        {"is_test": 1},
        np.array([-0.4999994, 0, 0.4999994, 0.9999988, -2.9999199, 1, 4.9999199, 8.9998398]).reshape(C4.shape),
        grad=False,
        label="by hand",
    ),
    Case(
        "SpatialBN",
        (normal(1, 3, 1, 1), *CHANNELS),
        {"is_test": 0},
        holds=lambda inputs, outputs: np.testing.assert_array_equal(np.isnan(outputs[2]), True),
        **{**TRAIN, "grad": False},
        label="one element has no unbiased variance",
    ),
    Case(
        "SpatialBN",
        (normal(0, 3, 2, 2), *CHANNELS),
        {"is_test": 0},
        lambda X, scale, bias, mean, var, is_test: (X, mean, var, np.zeros(3), np.zeros(3)),
        **{**TRAIN, "grad": False},
        label="empty batch",
    ),
    # In test mode the gradient is Caffe2's (see SpatialBNGradient), which is not that of the function.
    Case("SpatialBN", (BATCH, *CHANNELS), {"is_test": 1}, spatial_bn, grad=False, batch=(0,)),
    Case("SpatialBN", (LAST, *CHANNELS), {"is_test": 1, "order": "NHWC", "epsilon": 0.1}, spatial_bn, grad=False),
    Case("SpatialBN", (normal(5, 3), *CHANNELS), {"is_test": 1}, spatial_bn, grad=False, label="matrix"),
    Case("SpatialBN", (C4, *KNOWN[:2], KNOWN[2][:1], KNOWN[3]), {"is_test": 1}, refuses="one element for each channel"),
    Case("SpatialBN", (BATCH, *CHANNELS), {"is_test": 0}, refuses="5 outputs in training", label="one output"),
    Case("SpatialBN", (BATCH, *CHANNELS), {"is_test": 0, "num_batches": 2}, refuses="need their sums", outputs=5),
    Case("SpatialBN", (BATCH, *CHANNELS), {"is_test": 0, "num_batches": 0}, refuses="must be positive", outputs=5),
    Case("SpatialBN", (normal(3), *CHANNELS), {"is_test": 1}, refuses="no axis of channels"),
    Case("SpatialBN", (BATCH, *CHANNELS), {}, refuses="needs the argument 'is_test'"),
    Case("LayerNorm", (normal(3, 4),), {}, layer_norm, outputs=3, grad_outputs=(0,), batch=(0,)),
    Case("LayerNorm", (normal(2, 3, 4),), {"axis": 2, "epsilon": 0.01}, layer_norm, outputs=3, grad_outputs=(0,)),
    Case("LayerNorm", (normal(2, 3, 4),), {"axis": -1}, layer_norm, outputs=3, grad_outputs=(0,)),
    Case("LayerNorm", (normal(2, 3, 2),), {"epsilon": 0.5}, layer_norm, outputs=3, grad_outputs=(0,), label="two axes"),
    Case(
        "LayerNorm",
        (normal(3, 4), normal(4, seed=1), normal(4, seed=2)),
        {"elementwise_affine": 1},
        layer_norm,
        outputs=3,
        grad_outputs=(0,),
        batch=(0,),
    ),
    Case(
        "LayerNorm",
        (normal(2, 3, 2), normal(3, 2, seed=1), normal(3, 2, seed=2)),
        {"elementwise_affine": 1},
        layer_norm,
        outputs=3,
        grad_outputs=(0,),
        label="affine over two axes",
    ),
    Case(
        "LayerNorm",
        (normal(3, 4), normal(4, seed=1), normal(4, seed=2)),
        {},
        layer_norm,
        outputs=3,
        grad=(0,),
        grad_outputs=(0,),
        label="gamma and beta unread",
    ),
    Case("LayerNorm", (normal(3, 4),), {"elementwise_affine": 1}, refuses="inputs X, gamma, beta", outputs=3),
    Case("LayerNorm", (normal(3, 4),), {"axis": 0}, refuses="must not be none", outputs=3),
    Case("LayerNorm", (normal(3, 4),), {"axis": 2}, refuses="axis 2 is out of range", outputs=3),
    Case("LayerNorm", (normal(3, 4), normal(3), normal(3)), {}, refuses="the size of an example", outputs=3),
]
