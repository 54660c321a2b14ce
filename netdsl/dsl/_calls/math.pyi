"""Signatures of the math operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class MathCalls:
    def Abs(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Abs(X)

        ``Y = |X|``."""

    def AbsGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = AbsGradient(X, dY)

        Gradient of :class:`Abs`: dY with the sign of X, 0 where X is 0, and -dY where it is NaN.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Add(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Add(A, B)

        The sum ``C = A + B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def AddGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dA, dB = AddGradient(dC, A, B)

        Gradients of :class:`Add`: dC for both; of A and B only the shapes matter.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def And(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = And(A, B)

        Whether both are true.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def BatchMatMul(self, inputs: _Ins = ..., outputs: _Outs = ..., *, trans_a: bool | int = ..., trans_b: bool | int = ..., broadcast: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = BatchMatMul(A, B)

        The products of two stacks of matrices, the last two axes of A and B.

        The axes before them must be equal, or with ``broadcast`` fit by NumPy's rules. A vector serves as one
        row (A) or one column (B) and lends no axis to Y; it is never transposed. Two vectors give Y of shape [1].
        For the gradient of a vector, ``broadcast`` must be set.

        trans_a: Transpose the matrices of A.

        trans_b: Transpose the matrices of B.

        broadcast: Stretch the axes before the matrices by NumPy's rules."""

    def BatchMatMulGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, trans_a: bool | int = ..., trans_b: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dA, dB = BatchMatMulGradient(dY, A, B)

        Gradients of :class:`BatchMatMul` with ``broadcast``, summed over the axes that were stretched.

        trans_a: As in BatchMatMul.

        trans_b: As in BatchMatMul."""

    def Clip(self, inputs: _Ins = ..., outputs: _Outs = ..., *, min: float = ..., max: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Clip(X)

        ``Y = min(max(X, min), max)``; NaN stays NaN.

        min: The least value; by default the least finite float32.

        max: The greatest value; by default the greatest finite float32."""

    def ClipGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, min: float = ..., max: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ClipGradient(Y, dY)

        Gradient of :class:`Clip`, from its output: dY strictly between the bounds, else 0.

        min: As in Clip.

        max: As in Clip."""

    def Div(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Div(A, B)

        The quotient ``C = A / B``; that of integers is truncated towards zero, and B must not be 0.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def DivGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dA, dB = DivGradient(dC, A, B, [C])

        Gradients of :class:`Div`: ``dC / B`` and ``-dC * C / B``; of A only the shape matters.

        Old files name three inputs, which then are B, C and dC.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def EQ(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = EQ(A, B)

        ``C = A == B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Exp(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Exp(X)

        ``Y = exp(X)``."""

    def GE(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = GE(A, B)

        ``C = A >= B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def GT(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = GT(A, B)

        ``C = A > B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def IsNaN(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = IsNaN(tensor)

        uint8: 1 where the tensor is NaN, else 0."""

    def LE(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = LE(A, B)

        ``C = A <= B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def LT(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = LT(A, B)

        ``C = A < B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Log(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Log(X)

        The natural logarithm ``Y = log(X)``; NaN where X is negative."""

    def MatMul(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis_a: int = ..., axis_b: int = ..., trans_a: bool | int = ..., trans_b: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MatMul(A, B, [like])

        The product of two matrices, which A and B are first made of at ``axis_a`` and ``axis_b``.

        The dims before the axis become the rows, the others the columns; then they are transposed where asked.

        axis_a: First axis of A that counts as columns.

        axis_b: First axis of B that counts as columns.

        trans_a: Transpose A.

        trans_b: Transpose B."""

    def Mean(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Mean(Xs...)

        The mean of tensors of one shape, element by element; halves are rounded once."""

    def MeanGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dXs... = MeanGradient(dY)

        Gradients of :class:`Mean`: to each of n terms an n-th of dY."""

    def Mul(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Mul(A, B)

        The product ``C = A * B``, element by element.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def MulGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dA, dB = MulGradient(dC, A, B)

        Gradients of :class:`Mul`: ``dC * B`` and ``dC * A``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def NE(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = NE(A, B)

        ``C = A != B``; true where one is NaN.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Negative(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Negative(X)

        ``Y = -X``."""

    def Not(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Not(X)

        Whether it is false."""

    def Or(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Or(A, B)

        Whether one or both are true.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Pow(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., exponent: float | None = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Pow(X, [exponents])

        ``Y = X ** exponent``: a number, or element by element those of a second tensor.

        Without ``broadcast`` both tensors must have one shape. Exponents that are a tensor are float32, and so is X then.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str.

        exponent: The exponent, where it is no tensor."""

    def ReduceMax(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ReduceMax(X)

        The greatest element over some axes, the least finite number of nothing; NaN where there is one.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceMaxGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReduceMaxGradient(dY, X, Y)

        Gradient of :class:`ReduceMax`: dY for every element that equals the result, ties included, else 0.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceMean(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ReduceMean(X)

        The mean over some axes, 0 of nothing; halves are rounded once.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceMeanGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReduceMeanGradient(dY, X, Y)

        Gradient of :class:`ReduceMean`: to each of n elements an n-th of dY.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceMin(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ReduceMin(X)

        The least element over some axes, the greatest finite number of nothing; NaN where there is one.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceMinGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReduceMinGradient(dY, X, Y)

        Gradient of :class:`ReduceMin`: dY for every element that equals the result, ties included, else 0.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ReduceSum(X)

        The sum over some axes; halves are rounded once.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def ReduceSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReduceSumGradient(dY, X, Y)

        Gradient of :class:`ReduceSum`: dY for every term.

        axes: The axes to reduce; all by default.

        keepdims: Keep each as an axis of extent 1."""

    def Scale(self, inputs: _Ins = ..., outputs: _Outs = ..., *, scale: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Scale(X)

        ``Y = scale * X``.

        scale: The factor."""

    def Sqr(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Sqr(X)

        ``Y = X * X``."""

    def Sqrt(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Sqrt(X)

        ``Y = sqrt(X)``; NaN where X is negative."""

    def Sub(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Sub(A, B)

        The difference ``C = A - B``.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def SubGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dA, dB = SubGradient(dC, A, B)

        Gradients of :class:`Sub`: dC and -dC; of A and B only the shapes matter.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""

    def Sum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Sum(Xs...)

        The sum of tensors of one shape, element by element; halves are rounded once."""

    def SumElements(self, inputs: _Ins = ..., outputs: _Outs = ..., *, average: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """sum = SumElements(X)

        The sum of all elements, or their mean, as a scalar; 0 of nothing.

        average: Divide by the number of elements."""

    def SumElementsGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, average: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SumElementsGradient(X, dY)

        Gradient of :class:`SumElements`: dY, or its share of it, for every element.

        average: As in SumElements."""

    def SumReduceLike(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., axis_str: str = ..., order: str = ..., broadcast: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = SumReduceLike(A, B)

        Sum A over the axes along which B would be stretched over it; C has the shape of B.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str.

        broadcast: Accepted, as programs pass it; B is stretched either way."""

    def SumSqrElements(self, inputs: _Ins = ..., outputs: _Outs = ..., *, average: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """sum = SumSqrElements(X)

        The sum of the squares of all elements, or their mean, as a scalar; 0 of nothing.

        average: Divide by the number of elements."""

    def WeightedSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, grad_on_w: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = WeightedSum(pairs...)

        The sum of ``w * X`` over pairs of a tensor and a weight, which is one number.

        A weight of 0 leaves its tensor out, NaN and all, but for the first one's. Halves are rounded once.

        grad_on_w: Give the weights gradients too."""

    def WeightedSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, grad_on_w: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """grads... = WeightedSumGradient(dY, pairs...)

        Gradients of :class:`WeightedSum` for its tensors and, with ``grad_on_w``, after them for its weights.

        grad_on_w: As in WeightedSum."""

    def Where(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast_on_rows: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Z = Where(C, X, Y)

        X where C is true, else Y; all of one shape, or with ``broadcast_on_rows`` one C for each row of X and Y.

        broadcast_on_rows: C is a vector that chooses whole rows."""

    def Xor(self, inputs: _Ins = ..., outputs: _Outs = ..., *, broadcast: bool | int = ..., axis: int = ..., axis_str: str = ..., order: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """C = Xor(A, B)

        Whether exactly one is true.

        broadcast: Stretch B over A, which alone decides the shape; else NumPy's rules hold.

        axis: The axis of A where those of B begin, with broadcast; by default B ends where A ends.

        axis_str: The same axis by its letter in order, with broadcast.

        order: The letters of the axes of A, for axis_str."""
