"""Operators whose nested nets see the blobs around them in different ways, and nets that use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netdsl.ir import NetDef, OperatorDef, TensorType
from netdsl.ops.dtypes import ANYTHING, Float
from netdsl.ops.regions import Region, shared
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator


@operator
class RegionDo(Operator):
    """Runs a net with names of its own; two arguments list which stand for which blobs around it."""

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    net: NetDef = arg(doc="The net.")
    inner: tuple[str, ...] = arg((), doc="Names in the net.")
    outer: tuple[str, ...] = arg((), doc="Names around it.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return [Region("net", self.net, dict(zip(self.inner, self.outer, strict=True)))]

    def renamed(self, op: OperatorDef, mapping: Mapping[str, str]) -> Mapping[str, Any]:
        return {"outer": [mapping.get(name, name) for name in self.outer]}


@operator
class RegionSteps(Operator):
    """Runs a net for each step: ``h_prev`` and ``h`` are its own, what else it only reads is around it."""

    inputs = (In("start", Float), In("Ws", Float, many=1, least=0))
    outputs = (Out("last"),)
    step_net: NetDef = arg(doc="One step.")
    spare_net: NetDef | None = arg(None, doc="A net that sees nothing around it.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return [Region("step_net", self.step_net, {}, through=True, local=("h_prev",))]

    def infer(self, start: TensorType, Ws: tuple[TensorType, ...]) -> TensorType:
        return start


@operator
class RegionLoop(Operator):
    """Runs a net in the names around it, any number of times."""

    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)
    body: NetDef = arg(doc="The net.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op, perhaps=True, again=True)


@operator
class RegionPair(Operator):
    """Its second output is an alias of its second input."""

    inputs = (In("A", Float), In("B", Float))
    outputs = (Out("S"), Out("B2", alias="B"))

    def infer(self, A: TensorType, B: TensorType) -> tuple[TensorType, TensorType]:
        return A, B

    def gradient(self, g: Any) -> None:
        g.same(g.grad.B2, g.grad.B)


def op(type_: str, inputs: str, outputs: str, **args: Any) -> OperatorDef:
    """``op("Add", "a b", "c")``."""
    return OperatorDef(type_, inputs.split(), outputs.split(), args)


def bound_do() -> OperatorDef:
    """Relu from ``a`` to ``b`` by a net that calls them x and y, and has a ``b`` of its own."""
    body = NetDef("body", [op("Relu", "x", "b"), op("Copy", "b", "y")], ["x"], ["y"])
    return op("RegionDo", "a", "b", net=body, inner=["x", "y"], outer=["a", "b"])


def steps() -> OperatorDef:
    step = NetDef("step", [op("FC", "h_prev w bias", "h"), op("Tanh", "h", "h")], ["h_prev", "w", "bias"], ["h"])
    return op("RegionSteps", "start w bias", "last", step_net=step)


def caffe2_do() -> OperatorDef:
    """As Caffe2 records a Do: what it is bound to goes by position, and a workspace ends inputs and outputs."""
    inner = NetDef("body", [op("Relu", "x", "y")], ["x"], ["y"])
    return op("Do", "a x ws", "b ws", net=inner, inner_blobs=["x", "x2", "y"], outer_blobs_idx=[0, 1, 2])


def caffe2_recurrent() -> OperatorDef:
    step = NetDef("step", [op("FC", "h_prev w b", "h")], ["h_prev", "w", "b"])
    return op("RecurrentNetwork", "seq h0 w b", "h_all h_last", step_net=step)
