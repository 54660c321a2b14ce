"""``Site``: where steps run; ``interpret`` runs one on what its blobs hold, ``bind`` ties it to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from netdsl.errors import BlobError, OutOfMemoryError, RunError
from netdsl.ir import UNKNOWN, BlobType, NetDef, Opaque, OperatorDef
from netdsl.ops.schema import Operator
from netdsl.ops.xp import ArrayModule
from netdsl.runtime.backends import Backend, Make
from netdsl.runtime.cells import Cell, Frame, Ledger
from netdsl.runtime.executable import Executable
from netdsl.runtime.fusion import Alone
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.pool import Arena
from netdsl.runtime.steps import Step, Typed, apart, check_type, contradiction, is_static, results_of
from netdsl.runtime.values import numpy_dtype

LARGE = 1 << 17
"""Bytes of outputs from which on an elementwise step is interpreted in blocks: its temporary arrays would cost more."""

ATTEMPT = 0.05
"""Seconds between two looks at whether a waiting operator is to stop."""


class Cells(dict[str, Cell]):
    """The cells of the blobs of one net in a frame, found when they are first asked for.

    Blobs that ``keep=`` elides and that calls cannot be bound to have cells here only.
    """

    def __init__(self, frame: Frame, elided: frozenset[str]) -> None:
        self.frame, self.elided = frame, elided

    def __missing__(self, name: str) -> Cell:
        found = self[name] = Cell(name, self.frame.clock) if name in self.elided else self.frame.cell(name)
        return found


class Site:
    """Where steps run: a frame, with what one program keeps beside it, and the run under way.

    ``path`` is what random numbers go by, ``arena`` the scratch memory that calls are bound to.
    """

    __slots__ = (
        *("arena", "cells", "executable", "executions", "frame", "hooks", "ledger", "memories", "path"),
        *("programs", "start", "stop", "target", "waiting"),
    )

    def __init__(self, frame: Frame, executable: Executable, arena: Arena) -> None:
        self.frame, self.executable, self.arena = frame, executable, arena
        self.target = executable.target
        self.cells = Cells(frame, executable.elided)
        self.ledger = Ledger()
        self.memories: dict[int, dict[str, Any]] = {}
        self.programs: dict[int, Any] = {}
        self.executions: dict[int, int] = {}
        self.waiting: dict[int, str] = {}
        self.hooks: Sequence[Any] = ()
        self.path: tuple[Any, ...] = (0,)
        self.start = 0
        self.stop: Event | None = None

    def free(self, name: str) -> None:
        """Let go of a blob that ``keep=`` elides, which is not read again."""
        if (cell := self.cells.pop(name, None)) is not None:
            cell.forget_buffer()

    def known(self, name: str) -> tuple[BlobType, Backend | None]:
        """The type and the place of what a blob holds now."""
        cell = self.cells[name]
        return (cell.type, cell.place) if cell.ready else (UNKNOWN, None)

    def side(self, step: Step) -> Backend:
        """The backend whose arrays a step computes on."""
        return self.target.host if step.host else self.target.base

    def stream(self, step: Step, name: str = "") -> Any:
        """The random numbers of a step in the present run."""
        device = step.op.device
        own = None if device is None else device.random_seed
        seed = self.frame.root.seed if own is None else own
        return self.side(step).stream(seed, step.stream + name, self.path)

    def program(self, net: NetDef, frame: Frame | None) -> Any:
        """The program of a nested net here, or in a child frame, which keeps it."""
        table = self.programs if frame is None else frame.programs
        found = table.get(id(net))
        if found is None or found.net is not net:
            found = table[id(net)] = self.frame.root.program(net, frame or self.frame, self.arena)
        return found

    def settle_before(self, step: Step) -> None:
        """Declare written what the steps before ``step`` wrote."""
        for done in self.executable.steps[self.start : step.at]:
            self.ledger.wrote(done.op.outputs)
            if done.writes:
                self.ledger.wrote(done.writes)
        self.start = max(self.start, step.at)

    def skip(self, step: Step, name: str) -> None:
        """Note that ``step`` leaves its output ``name`` unwritten in this run.

        Raises:
            BlobError: a later operator reads it, and nothing has written it before.
        """
        self.settle_before(step)
        if self.cells[name].ready:
            return
        for later in self.executable.steps[step.at + 1 :]:
            op = later.op
            if any(name == read and later.needs(i) for i, read in enumerate(op.inputs)):
                raise BlobError(
                    f"blob {name!r} does not exist in the workspace: {step.op.type} has not written it",
                    read_by=f"{op}     (of net {step.net.name!r})",
                    added_at=op.where,
                )
            if name in op.outputs:
                return
        self.ledger.skipped.add(name)

    def claim(self, name: str, type_: Any, place: Backend | None) -> Any:
        """Make a blob ready to be written, which the ledger notes, and return its buffer."""
        cell = self.cells[name]
        held = cell.held
        try:
            array = cell.claim(place or self.target.host, numpy_dtype(type_.dtype), type_.shape)
        except OutOfMemoryError as error:
            writer = next((s for s in self.executable.steps[self.start :] if name in s.op.outputs), None)
            error.tell(type=type_, written_by=writer and f"{writer.op}     ({writer.place})")
            raise
        if held is None or array is not held[0]:
            self.ledger.expect(name, cell, held)
        return array


class Context:
    """What an operator with effects is given: implements :class:`netdsl.ops.context.RunContext`."""

    __slots__ = ("site", "step")

    def __init__(self, site: Site, step: Step) -> None:
        self.site, self.step = site, step

    @property
    def op(self) -> OperatorDef:
        return self.step.op

    @property
    def xp(self) -> ArrayModule:
        return self.step.xp

    @property
    def memory(self) -> dict[str, Any]:
        return self.site.memories.setdefault(self.step.index, {})

    def frame(self, bound: Mapping[str, str] | None = None, local: Sequence[str] = ()) -> Frame:
        site = self.site
        return Frame(
            site.frame, site.frame.clock, {inner: site.cells[outer] for inner, outer in (bound or {}).items()}, local
        )

    def execute(self, net: NetDef, frame: Frame | None = None) -> None:
        site, step = self.site, self.step
        count = site.executions.get(step.at, 0)
        site.executions[step.at] = count + 1
        site.program(net, frame).once(site.hooks, (*site.path, (step.stream, count)), site)

    def has(self, name: str, frame: Frame | None = None) -> bool:
        cell = (frame or self.site.frame).find(name)
        return cell is not None and cell.ready

    def take(self, name: str, frame: Frame | None = None) -> Any:
        cell = (frame or self.site.frame).find(name)
        if cell is None or not cell.ready:
            raise BlobError(f"blob {name!r} does not exist in the workspace", read_by=self.op, added_at=self.op.where)
        return cell.value

    def put(self, name: str, value: Any, frame: Frame | None = None) -> None:
        cell = self.site.cells[name] if frame is None else frame.cell(name)
        told = frame is None and name in self.op.outputs and hasattr(self.step.operator, "infer")
        if told and hasattr(value, "dtype") and cell.key == (value.dtype, value.shape):
            value = value.copy()  # later calls are bound to the buffer that the blob has
            cell.store(self.site.target.host, value)
            return
        for backend in (self.site.target.base, self.site.target.host):
            if backend.is_array(value):
                cell.give(backend, value)
                return
        cell.hold(value)

    def fetch(self, name: str) -> Any:
        value, target = self.take(name), self.site.target
        if target.host.is_array(value):
            return np.array(value)
        return target.base.to_host(value) if target.base.is_array(value) else value

    def stream(self, name: str = "") -> Any:
        return self.site.stream(self.step, name and f"/{name}")

    def function(self, token: str) -> Callable[..., Any] | None:
        return self.site.frame.root.function(token)

    def write(self, text: str) -> None:
        print(text, file=self.site.frame.root.output)

    @property
    def stopped(self) -> bool:
        stop = self.site.stop
        return (stop is not None and stop.is_set()) or self.site.frame.root.closed

    def wait(self, attempt: Callable[[float], Any], what: str) -> Any:
        waiting = self.site.waiting
        try:
            waiting[self.step.index] = what
            while not self.stopped:
                found = attempt(ATTEMPT)
                if found is not None:
                    return found
        except BaseException as error:
            error.add_note(f"while waiting for {what}")
            raise
        finally:
            waiting.pop(self.step.index, None)
        raise RunError(f"{self.op.type} no longer waits for {what}: the run is ending", operator=self.op)


# one operator on whatever its blobs hold


def interpret(step: Step, site: Site) -> None:
    """Run one operator on what its blobs hold now, and store what it makes."""
    op, operator, facts = step.op, step.operator, step.facts
    if site.ledger.pending:
        site.settle_before(step)
    cells = [site.cells[name] for name in op.inputs]
    values: list[Any] = [c.value if c.ready else _absent(step, i) for i, c in enumerate(cells)]
    key = tuple([(v.dtype, v.shape) if type(v) is np.ndarray else c.key for v, c in zip(values, cells, strict=True)])
    typed = step.inferred.get(key)
    if typed is None:
        typed = step.typed(key, [c.type if c.ready else UNKNOWN for c in cells])
        if typed.nbytes > site.frame.clock.budget.limit:
            for name, type_ in zip(op.outputs, typed.outputs, strict=True):
                site.claim(name, type_, None)  # which says that it cannot be, before anything computes it
    if site.target.two_places:
        values = [_cross(step, i, c, v, site) for i, (c, v) in enumerate(zip(cells, values, strict=True))]
    grouped = operator.formal_inputs.group(values)
    if facts.effects:
        result = operator.run(Context(site, step), *grouped)  # type: ignore[attr-defined]
        if result is None:
            _wrote_by_name(step, site, typed.outputs)
            return
    elif facts.samples:
        result = operator.sample(step.xp, site.stream(step), *grouped)  # type: ignore[attr-defined]
    elif typed.make is not None:
        _run_kernel(step, site, typed, grouped)
        return
    elif operator.elementwise and typed.nbytes >= LARGE and _run_alone(step, site, typed, cells):
        return
    else:
        result = operator.compute(step.xp, *grouped)  # type: ignore[attr-defined]
        if step.plain and typed.static and type(result) is not tuple:
            check_type(step, 0, result, typed.outputs[0])
            site.cells[op.outputs[0]].store(site.side(step), result)
            return
    _store(step, site, typed.outputs, results_of(step, result), values)


def _store(step: Step, site: Site, types: Sequence[BlobType], results: list[Any], values: Sequence[Any]) -> None:
    """Store what a body returned, one value per output."""
    op = step.op
    if len(results) > 1:
        cells = [site.cells[name] for name in op.outputs]
        results = [v if v is c.value else apart(v, values) for v, c in zip(results, cells, strict=True)]
        for name, value in zip(op.outputs, results, strict=True):
            if value is None:
                site.skip(step, name)
    for at, (name, value) in enumerate(zip(op.outputs, results, strict=True)):
        if value is None:
            continue
        source = step.shared[at] if step.shared else None
        cell = site.cells[name]
        if source is not None:
            shared = values[op.inputs.index(source)]
            cell.share(shared, None if site.target.host.is_array(shared) else site.target.base)
            cell.ready = True
        elif isinstance(types[at], Opaque) or not hasattr(value, "dtype"):
            cell.hold(value, types[at])
        else:
            check_type(step, at, value, types[at])
            side = site.side(step)
            cell.store(side if side.is_array(value) else site.target.host, value)


def _absent(step: Step, at: int) -> Any:
    """What the operator gets for a blob that is not there: None, where it can do without."""
    if step.needs(at):
        raise BlobError(
            f"blob {step.op.inputs[at]!r} does not exist in the workspace",
            read_by=f"{step.op}     ({step.place})",
            added_at=step.op.where,
        )
    return None


def _cross(step: Step, at: int, cell: Cell, value: Any, site: Site) -> Any:
    """Bring a device array to the host where the operator reads it there; nothing else crosses."""
    device, host = site.target.base, site.target.host
    if step.reads_on_host(at):
        return device.to_host(value) if device.is_array(value) else value
    if host.is_array(value) and not value.dtype.hasobject:
        raise RunError(
            f"blob {step.op.inputs[at]!r} lives on the host, and {step.op.type} reads it on the device",
            backend=device.name,
            fix="copy it to the device first, or run the operator on the CPU",
        )
    if cell.event is not None:
        device.wait_for(cell.event)
    return value


def _run_kernel(step: Step, site: Site, typed: Typed, grouped: Sequence[Any]) -> None:
    """Run the best offer, so that interpreted and bound runs give the same bits."""
    targets = _claimed(step, site, typed)
    for function, arguments in typed.make(grouped, targets, site.arena.begin()):  # type: ignore[misc]
        function(*arguments)
    if site.ledger.pending:
        site.ledger.wrote(step.op.outputs)


def _run_alone(step: Step, site: Site, typed: Typed, cells: Sequence[Cell]) -> bool:
    """Run an elementwise step of large arrays as a group; return False where its body is to be called."""
    op = step.op
    if step.shared or (site.target.two_places and (step.host or step.facts.host_inputs)):
        return False
    if typed.alone is None:
        names = (*op.inputs, *op.outputs)
        typed.alone = Alone(step, dict(zip(names, (*[c.type for c in cells], *typed.outputs), strict=True)))
    if typed.alone.make is None:
        return False
    arrays = {name: cell.value for name, cell in zip(op.inputs, cells, strict=True)}
    arrays |= zip(op.outputs, _claimed(step, site, typed), strict=True)
    calls = typed.alone.calls(arrays, site.arena)
    for function, arguments in calls or ():
        function(*arguments)
    if calls is not None and site.ledger.pending:
        site.ledger.wrote(op.outputs)
    return calls is not None


def _claimed(step: Step, site: Site, typed: Typed) -> list[Any]:
    """The buffers of a step's outputs, ready to be written."""
    backend, ledger = site.side(step), site.ledger
    targets: list[Any] = []
    for name, (dtype, shape) in zip(step.op.outputs, typed.buffers, strict=True):
        cell = site.cells[name]
        held = cell.held
        array = cell.claim(backend, dtype, shape)  # type: ignore[arg-type]
        if held is None or array is not held[0]:
            ledger.expect(name, cell, held)
        targets.append(array)
    return targets


def _wrote_by_name(step: Step, site: Site, types: Sequence[BlobType]) -> None:
    for at, name in enumerate(step.op.outputs):
        cell = site.cells[name]
        if not cell.ready:
            site.skip(step, name)
        elif is_static(types[at]) and cell.type != types[at]:
            what = f"{step.op.type} wrote another type to {name!r} than it infers"
            raise RunError(what, expected=types[at], got=cell.type)


# operators bound to arrays


def bind(
    step: Step, make: Make | None, types: Sequence[BlobType], site: Site, arrays: Mapping[str, Any], arena: Arena
) -> list[Call]:
    """Return the calls that run one operator on these arrays."""
    op, operator = step.op, step.operator
    inputs = [arrays[name] for name in op.inputs]
    targets = [arrays[name] for name in op.outputs]
    grouped = operator.formal_inputs.group(inputs)
    if make is not None:
        return make(grouped, targets, arena.begin())
    if targets and step.shared and all(step.shared):
        return []  # aliases share their input's buffer
    body = partial(_sample, step, site) if step.facts.samples else partial(operator.compute, step.xp)  # type: ignore[attr-defined]
    copyto = site.side(step).copyto
    if step.plain:
        return [(_one, (body, grouped, targets[0], copyto, step, types))]
    return [(_many, (body, grouped, inputs, targets, copyto, step, types, site))]


def _sample(step: Step, site: Site, *values: Any) -> Any:
    return step.operator.sample(step.xp, site.stream(step), *values)  # type: ignore[attr-defined]


def _one(body: Any, inputs: Sequence[Any], target: Any, copyto: Any, step: Step, types: Sequence[BlobType]) -> None:
    value = body(*inputs)
    if type(value) is tuple:
        (value,) = value
    if value is target:
        return
    if value.shape != target.shape or value.dtype != target.dtype:
        raise contradiction(step, 0, types[0], value)
    copyto(target, value)


def _many(
    body: Callable[..., Any],
    grouped: Sequence[Any],
    inputs: Sequence[Any],
    targets: Sequence[Any],
    copyto: Any,
    step: Step,
    types: Sequence[BlobType],
    site: Site,
) -> None:
    values = results_of(step, body(*grouped))
    if step.inplace:  # no result may be lost to the copying of another one
        values = [v if v is t else apart(v, inputs) for v, t in zip(values, targets, strict=True)]
    for at, (value, target) in enumerate(zip(values, targets, strict=True)):
        if value is None:
            site.skip(step, step.op.outputs[at])
        elif value is target:
            continue
        elif value.shape != target.shape or value.dtype != target.dtype:
            raise contradiction(step, at, types[at], value)
        else:
            copyto(target, value)


def bind_plainly(
    group: Group, buffers: Mapping[str, Any], shape: tuple[int, ...], backend: Backend, arena: Arena
) -> list[Call]:
    """Return the calls that run a group operator by operator: for buffers that overlap, and where nobody offers."""
    memory = arena.begin() if backend.on_host else arena.begin().on(backend, partial(_bytes, backend))
    made = {k: memory(s, d) for k, (d, s) in group.shapes(shape).items() if k not in buffers}
    at = {**made, **buffers}
    return [
        (_run_plainly, (op, backend, [at[k] for k in inputs], [at[k] for k in outputs]))
        for op, inputs, outputs in group.steps
    ]


def _bytes(backend: Backend, size: int) -> Any:
    return backend.empty((size,), np.dtype(np.uint8))


def _run_plainly(op: Operator, backend: Backend, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    result = op.compute(backend.xp, *op.formal_inputs.group(inputs))  # type: ignore[attr-defined]
    values = [v.copy() for v in op.formal_outputs.results(result, len(outputs))]
    for to, value in zip(outputs, values, strict=True):
        backend.copyto(to, value)
