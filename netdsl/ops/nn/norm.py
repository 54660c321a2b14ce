"""Normalisation by the statistics of channels (SpatialBN) or of single examples (LayerNorm)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import canonical_axis, conflict, product
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.window import known, shape_of, wide
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_Statistic = Float.untied()  # single precision beside a half X


@attrs.frozen(kw_only=True, slots=False)
class ChannelNorm(Operator):
    """What SpatialBN and its gradient have in common."""

    epsilon: float = arg(1e-5, doc="Added to the variance.")
    order: str = arg(
        "NCHW", doc="Where the channels stand: axis 1 (NCHW) or the last (NHWC).", choices=("NCHW", "NHWC")
    )
    num_batches: int = arg(1, doc="How many batches the sums given are of; above 1 they are used instead of own ones.")
    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def check(self, X: TensorType, **by_channel: TensorType | None) -> Dim:
        """Return the number of channels, once X has some and every other input has as many elements.

        Raises:
            InferenceError: a rank or length that does not fit.
        """
        name, shape = type(self).__name__, shape_of(X)
        if len(shape) < 2:
            raise InferenceError(f"{name}: X has no axis of channels", expected="rank 2 or more", got=X)
        channels = shape[1] if self.order == "NCHW" else shape[-1]
        for formal, given in by_channel.items():
            if given is not None and (given.rank != 1 or conflict(shape_of(given)[0], channels)):
                raise InferenceError(
                    f"{name}: {formal} must have one element for each channel", expected=f"[{channels}]", got=given
                )
        return channels

    def reduced(self, x: Array) -> tuple[int, ...]:
        """All axes but that of the channels."""
        return (0, *range(2, x.ndim)) if self.order == "NCHW" else tuple(range(x.ndim - 1))

    def along(self, v: Array, x: Array) -> Array:
        """View a number for each channel so that it broadcasts with ``x``."""
        return v.reshape(-1, *(1,) * (x.ndim - 2)) if self.order == "NCHW" else v

    def total_count(self, x: Array) -> int:
        """How many elements of each channel the statistics are of."""
        return self.num_batches * math.prod(x.shape[a] for a in self.reduced(x))


@operator
class SpatialBN(ChannelNorm):
    """Normalise every channel: ``Y = (X - mean) / sqrt(var + epsilon) * scale + bias``.

    In training, mean and (biased) variance are those of the batch, and the running ones are updated in place:
    ``running = momentum * running + (1 - momentum) * batch``, with the unbiased variance. An empty batch leaves
    them; a single element for each channel has no unbiased variance, which gives NaN. In test mode the running
    ones are used.
    """

    inputs = (
        In("X", Float, doc="N x C x anything, or channels last (order NHWC)."),
        In("scale", _Statistic, doc="One number for each channel; float32 also where X is half."),
        In("bias", _Statistic, doc="One number for each channel."),
        In("mean", _Statistic, doc="Running mean."),
        In("var", _Statistic, doc="Running variance."),
        In("sums", _Statistic, optional=True, doc="Sums of each channel over ``num_batches`` batches."),
        In("sumsq", _Statistic, optional=True, doc="Sums of squares of each channel over ``num_batches`` batches."),
    )
    outputs = (
        Out("Y", inplace="X"),
        Out("mean_out", optional=True, inplace="mean", enforced="mean", doc="Running mean, in training."),
        Out("var_out", optional=True, inplace="var", enforced="var", doc="Running variance, in training."),
        Out("saved_mean", optional=True, doc="Mean of the batch, in training."),
        Out("saved_inv_std", optional=True, doc="``1 / sqrt(var + epsilon)`` of the batch, in training."),
    )
    test_arg = "is_test"
    test_outputs = 1
    source = "https://arxiv.org/abs/1502.03167"

    is_test: bool = arg(doc="Use the running statistics.")
    momentum: float = arg(0.9, doc="How much of the running statistics is kept.")

    def __attrs_post_init__(self) -> None:
        if self.wanted not in (-1, 1, 5) or (self.wanted == 1 and not self.is_test):
            raise SchemaError("SpatialBN has 5 outputs in training and 1 in test mode", got=self.wanted)
        if self.num_batches < 1:
            raise SchemaError("SpatialBN: num_batches must be positive", got=self.num_batches)

    def infer(
        self,
        X: TensorType,
        scale: TensorType,
        bias: TensorType,
        mean: TensorType,
        var: TensorType,
        sums: TensorType | None = None,
        sumsq: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        self.check(X, scale=scale, bias=bias, mean=mean, var=var, sums=sums, sumsq=sumsq)
        if self.num_batches > 1 and sumsq is None and not self.is_test:
            raise InferenceError("SpatialBN: several batches need their sums", expected="inputs sums and sumsq")
        return X, mean, var, mean, var

    def gradient(self, g: Gradients) -> None:
        inputs = [g.blob.X, g.blob.scale, g.grad.Y]
        if self.is_test:
            inputs += [g.blob.mean, g.blob.var]
        else:
            inputs += [g.blob.saved_mean, g.blob.saved_inv_std]
            if self.num_batches > 1:
                inputs += [g.grad.scale, g.grad.bias]
        g.add(SpatialBNGradient, inputs, [g.grad.X, g.grad.scale, g.grad.bias])

    def compute(
        self,
        xp: ArrayModule,
        X: Array,
        scale: Array,
        bias: Array,
        mean: Array,
        var: Array,
        sums: Array | None = None,
        sumsq: Array | None = None,
    ) -> tuple[Array | None, ...]:
        x = wide(xp, X)
        if self.is_test:
            inv_std = 1 / xp.sqrt(wide(xp, var) + xp.asarray(self.epsilon, dtype=x.dtype))
            return self._normalised(xp, x, wide(xp, mean), inv_std, scale, bias).astype(X.dtype), None, None, None, None
        if X.size == 0:
            return X, mean, var, xp.zeros_like(mean), xp.zeros_like(var)
        new_mean, new_var = self._moments(xp, x, sums, sumsq)
        inv_std = 1 / xp.sqrt(new_var + xp.asarray(self.epsilon, dtype=x.dtype))
        y = self._normalised(xp, x, new_mean, inv_std, scale, bias).astype(X.dtype)
        count, m = self.total_count(x), self.momentum
        unbiased = new_var * (count / (count - 1) if count > 1 else xp.nan)
        running_mean = m * wide(xp, mean) + (1 - m) * new_mean
        running_var = m * wide(xp, var) + (1 - m) * unbiased
        dtype = mean.dtype
        return y, running_mean.astype(dtype), running_var.astype(dtype), new_mean.astype(dtype), inv_std.astype(dtype)

    def _moments(self, xp: ArrayModule, x: Array, sums: Array | None, sumsq: Array | None) -> tuple[Array, Array]:
        """Mean and biased variance of each channel."""
        count = self.total_count(x)
        if self.num_batches > 1 and sums is not None and sumsq is not None:
            mean = wide(xp, sums) / count
            return mean, wide(xp, sumsq) / count - mean * mean
        mean = xp.sum(x, axis=self.reduced(x)) / count
        centred = x - self.along(mean, x)
        return mean, xp.sum(centred * centred, axis=self.reduced(x)) / count

    def _normalised(self, xp: ArrayModule, x: Array, mean: Array, inv_std: Array, scale: Array, bias: Array) -> Array:
        factor = inv_std * wide(xp, scale)
        return x * self.along(factor, x) + self.along(wide(xp, bias) - mean * factor, x)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[0]))
        return None if size is None else size * (2 if self.is_test else 6)


@operator
class SpatialBNGradient(ChannelNorm):
    """Gradients of :class:`SpatialBN` for its input, scale and bias, from the statistics it saved.

    Like Caffe2 it takes any fourth and fifth input for a mean and an inverse standard deviation, through
    both of which it differentiates; after test mode those are the running mean and variance.
    With ``num_batches`` the gradients of scale and bias summed over these batches come in and leave as means.
    """

    inputs = (
        In("X", Float),
        In("scale", _Statistic),
        In("dY", Float),
        In("saved_mean", _Statistic),
        In("saved_inv_std", _Statistic),
        In("dscale_sums", _Statistic, optional=True, doc="Gradient of scale summed over ``num_batches`` batches."),
        In("dbias_sums", _Statistic, optional=True, doc="Gradient of bias summed over ``num_batches`` batches."),
    )
    outputs = (
        Out("dX", inplace="dY"),
        Out("dscale", inplace="dscale_sums"),
        Out("dbias", inplace="dbias_sums"),
    )

    is_test: bool = arg(False, doc="As in SpatialBN.")
    momentum: float = arg(0.9, doc="As in SpatialBN.")

    def infer(
        self,
        X: TensorType,
        scale: TensorType,
        dY: TensorType,
        saved_mean: TensorType,
        saved_inv_std: TensorType,
        dscale_sums: TensorType | None = None,
        dbias_sums: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        sums = {"dscale_sums": dscale_sums, "dbias_sums": dbias_sums}
        self.check(X, scale=scale, saved_mean=saved_mean, saved_inv_std=saved_inv_std, **sums)
        if self.num_batches > 1 and dbias_sums is None:
            raise InferenceError(
                "SpatialBNGradient: several batches need their sums", expected="inputs dscale_sums and dbias_sums"
            )
        return X, scale, scale

    def compute(
        self,
        xp: ArrayModule,
        X: Array,
        scale: Array,
        dY: Array,
        saved_mean: Array,
        saved_inv_std: Array,
        dscale_sums: Array | None = None,
        dbias_sums: Array | None = None,
    ) -> tuple[Array, ...]:
        x, dy, inv_std = wide(xp, X), wide(xp, dY), wide(xp, saved_inv_std)
        normal = (x - self.along(wide(xp, saved_mean), x)) * self.along(inv_std, x)
        if self.num_batches > 1 and dscale_sums is not None and dbias_sums is not None:
            dscale, dbias = wide(xp, dscale_sums), wide(xp, dbias_sums)
        else:
            dscale, dbias = xp.sum(dy * normal, axis=self.reduced(x)), xp.sum(dy, axis=self.reduced(x))
        count = max(self.total_count(x), 1)
        centred = dy - self.along(dbias / count, x) - normal * self.along(dscale / count, x)
        dX = centred * self.along(wide(xp, scale) * inv_std, x)
        dscale, dbias = dscale / self.num_batches, dbias / self.num_batches
        return dX.astype(X.dtype), dscale.astype(scale.dtype), dbias.astype(scale.dtype)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[0]))
        return None if size is None else size * 9


@attrs.frozen(kw_only=True, slots=False)
class ExampleNorm(Operator):
    """What LayerNorm and its gradient have in common."""

    axis: int = arg(1, doc="First of the axes normalised together; those before it stay apart.")
    epsilon: float = arg(1e-5, doc="Added to the variance.")
    elementwise_affine: bool = arg(False, doc="Scale by gamma and shift by beta.")

    def split(self, shape: Sequence[Dim]) -> int:
        """Where the normalised axes begin.

        Raises:
            InferenceError: nowhere in this shape, or at its front.
        """
        try:
            axis = canonical_axis(self.axis, len(shape))
        except ValueError as error:
            raise InferenceError(f"{type(self).__name__}: {error}") from None
        if axis == 0:
            raise InferenceError(
                f"{type(self).__name__}: the axes before ``axis`` must not be none", got=f"axis {self.axis}"
            )
        return axis

    def rows(self, x: Array) -> Array:
        """View ``x`` with one row for each example."""
        at = self.split(x.shape)
        return x.reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))


@operator
class LayerNorm(ExampleNorm):
    """Normalise each example: subtract its mean and divide by its standard deviation, ``sqrt(var + epsilon)``.

    With ``elementwise_affine`` gamma and beta then scale and shift it; without, they are not read.
    """

    inputs = (
        In("X", Float, doc="The examples."),
        In("gamma", Float, optional=True, doc="Factors, as many as an example has elements."),
        In("beta", Float, optional=True, doc="Shifts, as many as an example has elements."),
    )
    outputs = (
        Out("Y"),
        Out("mean", doc="Mean of each example."),
        Out("stddev", doc="Its standard deviation, epsilon included."),
    )
    source = "https://arxiv.org/abs/1607.06450"

    def infer(
        self, X: TensorType, gamma: TensorType | None = None, beta: TensorType | None = None
    ) -> tuple[TensorType, ...]:
        shape = shape_of(X)
        axis = self.split(shape)
        if (self.elementwise_affine or gamma is not None) and beta is None:
            raise InferenceError("LayerNorm: gamma and beta must be given together", expected="inputs X, gamma, beta")
        for name, given in (("gamma", gamma), ("beta", beta)):
            if given is not None and conflict(product(shape_of(given)), product(shape[axis:])):
                raise InferenceError(
                    f"LayerNorm: {name} must have the size of an example", expected=product(shape[axis:]), got=given
                )
        statistic = X.with_shape((*shape[:axis], 1))
        return X, statistic, statistic

    def gradient(self, g: Gradients) -> None:
        inputs = [g.grad.Y or g.zeros(g.blob.Y), g.blob.Y, g.blob.mean, g.blob.stddev, g.blob.X]
        if self.elementwise_affine:
            g.add(LayerNormGradient, [*inputs, g.blob.gamma], [g.grad.X, g.grad.gamma, g.grad.beta])
        else:
            g.add(LayerNormGradient, inputs, [g.grad.X])

    def compute(
        self, xp: ArrayModule, X: Array, gamma: Array | None = None, beta: Array | None = None
    ) -> tuple[Array, ...]:
        x = self.rows(wide(xp, X))
        size = max(x.shape[1], 1)
        mean = xp.sum(x, axis=1, keepdims=True) / size
        centred = x - mean
        std = xp.sqrt(xp.sum(centred * centred, axis=1, keepdims=True) / size + xp.asarray(self.epsilon, dtype=x.dtype))
        y = centred / std
        if self.elementwise_affine:
            y = y * wide(xp, gamma).reshape(-1) + wide(xp, beta).reshape(-1)
        statistic = (*X.shape[: self.split(X.shape)], 1)
        return (
            y.reshape(X.shape).astype(X.dtype),
            mean.reshape(statistic).astype(X.dtype),
            std.reshape(statistic).astype(X.dtype),
        )

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[0]))
        return None if size is None else size * (4 + len(inputs))


@operator
class LayerNormGradient(ExampleNorm):
    """Gradients of :class:`LayerNorm`: of X, and with gamma given of gamma and beta too."""

    inputs = (
        In("dY", Float),
        In("Y", Float),
        In("mean", Float),
        In("stddev", Float),
        In("X", Float),
        In("gamma", Float, optional=True),
    )
    outputs = (Out("dX"), Out("dgamma", optional=True), Out("dbeta", optional=True))

    def __attrs_post_init__(self) -> None:
        if self.elementwise_affine and 0 <= self.wanted < 3:
            raise SchemaError("LayerNormGradient: elementwise_affine makes three gradients", got=self.wanted)

    def infer(
        self,
        dY: TensorType,
        Y: TensorType,
        mean: TensorType,
        stddev: TensorType,
        X: TensorType,
        gamma: TensorType | None = None,
    ) -> tuple[TensorType | None, ...]:
        self.split(shape_of(X))
        if gamma is None and (self.elementwise_affine or self.wanted > 1):
            raise InferenceError("LayerNormGradient: the gradient of gamma needs gamma", expected="six inputs")
        return X, gamma, gamma

    def compute(
        self, xp: ArrayModule, dY: Array, Y: Array, mean: Array, stddev: Array, X: Array, gamma: Array | None = None
    ) -> tuple[Array | None, ...]:
        x, dy = self.rows(wide(xp, X)), self.rows(wide(xp, dY))
        std = wide(xp, stddev).reshape(-1, 1)
        normal = (x - wide(xp, mean).reshape(-1, 1)) / std
        dgamma = dbeta = None
        if gamma is not None:
            dgamma = xp.sum(dy * normal, axis=0).reshape(gamma.shape).astype(gamma.dtype)
            dbeta = xp.sum(dy, axis=0).reshape(gamma.shape).astype(gamma.dtype)
            dy = dy * wide(xp, gamma).reshape(-1)
        size = max(x.shape[1], 1)
        along = xp.sum(dy * normal, axis=1, keepdims=True) / size
        dx = (dy - xp.sum(dy, axis=1, keepdims=True) / size - normal * along) / std
        return dx.reshape(X.shape).astype(X.dtype), dgamma, dbeta

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        size = known(shape_of(inputs[4]))
        return None if size is None else size * (10 if len(inputs) < 6 else 13)
