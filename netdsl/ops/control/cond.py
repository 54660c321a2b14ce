"""Conditional execution of nested nets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from netdsl.errors import GradientError, SchemaError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import ANYTHING, Boolean
from netdsl.ops.gradient import Gradients
from netdsl.ops.regions import Region, flow, shared
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
        In("Xs", ANYTHING, many=1, least=0, lazy=True, doc="What the nets read."),
    )
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT, doc="What the nets write."),)

    then_net: NetDef | None = arg(None, doc="Run where the condition is true.")
    else_net: NetDef | None = arg(None, doc="Run where it is false; nothing is run without it.")

    def __attrs_post_init__(self) -> None:
        if self.then_net is None:
            raise SchemaError("If needs the argument 'then_net'", expected="then_net: NetDef")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op, perhaps=self.else_net is None)

    def gradient(self, g: Gradients) -> None:
        outer = {y: dy for y, dy in zip(g.blob.Ys, g.grad.Ys, strict=True) if dy}
        then = self.then_net or NetDef()
        nets = {"then_net": then, "else_net": self.else_net or NetDef(f"{then.name}_otherwise")}
        parts = {name: (net, *g.nested(net, outer)) for name, net in nets.items()}
        flows = {name: _flowing(net, found, outer) for name, (net, _, found) in parts.items()}
        reached = {name for found in flows.values() for name in found}
        grads = {x: target for x, target in zip(g.blob.Xs, g.grad.Xs, strict=True) if x in reached}
        if not grads:
            return
        args = {name: _ending_in(made, flows[name], grads) for name, (_, made, _) in parts.items()}
        read = {name for net in args.values() for name in net.inputs} - {g.blob.condition}
        _require_listed(read, {*g.blob.Xs, *g.blob.Ys, *outer.values()})
        g.add(If, [g.blob.condition, *sorted(read)], sorted(grads.values()), args=args)

    def run(self, ctx: RunContext, condition: Array, Xs: tuple[Any, ...]) -> None:
        chosen = self.then_net if bool(condition.reshape(-1)[0]) else self.else_net
        if chosen is not None:
            ctx.execute(chosen)


def _flowing(net: NetDef, found: Mapping[str, str], outer: Mapping[str, str]) -> dict[str, str]:
    """The gradients of what ``net`` begins with: of what it reads, and of what it leaves as it was.

    Raises:
        GradientError: a blob that this net only reads and the other overwrites, for which both would add up.
    """
    inside = flow(net)
    flows = {name: found[name] for name in inside.reads if name in found}
    for name, grad in outer.items():
        if name in inside.writes:
            continue
        if name in flows:
            raise GradientError(
                f"If: net {net.name!r} reads blob {name!r}, which the other net overwrites",
                fix="let both nets write another blob",
            )
        flows[name] = grad
    return flows


def _require_listed(read: set[str], listed: set[str]) -> None:
    if missing := sorted(read - listed):
        raise GradientError(
            f"If: the gradient reads blob {missing[0]!r}, which is not among the operator's inputs and outputs",
            fix="list what the nested nets write among the outputs, as netdsl.dsl.cond does",
        )


def _ending_in(net: NetDef, found: Mapping[str, str], grads: Mapping[str, str]) -> NetDef:
    """Make a gradient net write every gradient of ``grads`` under its name: a zero where none flows."""
    ops = list(net.ops)
    for blob, target in sorted(grads.items()):
        if blob not in found:
            ops.append(OperatorDef("ZerosLike", (blob,), (target,), is_gradient=True))
        elif found[blob] != target:
            ops.append(OperatorDef("Copy", (found[blob],), (target,), is_gradient=True))
    made = NetDef(net.name, ops, outputs=sorted(grads.values()))
    inside = flow(made)
    return attrs.evolve(made, inputs=sorted({*made.outputs}.difference(inside.writes).union(inside.reads)))
