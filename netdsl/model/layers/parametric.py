"""Layers with parameters; ``name`` names the output, parameters are ``<name>_w``, ``<name>_b``, ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.dsl import Blob, Tag
from netdsl.errors import SchemaError
from netdsl.initializers import Initializer
from netdsl.model.layers.scope import layer
from netdsl.model.model import InitializerLike, Model

_BIAS: InitializerLike = "ConstantFill"
_ONES: InitializerLike = ("ConstantFill", {"value": 1.0})
_ZEROS: InitializerLike = ("ConstantFill", {"value": 0.0})


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

    Raises:
        SchemaError: ``group`` does not divide the channels.
    """
    kernels = [kernel, kernel] if isinstance(kernel, int) else list(kernel)
    if dim_in % group or dim_out % group:
        raise SchemaError(f"conv {name!r}: group {group} must divide dim_in and dim_out", got=f"{dim_in}, {dim_out}")
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
    scale_init: InitializerLike = _ONES,
    bias_init: InitializerLike = _ZEROS,
    **args: Any,
) -> Blob:
    """Batch normalisation over the channels of x; ``args`` (epsilon, momentum, order) go to SpatialBN.

    Parameters and statistics are float32 whatever the model's ``initializer_class`` is.
    """

    def made(suffix: str, init: InitializerLike, tag: Tag) -> Blob:
        return model.parameter(f"{name}_{suffix}", [dim_in], _single(init), tag=tag, kind="spatial_bn").blob

    scale, bias = made("s", scale_init, Tag.WEIGHT), made("b", bias_init, Tag.BIAS)
    mean, variance = made("rm", _ZEROS, Tag.COMPUTED), made("riv", _ONES, Tag.COMPUTED)
    outputs = [name] if is_test else [name, mean, variance, f"{name}_sm", f"{name}_siv"]
    return model.net.add("SpatialBN", [x, scale, bias, mean, variance], outputs, {"is_test": is_test, **args})[0]


def _single(given: InitializerLike) -> InitializerLike:
    """The same, in single precision whatever the model's own way."""
    if isinstance(given, str):
        return Initializer(given)
    return Initializer(given[0], **given[1]) if isinstance(given, tuple) else given


@layer
def layer_norm(
    model: Model,
    x: Blob | str,
    name: str,
    dims: int | Sequence[int],
    *,
    scale_init: InitializerLike = _ONES,
    bias_init: InitializerLike = _ZEROS,
    **args: Any,
) -> Blob:
    """Normalise over the axes from ``axis`` (1 by default) on, which have extents ``dims``, then scale and shift.

    ``args`` (axis, epsilon) go to LayerNorm. Scale and shift have the precision of x.
    """
    shape = [dims] if isinstance(dims, int) else list(dims)
    s = model.parameter(f"{name}_scale", shape, scale_init, kind="layer_norm")
    b = model.parameter(f"{name}_bias", shape, bias_init, tag=Tag.BIAS, kind="layer_norm")
    outputs = [name, f"{name}_mean", f"{name}_std"]
    return model.net.LayerNorm([x, s.blob, b.blob], outputs, elementwise_affine=True, **args)[0]


@layer
def embedding(
    model: Model,
    ids: Blob | str,
    name: str,
    count: int,
    dim: int,
    *,
    weight_init: InitializerLike = ("GaussianFill", {"std": 0.02}),
    dense_gradient: bool = False,
) -> Blob:
    """Look up rows of a table [count, dim]: ids of any shape -> [*ids.shape, dim].

    Its gradient is sparse, or dense with ``dense_gradient``: for a table that another layer reads whole.
    """
    w = model.parameter(f"{name}_w", [count, dim], weight_init, kind="embedding")
    args: dict[str, Any] = {"dense_gradient": True} if dense_gradient else {}
    return model.net.Gather([w.blob, ids], name, **args)
