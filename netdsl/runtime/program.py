"""``Program``: an executable in a frame. It interprets what is new and calls what is bound."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from operator import length_hint
from typing import Any

from netdsl.errors import OutOfMemoryError, locate
from netdsl.ir import BlobType
from netdsl.runtime.binding import Binding
from netdsl.runtime.cells import Frame
from netdsl.runtime.executable import Executable, no_collection
from netdsl.runtime.interpret import interpret
from netdsl.runtime.memory import Arena
from netdsl.runtime.plan import Plan, plan_of
from netdsl.runtime.refusals import missing
from netdsl.runtime.runnable import CONCURRENT, Runnable
from netdsl.runtime.site import Site
from netdsl.runtime.steps import Step
from netdsl.runtime.threads import workers
from netdsl.runtime.tracks import Tracks, assign
from netdsl.runtime.values import type_of

BINDINGS = 64
"""How many bindings a program keeps, one for each plan."""


class Program(Runnable):
    """A net that runs operator by operator: interpreted on types that are new, by its plan from then on."""

    def __init__(self, frame: Frame, executable: Executable, arena: Arena, *, seen: bool = False) -> None:
        super().__init__(frame, executable)
        self.site = Site(frame, executable, arena)
        self._now = seen
        self._reads = [self.site.cells[name] for name in executable.reads]
        self._root: Binding | None = None
        self._bindings: dict[Plan, Binding] = {}
        self._private: dict[Any, Any] = {}
        self._buffers = frame.clock.buffers
        self._workers = workers() if executable.net.type in CONCURRENT else 1
        self._arenas: list[Arena] = []

    def __del__(self) -> None:
        if hasattr(self, "_arenas"):  # else it was refused before it was made
            self.site.cells.free()
            for buffer in self._private.values():
                self.frame.clock.budget.used -= buffer.nbytes

    @property
    def plan(self) -> Plan:
        """The plan of the first segment, for what the frame holds now.

        Raises:
            BlobError: blobs that the net reads are missing.
            InferenceError: blobs of types that an operator cannot accept.
        """
        return self._bound().plan

    @property
    def calls(self) -> int:
        """How many bound functions the first segment calls."""
        return len(self._bound().calls)

    @property
    def stale(self) -> bool:
        """Whether some array was replaced since the last run."""
        return self._root is None or self._root.ticks != self.frame.clock.ticks

    @property
    def remembers(self) -> bool:
        return bool(self.site.memories)

    def part(self, hooks: Sequence[Any], path: tuple[Any, ...], stop: Any) -> None:
        """Run as a part of another net's run, which ``stop`` may end."""
        self.site.stop = stop
        self._run(1, hooks, path)

    def _run(self, times: int, hooks: Sequence[Any], path: tuple[Any, ...] | None = None) -> None:
        """Run within a scope of the backend, on scratch memory that no other thread uses meanwhile."""
        frame, arena = sys._getframe, self.site.arena
        arena.turns.append(frame())
        try:
            if arena.turns[0] is not frame() and arena.taken(frame()):
                arena.turns.remove(frame())
                arena = self.frame.root.pool.arena(frame())
                self._move(arena)
            with self.site.target.base.scope():
                if self.site.target.two_places:
                    self._await()
                for _ in range(times):
                    self.once(hooks, path)
                if self.site.target.two_places:
                    self._mark()
        finally:
            if frame() in arena.turns:
                arena.turns.remove(frame())

    def _await(self) -> None:
        """Let the device wait for what others, on other streams of it, write to what the net reads."""
        for cell in self._reads:
            if cell.event is not None:
                self.site.target.base.wait_for(cell.event)

    def _mark(self) -> None:
        """Note on what the net wrote how far the device must come before it is there, for readers on other streams."""
        event = self.site.target.base.event()
        if event is not None:
            for name in {name for step in self.executable.steps for name in step.op.outputs}:
                self.site.cells[name].event = event

    def _move(self, arena: Arena) -> None:
        """Bind to other scratch memory from now on."""
        self.site.arena = arena
        self._bindings, self._root = {}, None

    def once(self, hooks: Sequence[Any] = (), path: tuple[Any, ...] | None = None, outer: Site | None = None) -> None:
        """Run the net once, within a scope of the backend; ``path`` and ``outer`` are those of what runs it."""
        site, clock = self.site, self.frame.clock
        try:
            site.hooks = hooks
            if outer is not None:
                site.stop = outer.stop
                if site.arena is not outer.arena:
                    self._move(outer.arena)
            if site.executions:
                site.executions.clear()
            if site.ledger.skipped:
                site.ledger.skipped.clear()
            binding, by_unit = self._root, False
            if binding is None or binding.ticks != clock.ticks or hooks:
                by_unit = bool(hooks) and all(getattr(h, "units", False) for h in hooks)
                binding = self._prepare(now=by_unit, watched=bool(hooks) and not by_unit)
            if path is not None:
                site.path = path
            elif self.executable.random:
                site.path = (self.frame.root.count_run(self.net),)
            end = len(self.executable.steps)
            while binding is not None:
                site.start = binding.plan.start
                if by_unit:
                    self._call_units(binding, hooks)
                elif binding.tracks is not None:
                    self._call_tracks(binding, binding.tracks)
                else:
                    self._call(binding)
                if site.ledger.pending:
                    site.ledger.settle()
                site.start = binding.plan.end
                if site.start == end:
                    return
                binding = self._after(binding, now=by_unit)
            self._interpret(site.start, hooks)
        except BaseException:
            site.ledger.end()
            raise

    # the ways to run a binding

    def _call(self, binding: Binding) -> None:
        """Call everything in order, with nothing in between."""
        waiting = iter(binding.calls)
        try:
            for function, arguments in waiting:
                function(*arguments)
        except BaseException as error:
            self._fail(error, binding, len(binding.calls) - length_hint(waiting) - 1)
            raise

    def _call_tracks(self, binding: Binding, tracks: Tracks) -> None:
        """Call heavy branches on several threads."""
        try:
            tracks.run(self.site)
        except BaseException as error:
            self._bindings, self._root = {}, None
            for at in tracks.done():
                for step in binding.plan.units[at].steps:
                    self.site.ledger.wrote(step.op.outputs)
            self.site.ledger.restore()
            self._raise(error, binding.plan.units[tracks.failed].steps, binding.arrays)
            raise

    def _call_units(self, binding: Binding, hooks: Sequence[Any]) -> None:
        """Call everything in order, between the hooks' ``before_unit`` and ``after_unit``: what really runs."""
        start = 0
        for unit, end in zip(binding.plan.units, binding.ends, strict=True):
            ops = [step.op for step in unit.steps]
            for hook in hooks:
                hook.before_unit(ops, unit.steps[0].index, self.net)
            for at in range(start, end):
                function, arguments = binding.calls[at]
                try:
                    function(*arguments)
                except BaseException as error:
                    self._fail(error, binding, at)
                    raise
            for hook in hooks:
                hook.after_unit(ops, unit.steps[0].index, self.net)
            start = end

    # planning and binding

    def _bound(self) -> Binding:
        if self.stale:
            self._prepare(now=True, watched=False)
            self.site.ledger.restore()
        assert self._root is not None
        return self._root

    def _prepare(self, *, now: bool, watched: bool) -> Binding | None:
        """Return the binding of the first segment; None where the net is to be interpreted."""
        site, ticks = self.site, self.frame.clock.ticks
        key = tuple([cell.key for cell in self._reads])
        if None in key:
            key = self._look_again()
        for name in self.executable.elided:
            cell = self.frame.cell(name)
            if cell.elided_by is None:
                cell.clear(elided_by=self.net.name)
        site.start = 0
        if watched:
            self.executable.check(site.known)
            return None
        with self.executable.lock:
            if self._root is None or self.executable.plans.get(key) is None:
                self.executable.check(site.known)
            plan = plan_of(self.executable, None, key, site.known, now=now or self._now)
            self._now = False
            self._root = None if plan is None else self._bind(plan, ticks)
        return self._root

    def _look_again(self) -> tuple[Any, ...]:
        """Return the types of what the net reads, where a parent has got blobs since they were looked for.

        Raises:
            BlobError: some are there still not.
        """
        for at, name in enumerate(self.executable.reads):
            self._reads[at] = self.site.cells[name] = self.frame.cell(name)
        lacking = [name for name, cell in zip(self.executable.reads, self._reads, strict=True) if not cell.ready]
        if lacking:
            raise missing(lacking, self.net, self.frame)
        return tuple([cell.key for cell in self._reads])

    def _after(self, binding: Binding, *, now: bool) -> Binding | None:
        """Return the binding of the segment behind ``binding``'s; None where the rest is to be interpreted."""
        key = tuple([cell.key for cell in binding.observed])
        ticks = self.frame.clock.ticks
        if binding.next is not None and binding.next[0] == key and binding.next[1].ticks == ticks:
            return binding.next[1]
        with self.executable.lock:
            plan = plan_of(self.executable, binding.plan, key, self.site.known, now=now)
            if plan is None:
                return None
            found = self._bind(plan, ticks)
        binding.next = (key, found)
        return found

    def _bind(self, plan: Plan, ticks: int) -> Binding:
        found = self._bindings.get(plan)
        try:
            if found is not None and found.renew(self.site, ticks):
                return found
            if len(self._bindings) >= BINDINGS:
                self._bindings.pop(next(iter(self._bindings)))
            with no_collection():
                if self._workers > 1 and plan.tracks is None:
                    plan.tracks = assign(plan, self._workers) or ()
                while len(self._arenas) < max(plan.tracks or (), default=0):
                    self._arenas.append(Arena(self.frame.clock.budget))
                found = self._bindings[plan] = Binding(plan, self.site, self._private, ticks, self._arenas)
            if self._buffers != self.frame.clock.buffers:  # some bindings may hold on to buffers of the past
                self._buffers = self.frame.clock.buffers
                self._bindings = {p: b for p, b in self._bindings.items() if b.usable}
        except BaseException:
            self._bindings.pop(plan, None)
            self.site.ledger.restore()
            raise
        return found

    # what is not bound

    def _interpret(self, start: int, hooks: Sequence[Any]) -> None:
        """Run the steps from ``start`` on one by one."""
        site, net = self.site, self.net
        before = [h.before for h in hooks if hasattr(h, "before")]
        after = [h.after for h in hooks if hasattr(h, "after")]
        frees = self.executable.last_uses if site.cells.elided and not self._bindings else {}
        for step in self.executable.steps[start:]:
            for hook in before:
                hook(step.op, step.index, net)
            try:
                interpret(step, site)
            except BaseException as error:
                site.ledger.restore()
                if not self._bindings:
                    site.cells.free()
                self._raise(error, (step,), {})
                raise
            if after:
                values = tuple([self._shown(name) for name in step.op.outputs])
                for hook in after:
                    hook(step.op, step.index, net, values)
            for name in frees.get(step.at, ()):
                site.free(name)
        site.ledger.skipped.clear()

    def _shown(self, name: str) -> Any:
        """What a blob holds, on the host; None where nothing has written it."""
        cell, device = self.site.cells[name], self.site.target.base
        return None if not cell.ready else device.to_host(cell.value) if device.is_array(cell.value) else cell.value

    # errors

    def _fail(self, error: BaseException, binding: Binding, call: int) -> None:
        """Give unwritten blobs back what they held, and tell which operator failed."""
        unit = binding.plan.units[bisect_right(binding.ends, call)]
        self.site.settle_before(unit.steps[0])
        if self.site.ledger.pending:
            self.site.ledger.restore()
        self._raise(error, unit.steps, binding.arrays)

    def _raise(self, error: BaseException, steps: Sequence[Step], arrays: dict[str, Any]) -> None:
        """Add to an error what it is about: the operators, their inputs, and the author's line.

        Raises:
            OutOfMemoryError: in the place of a MemoryError, which names nothing.
        """
        first, last = steps[0], steps[-1]
        what, where = str(first.op), first.place
        if len(steps) > 1:
            what, where = f"{what} to {last.op}", f"operators {first.index} to {last.index} of net {self.net.name!r}"
        inputs: dict[str, BlobType | str] = {}
        for name in dict.fromkeys(first.op.inputs):
            cell, array = self.site.cells[name], arrays.get(name)
            inputs[name] = type_of(array) if array is not None else cell.type if cell.ready else "missing"
        named = error if not isinstance(error, MemoryError) else self._out_of_memory(error, first)
        locate(named, what, where, inputs, first.op.where)
        if named is not error:
            raise named from error

    def _out_of_memory(self, error: MemoryError, step: Step) -> OutOfMemoryError:
        """A shortage of memory with the operator, its outputs, their bytes, and what was left."""
        where = f"{step.op}     ({step.place})"
        if isinstance(error, OutOfMemoryError):
            error.tell(operator=where, added_at=step.op.where)
            return error
        typed = next(reversed(step.inferred.values()), None)
        outputs = zip(step.op.outputs, typed.outputs if typed else (), strict=False)
        return OutOfMemoryError(
            f"{step.op.type} found no memory",
            operator=where,
            outputs=", ".join(f"{name}: {type_}" for name, type_ in outputs) or None,
            wanted=f"{typed.nbytes:,} bytes for them" if typed and typed.nbytes else None,
            left=f"{self.frame.clock.budget.left:,} of {self.frame.clock.budget.limit:,} bytes",
            why=error,
        )
