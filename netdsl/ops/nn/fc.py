"""Fully connected layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from netdsl.errors import InferenceError
from netdsl.ir import Shape, TensorType
from netdsl.ir.dims import canonical_axis, conflict, product
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class FC(Operator):
    """Multiply by a weight matrix and add a bias: ``Y = X @ W.T + b``.

    ``X`` and ``W`` are first coerced to matrices at ``axis`` and ``axis_w``; ``Y`` keeps the dims of X
    before ``axis``.
    """

    inputs = (
        In("X", Float, doc="The input, M x K once coerced."),
        In("W", Float, doc="The weights, N x K once coerced."),
        In("b", Float, doc="The bias, of length N."),
    )
    outputs = (Out("Y", doc="M x N, with the leading dims of X."),)

    axis: int = arg(1, doc="First axis of X that counts as features.")
    axis_w: int = arg(1, doc="First axis of W that counts as features.")
    float16_compute: bool = arg(False, doc="Allow half accumulation; here it is always float32.", hint=True)

    def infer(self, X: TensorType, W: TensorType, b: TensorType) -> TensorType:
        batch, k = split_shape(X, self.axis)
        (n, k_w) = (product(part) for part in split_shape(W, self.axis_w))
        if conflict(product(k), k_w):
            raise InferenceError(
                "FC: X and W disagree on the number of features", expected=f"{k_w}, as W", got=f"{product(k)}"
            )
        if b.rank != 1 or conflict(b.shape[0], n):  # type: ignore[index]
            raise InferenceError("FC: the bias must have one element for each row of W", expected=f"[{n}]", got=b)
        return X.with_shape((*batch, n))

    def gradient(self, g: Gradients) -> None:
        g.add(FCGradient, [g.blob.X, g.blob.W, g.grad.Y], [g.grad.W, g.grad.b, g.grad.X])

    def compute(self, xp: ArrayModule, X: Array, W: Array, b: Array) -> Array:
        y = xp.dot(matrix(X, self.axis), matrix(W, self.axis_w).T) + b
        return y.reshape(*X.shape[: canonical_axis(self.axis, X.ndim)], y.shape[1])

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        y, w = product(outputs[0].shape or (None,)), product(inputs[1].shape or (None,))
        n = product(inputs[2].shape or (None,))
        return 2 * y * w // n if isinstance(y, int) and isinstance(w, int) and isinstance(n, int) and n else None


@operator
class FCGradient(Operator):
    """Gradients of :class:`FC` for its weights, its bias and, where asked for, its input."""

    inputs = (In("X", Float), In("W", Float), In("dY", Float))
    outputs = (Out("dW"), Out("db"), Out("dX", optional=True))

    axis: int = arg(1, doc="As in FC.")
    axis_w: int = arg(1, doc="As in FC.")
    float16_compute: bool = arg(False, doc="As in FC.", hint=True)

    def infer(self, X: TensorType, W: TensorType, dY: TensorType) -> tuple[TensorType, ...]:
        return W, W.with_shape((product(split_shape(W, self.axis_w)[0]),)), X

    def compute(self, xp: ArrayModule, X: Array, W: Array, dY: Array) -> tuple[Array | None, ...]:
        w = matrix(W, self.axis_w)
        dy = dY.reshape(-1, w.shape[0]) if w.shape[0] else dY.reshape(math.prod(dY.shape[: self.axis]), 0)
        x = matrix(X, self.axis)
        dX = xp.dot(dy, w).reshape(X.shape) if self.wants("dX") else None
        return xp.dot(dy.T, x).reshape(W.shape), xp.total(dy, axis=0), dX

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        y, w = product(inputs[2].shape or (None,)), product(inputs[1].shape or (None,))
        n = product(outputs[1].shape or (None,))
        known = isinstance(y, int) and isinstance(w, int) and isinstance(n, int)
        return 2 * (len(outputs) - 1) * y * w // n if known and n else None  # type: ignore[operator]


def matrix(x: Array, axis: int) -> Array:
    """View ``x`` as a matrix whose columns are the axes from ``axis`` on."""
    axis = canonical_axis(axis, x.ndim) if axis != x.ndim else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def split_shape(x: TensorType, axis: int) -> tuple[Shape, Shape]:
    """The dims before and from ``axis``."""
    shape = x.shape or ()
    at = axis if axis == len(shape) else canonical_axis(axis, len(shape))
    return shape[:at], shape[at:]
