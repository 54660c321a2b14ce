"""Binding single operators: from a step of a plan and arrays to calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from netdsl.analysis.infer import infer_bound
from netdsl.errors import BlobError, RunError
from netdsl.ir import BlobType, NetDef, Opaque, OperatorDef
from netdsl.ops.schema import Runs, Samples
from netdsl.ops.xp import ArrayModule
from netdsl.runtime.backends import Backend, Call
from netdsl.runtime.cells import Cell
from netdsl.runtime.plan import Step, host_input, needs
from netdsl.runtime.values import type_of

if TYPE_CHECKING:
    from netdsl.runtime.program import Program


class Rebind(Exception):
    """An operator with effects gave another array to a blob that later calls are bound to; its program catches it."""


@attrs.frozen(eq=False)
class Context:
    """What an operator with effects is given (see :class:`netdsl.ops.context.RunContext`)."""

    program: Program
    op: OperatorDef
    xp: ArrayModule
    memory: dict[str, Any]

    def execute(self, net: NetDef) -> None:
        """Run a nested net in the same workspace, under the same hooks."""
        self.program.workspace.run(net, hooks=self.program.hooks)

    def fetch(self, name: str) -> Any:
        """Return a blob of the workspace, as ``Workspace.fetch`` does."""
        return self.program.workspace.fetch(name)

    def write(self, text: str) -> None:
        """Print one line to the workspace's ``output``."""
        print(text, file=self.program.workspace.output)


def bind_step(step: Step, program: Program, arrays: Mapping[str, Any]) -> list[Call]:
    """Return the calls that run one operator."""
    if step.dynamic:
        return [(Dynamic(step, program, arrays), ())]
    inputs = [arrays[name] for name in step.op.inputs]
    targets = [arrays[name] for name in step.op.outputs]
    grouped = step.bound.formal_inputs.group(inputs)
    if step.make is not None:
        return step.make(grouped, targets)
    if targets and all(step.shared):
        return []  # aliases share their input's buffer since the program was bound
    backend, body = program.side(step), body_of(step, program)
    if len(targets) == 1 and len(step.bound.outputs) == 1 and not step.bound.outputs[0].many:
        return [(_one, (body, grouped, targets[0], backend.copyto, step))]
    return [(_many, (body, grouped, inputs, targets, backend.copyto, step, program))]


def body_of(step: Step, program: Program) -> Callable[..., Any]:
    """Return the body of an operator as a function of its inputs by formal."""
    operator, xp = step.bound, program.side(step).xp
    if isinstance(operator, Samples):
        return partial(_sample, operator.sample, xp, program, step)
    if isinstance(operator, Runs):
        return partial(_run, operator.run, program, step)
    return partial(operator.compute, xp)  # type: ignore[attr-defined]


def _sample(sample: Callable[..., Any], xp: Any, program: Program, step: Step, *values: Any) -> Any:
    return sample(xp, program.stream(step), *values)


def _run(run: Callable[..., Any], program: Program, step: Step, *values: Any) -> Any:
    return run(program.context(step), *values)


def _one(body: Any, inputs: Sequence[Any], target: Any, copyto: Any, step: Step) -> None:
    value = body(*inputs)
    if type(value) is tuple:
        (value,) = value
    if value.shape != target.shape or value.dtype != target.dtype:
        raise _contradiction(step, 0, type_of(value))
    copyto(target, value)


def _many(
    body: Any,
    grouped: Sequence[Any],
    inputs: Sequence[Any],
    targets: Sequence[Any],
    copyto: Any,
    step: Step,
    program: Any,
) -> None:
    values = results(step, body(*grouped))
    if any(t is i for t in targets for i in inputs):  # no result may be lost to the copying of another one
        values = [_apart(value, inputs) for value in values]
    for index, (value, target) in enumerate(zip(values, targets, strict=True)):
        if value is None:
            program.skip(step, step.op.outputs[index])
        elif value.shape != target.shape or value.dtype != target.dtype:
            raise _contradiction(step, index, type_of(value))
        else:
            copyto(target, value)


def _apart(value: Any, inputs: Sequence[Any]) -> Any:
    if value is None or (getattr(value, "base", None) is None and not any(value is i for i in inputs)):
        return value
    return value.copy()


def results(step: Step, result: Any) -> list[Any]:
    """Return what a body returned as one value per recorded output; None where it wrote nothing."""
    flat = step.bound.formal_outputs.results(result, len(step.op.outputs))
    if len(flat) != len(step.op.outputs):
        raise RunError(f"{step.op.type} returned {len(flat)} values", expected=len(step.op.outputs))
    return flat


def _contradiction(step: Step, index: int, got: BlobType) -> RunError:
    return RunError(
        f"{step.op.type} computed another type for {step.op.outputs[index]!r} than it infers",
        expected=step.types[index],
        got=got,
    )


class Dynamic:
    """The call of an operator whose blobs, or their types, are known only when it runs."""

    def __init__(self, step: Step, program: Program, arrays: Mapping[str, Any]) -> None:
        self.step, self.program, self.body = step, program, body_of(step, program)
        self.backend: Backend = program.side(step)
        self.inputs = [self._source(name, arrays) for name in step.op.inputs]
        self.outputs = [self._source(name, arrays) for name in step.op.outputs]
        count = len(step.op.inputs)
        self.host = [step.host or host_input(step.bound, i, count) for i in range(count)]
        self.lazy = [not needs(step.op, name) for name in step.op.inputs]
        self.types: tuple[BlobType, ...] = step.types
        self._checked: tuple[BlobType, ...] | None = None

    def _source(self, name: str, arrays: Mapping[str, Any]) -> Any:
        found = arrays.get(name)
        return self.program.workspace.cell(name) if found is None else found

    def __call__(self) -> None:
        step, program = self.step, self.program
        if step.effects:
            program.settle(step.index)
        values = [self._read(i, source) for i, source in enumerate(self.inputs)]
        self._check(values)
        result = self.body(*step.bound.formal_inputs.group(values))
        if result is not None:
            self._write(results(step, result), values)
        if step.effects:
            program.after_effects(step, wrote_by_name=result is None)

    def _read(self, index: int, source: Any) -> Any:
        value = source
        if isinstance(source, Cell):
            if not source.ready:
                if self.lazy[index]:
                    return None
                raise BlobError(
                    f"blob {source.name!r} does not exist in the workspace",
                    read_by=f"{self.step.op}     ({self.step.place(self.program.net)})",
                    added_at=self.step.op.where,
                )
            value = source.value
        return self._cross(index, value) if self.program.two_places else value

    def _cross(self, index: int, value: Any) -> Any:
        """Bring a device array to the host where the operator reads it there; nothing else crosses."""
        device, step = self.program.backend, self.step
        if self.host[index]:
            return device.to_host(value) if device.is_array(value) else value
        if self.program.host.is_array(value) and not value.dtype.hasobject:
            raise RunError(
                f"blob {step.op.inputs[index]!r} lives on the host, and {step.op.type} reads it on the device",
                backend=device.name,
                fix="copy it to the device first, or run the operator on the CPU",
            )
        return value

    def _check(self, values: Sequence[Any]) -> None:
        types = tuple(map(_type_of_any, self.inputs, values))
        if types != self._checked:
            step = self.step
            known = dict(zip(step.op.inputs, types, strict=True))
            self.types = infer_bound(step.bound, step.op, known, step.place(self.program.net))
            self._checked = types

    def _write(self, values: Sequence[Any], inputs: Sequence[Any]) -> None:
        if len(values) > 1:
            values = [_apart(v, inputs) if hasattr(v, "dtype") else v for v in values]
        for index, (value, output) in enumerate(zip(values, self.outputs, strict=True)):
            self._write_one(index, value, output, inputs)

    def _write_one(self, index: int, value: Any, output: Any, inputs: Sequence[Any]) -> None:
        step, source = self.step, self.step.shared[index]
        if value is None:
            self.program.skip(step, step.op.outputs[index])
        elif source is not None and isinstance(output, Cell):
            output.put(inputs[step.op.inputs.index(source)])
            output.ready = True
        elif isinstance(output, Cell):
            if isinstance(self.types[index], Opaque) or not hasattr(value, "dtype"):
                output.hold(value, self.types[index])
            else:
                output.store(self._side(value), value)
        elif value.shape != output.shape or value.dtype != output.dtype:
            raise _contradiction(step, index, type_of(value))
        else:
            self._side(value).copyto(output, value)

    def _side(self, value: Any) -> Backend:
        return self.backend if self.backend.is_array(value) else self.program.host


def _type_of_any(source: Any, value: Any) -> BlobType:
    if isinstance(source, Cell):
        return source.type
    return type_of(value)
