"""Checks that run with the net."""

from __future__ import annotations

from netdsl.errors import RunError
from netdsl.ir import DType
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import DTYPE_NUMBERS, AnyTensor
from netdsl.ops.schema import In, Operator, arg, operator
from netdsl.ops.xp import Array


@operator
class CheckTensor(Operator):
    """Raise unless a blob that the author provides is there, with the shape and dtype expected."""

    inputs = (In("X", AnyTensor, doc="The blob to check."),)
    outputs = ()
    ours = True

    shape: tuple[int, ...] | None = arg(None, doc="The shape expected; any by default.")
    dtype: int = arg(0, enum=DTYPE_NUMBERS, doc="The dtype expected; any by default.")

    def run(self, ctx: RunContext, X: Array) -> None:
        name = ctx.op.inputs[0]
        if self.shape is not None and tuple(X.shape) != tuple(self.shape):
            raise RunError(f"blob {name!r} has the wrong shape", expected=list(self.shape), got=list(X.shape))
        if self.dtype and str(X.dtype) != DType.from_number(self.dtype).value:
            raise RunError(
                f"blob {name!r} has the wrong dtype", expected=DType.from_number(self.dtype).value, got=X.dtype
            )
