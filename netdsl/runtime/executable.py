"""``Executable``: a net made ready for a target. It knows no workspace, and all workspaces share it."""

from __future__ import annotations

import gc
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock, RLock
from typing import Any
from weakref import WeakValueDictionary

import attrs

from netdsl.errors import MissingKernelError, NetdslError, SchemaError
from netdsl.ir import BlobType, NetDef, OperatorDef
from netdsl.ops import regions
from netdsl.ops.schema import Operator, Trims, bound, lookup
from netdsl.ops.validate import check_formals, check_use
from netdsl.runtime.refusals import check_declared, check_keep
from netdsl.runtime.steps import Inferred, Step, Target, facts_of

PLANS = 64
"""How many plans of one segment are kept, by the types of what it depends on."""

_EXECUTABLES: WeakValueDictionary[Any, Executable] = WeakValueDictionary()
_COMPILING = Lock()


def _forked() -> None:
    """Take locks that nobody holds: what another thread of the parent held, nobody gives back in its fork."""
    global _COMPILING
    _COMPILING = Lock()
    for executable in list(_EXECUTABLES.values()):
        executable.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def compile(net: NetDef, target: Target, keep: frozenset[str] | None = None) -> Executable:
    """Return the executable of a net, the present one while somebody holds it.

    Raises:
        UnknownOperatorError, SchemaError, MissingKernelError, NetError: the net cannot be executed.
    """
    key = (net, keep, target.backends)
    found = _EXECUTABLES.get(key)
    if found is None:
        with no_collection():
            found = Executable(net, target, keep)
        with _COMPILING:
            _EXECUTABLES[key] = found
    return found


def resolve(net: NetDef) -> list[Operator]:
    """Return the operators of ``net`` with their arguments bound, each of which can be executed.

    Raises:
        UnknownOperatorError, SchemaError, MissingKernelError: naming operator, net and author's line.
    """
    found: list[Operator] = []
    for index, op in enumerate(net.ops):
        try:
            made = bound(op)
            check_formals(type(made), op.inputs, op.outputs)
            if not any(hasattr(made, body) for body in ("compute", "sample", "run")):
                raise MissingKernelError(f"{op.type} cannot be executed: it has no body")
        except NetdslError as error:
            error.add_note(f"  in {op}     (operator {index} of net {net.name!r})")
            if op.where:
                error.add_note(f"  added at : {op.where}")
            raise
        found.append(made)
    return found


class Executable:
    """The steps of a net, and a table of the plans of its segments by the types that they depend on.

    With ``keep``, operators and trailing outputs that nothing kept depends on are left out; ``elided`` blobs
    are computed without being stored in a workspace. ``part`` takes some of the operators, which store all.
    """

    def __init__(
        self, net: NetDef, target: Target, keep: frozenset[str] | None = None, *, part: Sequence[Step] | None = None
    ) -> None:
        self.net, self.target, self.keep = net, target, keep
        alive: Any = part and [(step.index, (step.op, step.operator)) for step in part]
        if part is None:
            operators = resolve(net)
            alive = enumerate(zip(net.ops, operators, strict=True))
            if keep is not None:
                check_keep(net, keep)
                alive = _alive(net, operators, keep)
        inferred: Inferred = {}
        self.steps = [Step(at, index, op, made, net, target, inferred) for at, (index, (op, made)) in enumerate(alive)]
        self.reads = _read_first(self.steps)
        draws = [facts_of(lookup(op.type)) for op in net.ops]  # those that keep= leaves out as well: runs are counted
        self.random = any(facts.samples or facts.effects for facts in draws)
        self.elided = frozenset() if keep is None or part is not None else self._elided(keep)
        self.aliased = frozenset(
            n for s in self.steps if s.shared for o, i in zip(s.op.outputs, s.shared, strict=True) if i for n in (o, i)
        )
        self.plans: dict[Any, Any] = {}
        self.lock = RLock()

    def check(self, known: Callable[[str], tuple[BlobType, Any]]) -> None:
        """Check blobs against the net's declared input types."""
        if self.net.types:
            check_declared(self.net, {name: known(name)[0] for name in self.reads})

    def live(self, name: str, at: int) -> bool:
        """Whether a step behind ``at`` reads ``name`` before it is written again."""
        found = self._uses.get(name)
        if found is None:
            return False
        places, reads = found
        next_use = bisect_right(places, at)
        return next_use < len(places) and reads[next_use]

    @cached_property
    def _uses(self) -> dict[str, tuple[list[int], list[bool]]]:
        """Of every elided blob the steps that touch it, and whether each reads it."""
        found: dict[str, tuple[list[int], list[bool]]] = {}
        for step in self.steps:
            for name in self.elided.intersection((*step.op.inputs, *step.op.outputs)):
                places, reads = found.setdefault(name, ([], []))
                places.append(step.at)
                reads.append(name in step.op.inputs)
        return found

    @cached_property
    def last_uses(self) -> dict[int, list[str]]:
        """Elided blobs by the last step that touches them."""
        found: dict[int, list[str]] = {}
        for name, (places, _) in self._uses.items():
            found.setdefault(places[-1], []).append(name)
        return found

    def _elided(self, keep: frozenset[str]) -> frozenset[str]:
        names = {n for step in self.steps for n in step.op.outputs} | {n for op in self.net.ops for n in op.outputs}
        touched = {n for step in self.steps for n in step.named}
        return frozenset(names - keep - set(self.reads) - set(self.net.read_first()) - touched)


def _read_first(steps: Sequence[Step]) -> tuple[str, ...]:
    written: set[str] = set()
    needed: dict[str, None] = {}
    for step in steps:
        for name in step.op.inputs:
            if name not in written:
                needed[name] = None
        written.update(step.op.outputs)
    return tuple(needed)


def _alive(net: NetDef, operators: Sequence[Operator], keep: frozenset[str]) -> list[Any]:
    """The operators that kept blobs, state and effects depend on, with no outputs at their ends that nobody reads."""
    needed = set(keep) | set(net.read_first())
    found: list[Any] = []
    for index in reversed(range(len(net.ops))):
        op, operator = net.ops[index], operators[index]
        effects = facts_of(type(operator)).effects
        if not effects and op.outputs and needed.isdisjoint(op.outputs):
            continue
        if not effects:
            op, operator = _trimmed(op, operator, needed)
        if op.args.has_nets:
            needed.update(regions.named(op))
        else:
            needed.difference_update(op.outputs)
        needed.update(op.inputs)
        found.append((index, (op, operator)))
    return found[::-1]


def _trimmed(op: OperatorDef, operator: Operator, needed: set[str]) -> tuple[OperatorDef, Operator]:
    """The operator with as few of its trailing outputs as what is ``needed`` allows."""
    if len(op.outputs) < 2 or needed.issuperset(op.outputs):
        return op, operator
    if isinstance(operator, Trims):
        op = operator.trimmed(op, needed)
        operator = bound(op)
    least = 1 + max((at for at, name in enumerate(op.outputs) if name in needed), default=0)
    for count in range(least, len(op.outputs)):
        shorter = attrs.evolve(op, outputs=op.outputs[:count])
        try:
            check_use(shorter)
        except SchemaError:
            continue
        return shorter, bound(shorter)
    return op, operator


@contextmanager
def no_collection() -> Iterator[None]:
    """No cyclic garbage collection: it would walk all of what is being built, again and again."""
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        gc.enable()
