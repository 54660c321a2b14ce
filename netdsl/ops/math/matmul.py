"""Matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from netdsl.errors import InferenceError
from netdsl.ir import Dim, Shape, TensorType
from netdsl.ir.dims import broadcast, canonical_axis, conflict, product, same
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.broadcast import reduced
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_TRANSPOSE_A, _TRANSPOSE_B = "Transpose A.", "Transpose B."


@operator
class MatMul(Operator):
    """The product of two matrices, which A and B are first made of at ``axis_a`` and ``axis_b``.

    The dims before the axis become the rows, the others the columns; then they are transposed where asked.
    """

    inputs = (
        In("A", Float, doc="M x K once coerced and transposed."),
        In("B", Float, doc="K x N likewise."),
        In("like", Float, optional=True, doc="Gives Y its shape; of the elements of it only the number matters."),
    )
    outputs = (Out("Y", doc="M x N."),)

    axis_a: int = arg(1, doc="First axis of A that counts as columns.")
    axis_b: int = arg(1, doc="First axis of B that counts as columns.")
    trans_a: bool = arg(False, doc=_TRANSPOSE_A)
    trans_b: bool = arg(False, doc=_TRANSPOSE_B)

    def infer(self, A: TensorType, B: TensorType, like: TensorType | None = None) -> TensorType:
        m, k = _coerced(A.shape or (), self.axis_a, self.trans_a)
        k_b, n = _coerced(B.shape or (), self.axis_b, self.trans_b)
        if conflict(k, k_b):
            raise InferenceError("MatMul: A and B disagree on the inner dim", expected=f"{k} rows, for {A}", got=B)
        if like is None:
            return A.with_shape((m, n))
        if conflict(product(like.shape or ()), product((m, n))):
            raise InferenceError("MatMul: the product does not fit the shape asked for", expected=like, got=[m, n])
        return A.with_shape(like.shape)

    def gradient(self, g: Gradients) -> None:
        A, B, dY = (g.blob.A, self.axis_a), (g.blob.B, self.axis_b), (g.grad.Y, None)
        left, right = _factors(A, B, dY, self.trans_a, self.trans_b)
        g.add(MatMul, [*left[0], g.blob.A], [g.grad.A], args=left[1])
        g.add(MatMul, [*right[0], g.blob.B], [g.grad.B], args=right[1])

    def compute(self, xp: ArrayModule, A: Array, B: Array, like: Array | None = None) -> Array:
        a, b = _matrix(A, self.axis_a, self.trans_a), _matrix(B, self.axis_b, self.trans_b)
        y = xp.dot(a, b)
        return y if like is None else y.reshape(like.shape)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        if inputs[0].shape is None or not outputs[0].is_static:
            return None
        k = _coerced(inputs[0].shape, self.axis_a, self.trans_a)[1]
        y = product(outputs[0].shape or ())
        return 2 * y * k if isinstance(y, int) and isinstance(k, int) else None


@operator
class BatchMatMul(Operator):
    """The products of two stacks of matrices, the last two axes of A and B.

    The axes before them must be equal, or with ``broadcast`` fit by NumPy's rules. A vector serves as one
    row (A) or one column (B) and lends no axis to Y; it is never transposed. Two vectors give Y of shape [1].
    For the gradient of a vector, ``broadcast`` must be set.
    """

    inputs = (In("A", Float, doc="[..., M, K] once transposed."), In("B", Float, doc="[..., K, N] likewise."))
    outputs = (Out("Y", doc="[..., M, N]."),)

    trans_a: bool = arg(False, doc="Transpose the matrices of A.")
    trans_b: bool = arg(False, doc="Transpose the matrices of B.")
    broadcast: bool = arg(False, doc="Stretch the axes before the matrices by NumPy's rules.")

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        a, b = _stack(A.shape or (), self.trans_a, True), _stack(B.shape or (), self.trans_b, False)
        if conflict(a[-1], b[-2]):
            raise InferenceError("BatchMatMul: A and B disagree on the inner dim", expected=f"{a[-1]}, for {A}", got=B)
        if not self.broadcast and not same(a[:-2], b[:-2]):
            fix = "set broadcast=1"
            raise InferenceError("BatchMatMul: the stacks of A and B differ", expected=a[:-2], got=b[:-2], fix=fix)
        batch = broadcast(a[:-2], b[:-2]) or ()
        kept = (*a[-2:-1][: A.rank != 1], *b[-1:][: B.rank != 1])
        return A.with_shape((*batch, *kept) if kept else (1,))

    def gradient(self, g: Gradients) -> None:
        if self.broadcast:
            args = {name: 1 for name in ("trans_a", "trans_b") if getattr(self, name)}
            g.add(BatchMatMulGradient, [g.grad.Y, g.blob.A, g.blob.B], [g.grad.A, g.grad.B], args=args)
            return
        A, B, dY = (g.blob.A, None), (g.blob.B, None), (g.grad.Y, None)
        for (inputs, args), target in zip(
            _factors(A, B, dY, self.trans_a, self.trans_b), (g.grad.A, g.grad.B), strict=True
        ):
            g.add(BatchMatMul, inputs, [target], args=args)

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        y = xp.dot(_matrices(xp, A, self.trans_a, True), _matrices(xp, B, self.trans_b, False))
        kept = (*y.shape[-2:-1][: A.ndim != 1], *y.shape[-1:][: B.ndim != 1])
        return y.reshape((*y.shape[:-2], *kept) if kept else (1,))

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        if inputs[0].shape is None or not outputs[0].is_static:
            return None
        y, k = product(outputs[0].shape or ()), _stack(inputs[0].shape, self.trans_a, True)[-1]
        return 2 * y * k if isinstance(y, int) and isinstance(k, int) else None


@operator
class BatchMatMulGradient(Operator):
    """Gradients of :class:`BatchMatMul` with ``broadcast``, summed over the axes that were stretched."""

    inputs = (In("dY", Float), In("A", Float), In("B", Float))
    outputs = (Out("dA"), Out("dB"))
    ours = True

    trans_a: bool = arg(False, doc="As in BatchMatMul.")
    trans_b: bool = arg(False, doc="As in BatchMatMul.")

    def infer(self, dY: TensorType, A: TensorType, B: TensorType) -> tuple[TensorType, TensorType]:
        return A, B

    def compute(self, xp: ArrayModule, dY: Array, A: Array, B: Array) -> tuple[Array, Array]:
        a, b = _matrices(xp, A, self.trans_a, True), _matrices(xp, B, self.trans_b, False)
        batch = broadcast(a.shape[:-2], b.shape[:-2]) or ()
        dy = dY.reshape(*batch, a.shape[-2], b.shape[-1])
        da = reduced(xp, xp.dot(dy, xp.swapaxes(b, -1, -2)), a.shape)
        db = reduced(xp, xp.dot(xp.swapaxes(a, -1, -2), dy), b.shape)
        return _as_given(xp, da, A, self.trans_a), _as_given(xp, db, B, self.trans_b)

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        if not all(t.is_static for t in inputs):
            return None
        y, k = product(inputs[0].shape or ()), _stack(inputs[1].shape or (), self.trans_a, True)[-1]
        return 4 * y * k if isinstance(y, int) and isinstance(k, int) else None


_Operand = tuple[Any, int | None]
_Product = tuple[list[Any], dict[str, int]]


def _factors(A: _Operand, B: _Operand, dY: _Operand, trans_a: bool, trans_b: bool) -> tuple[_Product, _Product]:
    """The products that are the gradients of A and of B, as inputs and arguments; operands are (blob, axis)."""
    left = _product(B, dY, trans_b, True) if trans_a else _product(dY, B, False, not trans_b)
    right = _product(dY, A, True, trans_a) if trans_b else _product(A, dY, not trans_a, False)
    return left, right


def _product(a: _Operand, b: _Operand, trans_a: bool, trans_b: bool) -> _Product:
    args = {"trans_a": trans_a or None, "trans_b": trans_b or None, "axis_a": a[1], "axis_b": b[1]}
    return [a[0], b[0]], {name: int(value) for name, value in args.items() if value is not None}


def _coerced(shape: Shape, axis: int, transposed: bool) -> tuple[Dim, Dim]:
    at = canonical_axis(axis, len(shape))
    rows, columns = product(shape[:at]), product(shape[at:])
    return (columns, rows) if transposed else (rows, columns)


def _matrix(x: Array, axis: int, transposed: bool) -> Array:
    at = canonical_axis(axis, x.ndim)
    made = x.reshape(math.prod(x.shape[:at]), math.prod(x.shape[at:]))
    return made.T if transposed else made


def _stack(shape: Shape, transposed: bool, row: bool) -> Shape:
    """The shape as a stack of matrices."""
    if not shape:
        raise InferenceError("BatchMatMul takes no scalars", expected="at least one axis", got=shape)
    if len(shape) == 1:
        return (1, *shape) if row else (*shape, 1)
    return (*shape[:-2], shape[-1], shape[-2]) if transposed else shape


def _matrices(xp: ArrayModule, x: Array, transposed: bool, row: bool) -> Array:
    """View ``x`` as a stack of matrices."""
    if x.ndim == 1:
        return x.reshape(1, x.shape[0]) if row else x.reshape(x.shape[0], 1)
    return xp.swapaxes(x, -1, -2) if transposed else x


def _as_given(xp: ArrayModule, grad: Array, x: Array, transposed: bool) -> Array:
    """Undo :func:`_matrices` on a gradient of ``x``."""
    return grad.reshape(x.shape) if x.ndim == 1 else (xp.swapaxes(grad, -1, -2) if transposed else grad)
