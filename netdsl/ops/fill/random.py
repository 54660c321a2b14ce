"""Random fills."""

from __future__ import annotations

import math
from typing import Any

import attrs

from netdsl.errors import SchemaError
from netdsl.ir import DType, Shape, TensorType
from netdsl.ops.dtypes import Int32, Single
from netdsl.ops.fill.base import Fill
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule, Stream


@attrs.frozen(kw_only=True, slots=False)
class _Uniform(Fill):
    """Base of the uniform fills: both bounds may be inputs instead of arguments."""

    def __attrs_post_init__(self) -> None:
        _check_order(type(self).__name__, *self.bounds, equal=False)

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The arguments ``min`` and ``max``, which each operator declares of its own kind."""
        return getattr(self, "min"), getattr(self, "max")  # noqa: B009

    def infer(
        self, X: TensorType | None = None, low: TensorType | None = None, high: TensorType | None = None
    ) -> TensorType:
        return super().infer(X)

    def limits(self, low: Array | None, high: Array | None) -> tuple[Any, Any]:
        """The bounds, from the inputs where they are given."""
        kind = int if self.fills is DType.INT32 else float
        given = [b if a is None else kind(a.reshape(-1)[0]) for a, b in zip((low, high), self.bounds, strict=True)]
        _check_order(type(self).__name__, *given, equal=True)
        return given[0], given[1]


@operator
class UniformFill(_Uniform):
    """float32 values, uniform in [min, max)."""

    inputs = (
        *Fill.inputs,
        In("low", Single, optional=True, host=True, doc="min, as an input of one element."),
        In("high", Single, optional=True, host=True, doc="max, as an input of one element."),
    )

    min: float = arg(0.0, doc="Lower bound.")
    max: float = arg(1.0, doc="Upper bound.")

    def sample(
        self,
        xp: ArrayModule,
        stream: Stream,
        X: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
    ) -> Array:
        return stream.uniform(self.shape_of(xp, X), *self.limits(low, high))


@operator
class UniformIntFill(_Uniform):
    """int32 values, uniform in [min, max], both ends included."""

    inputs = (
        *Fill.inputs,
        In("low", Int32, optional=True, host=True, doc="min, as an input of one element."),
        In("high", Int32, optional=True, host=True, doc="max, as an input of one element."),
    )
    fills = DType.INT32

    min: int = arg(0, doc="Least value.")
    max: int = arg(1, doc="Greatest value.")

    def sample(
        self,
        xp: ArrayModule,
        stream: Stream,
        X: Array | None = None,
        low: Array | None = None,
        high: Array | None = None,
    ) -> Array:
        return stream.integers(self.shape_of(xp, X), *self.limits(low, high)).astype(xp.int32)


@operator
class GaussianFill(Fill):
    """float32 values of a normal distribution."""

    mean: float = arg(0.0, doc="The mean.")
    std: float = arg(1.0, doc="The standard deviation, positive.")

    def __attrs_post_init__(self) -> None:
        if not self.std > 0:
            raise SchemaError("GaussianFill: 'std' must be positive", got=self.std)

    def sample(self, xp: ArrayModule, stream: Stream, X: Array | None = None) -> Array:
        return stream.normal(self.shape_of(xp, X), self.mean, self.std)


@operator
class XavierFill(Fill):
    """float32 values, uniform in +-sqrt(3 / fan_in), where fan_in is the size of one row."""

    source = "https://proceedings.mlr.press/v9/glorot10a.html"

    def sample(self, xp: ArrayModule, stream: Stream, X: Array | None = None) -> Array:
        shape = self.shape_of(xp, X)
        if not shape:
            raise SchemaError("XavierFill needs a shape of at least one dim", got=shape)
        bound = math.sqrt(3.0 / max(math.prod(shape[1:]), 1))
        return stream.uniform(shape, -bound, bound)


@operator
class MSRAFill(Fill):
    """float32 values, normal with standard deviation sqrt(2 / fan_out), fan_out = size / second dim."""

    source = "https://arxiv.org/abs/1502.01852"

    def shape_from(self, X: TensorType | None) -> Shape | None:
        shape = super().shape_from(X)
        if shape is not None:
            _check_two_dims(shape)
        return shape

    def sample(self, xp: ArrayModule, stream: Stream, X: Array | None = None) -> Array:
        shape = self.shape_of(xp, X)
        _check_two_dims(shape)
        fan_out = math.prod(shape) // shape[1] if shape[1] else 0
        return stream.normal(shape, 0.0, math.sqrt(2.0 / max(fan_out, 1)))


@operator
class Float16UniformFill(Operator):
    """float16 values, uniform in [min, max), drawn in float32 and rounded."""

    outputs = (Out("Y"),)
    role = "fill"

    shape: tuple[int, ...] = arg(doc="Shape of the output.")
    min: float = arg(0.0, doc="Lower bound.")
    max: float = arg(1.0, doc="Upper bound.")
    dtype: int = arg(12, doc="Always float16; kept for files.", hint=True)

    def __attrs_post_init__(self) -> None:
        _check_order("Float16UniformFill", self.min, self.max, equal=False)

    def infer(self) -> TensorType:
        return TensorType(DType.FLOAT16, tuple(self.shape))

    def sample(self, xp: ArrayModule, stream: Stream) -> Array:
        return stream.uniform(tuple(self.shape), self.min, self.max).astype(xp.float16)


def _check_two_dims(shape: Shape) -> None:
    if len(shape) < 2:
        raise SchemaError("MSRAFill needs a shape of at least two dims", got=shape)


def _check_order(name: str, low: float, high: float, *, equal: bool) -> None:
    if low > high or (low == high and not equal):
        raise SchemaError(f"{name}: 'min' must lie below 'max'", got=f"min {low}, max {high}")
