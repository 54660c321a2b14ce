"""``interpret``: one operator on whatever its blobs hold, for first runs, hooks, effects and unknown types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from netdsl.errors import BlobError, RunError
from netdsl.ir import UNKNOWN, BlobType, Opaque
from netdsl.runtime.cells import Cell
from netdsl.runtime.context import Context
from netdsl.runtime.fusion import Alone
from netdsl.runtime.groups import Call
from netdsl.runtime.site import Site
from netdsl.runtime.steps import Step, Typed, apart, check_type, is_static, results_of

LARGE = 1 << 17
"""Bytes of outputs from which on an elementwise step is interpreted in blocks: its temporary arrays would cost more."""


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
            _claimed(step, site, typed)  # which says that it cannot be, before anything computes it
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
    _call(step, site, typed.make(grouped, targets, site.arena.begin()))  # type: ignore[misc]


def _run_alone(step: Step, site: Site, typed: Typed, cells: Sequence[Cell]) -> bool:
    """Run an elementwise step of large arrays as a group; return False where its body is to be called."""
    op = step.op
    if step.shared or (site.target.two_places and (step.host or step.facts.host_inputs)):
        return False
    names = (*op.inputs, *op.outputs)
    wiring = tuple([names.index(name) for name in names])
    alone = typed.alone.get(wiring)
    if alone is None:
        alone = Alone(step, dict(zip(names, (*[c.type for c in cells], *typed.outputs), strict=True)))
        typed.alone[wiring] = alone
    if alone.make is None:
        return False
    calls = alone.calls([*[cell.value for cell in cells], *_claimed(step, site, typed)], site.arena)
    _call(step, site, calls or [])
    return calls is not None


def _claimed(step: Step, site: Site, typed: Typed) -> list[Any]:
    """The buffers of a step's outputs, ready to be written."""
    place = None if step.host or not site.target.two_places else site.target.base
    return [
        site.claim(name, dtype, shape, place)
        for name, (dtype, shape) in zip(step.op.outputs, typed.buffers, strict=True)
    ]


def _call(step: Step, site: Site, calls: Sequence[Call]) -> None:
    for function, arguments in calls:
        function(*arguments)
    if calls and site.ledger.pending:
        site.ledger.wrote(step.op.outputs)


def _wrote_by_name(step: Step, site: Site, types: Sequence[BlobType]) -> None:
    for at, name in enumerate(step.op.outputs):
        cell = site.cells[name]
        if not cell.ready:
            site.skip(step, name)
        elif is_static(types[at]) and cell.type != types[at]:
            what = f"{step.op.type} wrote another type to {name!r} than it infers"
            raise RunError(what, expected=types[at], got=cell.type)
