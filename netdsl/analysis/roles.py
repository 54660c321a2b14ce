"""Which part of a training step each operator belongs to: forward, gradient or update."""

from __future__ import annotations

import enum

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.schema import is_known, lookup

SEED_SUFFIX = "_autogen_grad"
"""How the blob that seeds a backward pass is called."""


class Role(enum.Enum):
    """A lane of the picture of a training step."""

    FORWARD = "forward"
    GRADIENT = "gradient"
    UPDATE = "update"


def classify(net: NetDef) -> list[Role]:
    """Return the role of every operator of ``net``.

    The backward pass is what depends on a seed or on an operator marked as gradient; an update is what
    declares itself one, and what writes a blob that the net read before, from a gradient.
    """
    gradients: set[str] = set()
    held = net.read_first()
    roles: list[Role] = []
    for op in net.ops:
        role = _role(op, gradients, held)
        if role is Role.GRADIENT:
            gradients.update(op.outputs)
        elif role is Role.FORWARD:
            gradients.difference_update(op.outputs)
        roles.append(role)
    return roles


def _role(op: OperatorDef, gradients: set[str], held: dict[str, None]) -> Role:
    declared = lookup(op.type).role if is_known(op.type) else ""
    if declared in ("update", "counter"):
        return Role.UPDATE
    backward = op.is_gradient or any(name.endswith(SEED_SUFFIX) for name in op.outputs)
    backward = backward or any(name in gradients for name in op.inputs)
    if not backward:
        return Role.UPDATE if op.outputs and all(n in held and n in op.inputs for n in op.outputs) and gradients else Role.FORWARD
    return Role.UPDATE if any(name in held for name in op.outputs) else Role.GRADIENT
