"""Counting the iterations of a training loop."""

from __future__ import annotations

from typing import Any

from netdsl.errors import InferenceError, RunError
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import Counter, Kind
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.xp import Array

LAST = 2**63 - 1
"""The largest iteration."""


@operator
class Iter(Operator):
    """Add one to an iteration counter; without an input, a counter that does not exist yet starts at 0."""

    inputs = (In("count_in", Counter, optional=True, doc="The counter, one int64."),)
    outputs = (Out("count", enforced="count_in", doc="The counter, one more than before."),)
    role = "counter"
    on_host = True

    def infer(self, count_in: TensorType | None = None) -> TensorType:
        return infer_counter("Iter", count_in)

    def run(self, ctx: RunContext, count_in: Array | None = None) -> Array:
        if count_in is None:
            try:
                count_in = ctx.fetch(ctx.op.outputs[0])
            except LookupError:
                count_in = ctx.xp.zeros((1,), dtype=ctx.xp.int64)
        return next_count("Iter", count_in)


@operator
class AtomicIter(Operator):
    """Add one to an iteration counter while holding a mutex, for nets that run at the same time."""

    inputs = (
        In("mutex", Kind("mutex"), doc="What CreateMutex made."),
        In("count_in", Counter, doc="The counter, one int64."),
    )
    outputs = (Out("count", enforced="count_in", doc="The counter, one more than before."),)
    role = "counter"
    on_host = True

    def infer(self, mutex: Any, count_in: TensorType) -> TensorType:
        return infer_counter("AtomicIter", count_in)

    def run(self, ctx: RunContext, mutex: Any, count_in: Array) -> Array:
        return mutex.during(ctx, _count_up, count_in)


def _count_up(count: Array) -> Array:
    count[...] = next_number("AtomicIter", count)  # in place, for it must happen while the mutex is held
    return count


def infer_counter(operator: str, count: TensorType | None) -> TensorType:
    """Return the type of a counter; raise unless it is one number."""
    if count is None:
        return TensorType(DType.INT64, (1,))
    if conflict(product(count.shape or ()), 1):
        raise InferenceError(f"{operator}: the counter must be one number", expected="int64[1]", got=count)
    return count


def next_count(operator: str, count: Array) -> Array:
    """Return the counter plus one; raise for one that is negative or cannot grow."""
    next_number(operator, count)
    return count + 1


def next_number(operator: str, count: Array) -> int:
    """Return what :func:`next_count` counts to, as a number."""
    number = int(count.reshape(-1)[0])
    if not 0 <= number < LAST:
        raise RunError(f"{operator}: the counter is not an iteration", expected=f"0 to {LAST - 1}", got=count)
    return number + 1
