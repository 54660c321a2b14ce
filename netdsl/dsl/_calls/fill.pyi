"""Signatures of the fill operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class FillCalls:
    def ConstantFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., value: Any = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ConstantFill([X])

        A tensor filled with one value, of the shape given by ``shape`` or by an input.

        The value's kind is that of ``dtype``. Without ``dtype`` an int gives int64 and all else float32.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        value: The value.

        dtype: Dtype of the output; by default that of the value."""

    def Float16ConstantFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, value: float = ..., shape: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Float16ConstantFill()

        A float16 tensor filled with one value, rounded to half.

        value: The value.

        shape: Shape of the output; a scalar by default."""

    def Float16UniformFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int], min: float = ..., max: float = ..., dtype: int = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Float16UniformFill()

        float16 values, uniform in [min, max), drawn in float32 and rounded.

        shape: Shape of the output.

        min: Lower bound.

        max: Upper bound.

        dtype: Always float16; kept for files.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def GaussianFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., mean: float = ..., std: float = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GaussianFill([X])

        float32 values of a normal distribution.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        mean: The mean.

        std: The standard deviation, positive.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def GivenTensorBoolFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[bool], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorBoolFill([X])

        A bool tensor of given values, in row-major order.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def GivenTensorDoubleFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[float], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorDoubleFill([X])

        A float64 tensor of given values (each held as a float32), in row-major order.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def GivenTensorFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[float], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorFill([X])

        A float32 tensor of given values, in row-major order.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def GivenTensorFp16Fill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[float], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorFp16Fill([X])

        A float16 tensor of given values, in row-major order; halves survive unchanged.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def GivenTensorInt64Fill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[int], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorInt64Fill([X])

        An int64 tensor of given values, in row-major order.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def GivenTensorIntFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, values: Sequence[int], shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = GivenTensorIntFill([X])

        An int32 tensor of given values, in row-major order.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        dtype: Kept for files; the operator's name decides the dtype.

        values: The values, row by row."""

    def MSRAFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MSRAFill([X])

        float32 values, normal with standard deviation sqrt(2 / fan_out), fan_out = size / second dim.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def UniformFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., min: float = ..., max: float = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = UniformFill([X], [low], [high])

        float32 values, uniform in [min, max).

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        min: Lower bound.

        max: Upper bound.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def UniformIntFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., min: int = ..., max: int = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = UniformIntFill([X], [low], [high])

        int32 values, uniform in [min, max], both ends included.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        min: Least value.

        max: Greatest value.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def XavierFill(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., extra_shape: Sequence[int] = ..., input_as_shape: bool | int = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = XavierFill([X])

        float32 values, uniform in +-sqrt(3 / fan_in), where fan_in is the size of one row.

        shape: Shape of the output, when there is no input.

        extra_shape: Dims appended to the shape an input gives.

        input_as_shape: The input is a 1-d int64 tensor that holds the shape.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""
