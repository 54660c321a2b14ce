"""Conditional execution of nested nets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netdsl.errors import SchemaError
from netdsl.ir import NetDef
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import ANYTHING, Boolean
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator
from netdsl.ops.xp import Array


@operator
class If(Operator):
    """Run ``then_net`` where the condition is true, else ``else_net``, in the same workspace.

    Inputs after the condition and the outputs are the blobs that either net reads and writes; they
    go by their own names, not by position.
    """

    inputs = (
        In("condition", Boolean, host=True, doc="One bool."),
        In("Xs", ANYTHING, many=1, least=0, doc="What the nets read."),
    )
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT, doc="What the nets write."),)

    then_net: NetDef | None = arg(None, doc="Run where the condition is true.")
    else_net: NetDef | None = arg(None, doc="Run where it is false; nothing is run without it.")

    def __attrs_post_init__(self) -> None:
        if self.then_net is None:
            raise SchemaError("If needs the argument 'then_net'", expected="then_net: NetDef")

    def gradient(self, g: Gradients) -> None:
        outer = {y: dy for y, dy in zip(g.blob.Ys, g.grad.Ys, strict=True) if dy}
        nets = {name: net for name in ("then_net", "else_net") if (net := getattr(self, name)) is not None}
        parts = {name: g.nested(net, outer) for name, net in nets.items()}
        grads = {x: target for x, target in zip(g.blob.Xs, g.grad.Xs, strict=True) if _flows(parts, x)}
        args: dict[str, Any] = {name: _ending_in(net, found, grads) for name, (net, found) in parts.items()}
        read = {name for net in args.values() for name in net.inputs}
        written = sorted(set(grads.values()))
        g.add(If, [g.blob.condition, *sorted(read - {g.blob.condition})], written, args=args)

    def run(self, ctx: RunContext, condition: Array, Xs: tuple[Any, ...]) -> None:
        chosen = self.then_net if bool(condition.reshape(-1)[0]) else self.else_net
        if chosen is not None:
            ctx.execute(chosen)


def _flows(parts: Mapping[str, tuple[NetDef, Mapping[str, str]]], blob: str) -> bool:
    return any(blob in found for _, found in parts.values())


def _ending_in(net: NetDef, found: Mapping[str, str], grads: Mapping[str, str]) -> NetDef:
    """Make a gradient net write every gradient of ``grads`` under its name: a zero where none flows."""
    from netdsl.ir import OperatorDef

    ops = list(net.ops)
    for blob, target in sorted(grads.items()):
        if blob not in found:
            ops.append(OperatorDef("ZerosLike", (blob,), (target,), is_gradient=True))
        elif found[blob] != target:
            ops.append(OperatorDef("Copy", (found[blob],), (target,), is_gradient=True))
    made = NetDef(net.name, ops, outputs=tuple(sorted(set(grads.values()))))
    return NetDef(made.name, made.ops, tuple(sorted(made.read_first())), made.outputs)
