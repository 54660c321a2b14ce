"""``Plan``: how one net runs on inputs of given types, before any array is bound.

A blob is *bound* when every write to it in the net gives the same static tensor type: it has one
buffer, and operators are called on that very array. Every other blob (its shape depends on data, its
type changes, it is no tensor) is *loose*: operators that touch one look it up when they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from netdsl.analysis.infer import infer_bound
from netdsl.ir import BlobType, DType, NetDef, OperatorDef, TensorType
from netdsl.ops.schema import Operator, bound
from netdsl.runtime import kernels
from netdsl.runtime.backends import Backend
from netdsl.runtime.buffers import share
from netdsl.runtime.groups import Group
from netdsl.runtime.refusals import check_declared

Known = tuple[BlobType, bool]
"""The type of a blob, and whether it lives on the host of a device workspace."""


@attrs.frozen(eq=False)
class Step:
    """One operator of a plan; ``dynamic`` ones resolve blobs when they run."""

    index: int
    op: OperatorDef
    bound: Operator
    types: tuple[BlobType, ...]
    dynamic: bool
    host: bool
    shared: tuple[str | None, ...]
    make: kernels.Make | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        return (self,)

    @property
    def effects(self) -> bool:
        """Whether the operator may do more than compute its outputs."""
        return has_effects(self.bound)

    def place(self, net: NetDef) -> str:
        """Where the operator stands, in words."""
        return f"operator {self.index} of net {net.name!r}"


@attrs.frozen(eq=False)
class GroupStep:
    """Consecutive elementwise operators that run as one."""

    steps: tuple[Step, ...]
    group: Group

    def place(self, net: NetDef) -> str:
        """Where the operators stand, in words."""
        first, last = self.steps[0].index, self.steps[-1].index
        return f"operators {first} to {last} of net {net.name!r}" if last > first else self.steps[0].place(net)


Unit = Step | GroupStep


@attrs.frozen(eq=False)
class Plan:
    """The steps of a net for inputs of given types.

    ``units`` are what is dispatched: operators, and groups of elementwise ones. ``types`` and ``hosts`` speak
    of bound blobs. ``stored`` blobs live in the workspace, ``private`` ones in numbered buffers of the program
    that they share; what is in neither is never stored.
    """

    net: NetDef
    units: tuple[Unit, ...]
    types: Mapping[str, TensorType]
    hosts: Mapping[str, bool]
    stored: tuple[str, ...]
    elided: tuple[str, ...]
    private: Mapping[str, int]
    watched: frozenset[str]
    random: bool


def nested_blobs(op: OperatorDef) -> tuple[set[str], set[str]]:
    """All blobs that the nets nested in ``op`` name, and those that they write."""
    named: set[str] = set()
    written: set[str] = set()
    for _, net in op.nested:
        for inner in net.ops:
            more_named, more_written = nested_blobs(inner)
            written |= {*inner.outputs, *more_written}
            named |= {*inner.inputs, *inner.outputs, *more_named}
    return named, written


def has_effects(operator: Operator) -> bool:
    """Whether the operator's body is ``run`` (as isinstance of Runs tells, which is slow)."""
    return hasattr(operator, "run")


class Planner:
    """Makes one plan."""

    def __init__(
        self,
        net: NetDef,
        operators: Sequence[Operator],
        known: Mapping[str, Known],
        backend: Backend,
        keep: frozenset[str] | None,
        grouped: bool,
    ) -> None:
        self.net, self.operators, self.known = net, operators, known
        self.backend, self.keep, self.grouped = backend, keep, grouped
        self.two_places = backend.name != "numpy"
        self.outputs: list[tuple[BlobType, ...]] = []
        self.seen: dict[str, Known] = {}
        self.loose: set[str] = set()
        self.aliased: set[str] = set()
        self.nested: set[str] = set()

    def make(self) -> Plan:
        """Return the plan."""
        check_declared(self.net, {name: type_ for name, (type_, _) in self.known.items()})
        self._infer()
        self._find_aliases()
        units = tuple(self._units())
        read_first, written = self.net.read_first(), {n for op in self.net.ops for n in op.outputs}
        names = dict.fromkeys(n for op in self.net.ops for n in (*op.inputs, *op.outputs))
        stored = dict.fromkeys(names)
        if self.keep is not None:
            must = self.keep | set(read_first) | self.loose | self.aliased | self.nested
            stored = dict.fromkeys(n for n in names if n in must)
        memory = self._finish_groups(units, set(stored))
        types = {n: t for n, (t, _) in self.seen.items() if n not in self.loose and isinstance(t, TensorType)}
        hosts = {n: self.seen[n][1] for n in types}
        private = [n for n in names if n not in stored and n in memory]
        return Plan(
            net=self.net,
            units=units,
            types=types,
            hosts=hosts,
            stored=tuple(stored),
            elided=tuple(n for n in names if n in written and n not in stored),
            private=share(units, private, lambda n: (types[n], hosts[n])),
            watched=frozenset((set(read_first) | set(types)) & set(stored)),
            random=any(hasattr(o, "sample") for o in self.operators),
        )

    def _on_host(self, op: OperatorDef, operator: Operator) -> bool:
        tagged = op.device is not None and op.device.kind == "cpu"
        return self.two_places and (operator.on_host or tagged)

    def _infer(self) -> None:
        types = {name: type_ for name, (type_, _) in self.known.items()}
        self.seen.update(self.known)
        for index, (op, operator) in enumerate(zip(self.net.ops, self.operators, strict=True)):
            found = infer_bound(operator, op, types, f"operator {index} of net {self.net.name!r}")
            host = self._on_host(op, operator)
            for name, type_ in zip(op.outputs, found, strict=True):
                types[name] = type_
                self._see(name, (type_, host or (self.two_places and is_text(type_))))
            self.outputs.append(found)
            named, written = nested_blobs(op)
            self.nested |= named
            self.loose |= written - set(op.outputs)
        for name, (type_, _) in self.known.items():
            self._see(name, self.known[name] if isinstance(type_, TensorType) else (type_, False))

    def _see(self, name: str, what: Known) -> None:
        type_ = what[0]
        static = isinstance(type_, TensorType) and type_.is_static
        if not static or self.seen.setdefault(name, what) != what:
            self.loose.add(name)

    def _find_aliases(self) -> None:
        """An alias written once and not read before shares its input's buffer from the start; others are loose."""
        writes: dict[str, int] = {}
        for op in self.net.ops:
            for name in op.outputs:
                writes[name] = writes.get(name, 0) + 1
        pairs = [
            (source, name)
            for op, operator in zip(self.net.ops, self.operators, strict=True)
            for name, source in zip(op.outputs, _shared(op, operator), strict=True)
            if source is not None
        ]
        self.aliased.update(name for pair in pairs for name in pair)
        for source, name in pairs:
            if name in self.known or writes[name] > 1 or source in self.loose:
                self.loose.add(name)

    def _units(self) -> Iterator[Unit]:
        pending: list[Step] = []
        group = Group()
        for index, (op, operator) in enumerate(zip(self.net.ops, self.operators, strict=True)):
            step = self._step(index, op, operator)
            if self._groupable(step):
                if pending and self._join(group, step):
                    pending.append(step)
                    continue
                fresh = Group()
                if self._join(fresh, step):
                    if pending:
                        yield GroupStep(tuple(pending), group)
                    group, pending = fresh, [step]
                    continue
            if pending:
                yield GroupStep(tuple(pending), group)
                pending = []
            yield self._with_kernel(step)
        if pending:
            yield GroupStep(tuple(pending), group)

    def _step(self, index: int, op: OperatorDef, operator: Operator) -> Step:
        touched = {*op.inputs, *op.outputs}
        host = self._on_host(op, operator)
        dynamic = has_effects(operator) or bool(touched & self.loose) or self._crosses(op, operator, host)
        shared = _shared(op, operator)
        return Step(index, op, operator, self.outputs[index], dynamic, host, shared)

    def _crosses(self, op: OperatorDef, operator: Operator, host: bool) -> bool:
        """Whether an input must be brought to where the operator reads it."""
        if not self.two_places:
            return False
        wanted = [host or host_input(operator, i, len(op.inputs)) for i in range(len(op.inputs))]
        known = [(self.seen[name], want) for name, want in zip(op.inputs, wanted, strict=True) if name in self.seen]
        return any(lives != want and not is_text(type_) for (type_, lives), want in known)

    def _groupable(self, step: Step) -> bool:
        if not (self.grouped and step.bound.elementwise) or step.dynamic or step.host:
            return False
        count = len(step.op.inputs)
        if self.two_places and any(host_input(step.bound, i, count) for i in range(count)):
            return False  # the device cannot read it inside a kernel
        return not self.aliased.intersection((*step.op.inputs, *step.op.outputs))

    def _join(self, group: Group, step: Step) -> bool:
        op = step.op
        types = {name: self.seen[name][0] for name in (*op.inputs, *op.outputs)}
        return group.try_add(step.bound, op.inputs, op.outputs, types)

    def _with_kernel(self, step: Step) -> Step:
        names = {*step.op.inputs, *step.op.outputs}
        if step.dynamic or any(step.shared) or names & self.aliased:
            return step
        inplace = bool(set(step.op.inputs) & set(step.op.outputs))
        found = kernels.find(step.bound, "numpy" if step.host else self.backend.name, inplace)
        if found is None:
            return step
        inputs = step.bound.formal_inputs.group([self.seen[n][0] for n in step.op.inputs])
        return attrs.evolve(step, make=found(step.bound, inputs, step.types))  # type: ignore[arg-type]

    def _finish_groups(self, units: Sequence[Unit], stored: set[str]) -> set[str]:
        """Tell every group which of its results must reach memory; return all names that do."""
        needed: set[str] = set()
        memory: set[str] = set()
        for unit in reversed(units):
            written = {n for s in unit.steps for n in s.op.outputs}
            stores = frozenset(written & (stored | needed)) if isinstance(unit, GroupStep) else frozenset(written)
            for step in reversed(unit.steps):
                needed -= set(step.op.outputs)
                needed |= set(step.op.inputs)
            if isinstance(unit, GroupStep):
                unit.group.finish(stores)
                memory.update(stores, needed.intersection(n for s in unit.steps for n in s.op.inputs))
            else:
                memory.update(stores, unit.op.inputs)
        return memory


def _shared(op: OperatorDef, operator: Operator) -> tuple[str | None, ...]:
    """For each output the input whose memory it shares by definition."""
    if not any(out.alias for out in operator.outputs):
        return (None,) * len(op.outputs)
    count = len(op.outputs)
    formals: list[Any] = [operator.formal_outputs.formal_at(i, count) for i in range(count)]
    places = [f.alias and operator.formal_inputs.first_index(f.alias, len(op.inputs)) for f in formals]
    return tuple(None if at is None else op.inputs[at] for at in places)


def is_text(type_: BlobType) -> bool:
    """Whether a blob is a string tensor, which every workspace holds on the host."""
    return isinstance(type_, TensorType) and type_.dtype is DType.STRING


def host_input(operator: Operator, index: int, count: int) -> bool:
    """Whether the operator reads input ``index`` on the host."""
    formal: Any = operator.formal_inputs.formal_at(index, count)
    return formal.host


def needs(op: OperatorDef, name: str) -> bool:
    """Whether an operator cannot run without its input ``name``."""
    if name not in op.inputs:
        return False
    formals: Any = bound(op).formal_inputs.aligned(len(op.inputs))
    return any(blob == name and not formal.lazy for blob, formal in zip(op.inputs, formals, strict=True))
