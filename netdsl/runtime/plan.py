"""``Plan``: how one segment of a net runs on blobs of given types.

A segment goes as far as types can be told: it ends behind an operator whose output types are known only
after it ran, that runs nested nets, or that gives a blob another type. Everything in it is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from netdsl.ir import BlobType, Opaque, TensorType
from netdsl.runtime.backends import Backend, Make, MakeGroup, MakePiece, best
from netdsl.runtime.buffers import share
from netdsl.runtime.executable import PLANS, Executable, no_collection
from netdsl.runtime.fusion import Fusion
from netdsl.runtime.groups import Group
from netdsl.runtime.steps import Step, Typed, is_static, key_of, place_of
from netdsl.runtime.values import is_text

Known = Callable[[str], tuple[BlobType, "Backend | None"]]
"""Tells the type of a blob, and on which device it lies (None: on the host)."""


class Single:
    """A step that is to be bound for itself, by the best offer for it if there is one."""

    __slots__ = ("cost", "make", "steps", "types")

    def __init__(self, step: Step, types: tuple[BlobType, ...], make: Make | None, cost: float) -> None:
        self.steps, self.types, self.make, self.cost = (step,), types, make, cost


class Fused:
    """Consecutive elementwise steps that run as one.

    ``group`` is what they were traced to, in names of its own; ``buffers`` gives the blobs that these stand for.
    """

    __slots__ = ("buffers", "fusion", "group", "make", "steps")

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.steps = tuple(fusion.steps)
        self.group: Group
        self.make: MakeGroup | None
        self.buffers: dict[str, str]

    def finish(self, stores: set[str], types: Mapping[str, BlobType]) -> None:
        """Trace the group, or find it traced."""
        self.group, self.make = self.fusion.finish(stores, types)
        names = list(self.fusion.numbers)
        self.buffers = {at: names[int(at)] for at in self.group.buffers}


class Piece:
    """Consecutive steps that a backend offers to run as one."""

    __slots__ = ("make", "steps")

    def __init__(self, steps: Sequence[Step], make: MakePiece) -> None:
        self.steps, self.make = tuple(steps), make


class Late:
    """A step that looks its blobs up when it runs: effects, opaque blobs, and the end of a segment."""

    __slots__ = ("steps",)

    def __init__(self, step: Step) -> None:
        self.steps = (step,)


Unit = Single | Fused | Piece | Late


class Plan:
    """One segment: the steps from ``start`` to before ``end``.

    ``inputs`` are the blobs whose arrays it takes as they are, ``writes`` those that get buffers of ``types`` in
    ``places``, ``aliases`` those that share another's, ``private`` those that nobody keeps, with numbered buffers
    that they share; ``layouts`` says how the axes of a private blob lie in memory, where not in order.
    ``observed`` names what its last step wrote: their types choose among the plans that follow. ``tracks`` says
    for a net that may run so on which of several threads each unit runs; it is empty where one is enough.
    """

    __slots__ = (
        *("aliases", "end", "following", "inputs", "layouts", "observed", "places", "private", "start"),
        *("tracks", "types", "units", "writes"),
    )

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.units: list[Unit] = []
        self.inputs: dict[str, None] = {}
        self.writes: list[str] = []
        self.types: dict[str, TensorType] = {}
        self.places: dict[str, Backend | None] = {}
        self.aliases: dict[str, str] = {}
        self.private: dict[str, int] = {}
        self.layouts: dict[str, tuple[int, ...]] = {}
        self.observed: tuple[str, ...] = ()
        self.tracks: Sequence[int] | None = None
        self.following: dict[Any, Plan | None] = {}


def plan_of(executable: Executable, after: Plan | None, key: Any, known: Known, *, now: bool = False) -> Plan | None:
    """Return the plan of the first segment, or of the one that follows ``after``.

    ``key`` stands for the types of what the net reads, or of what ``after`` observed. The first time that
    a key is seen there is no plan (None), unless it is wanted ``now``: what runs once is not planned.
    """
    table: dict[Any, Plan | None] = executable.plans if after is None else after.following
    found = table.get(key)
    if found is not None:
        return found
    if key in table or now:
        with no_collection():
            found = Planner(executable, 0 if after is None else after.end, known).make()
    if len(table) >= PLANS and key not in table:
        table.pop(next(iter(table)))
    table[key] = found
    return found


class Planner:
    """Makes the plan of one segment; ``known`` tells of blobs at its beginning."""

    def __init__(self, executable: Executable, start: int, known: Known) -> None:
        self.executable, self.known, self.target = executable, known, executable.target
        self.plan = Plan(start)
        self.types: dict[str, BlobType] = {}
        self.keys: dict[str, Any] = {}
        self.written: dict[str, None] = {}
        self.late: set[str] = set()
        self._fusion = Fusion()

    def make(self) -> Plan:
        """Return the plan."""
        plan, steps = self.plan, self.executable.steps
        for step in islice(steps, plan.start, None):
            plan.end = step.at + 1
            if self._add(step):
                plan.observed = (*step.op.outputs, *(step.writes or ()))
                break
        self._flush()
        if any(type(backend).piece is not Backend.piece for backend in self.target.backends):
            self._take_pieces()
        self._finish()
        return plan

    def _add(self, step: Step) -> bool:
        """Add a step to the plan; return whether the segment ends behind it."""
        op, types, bound = step.op, self.types, self.plan.types
        for name in op.inputs:
            if name not in types:
                self._enter(name)
        typed = step.typed(tuple([self.keys[n] for n in op.inputs]), [types[n] for n in op.inputs])
        outs, static = typed.outputs, typed.static
        places = [None] * len(outs) if not self.target.two_places else [place_of(step, t, self.target) for t in outs]
        ends = step.writes is not None or not (static or all([type(t) is Opaque or is_static(t) for t in outs]))
        if not ends and step.shared:
            ends = any(s is not None and n in types for n, s in zip(op.outputs, step.shared, strict=True))
        late = ends or step.facts.effects or not static or any(n not in bound for n in op.inputs)
        if self.target.two_places and self._crosses(step):
            late, ends = True, ends or bool(step.shared)
        if not late or static:
            for name, type_, place in zip(op.outputs, outs, places, strict=True):
                if name in types and (types[name] != type_ or (name in bound and self.plan.places[name] is not place)):
                    ends = late = True
        if ends:
            self._push_late(step)
            return True
        for at, (name, type_) in enumerate(zip(op.outputs, outs, strict=True)):
            if name not in types:
                types[name], self.keys[name] = type_, key_of(type_, places[at])
            if static or is_static(type_):
                bound[name], self.plan.places[name] = type_, places[at]  # type: ignore[assignment]
                self.written[name] = None
                if step.shared and (source := step.shared[at]) is not None:
                    self.plan.aliases[name], self.plan.places[name] = source, self.plan.places[source]
        if late:
            self._push_late(step)
        elif not (step.operator.elementwise and self._join(step)):
            self._flush()
            self.plan.units.append(self._single(step, typed))
        return False

    def _single(self, step: Step, typed: Typed) -> Single:
        """A unit of one step: offers write their outputs at once, so none is taken where blobs share memory."""
        clear = self.executable.aliased.isdisjoint((*step.op.inputs, *step.op.outputs))
        return Single(step, typed.outputs, typed.make if clear else None, typed.cost if clear else 1.0)

    def _enter(self, name: str) -> None:
        """Meet a blob that this segment reads before it writes it."""
        type_, place = self.known(name)
        self.types[name], self.keys[name] = type_, key_of(type_, place)
        if is_static(type_):
            self.plan.types[name], self.plan.places[name] = type_, place  # type: ignore[assignment]
            self.plan.inputs[name] = None

    def _crosses(self, step: Step) -> bool:
        """Whether an input must be brought to where the operator reads it."""
        places = self.plan.places
        return any(
            (places[name] is None) != step.reads_on_host(at) and not is_text(self.types[name])
            for at, name in enumerate(step.op.inputs)
            if name in places
        )

    def _push_late(self, step: Step) -> None:
        self._flush()
        self.late.update(step.op.inputs, step.op.outputs)
        self.plan.units.append(Late(step))

    def _join(self, step: Step) -> bool:
        """Add a step to the group under way, or to a new one."""
        op = step.op
        if step.shared or not self.executable.aliased.isdisjoint((*op.inputs, *op.outputs)):
            return False
        if self.target.two_places and (step.host or step.facts.host_inputs):
            return False  # the device cannot read it inside a kernel
        if not self._fusion.try_add(step, self.types):
            fresh = Fusion()
            if not fresh.try_add(step, self.types):
                return False
            self._flush()
            self._fusion = fresh
        return True

    def _flush(self) -> None:
        """End the group under way."""
        if self._fusion.steps:
            self.plan.units.append(Fused(self._fusion))
            self._fusion = Fusion()

    # pieces

    def _take_pieces(self) -> None:
        """Ask for pieces of every run of planned steps, and take those that cost less than what they replace."""
        units: list[Unit] = []
        waiting: list[Single | Fused] = []
        for unit in (*self.plan.units, None):
            if isinstance(unit, Single | Fused) and unit.steps[0].facts.pure and not unit.steps[0].shared:
                waiting.append(unit)
                continue
            units += self._in_pieces(waiting)
            waiting = []
            if unit is not None:
                units.append(unit)
        self.plan.units = units

    def _in_pieces(self, units: list[Single | Fused]) -> list[Unit]:
        """The units of one run, with pieces in the place of those that they cover."""
        found: list[Unit] = []
        while units:
            steps = [step for unit in units for step in unit.steps]
            backends = steps[0].backends
            apart = next((at for at, step in enumerate(steps) if step.backends != backends), len(steps))
            ops = [(step.op, step.operator) for step in steps[:apart]]
            offers = [b.piece(ops, self.types) for b in backends]
            offer = best([o for o in offers if o is None or o.cost < self._cost(units, o.steps)])
            ends = [sum(len(u.steps) for u in units[: n + 1]) for n in range(len(units))]
            if offer is None or offer.steps not in ends:  # a piece may not cut a group
                found.append(units.pop(0))
                continue
            found.append(Piece(steps[: offer.steps], offer.make))
            units = units[ends.index(offer.steps) + 1 :]
        return found

    def _cost(self, units: Sequence[Single | Fused], count: int) -> float:
        """What the first ``count`` steps cost as they are, relative to their bodies, each by its operations."""
        total = plain = 0.0
        for unit in units:
            for step in unit.steps[: max(count, 0)]:
                inputs, outputs = ([self.types[n] for n in names] for names in (step.op.inputs, step.op.outputs))
                work = step.operator.cost(inputs, outputs) or 1
                plain += work
                total += work * (unit.cost if isinstance(unit, Single) else 0.5)
            count -= len(unit.steps)
        return total / max(plain, 1.0)

    # memory

    def _finish(self) -> None:
        """Decide which blobs reach memory, and where that is."""
        plan, elided, live = self.plan, self.executable.elided, self.executable.live
        memory: set[str] = set()
        for unit in plan.units:
            if isinstance(unit, Fused):
                last = unit.steps[-1].at
                written = {n for s in unit.steps for n in s.op.outputs}
                stores = {n for n in written if n not in elided or live(n, last)} if elided else written
                unit.finish(stores, self.types)
                memory.update(unit.buffers.values() if elided else ())
            elif elided:
                memory.update(*[(*s.op.inputs, *s.op.outputs) for s in unit.steps])
        if not elided:
            plan.writes = list(self.written)
            return
        here = elided.intersection(self.written)
        cells = {n for n in here if n in self.late or n in plan.inputs or n in plan.aliases or live(n, plan.end - 1)}
        cells |= here.intersection(plan.aliases.values())
        plan.writes = [n for n in self.written if n not in here or n in cells]
        private = [n for n in self.written if n in here and n not in cells and n in memory]
        plan.private = share(plan.units, private, lambda n: (plan.types[n], plan.places[n]))
