"""Layers with parameters; ``name`` names the output, parameters are ``<name>_w``, ``<name>_b``, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.dsl import Blob, Tag
from netdsl.initializers import Initializer
from netdsl.model.layers.scope import layer
from netdsl.model.model import InitializerLike, Model

_BIAS: InitializerLike = "ConstantFill"


@layer
def fc(
    model: Model,
    x: Blob | str,
    name: str,
    dim_in: int,
    dim_out: int,
    *,
    weight_init: InitializerLike = "XavierFill",
    bias_init: InitializerLike = _BIAS,
    **args: Any,
) -> Blob:
    """Fully connected: x [N, dim_in] -> [N, dim_out]; ``args`` go to FC."""
    w = model.parameter(f"{name}_w", [dim_out, dim_in], weight_init, kind="fc")
    b = model.parameter(f"{name}_b", [dim_out], bias_init, tag=Tag.BIAS, kind="fc")
    return model.net.FC([x, w.blob, b.blob], name, **args)


@layer
def conv(
    model: Model,
    x: Blob | str,
    name: str,
    dim_in: int,
    dim_out: int,
    kernel: int | Sequence[int],
    *,
    group: int = 1,
    weight_init: InitializerLike = "XavierFill",
    bias_init: InitializerLike = _BIAS,
    no_bias: bool = False,
    order: str = "NCHW",
    **args: Any,
) -> Blob:
    """Convolution: x [N, dim_in, *dims] -> [N, dim_out, *dims'] (NHWC with ``order``); ``args`` go to Conv.

    One ``kernel`` stands for two dims; a list has one for each.
    """
    kernels = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
    per_group = dim_in // group
    shape = [dim_out, per_group, *kernels] if order == "NCHW" else [dim_out, *kernels, per_group]
    w = model.parameter(f"{name}_w", shape, weight_init, kind="conv")
    inputs = [x, w.blob]
    if not no_bias:
        inputs.append(model.parameter(f"{name}_b", [dim_out], bias_init, tag=Tag.BIAS, kind="conv").blob)
    given: dict[str, Any] = {"kernel": kernel} if isinstance(kernel, int) else {"kernels": kernels}
    if group != 1:
        given["group"] = group
    if order != "NCHW":
        given["order"] = order
    return model.net.Conv(inputs, name, **given, **args)


@layer
def spatial_bn(
    model: Model,
    x: Blob | str,
    name: str,
    dim_in: int,
    *,
    is_test: bool = False,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    **args: Any,
) -> Blob:
    """Batch normalisation over the channels of x; parameters and statistics are always float32."""
    single = Initializer
    scale = model.parameter(f"{name}_s", [dim_in], single("ConstantFill", value=1.0), kind="spatial_bn")
    bias = model.parameter(f"{name}_b", [dim_in], single("ConstantFill", value=0.0), tag=Tag.BIAS, kind="spatial_bn")
    computed: dict[str, Any] = {"tag": Tag.COMPUTED, "kind": "spatial_bn"}
    mean = model.parameter(f"{name}_rm", [dim_in], single("ConstantFill", value=0.0), **computed)
    variance = model.parameter(f"{name}_riv", [dim_in], single("ConstantFill", value=1.0), **computed)
    inputs = [x, scale.blob, bias.blob, mean.blob, variance.blob]
    given = {"epsilon": epsilon, "momentum": momentum, **args}
    if is_test:
        return model.net.SpatialBN(inputs, [name], is_test=1, **given)
    outputs = [name, mean.blob, variance.blob, f"{name}_sm", f"{name}_siv"]
    return model.net.SpatialBN(inputs, outputs, is_test=0, **given)[0]


@layer
def layer_norm(
    model: Model,
    x: Blob | str,
    name: str,
    dims: int | Sequence[int],
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    scale_init: InitializerLike | None = None,
    bias_init: InitializerLike | None = None,
) -> Blob:
    """Normalise over the axes from ``axis`` on, which have extents ``dims``, then scale and shift elementwise."""
    shape = [dims] if isinstance(dims, int) else list(dims)
    scale = scale_init or Initializer("ConstantFill", value=1.0)
    shift = bias_init or Initializer("ConstantFill", value=0.0)
    s = model.parameter(f"{name}_scale", shape, scale, kind="layer_norm")
    b = model.parameter(f"{name}_bias", shape, shift, tag=Tag.BIAS, kind="layer_norm")
    outputs = [name, f"{name}_mean", f"{name}_stdev"]
    args = {"axis": axis, "epsilon": epsilon, "elementwise_affine": 1}
    return model.net.LayerNorm([x, s.blob, b.blob], outputs, **args)[0]


@layer
def embedding(
    model: Model,
    ids: Blob | str,
    name: str,
    count: int,
    dim: int,
    *,
    weight_init: InitializerLike = ("GaussianFill", {"std": 0.02}),
) -> Blob:
    """Look up rows of a table [count, dim]: ids of any shape -> [*ids.shape, dim]; its gradient is sparse."""
    w = model.parameter(f"{name}_w", [count, dim], weight_init, kind="embedding")
    return model.net.Gather([w.blob, ids], name)
