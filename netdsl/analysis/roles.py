"""Which part of a training step each operator belongs to: forward, gradient or update."""

from __future__ import annotations

import enum
from collections.abc import Container

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import flow
from netdsl.ops.schema import is_known, lookup

SEED_SUFFIX = "_autogen_grad"
"""How the blob that seeds a backward pass is called."""

GRADIENT_SUFFIX = "_grad"
"""How the gradient of a blob is called."""


class Role(enum.Enum):
    """A lane of the picture of a training step."""

    FORWARD = "forward"
    GRADIENT = "gradient"
    UPDATE = "update"


def classify(net: NetDef) -> list[Role]:
    """Return the role of every operator of ``net``.

    The backward pass is what depends on a seed or writes ``x_grad`` of a blob ``x``. An update is what
    declares itself one, what writes from a gradient, or from what an update wrote, a blob that the net
    read before, and what serves updates only (learning rates, conversions of gradients).
    """
    lanes = _Lanes(net)
    roles = [lanes.role(op) for op in net.ops]
    return _with_servants(net, roles)


def declared_role(op: OperatorDef) -> str:
    """What the operator's declaration says of its part in a training step; "" where it says nothing."""
    return lookup(op.type).role if is_known(op.type) else ""


class _Lanes:
    """The first pass, in order: what depends on gradients, and on updated blobs, so far."""

    def __init__(self, net: NetDef) -> None:
        inside = flow(net)
        self.names, self.held = inside.named, inside.reads
        self.gradients: set[str] = set()
        self.stepped: set[str] = set()

    def role(self, op: OperatorDef) -> Role:
        role = self._role(op)
        marked = {Role.GRADIENT: self.gradients, Role.UPDATE: self.stepped}.get(role)
        for other in (self.gradients, self.stepped):
            if other is marked:
                other.update(op.outputs)
            elif role is Role.FORWARD:
                other.difference_update(op.outputs)
        return role

    def _role(self, op: OperatorDef) -> Role:
        if declared_role(op) in ("update", "decay", "counter"):
            return Role.UPDATE
        backward = op.is_gradient or any(n in self.gradients for n in op.inputs) or _is_backward(op, self.names)
        if any(n in self.held for n in op.outputs) and (backward or any(n in self.stepped for n in op.inputs)):
            return Role.UPDATE
        return Role.GRADIENT if backward else Role.FORWARD


def _is_backward(op: OperatorDef, names: Container[str]) -> bool:
    return any(
        name.endswith(SEED_SUFFIX) or (name.endswith(GRADIENT_SUFFIX) and name.removesuffix(GRADIENT_SUFFIX) in names)
        for name in op.outputs
    )


def _with_servants(net: NetDef, roles: list[Role]) -> list[Role]:
    """The second pass, backwards: what only updates read is one, the end of the backward pass aside."""
    first = next((i for i, role in enumerate(roles) if role is Role.UPDATE), None)
    if first is None:
        return roles
    found = list(roles)
    readers: dict[str, list[Role]] = {name: [Role.FORWARD] for name in net.outputs}
    for index in range(len(net.ops) - 1, -1, -1):
        op = net.ops[index]
        reading = [role for name in op.outputs for role in readers.pop(name, ())]
        serves = bool(reading) and all(role is Role.UPDATE for role in reading)
        if serves and (
            index > first or found[index] is Role.FORWARD or not any(GRADIENT_SUFFIX in n for n in op.outputs)
        ):
            found[index] = Role.UPDATE
        for name in dict.fromkeys(op.inputs):
            readers.setdefault(name, []).append(found[index])
    return found
