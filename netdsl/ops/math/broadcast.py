"""How the second operand of a binary operator is stretched over the first: Caffe2's rules and NumPy's."""

from __future__ import annotations

from typing import TypeVar

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, Shape, TensorType
from netdsl.ir.dims import broadcast, conflict, product
from netdsl.ops.schema import Operator, arg
from netdsl.ops.xp import Array, ArrayModule

D = TypeVar("D", bound=Dim)


@attrs.frozen(kw_only=True, slots=False)
class Broadcasting(Operator):
    """Base of operators on A and B of different shapes.

    Without ``broadcast`` NumPy's rules hold and the other arguments mean nothing. With it the result has
    the shape of A, and the dims of B must be those of A from ``axis`` on (by default its last ones) or 1.
    """

    broadcast: bool = arg(False, doc="Stretch B over A, which alone decides the shape; else NumPy's rules hold.")
    axis: int = arg(-1, doc="The axis of A where those of B begin, with broadcast; by default B ends where A ends.")
    axis_str: str = arg("", doc="The same axis by its letter in order, with broadcast.")
    order: str = arg("NCHW", doc="The letters of the axes of A, for axis_str.")

    def __attrs_post_init__(self) -> None:
        if not self.one_way:
            return
        name = type(self).__name__
        if self.axis_str and self.axis != -1:
            raise SchemaError(f"{name} takes axis or axis_str, not both", got=f"{self.axis} and {self.axis_str!r}")
        if self.axis_str and (len(self.axis_str) != 1 or self.axis_str not in self.order):
            raise SchemaError(f"{name}: axis_str is no axis", expected=f"a letter of {self.order}", got=self.axis_str)
        if self.axis < -1:
            raise SchemaError(f"{name}: axis must not be negative, but for -1", got=self.axis)

    @property
    def one_way(self) -> bool:
        """Whether B is stretched over A, never A over B."""
        return self.broadcast

    def common(self, A: TensorType, B: TensorType) -> Shape | None:
        """The shape of the result; raises InferenceError or ValueError where the shapes do not fit."""
        a, b = A.shape or (), B.shape or ()
        if self.one_way:
            self.stretched(a, b)
            return a
        return broadcast(a, b)

    def stretched(self, a: tuple[D, ...], b: tuple[D, ...]) -> tuple[D | int, ...]:
        """The shape as which B must be seen for NumPy to broadcast it as these arguments say.

        Raises:
            InferenceError: with ``broadcast``, where B does not fit.
        """
        if not self.one_way:
            return b
        size, spare = product(b), len(a) - len(b)
        if size == 1 or (spare < 0 and not isinstance(size, int)):  # one number, or what may be one
            return (1,) * min(len(a), len(b))
        start = self.order.index(self.axis_str) if self.axis_str else (spare if self.axis == -1 else self.axis)
        name = type(self).__name__
        if not 0 <= start <= spare:
            raise InferenceError(f"{name}: the dims of B, from axis {start} on, exceed those of A", expected=a, got=b)
        if any(conflict(x, y) and y != 1 for x, y in zip(a[start:], b, strict=False)):
            raise InferenceError(f"{name}: B does not fit A from axis {start} on", expected=a[start:], got=b)
        return (*b, *(1,) * (spare - start))

    def align(self, A: Array, B: Array) -> Array:
        """Return B as NumPy must see it beside A."""
        shape = self.stretched(A.shape, B.shape)
        return B if shape == B.shape else B.reshape(shape)

    def pair(self, xp: ArrayModule, dA: Array, dB: Array, A: Array, B: Array) -> tuple[Array, Array]:
        """Sum gradients of the shape of the result to the shapes of A and B."""
        return reduced(xp, dA, A.shape), reduced(xp, dB, self.stretched(A.shape, B.shape), B.shape)


def reduced(xp: ArrayModule, x: Array, seen: tuple[int, ...], given: tuple[int, ...] | None = None) -> Array:
    """Sum ``x`` over the axes along which NumPy stretches ``seen`` to the shape of ``x``; shape it as ``given``."""
    given = seen if given is None else given
    if x.shape == given:
        return x
    lead = x.ndim - len(seen)
    axes = (*range(lead), *(lead + i for i, extent in enumerate(seen) if extent == 1 != x.shape[lead + i]))
    return (xp.total(x, axis=axes) if axes else x.copy()).reshape(given)


def shaped_as(given: str, result: str) -> str:
    """The blob to name where only the shape of input ``given`` matters: ``result``, if it was overwritten by it."""
    return result if given == result else given
