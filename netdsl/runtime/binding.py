"""``Binding``: a plan bound to the arrays of a frame, as a flat list of calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from netdsl.ir import BlobType
from netdsl.ops.schema import Operator
from netdsl.runtime.backends import Backend, Later, Make
from netdsl.runtime.cells import Output, move
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.interpret import interpret
from netdsl.runtime.memory import Arena
from netdsl.runtime.plan import Fused, Late, Piece, Plan, Unit
from netdsl.runtime.site import Site
from netdsl.runtime.steps import Step, apart, contradiction, results_of
from netdsl.runtime.tracks import Tracks
from netdsl.runtime.values import numpy_dtype


class Binding:
    """A plan bound to the arrays of a frame: a flat list of calls, and where those of each unit end.

    ``inputs`` are arrays that must be there as they are; ``outputs`` are those of cells that get them back,
    as long as a cell still has the same buffer. All memory is the cells', the program's or the arena's.
    """

    __slots__ = (
        "arrays",
        "calls",
        "ends",
        "inputs",
        "next",
        "observed",
        "outputs",
        "plan",
        "private",
        "ticks",
        "tracks",
    )

    def __init__(
        self, plan: Plan, site: Site, private: dict[Any, Any], ticks: int, arenas: Sequence[Arena] = ()
    ) -> None:
        self.plan, self.ticks = plan, ticks
        self.inputs = [(cell, cell.value) for cell in [site.cells[name] for name in plan.inputs]]
        self.outputs: list[Output] = []
        self.arrays: dict[str, Any] = {name: array for name, (_, array) in zip(plan.inputs, self.inputs, strict=True)}
        self.observed = [site.cells[name] for name in plan.observed]
        self.next: tuple[Any, Binding] | None = None
        self.private: list[tuple[dict[Any, Any], Any, Any]] = []
        self._allocate(site, private)
        self.calls: list[Call] = []
        self.ends: list[int] = []
        on = plan.tracks or [0] * len(plan.units)
        for unit, track in zip(plan.units, on, strict=True):
            self.calls += self._bind(unit, site, arenas[track - 1] if track else site.arena)
            self.ends.append(len(self.calls))
        self.tracks = Tracks(plan, self.calls, self.ends, on) if plan.tracks else None
        for at, (function, _) in enumerate(self.calls):
            if isinstance(function, Later):
                function.calls, function.at = self.calls, at

    def _allocate(self, site: Site, private: dict[Any, Any]) -> None:
        plan, arrays = self.plan, self.arrays
        for name in plan.writes:
            if name in plan.inputs:
                continue
            cell = site.cells[name]
            held = cell.held
            if name in plan.aliases:
                array = arrays[plan.aliases[name]]
                cell.share(array, plan.places[name])
                if held is None or array is not held[0]:
                    site.ledger.expect(name, cell, held)
            else:
                array = site.claim(name, numpy_dtype(plan.types[name].dtype), plan.types[name].shape, plan.places[name])
            arrays[name] = array
            self.outputs.append((name, cell, array, cell.base, plan.places[name]))
        if plan.private:
            self._share_private(site, private)

    def _share_private(self, site: Site, private: dict[Any, Any]) -> None:
        """Lay blobs that nobody keeps into the program's numbered buffers, which all its bindings use."""
        plan = self.plan
        wanted: dict[Any, int] = {}
        slots = {n: (slot, plan.places[n], numpy_dtype(plan.types[n].dtype)) for n, slot in plan.private.items()}
        for name, key in slots.items():
            wanted[key] = max(wanted.get(key, 0), math.prod(plan.types[name].shape))  # type: ignore[arg-type]
        for key, size in wanted.items():
            if private.get(key) is None or private[key].size < size:
                self._grow(private, key, size, site)
        self.private = [(private, key, private[key]) for key in wanted]
        for name, key in slots.items():
            shape: Any = plan.types[name].shape
            flat = private[key][: math.prod(shape)]
            if (order := plan.layouts.get(name)) is None:
                self.arrays[name] = flat.reshape(shape)
            else:
                self.arrays[name] = flat.reshape([shape[axis] for axis in order]).transpose(
                    [order.index(axis) for axis in range(len(order))]
                )

    @staticmethod
    def _grow(private: dict[Any, Any], key: Any, size: int, site: Site) -> None:
        """Get a larger buffer for private blobs, a quarter too large where it replaces one: sizes may go on growing."""
        clock, before = site.frame.clock, private.get(key)
        size += 0 if before is None else size // 4
        wanted, given = size * key[2].itemsize, 0 if before is None else before.nbytes
        clock.budget.take(wanted, "what keep= leaves unstored", given)
        try:
            private[key] = (key[1] or site.target.host).empty((size,), key[2])
        except BaseException:
            clock.budget.used += given - wanted
            raise
        clock.buffers += before is not None

    def _bind(self, unit: Unit, site: Site, arena: Arena) -> list[Call]:
        arrays = self.arrays
        if isinstance(unit, Late):
            return [(interpret, (unit.steps[0], site))]
        if isinstance(unit, Piece):
            return unit.make(arrays, arena.begin())
        if not isinstance(unit, Fused):
            return bind(unit.steps[0], unit.make, unit.types, site, arrays, arena)
        buffers = {at: arrays[name] for at, name in unit.buffers.items()}
        shape = unit.fusion.shape or ()
        calls = None if unit.make is None else unit.make(buffers, shape, arena.begin())
        if calls is None:
            return bind_plainly(unit.group, buffers, shape, site.side(unit.steps[0]), arena)
        return calls

    @property
    def usable(self) -> bool:
        """Whether cells and program still have the buffers that the calls are bound to."""
        return all([cell.base is base for _, cell, _, base, _ in self.outputs]) and all(
            [private.get(key) is buffer for private, key, buffer in self.private]
        )

    def renew(self, site: Site, ticks: int) -> bool:
        """Make the cells hold this binding's arrays again; return False where that cannot be."""
        for cell, array in self.inputs:
            if cell.value is not array:
                return False
        moved: list[Output] = []
        for output in self.outputs:
            _, cell, array, base, _ = output
            if cell.value is not array:
                if base is None or cell.base is not base:
                    return False
                moved.append(output)
            elif not cell.ready:
                moved.append(output)
        move(moved, site.frame.clock, site.ledger)
        self.ticks = ticks
        return True


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
