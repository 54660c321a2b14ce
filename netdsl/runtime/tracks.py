"""``Tracks``: the units of a segment on several threads, where that pays: for dag nets with heavy branches."""

from __future__ import annotations

import math
from _thread import allocate_lock
from collections.abc import Iterable, Sequence
from operator import length_hint
from typing import Any

from netdsl.runtime.groups import Call
from netdsl.runtime.plan import Fused, Late, Plan, Single, Unit
from netdsl.runtime.site import Site
from netdsl.runtime.threads import Crew, Stop

OPERATIONS, ELEMENTS = 10_000, 1_000
"""How many floating-point operations of a kernel, and how many elements of a group, a microsecond is taken to do."""

CALL, HAND = 2.0, 50.0
"""Microseconds that calling a unit, and waiting for another thread, are taken to cost."""

WORTH, SHARE = 300.0, 0.15
"""A segment is cut if that saves so many microseconds, and such a share of all."""


class AbandonedError(Exception):
    """Another thread of the same segment has failed."""


def microseconds(unit: Unit, plan: Plan) -> float:
    """Estimate how long a unit takes, by its types alone."""
    work = CALL
    for step in unit.steps:
        types: Any = [[plan.types.get(n) for n in names] for names in (step.op.inputs, step.op.outputs)]
        if None in types[0] or None in types[1]:
            continue
        if isinstance(unit, Fused):
            work += max(math.prod(t.shape) for t in types[1]) / ELEMENTS
        else:
            work += (step.operator.cost(*types) or 0) / OPERATIONS
    return work


def assign(plan: Plan, workers: int) -> list[int] | None:
    """Return the track of every unit of a plan; None where one thread does as well.

    Units are taken in their order, each on the track where it ends first; steps that look at blobs when they run
    wait for all before them, and all behind wait for them.
    """
    if workers < 2:
        return None
    costs = [microseconds(unit, plan) for unit in plan.units]
    if sum(costs) < WORTH / SHARE:
        return None
    before = _hazards(plan)
    free, ends, tracks = [0.0] * workers, [0.0] * len(costs), [0] * len(costs)
    for at, cost in enumerate(costs):
        starts = [
            max([free[t], *(ends[b] + (HAND if tracks[b] != t else 0) for b in before[at])]) for t in range(workers)
        ]
        tracks[at] = 0 if _apart(plan.units[at]) else min(range(workers), key=lambda t: (starts[t], t))
        free[tracks[at]] = ends[at] = starts[tracks[at]] + cost
    saved = sum(costs) - max(ends)
    return tracks if saved > max(WORTH, SHARE * sum(costs)) else None


def _apart(unit: Unit) -> bool:
    """Whether a unit must run while no other does: it looks at blobs, or may leave some unwritten."""
    if isinstance(unit, Late):
        return True
    return isinstance(unit, Single) and unit.make is None and len(unit.steps[0].op.outputs) > 1


def hazards(accesses: Iterable[tuple[set[Any], set[Any]]]) -> list[set[int]]:
    """For each of what runs in order those before it that it must not overtake, given what each reads and writes."""
    writer: dict[Any, int] = {}
    readers: dict[Any, list[int]] = {}
    found: list[set[int]] = []
    for at, (reads, writes) in enumerate(accesses):
        needs = {writer[n] for n in reads | writes if n in writer}
        needs |= {r for n in writes for r in readers.get(n, ())}
        for name in reads:
            readers.setdefault(name, []).append(at)
        for name in writes:
            writer[name], readers[name] = at, []
        found.append(needs - {at})
    return found


def _hazards(plan: Plan) -> list[set[int]]:
    """The hazards of a plan's units, by memory; what must run while nothing else does writes what all others read."""
    accesses: list[tuple[set[Any], set[Any]]] = []
    for unit in plan.units:
        reads = {_memory(n, plan) for step in unit.steps for n in step.op.inputs}
        writes = {_memory(n, plan) for step in unit.steps for n in step.op.outputs}
        (writes if _apart(unit) else reads).add(None)
        accesses.append((reads, writes))
    return hazards(accesses)


def _memory(name: str, plan: Plan) -> Any:
    """What stands for the memory of a blob: aliases and private blobs share theirs."""
    while name in plan.aliases:
        name = plan.aliases[name]
    return plan.private.get(name, name)


class Tracks:
    """The calls of a segment by track. Where a unit needs one of another track, a lock is handed on once a run."""

    def __init__(self, plan: Plan, calls: Sequence[Call], ends: Sequence[int], tracks: Sequence[int]) -> None:
        self.calls: list[list[Call]] = [[] for _ in range(max(tracks) + 1)]
        self.units: list[list[tuple[int, int]]] = [[] for _ in self.calls]
        self.stop = Stop()
        self._locks: list[Any] = []
        signals: dict[int, list[Call]] = {}
        waits: dict[int, list[Call]] = {}
        for at, before in enumerate(_hazards(plan)):
            last: dict[int, int] = {tracks[b]: b for b in before}
            for track, other in last.items():
                if track != tracks[at]:
                    lock = allocate_lock()
                    lock.acquire()
                    self._locks.append(lock)
                    signals.setdefault(other, []).append((lock.release, ()))
                    waits.setdefault(at, []).append((self._await, (lock,)))
        start = 0
        for at, end in enumerate(ends):
            own = self.calls[tracks[at]]
            own += [*waits.get(at, ()), *calls[start:end]]
            self.units[tracks[at]].append((at, len(own)))
            own += signals.get(at, ())
            start = end
        self._reached = [0] * len(self.calls)
        self.failed = 0

    def _await(self, lock: Any) -> None:
        lock.acquire()
        if self.stop.is_set():
            raise AbandonedError

    def run(self, site: Site) -> None:
        """Run all tracks: the first on this thread, the others on threads of the workspace.

        Raises:
            BaseException: what a call that failed raised; ``failed`` tells which unit it was of.
        """
        self._reached = [0] * len(self.calls)
        crew = Crew(site.frame.root.lanes, self.stop)
        try:
            for at in range(1, len(self.calls)):
                crew.start(at, None, self._run_there, at, site)
            self._run(0)
            while len(crew.ended) < len(self.calls) - 1:
                crew.wait(len(crew.ended))
        except BaseException as error:
            self._abandon()
            crew.finish()
            if not isinstance(error, AbandonedError):
                self._note(0)
                raise
        for at, error in crew.ended:
            if error is not None and not isinstance(error, AbandonedError):
                self._note(at)
                raise error

    def _note(self, track: int) -> None:
        left = [unit for unit, end in self.units[track] if end > self._reached[track]]
        self.failed = left[0] if left else self.units[track][-1][0]

    def _run_there(self, at: int, site: Site) -> None:
        with site.target.base.scope():
            try:
                self._run(at)
            except BaseException:
                self._abandon()
                raise

    def _run(self, at: int) -> None:
        calls = self.calls[at]
        waiting = iter(calls)
        try:
            for function, arguments in waiting:
                function(*arguments)
        except BaseException:
            self._reached[at] = len(calls) - length_hint(waiting) - 1
            raise
        self._reached[at] = len(calls)

    def _abandon(self) -> None:
        """Wake every track, which then ends; these calls are not used again."""
        self.stop.set()
        for lock in self._locks:
            if lock.locked():
                lock.release()

    def done(self) -> list[int]:
        """The units that have run, after an error."""
        found: list[int] = []
        for at, units in enumerate(self.units):
            found += [unit for unit, end in units if end <= self._reached[at]]
        return sorted(found)
