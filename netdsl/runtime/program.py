"""``Program``: a net bound to the blobs of one workspace, ready to run any number of times."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from operator import length_hint
from typing import TYPE_CHECKING, Any
from weakref import ref

from netdsl.errors import BlobError, RunError
from netdsl.ir import BlobType, NetDef, OperatorDef, TensorType
from netdsl.ops.xp import Stream
from netdsl.runtime.backends import Backend, Call
from netdsl.runtime.cells import Cell
from netdsl.runtime.plan import GroupStep, Known, Plan, Planner, Step, Unit, needs
from netdsl.runtime.refusals import check_keep, missing, resolve
from netdsl.runtime.steps import Context, Rebind, bind_step
from netdsl.runtime.values import numpy_dtype, type_of

if TYPE_CHECKING:
    from netdsl.runtime.workspace import Workspace

PLANS = 8
"""How many plans a program keeps, by the types of what the net reads."""


class Program:
    """A net bound to the blobs of a workspace: ``run()`` calls kernels on the arrays the blobs hold.

    It binds again only when a blob that it is bound to got another array, and plans again when a
    blob that the net reads got another type.
    """

    def __init__(
        self, workspace: Workspace, net: NetDef, keep: frozenset[str] | None = None, *, grouped: bool = True
    ) -> None:
        self.workspace, self.net, self.keep = workspace, net, keep
        self.backend, self.host = workspace.backend, workspace.host
        self.two_places = self.backend is not self.host
        self.hooks: Sequence[Any] = ()
        self.stale = True
        self._grouped = grouped
        self._operators = resolve(net)
        if keep is not None:
            check_keep(net, keep)
        self._reads = tuple(net.read_first())
        self._plans: OrderedDict[tuple[Known, ...], Plan] = OrderedDict()
        self._plan: Plan | None = None
        self._calls: list[Call] = []
        self._ends: list[int] = []
        self._fresh: deque[tuple[int, Cell, Any]] = deque()
        self._skipped: dict[str, int] = {}
        self._arrays: dict[str, Any] = {}
        self._memories: dict[int, dict[str, Any]] = {}
        self._run = 0
        self._watched_run: Program | None = None

    @property
    def plan(self) -> Plan:
        """The plan for what the workspace holds now.

        Raises:
            BlobError: blobs that the net reads are missing.
            InferenceError: blobs of types that an operator cannot accept.
        """
        self._prepare()
        assert self._plan is not None
        return self._plan

    @property
    def calls(self) -> int:
        """How many bound functions one run calls."""
        self._prepare()
        return len(self._calls)

    def run(self, times: int = 1, *, hooks: Iterable[Any] = ()) -> None:
        """Run the net ``times`` times; with ``hooks``, operator by operator (see :mod:`netdsl.runtime.hooks`).

        Raises:
            BlobError: a blob that the net reads does not exist; nothing has run.
            Exception: whatever an operator raises, with a note that tells which one; earlier operators' results stay.
        """
        if hooks and (watching := tuple(hooks)):
            self._run_watched(times, watching)
            return
        with self.backend.scope():
            for _ in range(times):
                self._begin()
                self._go()

    def _begin(self) -> None:
        if self.stale:
            self._prepare()
        if self._plan is not None and self._plan.random:
            self._run = self.workspace.count_run(self.net.name)

    def _go(self) -> None:
        """Run all calls once."""
        calls = self._calls
        while True:
            waiting = iter(calls)
            try:
                for function, arguments in waiting:
                    function(*arguments)
                break
            except Rebind:
                at = len(self._calls) - length_hint(waiting)
                unit = bisect_right(self._ends, at - 1)
                self._bind()
                calls = self._calls[self._ends[unit] :]
            except BaseException as error:
                self._fail(error, len(self._calls) - length_hint(waiting) - 1)
                raise
        if self._fresh:
            self.settle(len(self.net.ops))
        self._skipped.clear()

    def _run_watched(self, times: int, hooks: Sequence[Any]) -> None:
        """Run every operator for itself, between the hooks' ``before`` and ``after``."""
        if self._watched_run is None:
            self._watched_run = Program(self.workspace, self.net, self.keep, grouped=False)
        program = self._watched_run
        program.hooks = hooks
        before = [h.before for h in hooks if hasattr(h, "before")]
        after = [h.after for h in hooks if hasattr(h, "after")]
        try:
            with program.backend.scope():
                for _ in range(times):
                    program._begin()
                    for unit in range(len(program.net.ops)):
                        program._step_watched(unit, before, after)
        finally:
            program.hooks = ()

    def _step_watched(self, index: int, before: Sequence[Any], after: Sequence[Any]) -> None:
        op = self.net.ops[index]
        for call in before:
            call(op, index, self.net)
        start = self._ends[index - 1] if index else 0
        for at in range(start, self._ends[index]):
            function, arguments = self._calls[at]
            try:
                function(*arguments)
            except Rebind:
                self._bind()
            except BaseException as error:
                self._fail(error, at)
                raise
        self.settle(index + 1)
        values = tuple(self._value(name) for name in op.outputs) if after else ()
        for call in after:
            call(op, index, self.net, values)

    def _value(self, name: str) -> Any:
        """What a blob of the net holds, on the host; None where nothing has written it."""
        found, cell = self._arrays.get(name), self.workspace.cell(name)
        if name in self._skipped:
            return None
        if found is None or (cell.value is found and not cell.ready):
            found = cell.value if cell.ready else None
        return self.backend.to_host(found) if self.two_places and self.backend.is_array(found) else found

    # planning and binding

    def _prepare(self) -> None:
        if not self.stale:
            return
        cells = [self.workspace.cell(name) for name in self._reads]
        lacking = [cell.name for cell in cells if not cell.ready]
        if lacking:
            raise missing(lacking, self.net, self.workspace)
        key = tuple([(cell.type, self.two_places and self.host.is_array(cell.value)) for cell in cells])
        plan = self._plans.get(key)
        if plan is None:
            known = dict(zip(self._reads, key, strict=True))
            plan = Planner(self.net, self._operators, known, self.backend, self.keep, self._grouped).make()
            self._plans[key] = plan
            if len(self._plans) > PLANS:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        self._plan = plan
        try:
            self._bind()
        except BaseException:
            self._restore()
            raise

    def _bind(self) -> None:
        """Bind the calls of the plan to the arrays that its blobs hold now."""
        plan = self._plan
        assert plan is not None
        self._arrays = self._allocate(plan)
        self._calls, self._ends = [], []
        for unit in plan.units:
            self._calls += self._bind_unit(unit)
            self._ends.append(len(self._calls))
        self.stale = False

    def _bind_unit(self, unit: Unit) -> list[Call]:
        if isinstance(unit, Step):
            return bind_step(unit, self, self._arrays)
        calls = self.backend.compile_group(unit.group, {name: self._arrays[name] for name in unit.group.buffers})
        if calls is not None:
            return calls
        return [call for step in unit.steps for call in bind_step(step, self, self._arrays)]

    def _allocate(self, plan: Plan) -> dict[str, Any]:
        me, arrays = ref(self), {}
        pending = {cell.name for _, cell, _ in self._fresh}
        writer: dict[str, int] = {}
        shares: dict[str, str] = {}
        for unit in plan.units:
            for step in unit.steps:
                for name, source in zip(step.op.outputs, step.shared, strict=True):
                    writer.setdefault(name, step.index)
                    if source is not None and not step.dynamic:
                        shares[name] = source
        for name in plan.elided:
            self.workspace.cell(name).clear(elided_by=self.net.name)
        for name in plan.stored:
            cell = self.workspace.cell(name)
            held, was_ready = cell.value, cell.ready
            if name in shares:
                cell.put(arrays[shares[name]])
            elif name in plan.types:
                arrays[name] = self._claim(cell, plan.types[name], plan.hosts[name])
            if name in shares:
                arrays[name] = cell.value
            if name in arrays and name not in pending and (not was_ready or arrays[name] is not held):
                cell.ready = False
                self._fresh.append((writer.get(name, -1), cell, held if was_ready else None))
            if name in plan.watched:
                cell.watch(me)
        self._fresh = deque(sorted(self._fresh, key=lambda item: item[0]))
        arrays.update(self._private(plan))
        return arrays

    def _claim(self, cell: Cell, type_: TensorType, host: bool) -> Any:
        backend = self.host if host else self.backend
        try:
            return cell.claim(backend, numpy_dtype(type_.dtype), _extents(type_))
        except Exception as error:  # usually of memory
            error.add_note(f"while allocating blob {cell.name!r}: {type_}     (of net {self.net.name!r})")
            raise

    def _private(self, plan: Plan) -> dict[str, Any]:
        """Views of the buffers that blobs which nobody keeps share."""
        sizes: dict[int, int] = {}
        for name, slot in plan.private.items():
            sizes[slot] = max(sizes.get(slot, 0), math.prod(_extents(plan.types[name])))
        buffers: dict[int, Any] = {}
        arrays: dict[str, Any] = {}
        for name, slot in plan.private.items():
            type_ = plan.types[name]
            if slot not in buffers:
                backend = self.host if plan.hosts[name] else self.backend
                buffers[slot] = backend.empty((sizes[slot],), numpy_dtype(type_.dtype))
            shape = _extents(type_)
            arrays[name] = buffers[slot][: math.prod(shape)].reshape(shape)
        return arrays

    # what steps ask of their program

    def side(self, step: Step) -> Backend:
        """The backend a step runs on."""
        return self.host if step.host else self.backend

    def stream(self, step: Step) -> Stream:
        """The random numbers of a step in the present run."""
        device = step.op.device
        seed = self.workspace.seed if device is None or device.random_seed is None else device.random_seed
        return self.side(step).stream(seed, self.net.name, step.op.outputs[0], self._run)

    def context(self, step: Step) -> Context:
        """What a step with effects may do."""
        return Context(self, step.op, self.side(step).xp, self._memories.setdefault(step.index, {}))

    def skip(self, step: Step, name: str) -> None:
        """Note that ``step`` leaves its output ``name`` unwritten in this run.

        Raises:
            BlobError: a later operator reads it, and nothing has written it before.
        """
        self.settle(step.index)
        if self.workspace.cell(name).ready:
            return
        self._skipped[name] = step.index
        reader = next((op for op in self._until_written(name, step.index) if needs(op, name)), None)
        if reader is not None:
            raise BlobError(
                f"blob {name!r} does not exist in the workspace: {step.op.type} has not written it",
                read_by=f"{reader}     (of net {self.net.name!r})",
                added_at=reader.where,
            )

    def _until_written(self, name: str, index: int) -> Iterator[OperatorDef]:
        """The operators after ``index`` up to the one that writes ``name``."""
        for op in self.net.ops[index + 1 :]:
            yield op
            if name in op.outputs:
                return

    def settle(self, index: int) -> None:
        """Declare written what operators before ``index`` wrote since the program was bound."""
        while self._fresh and self._fresh[0][0] < index:
            _, cell, held = self._fresh.popleft()
            skipped_at = self._skipped.pop(cell.name, None)
            if skipped_at is None:
                cell.ready = True
                continue
            later = [i for i, op in enumerate(self.net.ops) if i > skipped_at and cell.name in op.outputs]
            if later:
                self._fresh = deque(sorted([*self._fresh, (later[0], cell, held)], key=lambda item: item[0]))

    def after_effects(self, step: Step, *, wrote_by_name: bool) -> None:
        """Look at what an operator wrote behind our back."""
        plan = self._plan
        assert plan is not None
        moved = False
        for index, name in enumerate(step.op.outputs):
            bound, cell = self._arrays.get(name), self.workspace.cell(name)
            if wrote_by_name and not cell.ready:
                self.skip(step, name)
            if bound is not None and name in plan.watched and cell.value is not bound:
                if cell.ready and cell.type != step.types[index]:
                    raise RunError(
                        f"{step.op.type} wrote another type to {name!r} than it infers",
                        expected=step.types[index],
                        got=cell.type,
                    )
                moved = True
        if moved:
            raise Rebind

    # errors

    def _fail(self, error: BaseException, call: int) -> None:
        """Tell which operator failed; give unwritten blobs back what they held."""
        plan = self._plan
        assert plan is not None
        unit = plan.units[bisect_right(self._ends, call)]
        first = unit.steps[0]
        self.settle(first.index)
        self._restore()
        error.add_note("\n".join(self._note(unit, first)))

    def _restore(self) -> None:
        """Give blobs that have not been written since the program was bound back what they held."""
        for _, cell, held in self._fresh:
            cell.clear()
            if held is not None:
                cell.put(held)
                cell.ready = True
        self.stale = bool(self._fresh) or self.stale
        self._fresh.clear()
        self._skipped.clear()

    def _note(self, unit: Unit, first: Step) -> list[str]:
        lines = [f"while running {first.op}     ({unit.place(self.net)})"]
        if isinstance(unit, GroupStep) and len(unit.steps) > 1:
            lines[0] = f"while running {first.op} to {unit.steps[-1].op}     ({unit.place(self.net)})"
        for name in dict.fromkeys(first.op.inputs):
            cell = self.workspace.cell(name)
            array = self._arrays.get(name)
            type_: BlobType | str = type_of(array) if array is not None else cell.type if cell.ready else "missing"
            lines.append(f"  {name} : {type_}")
        if first.op.where is not None:
            lines.append(f"  added at : {first.op.where}")
        return lines


def _extents(type_: TensorType) -> tuple[int, ...]:
    assert type_.shape is not None
    return tuple(int(dim) for dim in type_.shape if dim is not None)
