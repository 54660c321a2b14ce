"""Comparisons, logic and selection."""

from __future__ import annotations

import attrs

from netdsl.errors import InferenceError
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import conflict, merge_shapes, same
from netdsl.ops.dtypes import AnyDType, Boolean, Scalar
from netdsl.ops.math.broadcast import Broadcasting
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@attrs.frozen(kw_only=True, slots=False)
class Comparison(Broadcasting):
    """Base of comparisons of two tensors of one dtype, with a bool result; False wherever one is NaN, but for NE."""

    inputs = (In("A", Scalar, doc="The first operand."), In("B", Scalar, doc="The second, of the same dtype."))
    outputs = (Out("C", doc="bool."),)
    elementwise = True

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        return TensorType(DType.BOOL, self.common(A, B))


@operator
class EQ(Comparison):
    """``C = A == B``."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.equal(A, self.align(A, B))


@operator
class NE(Comparison):
    """``C = A != B``; true where one is NaN."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.not_equal(A, self.align(A, B))


@operator
class LT(Comparison):
    """``C = A < B``."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.less(A, self.align(A, B))


@operator
class LE(Comparison):
    """``C = A <= B``."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.less_equal(A, self.align(A, B))


@operator
class GT(Comparison):
    """``C = A > B``."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.greater(A, self.align(A, B))


@operator
class GE(Comparison):
    """``C = A >= B``."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.greater_equal(A, self.align(A, B))


@attrs.frozen(kw_only=True, slots=False)
class Logic(Broadcasting):
    """Base of functions of two bool tensors."""

    inputs = (In("A", Boolean), In("B", Boolean))
    outputs = (Out("C", inplace="A"),)
    elementwise = True

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        return A.with_shape(self.common(A, B))


@operator
class And(Logic):
    """Whether both are true."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.logical_and(A, self.align(A, B))


@operator
class Or(Logic):
    """Whether one or both are true."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.logical_or(A, self.align(A, B))


@operator
class Xor(Logic):
    """Whether exactly one is true."""

    def compute(self, xp: ArrayModule, A: Array, B: Array) -> Array:
        return xp.not_equal(A, self.align(A, B))


@operator
class Not(Operator):
    """Whether it is false."""

    inputs = (In("X", Boolean),)
    outputs = (Out("Y"),)
    elementwise = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.logical_not(X)


@operator
class Where(Operator):
    """X where C is true, else Y; all of one shape, or with ``broadcast_on_rows`` one C for each row of X and Y."""

    inputs = (In("C", Boolean, doc="What to choose."), In("X", AnyDType, doc="Taken where true."), In("Y", AnyDType))
    outputs = (Out("Z"),)
    elementwise = True

    broadcast_on_rows: bool = arg(False, doc="C is a vector that chooses whole rows.")

    def infer(self, C: TensorType, X: TensorType, Y: TensorType) -> TensorType:
        if not same(X.shape, Y.shape):
            raise InferenceError("Where: X and Y differ in shape", expected=X, got=Y)
        shape = X.shape or ()
        if self.broadcast_on_rows:
            if C.rank != 1 or not shape or conflict(C.shape[0], shape[0]):  # type: ignore[index]
                raise InferenceError(
                    "Where: C must have one element for each row",
                    expected=f"bool[{shape[0] if shape else 'rows'}]",
                    got=C,
                )
        elif not same(C.shape, X.shape):
            raise InferenceError("Where: C differs from X in shape", expected=X, got=C)
        return X.with_shape(merge_shapes(X.shape, Y.shape))

    def compute(self, xp: ArrayModule, C: Array, X: Array, Y: Array) -> Array:
        if X.dtype.kind == "O":  # strings live on the host
            chosen, others = X.copy(), ~xp.to_host(C)
            chosen[others] = Y[others]
            return chosen
        if self.broadcast_on_rows and X.ndim > 1:
            C = C.reshape(C.shape[0], *(1,) * (X.ndim - 1))
        return xp.where(C, X, Y)
