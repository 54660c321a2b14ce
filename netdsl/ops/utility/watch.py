"""Looking at blobs while the net runs."""

from __future__ import annotations

import math
from typing import Any

from netdsl.errors import RunError, SchemaError
from netdsl.ir import TensorType
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import ANYTHING, Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array

LIMIT = 1000
"""How many elements Print shows where nobody says."""


def described(value: Any) -> str:
    """A value's type as text: ``float32[2, 3]``, or the kind of a blob that is no tensor."""
    if not hasattr(value, "dtype"):
        return f"<{getattr(value, 'kind', type(value).__name__)}>"
    dtype = "string" if value.dtype == object else str(value.dtype)
    return f"{dtype}[{', '.join(map(str, value.shape))}]"


@operator
class Print(Operator):
    """Show a blob: its name, type and elements, in one line on the workspace's output."""

    inputs = (In("tensor", ANYTHING),)
    outputs = ()
    touches = ("output",)

    to_file: bool = arg(False, doc="Refused: give the workspace a file for its output instead.")
    limit: int = arg(0, doc=f"How many elements to show; 0 for {LIMIT}.")
    every_n: int = arg(1, doc="Show the blob in the first of every n runs.")

    def __attrs_post_init__(self) -> None:
        if self.to_file:
            raise SchemaError("Print writes no files", got="to_file = 1", fix="Workspace(output=open(path, 'w'))")
        if self.limit < 0 or self.every_n < 1:
            got = f"limit = {self.limit}, every_n = {self.every_n}"
            raise SchemaError("Print: counts make no sense", expected="limit >= 0 and every_n >= 1", got=got)

    def run(self, ctx: RunContext, tensor: Any) -> None:
        seen = ctx.memory.get("seen", 0)
        ctx.memory["seen"] = seen + 1
        if seen % self.every_n == 0:
            ctx.write(f"{ctx.op.inputs[0]}: {described(tensor)}{self._elements(ctx, tensor)}")

    def _elements(self, ctx: RunContext, tensor: Any) -> str:
        if not hasattr(tensor, "dtype"):
            return ""
        limit = self.limit or LIMIT
        shown = [_text(v) for v in ctx.xp.to_host(tensor.reshape(-1)[:limit])]
        return f" = {', '.join(shown)}{', ...' if tensor.size > limit else ''}"


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


@operator
class NanCheck(Operator):
    """Pass a tensor on, and stop the net if an element is NaN or infinite. Its gradient is checked too.

    Further inputs are not checked; what they hold is told with the error.
    """

    inputs = (In("tensor", Float), In("others", ANYTHING, many=1, least=0, doc="To be told of."))
    outputs = (Out("output", inplace="tensor"),)

    def infer(self, tensor: TensorType, others: tuple[Any, ...] = ()) -> TensorType:
        return tensor

    def gradient(self, g: Gradients) -> None:
        g.add(NanCheck, [g.grad.output], [g.grad.tensor])

    def run(self, ctx: RunContext, tensor: Array, others: tuple[Any, ...] = ()) -> Array:
        xp = ctx.xp
        fine = xp.isfinite(tensor)
        if not bool(xp.all(fine)):
            bad = xp.reshape(xp.logical_not(fine), (tensor.size,))
            first = int(xp.argmax(bad))
            value = float(xp.to_host(xp.reshape(tensor, (tensor.size,))[first : first + 1])[0])
            rest = zip(ctx.op.inputs[1:], others, strict=True)
            raise RunError(
                f"NanCheck: blob {ctx.op.inputs[0]!r} holds {value}",
                first_at=_position(first, tensor.shape),
                elements=f"{int(xp.count_nonzero(bad))} of {tensor.size} are NaN or infinite",
                others=", ".join(f"{name}: {described(other)}" for name, other in rest) or None,
            )
        return tensor


def _position(flat: int, shape: tuple[int, ...]) -> list[int]:
    at: list[int] = []
    for i, extent in enumerate(shape):
        at.append(flat // math.prod(shape[i + 1 :]) % extent)
    return at
