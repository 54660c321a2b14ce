"""What a training step does to its parameters: their gradients, their updates, and their copies in other precisions."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping

import attrs

from netdsl.analysis.gradient import Backward, Grad, SparseGrad, gradient
from netdsl.analysis.pairing import Pairing, pair
from netdsl.analysis.roles import GRADIENT_SUFFIX, SEED_SUFFIX, Role, classify, declared_role
from netdsl.errors import GradientError, NetdslError, SchemaError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.regions import flow
from netdsl.ops.schema import is_known, lookup


@attrs.frozen
class BackwardPass:
    """One backward pass as it stands in a net, and the one that its forward pass has.

    ``expected`` is None where the forward pass has none; ``error`` then says why, if it is a matter of gradients.
    ``paired`` tells which operators stand for the expected ones, ``seeds`` those that start the pass.
    """

    first: int
    indices: tuple[int, ...]
    seeds: tuple[int, ...]
    forward: NetDef
    losses: tuple[str, ...]
    expected: Backward | None
    error: GradientError | None
    paired: Pairing


@attrs.frozen
class ParameterUse:
    """A blob that lives across steps and has a gradient: who updates it, and its copies in other precisions."""

    name: str
    gradient: str
    updates: tuple[int, ...]
    copies: tuple[str, ...]


class Training:
    """The facts of one training step, found by following blobs; no operator is asked what it is called."""

    def __init__(self, net: NetDef, init: NetDef | None = None) -> None:
        self.net, self.init = net, init
        self.roles = classify(net)
        self.held = flow(net).reads
        self.made: Mapping[str, int] = {n: i for i, op in enumerate(init.ops) for n in op.outputs} if init else {}
        self.passes = tuple(_passes(net, self.roles))
        self.gradients = self._gradients()
        self.moved, self.updates = self._updates()

    @property
    def trains(self) -> bool:
        """Whether a gradient changes anything that lives across steps."""
        return bool(self.moved)

    def _gradients(self) -> dict[str, str]:
        """Every blob that the workspace holds, or the init net makes, and whose gradient is computed."""
        written = {n for i, op in enumerate(self.net.ops) if self.roles[i] is Role.GRADIENT for n in op.outputs}
        kept = {**self.held, **dict.fromkeys(self.made)}
        found = {n: f"{n}{GRADIENT_SUFFIX}" for n in kept if f"{n}{GRADIENT_SUFFIX}" in written}
        for each in self.passes:
            if each.expected is None:
                continue
            for name, grad in each.expected.grads.items():
                blob = each.paired.names.get(_main_blob(grad), _main_blob(grad))
                if name in kept and blob in written:
                    found[name] = blob
        return found

    def _updates(self) -> tuple[dict[str, int], dict[str, list[int]]]:
        """What is held and written from a gradient, with its last writer; and the operators that step each blob."""
        from_gradient: set[str] = set()
        kept = {*self.held, *self.made}
        moved: dict[str, int] = {}
        updates: dict[str, list[int]] = defaultdict(list)
        for index, op in enumerate(self.net.ops):
            depends = self.roles[index] is Role.GRADIENT or any(n in from_gradient for n in op.inputs)
            if depends and self.roles[index] is Role.UPDATE:
                for name in _stepped(op):
                    if any(n in from_gradient and n != name for n in op.inputs):
                        updates[name].append(index)
                moved.update((n, index) for n in op.outputs if n in kept)
            if depends:
                from_gradient.update(op.outputs)
            else:
                from_gradient.difference_update(op.outputs)
        return moved, dict(updates)

    def copies(self) -> Iterator[tuple[int, str, str]]:
        """Every conversion of the init net: its index, what it reads and what it writes."""
        for index, op in enumerate(self.init.ops if self.init else ()):
            for source, made in _conversion(op):
                yield index, source, made

    def parameters(self) -> list[ParameterUse]:
        """The parameters: what has a gradient and is made by the init net or, without one, updated."""
        twins: dict[str, list[str]] = defaultdict(list)
        rounded = ((a, b) for op in self.net.ops for a, b in _conversion(op) if {a, b} <= self.held.keys())
        for a, b in dict.fromkeys((*((a, b) for _, a, b in self.copies()), *rounded)):
            twins[a].append(b)
            twins[b].append(a)
        return [
            ParameterUse(name, grad, self._updated_by(name, twins[name]), tuple(twins[name]))
            for name, grad in self.gradients.items()
            if (name in self.made if self.init is not None else name in self.moved)
        ]

    def _updated_by(self, name: str, twins: list[str]) -> tuple[int, ...]:
        """The operators that step a parameter or the copy that it is rounded from."""
        if name not in self.moved:
            return ()
        last = self.net.ops[self.moved[name]]
        rounded = last.inputs if declared_role(last) == "cast" else ()
        stepped = next((blob for blob in (name, *twins, *rounded) if blob in self.updates), None)
        return (self.moved[name],) if stepped is None else tuple(self.updates[stepped])


def _conversion(op: OperatorDef) -> Iterator[tuple[str, str]]:
    """What an operator reads and writes, if it does nothing but convert."""
    if declared_role(op) == "cast" and len(op.inputs) == len(op.outputs) == 1:
        yield op.inputs[0], op.outputs[0]


def _main_blob(grad: Grad) -> str:
    return grad.values if isinstance(grad, SparseGrad) else grad


def _stepped(op: OperatorDef) -> list[str]:
    """The blobs that an update operator steps: as declared, else what it reads and overwrites; a decay is no step."""
    declared = lookup(op.type) if is_known(op.type) else None
    if declared is not None and declared.role == "decay":
        return []
    if declared is not None and declared.updates:
        with contextlib.suppress(SchemaError):  # too many or few outputs: another finding
            by_formal = declared.formal_outputs.by_name(op.outputs)
            return [by_formal[out] for out, _ in declared.updates if by_formal.get(out)]
    return [name for name in op.outputs if name in op.inputs]


def _passes(net: NetDef, roles: list[Role]) -> Iterator[BackwardPass]:
    """Find every backward pass by its seeds, which stand side by side."""
    seeds = [i for i, op in enumerate(net.ops) if any(o.endswith(SEED_SUFFIX) for o in op.outputs)]
    firsts = [i for i in seeds if i - 1 not in seeds]
    for first, end in zip(firsts, [*firsts[1:], len(net.ops)], strict=False):
        indices = tuple(i for i in range(first, end) if roles[i] is Role.GRADIENT)
        started = tuple(i for i in indices if i in seeds)
        losses = tuple(loss for i in started for loss in _losses(net.ops[i]))
        forward = NetDef(net.name, net.ops[:first], net.inputs, types=net.types)
        expected = error = None
        try:
            expected = gradient(forward, dict.fromkeys(losses))
        except GradientError as found:
            error = found
        except NetdslError:
            pass  # an operator that nothing declares or that is used wrongly: another finding
        paired = pair(net, indices, forward, expected.ops if expected else ())
        yield BackwardPass(first, indices, started, forward, losses, expected, error, paired)


def _losses(seed: OperatorDef) -> Iterator[str]:
    """The blobs that a seed belongs to: the one whose shape it takes, else what its name says."""
    if len(seed.inputs) == len(seed.outputs) == 1:
        yield seed.inputs[0]
    else:
        yield from (name.removesuffix(SEED_SUFFIX) for name in seed.outputs if name.endswith(SEED_SUFFIX))
