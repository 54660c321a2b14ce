"""What every fill shares: where its output's shape comes from."""

from __future__ import annotations

from typing import ClassVar

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import DType, Shape, TensorType
from netdsl.ops.dtypes import AnyTensor
from netdsl.ops.schema import In, Operator, Out, arg
from netdsl.ops.xp import Array, ArrayModule


@attrs.frozen(kw_only=True, slots=False)
class Fill(Operator):
    """Base of the fills: the shape is an argument, that of an input, or an input's values."""

    inputs = (In("X", AnyTensor, optional=True, doc="Gives the shape: its own, or its values (``input_as_shape``)."),)
    outputs = (Out("Y", inplace="X"),)
    role = "fill"
    fills: ClassVar[DType] = DType.FLOAT

    shape: tuple[int, ...] = arg((), doc="Shape of the output, when there is no input.")
    extra_shape: tuple[int, ...] = arg((), doc="Dims appended to the shape an input gives.")
    input_as_shape: bool = arg(False, doc="The input is a 1-d int64 tensor that holds the shape.")

    @property
    def dtype_filled(self) -> DType:
        """Dtype of the output."""
        return self.fills

    def infer(self, X: TensorType | None = None) -> TensorType:
        return TensorType(self.dtype_filled, self.shape_from(X))

    def shape_from(self, X: TensorType | None) -> Shape | None:
        """The output's shape as far as it can be told from the input's type."""
        self.check_shape_source(X is not None)
        if X is None:
            return tuple(self.shape)
        if not self.input_as_shape:
            return (*(X.shape or ()), *self.extra_shape)
        if X.rank != 1 or X.dtype not in (None, DType.INT64):
            raise InferenceError(f"{type(self).__name__}: the shape must be a 1-d int64 tensor", got=X)
        length = X.shape[0] if X.shape else None
        if not isinstance(length, int):
            return None
        return (*(None,) * length, *self.extra_shape)

    def shape_of(self, xp: ArrayModule, X: Array | None) -> tuple[int, ...]:
        """The output's shape, from the input's values where it holds one."""
        self.check_shape_source(X is not None)
        if X is None:
            return tuple(self.shape)
        if not self.input_as_shape:
            return (*X.shape, *self.extra_shape)
        if X.ndim != 1 or X.dtype != xp.int64:
            raise InferenceError(
                f"{type(self).__name__}: the shape must be a 1-d int64 tensor", got=f"{X.dtype}{list(X.shape)}"
            )
        return (*(int(n) for n in xp.to_host(X)), *self.extra_shape)

    def check_shape_source(self, has_input: bool) -> None:
        """Raise SchemaError where arguments and input contradict each other."""
        name = type(self).__name__
        if has_input and self.shape:
            raise SchemaError(f"{name} takes its shape from the input or from 'shape', not both", got=self.shape)
        if any(n < 0 for n in (*self.shape, *self.extra_shape)):
            raise SchemaError(f"{name}: an extent is never negative", got=[*self.shape, *self.extra_shape])
        if not has_input and (self.extra_shape or self.input_as_shape):
            raise SchemaError(f"{name}: 'extra_shape' and 'input_as_shape' need an input")
