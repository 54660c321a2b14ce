"""Conversions between dtypes."""

from __future__ import annotations

from typing import Any

from netdsl.errors import GradientError, SchemaError, did_you_mean
from netdsl.ir import DType, TensorType
from netdsl.ir.args import ArgValue
from netdsl.ops.dtypes import DTYPE_NUMBERS, AnyTensor, Half, Single
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

LARGEST = 65504.0
"""The largest finite half."""


def cast_dtype(value: Any) -> DType:
    """The dtype that a ``to`` argument means: a number or a name in any case."""
    number: Any = DTYPE_NUMBERS.get(value.lower()) if isinstance(value, str) else value
    try:
        return DType.from_number(number)
    except (KeyError, TypeError):
        near = did_you_mean(str(value), DTYPE_NUMBERS)
        raise SchemaError(
            "Cast: no such dtype", expected=", ".join(d.value for d in DType), got=value, did_you_mean=near
        ) from None


@operator
class Cast(Operator):
    """Convert to another dtype, as C does: floats lose their fraction, bools are 0 and 1."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"),)
    role = "cast"
    elementwise = True

    to: ArgValue = arg(1, doc="The dtype, as a number or a name.")
    from_type: ArgValue = arg(0, doc="The dtype of X; needed for a gradient.")

    def __attrs_post_init__(self) -> None:
        if cast_dtype(self.to) in (DType.STRING, DType.BYTE):
            raise SchemaError("Cast makes no texts", expected="a numeric dtype or bool", got=self.to)
        if self.from_type:
            cast_dtype(self.from_type)

    def infer(self, X: TensorType) -> TensorType:
        return X.with_dtype(cast_dtype(self.to))

    def gradient(self, g: Gradients) -> None:
        if not self.from_type:
            raise GradientError("Cast has a gradient only with the argument 'from_type'", expected="the dtype of X")
        args = {"to": cast_dtype(self.from_type).number, "from_type": cast_dtype(self.to).number}
        g.add(Cast, [g.grad.Y], [g.grad.X], args=args)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return X.astype(getattr(xp, {"bool": "bool_"}.get(cast_dtype(self.to).value, cast_dtype(self.to).value)))


@operator
class FloatToHalf(Operator):
    """Round float32 to the nearest float16, ties to even; too large becomes infinite unless clipped."""

    inputs = (In("X", Single),)
    outputs = (Out("Y"),)
    role = "cast"
    elementwise = True

    clip: bool = arg(False, doc="Saturate at +-65504 (NaN becomes 65504).")

    def infer(self, X: TensorType) -> TensorType:
        return X.with_dtype(DType.FLOAT16)

    def gradient(self, g: Gradients) -> None:
        g.add(HalfToFloat, [g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        if self.clip:
            X = xp.where(X < LARGEST, xp.where(X > -LARGEST, X, -LARGEST), LARGEST)
        return X.astype(xp.float16)


@operator
class HalfToFloat(Operator):
    """Convert float16 to float32, exactly."""

    inputs = (In("X", Half),)
    outputs = (Out("Y"),)
    role = "cast"
    elementwise = True

    clip: bool = arg(False, doc="Kept from FloatToHalf when this is its gradient; changes nothing.", hint=True)

    def infer(self, X: TensorType) -> TensorType:
        return X.with_dtype(DType.FLOAT)

    def gradient(self, g: Gradients) -> None:
        g.add(FloatToHalf, [g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return X.astype(xp.float32)
