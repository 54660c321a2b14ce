"""Operators with effects that run nested nets: in the names around them, in frames, again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.ir import NetDef, OperatorDef, TensorType
from netdsl.ops.dtypes import ANYTHING, AnyTensor
from netdsl.ops.regions import Region, shared
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator


@operator
class RtRepeat(Operator):
    """Runs a net so many times in the names around it."""

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    body: NetDef = arg(doc="The net.")
    times: int = arg(1, doc="How often.")
    stream: str = arg("", doc="What the random numbers inside go by, instead of the first output's name.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op, perhaps=True, again=True)

    def run(self, ctx: Any, Xs: Any) -> None:
        for _ in range(self.times):
            ctx.execute(self.body)


@operator
class RtWhile(Operator):
    """Runs a net in the names around it as long as its blob ``more``, its first input, is not zero."""

    inputs = (In("more", AnyTensor), In("Xs", ANYTHING, many=1, least=0))
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    body: NetDef = arg(doc="The net.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op, perhaps=True, again=True)

    def run(self, ctx: Any, more: Any, Xs: Any) -> None:
        while ctx.fetch(ctx.op.inputs[0]):
            ctx.execute(self.body)


@operator
class RtSteps(Operator):
    """Runs a net for every row of X, each in a frame of its own that it keeps: there ``x`` is the row.

    ``h_prev`` is the ``h`` of the frame before (the first time: ``start``). ``S`` sums all ``h``; what else the
    step reads is around it.
    """

    inputs = (In("X", AnyTensor), In("start", AnyTensor), In("Ws", ANYTHING, many=1, least=0))
    outputs = (Out("S"),)
    step_net: NetDef = arg(doc="One step.")
    fresh: bool = arg(False, doc="Whether to make frames anew in every run.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return [Region("step_net", self.step_net, {}, through=True, local=("x", "h_prev", "h"))]

    def infer(self, X: TensorType, start: TensorType, Ws: Any) -> TensorType:
        return start

    def run(self, ctx: Any, X: Any, start: Any, Ws: Any) -> Any:
        frames = ctx.memory.setdefault("frames", [])
        if self.fresh:
            frames.clear()
        while len(frames) < len(X):
            frames.append(ctx.frame({}, ("x", "h_prev", "h")))
        h, total = start, ctx.xp.zeros_like(start)
        for row, frame in zip(X, frames, strict=False):
            ctx.put("x", row.copy(), frame)
            ctx.put("h_prev", h.copy(), frame)
            ctx.execute(self.step_net, frame)
            h = ctx.take("h", frame)
            total = total + h
        return total


@operator
class RtInside(Operator):
    """Runs a net once in a child frame, where ``inner`` stand for ``outer`` and ``local`` are its own.

    ``look`` is a function's token, called with the context and the frame afterwards.
    """

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    net: NetDef = arg(doc="The net.")
    inner: tuple[str, ...] = arg((), doc="Names in the net.")
    outer: tuple[str, ...] = arg((), doc="Names around it.")
    local: tuple[str, ...] = arg((), doc="Names that the net has for itself.")
    look: str = arg("", doc="What to call before and after.")

    def regions(self, op: OperatorDef) -> list[Region]:
        bound = dict(zip(self.inner, self.outer, strict=True))
        return [Region("net", self.net, bound, through=True, local=self.local)]

    def run(self, ctx: Any, Xs: Any) -> None:
        frame = ctx.memory.get("frame")
        if frame is None:
            frame = ctx.memory["frame"] = ctx.frame(dict(zip(self.inner, self.outer, strict=True)), self.local)
        if self.look:
            ctx.function(self.look)("before", ctx, frame)
        ctx.execute(self.net, frame)
        if self.look:
            ctx.function(self.look)("after", ctx, frame)


@operator
class RtAsk(Operator):
    """Calls a function by its token, with the context and its inputs, and returns what that returns."""

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    draws = True
    token: str = arg("ask", doc="The function's token.")

    def run(self, ctx: Any, Xs: Any) -> Any:
        found = ctx.function(self.token)(ctx, *Xs)
        return None if found is None else ([found],)


@operator
class RtJoin(Operator):
    """Two vectors, one behind the other."""

    inputs = (In("A", AnyTensor), In("B", AnyTensor))
    outputs = (Out("C", inplace=("A", "B")),)

    def infer(self, A: TensorType, B: TensorType) -> TensorType:
        known = A.shape is not None and B.shape is not None
        return A.with_shape((A.shape[0] + B.shape[0],) if known else None)

    def compute(self, xp: Any, A: Any, B: Any) -> Any:
        return xp.concatenate([A, B])


def array(*values: float) -> np.ndarray:
    return np.array(values, np.float32)
