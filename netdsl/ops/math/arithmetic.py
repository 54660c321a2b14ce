"""Sums, differences, products and quotients of two tensors, and their gradients."""

from __future__ import annotations

import attrs

from netdsl.errors import RunError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Number
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.broadcast import Broadcasting, reduced, shaped_as
from netdsl.ops.schema import In, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

OPERANDS = (In("A", Number, doc="The first operand."), In("B", Number, doc="The second, of the same dtype."))
_GRADIENT_INPUTS = (In("dC", Number), In("A", Number), In("B", Number))
_GRADIENT_OUTPUTS = (Out("dA", inplace="dC"), Out("dB", inplace="dC"))


@attrs.frozen(kw_only=True, slots=False)
class Arithmetic(Broadcasting):
    """Base of operators whose result has the dtype of both operands."""

    inputs = OPERANDS
    outputs = (Out("C", inplace=("A", "B")),)
    elementwise = True

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        return A.with_shape(self.common(A, B))


@attrs.frozen(kw_only=True, slots=False)
class ArithmeticGradient(Broadcasting):
    """Base of their gradients, which are summed over the axes along which an operand was stretched."""

    inputs = _GRADIENT_INPUTS
    outputs = _GRADIENT_OUTPUTS
    elementwise = True

    def infer(self, dC: TensorType, A: TensorType, B: TensorType) -> tuple[TensorType, TensorType]:
        return A, B


@operator
class Add(Arithmetic):
    """The sum ``C = A + B``."""

    def gradient(self, g: Gradients) -> None:
        like = [shaped_as(blob, g.blob.C) for blob in (g.blob.A, g.blob.B)]
        g.add(AddGradient, [g.grad.C, *like], [g.grad.A, g.grad.B])

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return A + self.align(A, B)


@operator
class AddGradient(ArithmeticGradient):
    """Gradients of :class:`Add`: dC for both; of A and B only the shapes matter."""

    def compute(self, xp: ArrayModule, dC: Array, A: Array, B: Array) -> tuple[Array, Array]:
        return self.pair(xp, dC, dC, A, B)


@operator
class Sub(Arithmetic):
    """The difference ``C = A - B``."""

    def gradient(self, g: Gradients) -> None:
        like = [shaped_as(blob, g.blob.C) for blob in (g.blob.A, g.blob.B)]
        g.add(SubGradient, [g.grad.C, *like], [g.grad.A, g.grad.B])

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return A - self.align(A, B)


@operator
class SubGradient(ArithmeticGradient):
    """Gradients of :class:`Sub`: dC and -dC; of A and B only the shapes matter."""

    def compute(self, xp: ArrayModule, dC: Array, A: Array, B: Array) -> tuple[Array, Array]:
        return self.pair(xp, dC, -dC, A, B)


@operator
class Mul(Arithmetic):
    """The product ``C = A * B``, element by element."""

    def gradient(self, g: Gradients) -> None:
        g.add(MulGradient, [g.grad.C, g.blob.A, g.blob.B], [g.grad.A, g.grad.B])

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return A * self.align(A, B)


@operator
class MulGradient(ArithmeticGradient):
    """Gradients of :class:`Mul`: ``dC * B`` and ``dC * A``."""

    def compute(self, xp: ArrayModule, dC: Array, A: Array, B: Array) -> tuple[Array, Array]:
        return self.pair(xp, dC * self.align(A, B), dC * A, A, B)


@operator
class Div(Arithmetic):
    """The quotient ``C = A / B``; that of integers is truncated towards zero, and B must not be 0."""

    outputs = (Out("C", inplace="A"),)

    def gradient(self, g: Gradients) -> None:
        inputs = [g.grad.C, shaped_as(g.blob.A, g.blob.C), g.blob.B, g.blob.C]
        g.add(DivGradient, inputs, [g.grad.A, g.grad.B])

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return quotient(xp, A, self.align(A, B))


@operator
class DivGradient(Broadcasting):
    """Gradients of :class:`Div`: ``dC / B`` and ``-dC * C / B``; of A only the shape matters.

    Old files name three inputs, which then are B, C and dC.
    """

    inputs = (*_GRADIENT_INPUTS, In("C", Number, optional=True))
    outputs = (Out("dA", inplace="dC"), Out("dB"))
    elementwise = True

    def infer(
        self, dC: TensorType, A: TensorType, B: TensorType, C: TensorType | None = None
    ) -> tuple[TensorType, TensorType]:
        return (A, B) if C is not None else (A, dC)

    def compute(self, xp: ArrayModule, dC: Array, A: Array, B: Array, C: Array | None = None) -> tuple[Array, Array]:
        if C is None:
            dC, B, C = B, dC, A
        divisor = self.align(A, B)
        return self.pair(xp, quotient(xp, dC, divisor), quotient(xp, -dC * C, divisor), A, B)


@operator
class SumReduceLike(Broadcasting):
    """Sum A over the axes along which B would be stretched over it; C has the shape of B."""

    inputs = (In("A", Number, doc="The tensor to sum."), In("B", Number, doc="Only its shape matters."))
    outputs = (Out("C"),)

    broadcast: bool = arg(True, doc="Accepted, as programs pass it; B is stretched either way.", hint=True)

    @property
    def one_way(self) -> bool:
        return True

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        self.common(A, B)
        return B

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return reduced(xp, A, self.stretched(A.shape, B.shape), B.shape)


def quotient(xp: ArrayModule, a: Array, b: Array) -> Array:
    """``a / b`` in the dtype of both, truncated towards zero if that is an integer one.

    Raises:
        RunError: an integer divided by zero.
    """
    if a.dtype.kind == "f":
        return a / b
    if bool(xp.any(b == 0)):
        raise RunError("Div: an integer is divided by zero", expected="no zeros in B", got=f"{b.dtype}{list(b.shape)}")
    floor = xp.floor_divide(a, b)
    return floor + ((floor * b != a) & ((a < 0) != (b < 0)))
