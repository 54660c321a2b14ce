"""Powers."""

from __future__ import annotations

from typing import Any

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import same
from netdsl.ops.dtypes import Float, Single
from netdsl.ops.gradient import Gradients
from netdsl.ops.math.broadcast import Broadcasting
from netdsl.ops.math.unary import as_dtype
from netdsl.ops.schema import In, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class Pow(Broadcasting):
    """``Y = X ** exponent``: a number, or element by element those of a second tensor.

    Without ``broadcast`` both tensors must have one shape. Exponents that are a tensor are float32, and so is X then.
    """

    inputs = (
        In("X", Float, doc="The base."),
        In("exponents", Single, optional=True, doc="The exponents, instead of the argument."),
    )
    outputs = (Out("Y", inplace=("X", "exponents")),)
    elementwise = True

    exponent: float | None = arg(None, doc="The exponent, where it is no tensor.")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.broadcast and (self.axis != -1 or self.axis_str):
            raise SchemaError("Pow: axis and axis_str need broadcast", expected="broadcast=1")

    def infer(self, X: TensorType, exponents: TensorType | None = None) -> TensorType:
        if exponents is None:
            self._number()
            return X
        if X.dtype not in (None, DType.FLOAT):
            raise InferenceError("Pow: X must have the dtype of the exponents", expected="float32", got=X)
        if not self.broadcast and not same(X.shape, exponents.shape):
            raise InferenceError("Pow: X and exponents differ in shape, without broadcast", expected=X, got=exponents)
        return X.with_shape(self.common(X, exponents))

    def gradient(self, g: Gradients) -> None:
        if g.blob.exponents is not None:
            self._gradient_of_tensors(g)
            return
        exponent = self._number()
        g.add(Pow, [g.blob.X], [g.grad.X], args={"exponent": exponent - 1.0})
        g.add("Mul", [g.grad.X, g.grad.Y], [g.grad.X], args={})
        g.add("Scale", [g.grad.X], [g.grad.X], args={"scale": exponent})

    def _gradient_of_tensors(self, g: Gradients) -> None:
        X, E, Y, dY, dX, dE = g.blob.X, g.blob.exponents, g.blob.Y, g.grad.Y, g.grad.X, g.grad.exponents
        where: dict[str, Any] = {"axis": self.axis, "axis_str": self.axis_str, "order": self.order}
        stretch = {"broadcast": 1, **where} if self.broadcast else {}
        g.add("ConstantFill", [E], [dE], args={"value": 1.0})
        g.add("Sub", [E, dE], [dE], args={})
        g.add(Pow, [X, dE], [dX], args=stretch)
        g.add("Mul", [dX, dY], [dX], args={})
        g.add("Mul", [dX, E], [dX], args=stretch)
        full = f"{dE}_autogen_pre_red"
        g.add("Log", [X], [full], args={})
        g.add("Mul", [full, Y], [full], args={})
        g.add("Mul", [full, dY], [full if self.broadcast else dE], args={})
        if self.broadcast:
            g.add("SumReduceLike", [full, E], [dE], args=where)

    def compute(self, xp: ArrayModule, X: Array, exponents: Array | None = None) -> Array:
        if exponents is None:
            return as_dtype(xp.power(X, xp.float32(self._number())), X)
        return xp.power(X, self.align(X, exponents))

    def _number(self) -> float:
        if self.exponent is None:
            raise InferenceError("Pow needs an exponent", expected="a second input or the argument 'exponent'")
        return self.exponent
