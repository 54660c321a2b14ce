"""Fills with one value, or with given values."""

from __future__ import annotations

from typing import Any

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ir.args import ArgValue
from netdsl.ir.dims import product
from netdsl.ops.dtypes import DTYPE_NUMBERS
from netdsl.ops.fill.base import Fill
from netdsl.ops.schema import Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_NUMPY_NAMES = {DType.BYTE: "uint8", DType.STRING: "object"}


@operator
class ConstantFill(Fill):
    """A tensor filled with one value, of the shape given by ``shape`` or by an input.

    The value's kind is that of ``dtype``. Without ``dtype`` an int gives int64 and all else float32.
    """

    value: ArgValue = arg(0.0, doc="The value.")
    dtype: int = arg(0, enum=DTYPE_NUMBERS, doc="Dtype of the output; by default that of the value.")

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.value, int | float | str | bytes):
            raise SchemaError(
                "ConstantFill: 'value' is of the wrong kind", expected="a number or a text", got=self.value
            )
        if self.dtype:
            _known_dtype("ConstantFill", self.dtype)

    @property
    def dtype_filled(self) -> DType:
        if self.dtype:
            return DType.from_number(self.dtype)
        return DType.INT64 if isinstance(self.value, int) else DType.FLOAT

    def compute(self, xp: ArrayModule, X: Array | None = None) -> Array:
        dtype = self.dtype_filled
        value: Any = self.value
        if dtype is DType.STRING:
            value = value.encode() if isinstance(value, str) else value
        elif isinstance(value, str | bytes):
            raise SchemaError(
                "ConstantFill: a text cannot fill a numeric tensor", expected=dtype.value, got=repr(value)
            )
        elif not dtype.is_float:
            value = bool(value) if dtype is DType.BOOL else int(value)
        return xp.full(self.shape_of(xp, X), value, dtype=_NUMPY_NAMES.get(dtype, dtype.value))


@operator
class Float16ConstantFill(Operator):
    """A float16 tensor filled with one value, rounded to half."""

    outputs = (Out("Y"),)
    role = "fill"

    value: float = arg(0.0, doc="The value.")
    shape: tuple[int, ...] = arg((), doc="Shape of the output; a scalar by default.")

    def infer(self) -> TensorType:
        return TensorType(DType.FLOAT16, tuple(self.shape))

    def compute(self, xp: ArrayModule) -> Array:
        return xp.full(tuple(self.shape), self.value, dtype=xp.float16)


@attrs.frozen(kw_only=True, slots=False)
class _GivenTensorFill(Fill):
    """Base of the fills with given values."""

    dtype: int = arg(0, enum=DTYPE_NUMBERS, doc="Kept for files; the operator's name decides the dtype.", hint=True)

    @property
    def given(self) -> Any:
        """The values, a tuple or Packed; each operator declares them, of its own kind."""
        return getattr(self, "values")  # noqa: B009

    def infer(self, X: TensorType | None = None) -> TensorType:
        made = super().infer(X)
        size = None if made.shape is None else product(made.shape)
        if isinstance(size, int) and size != len(self.given):
            raise InferenceError(
                f"{type(self).__name__}: 'values' does not fit the shape",
                expected=f"{size} for {made}",
                got=len(self.given),
            )
        return made

    def compute(self, xp: ArrayModule, X: Array | None = None) -> Array:
        shape = self.shape_of(xp, X)
        values = self.given
        size = 1
        for n in shape:
            size *= n
        if size != len(values):
            raise InferenceError(
                f"{type(self).__name__}: 'values' does not fit the shape", expected=size, got=len(values)
            )
        return self._array(xp, values).reshape(shape)

    def _array(self, xp: ArrayModule, values: Any) -> Array:
        return xp.array_of(values, _NUMPY_NAMES.get(self.fills, self.fills.value))


@operator
class GivenTensorFill(_GivenTensorFill):
    """A float32 tensor of given values, in row-major order."""

    fills = DType.FLOAT
    values: tuple[float, ...] = arg(doc="The values, row by row.")


@operator
class GivenTensorDoubleFill(_GivenTensorFill):
    """A float64 tensor of given values (each held as a float32), in row-major order."""

    fills = DType.DOUBLE
    values: tuple[float, ...] = arg(doc="The values, row by row.")


@operator
class GivenTensorFp16Fill(_GivenTensorFill):
    """A float16 tensor of given values, in row-major order; halves survive unchanged."""

    fills = DType.FLOAT16
    values: tuple[float, ...] = arg(doc="The values, row by row.")


@operator
class GivenTensorIntFill(_GivenTensorFill):
    """An int32 tensor of given values, in row-major order."""

    fills = DType.INT32
    values: tuple[int, ...] = arg(doc="The values, row by row.")


@operator
class GivenTensorInt64Fill(_GivenTensorFill):
    """An int64 tensor of given values, in row-major order."""

    fills = DType.INT64
    values: tuple[int, ...] = arg(doc="The values, row by row.")


@operator
class GivenTensorBoolFill(_GivenTensorFill):
    """A bool tensor of given values, in row-major order."""

    fills = DType.BOOL
    values: tuple[bool, ...] = arg(doc="The values, row by row.")


def _known_dtype(operator_name: str, number: int) -> DType:
    try:
        return DType.from_number(number)
    except KeyError:
        raise SchemaError(f"{operator_name}: no dtype has this number", got=number) from None
