"""Running a net by calling one body after the other: the plainest meaning of a net, to hold the runtime against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from netdsl.analysis.infer import infer_bound
from netdsl.errors import BlobError, MissingKernelError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, NetDef, Opaque, OperatorDef, TensorType
from netdsl.ops.schema import Computes, Operator, Runs, Samples, bound
from netdsl.runtime import backends
from netdsl.runtime.values import type_of


@attrs.define(eq=False)
class Plain:
    """Blobs by name, and the one way to change them: :meth:`run`.

    No plan, no buffers, no traced groups; every type that inference promises is checked against what
    the body returned. ``backend`` is the name of a backend of the runtime; blobs are its arrays.
    """

    blobs: dict[str, Any] = attrs.field(factory=dict)
    seed: int = 0
    backend: str = "numpy"
    runs: int = 0
    lines: list[str] = attrs.field(factory=list)

    def run(self, net: NetDef | OperatorDef) -> None:
        """Run a net, or a single operator.

        Raises:
            NetdslError: an operator that refuses its inputs; what ran before it stays.
        """
        net = NetDef("plain", [net]) if isinstance(net, OperatorDef) else net
        library = backends.get(self.backend)
        with library.scope():
            for op in net.ops:
                self._step(library, net, op)
        self.runs += 1

    def _step(self, library: Any, net: NetDef, op: OperatorDef) -> None:
        made = bound(op)
        for name in op.inputs:
            if name not in self.blobs:
                raise BlobError(f"blob {name!r} does not exist", read_by=op, did_you_mean=did_you_mean(name, self.blobs))
        values = [self.blobs[name] for name in op.inputs]
        types: dict[str, BlobType] = {name: type_of(v) for name, v in zip(op.inputs, values, strict=True)}
        made.formal_outputs.layout(len(op.outputs))
        promised = infer_bound(made, op, types)
        inputs = made.formal_inputs.group(values)
        context = PlainContext(self, library.xp, op)
        if isinstance(made, Runs):
            result = made.run(context, *inputs)
        elif isinstance(made, Samples):
            stream = library.stream(self.seed, net.name, op.outputs[0], self.runs)
            result = made.sample(library.xp, stream, *inputs)
        elif isinstance(made, Computes):
            result = made.compute(library.xp, *inputs)
        else:
            raise MissingKernelError(f"{op.type} cannot be executed", operator=op)
        if result is not None:
            self._write(made, op, promised, result)

    def _write(self, made: Operator, op: OperatorDef, promised: tuple[BlobType, ...], result: Any) -> None:
        results = made.formal_outputs.flatten(result if isinstance(result, tuple) else (result,), len(op.outputs))
        for name, type_, value in zip(op.outputs, promised, results, strict=True):
            if value is not None:
                assert agrees(type_, type_of(value)), f"{op}: {name} is inferred as {type_}, computed as {type_of(value)}"
                self.blobs[name] = value


@attrs.frozen
class PlainContext:
    """What ``run`` bodies get here (see :class:`netdsl.ops.context.RunContext`)."""

    owner: Plain
    xp: Any
    op: OperatorDef

    def execute(self, net: NetDef) -> None:
        self.owner.run(net)

    def fetch(self, name: str) -> Any:
        return self.owner.blobs[name]

    def write(self, text: str) -> None:
        self.owner.lines.append(text)


def agrees(promised: BlobType, actual: BlobType) -> bool:
    """Whether a value of type ``actual`` is what ``promised`` says, as far as it says something."""
    if promised == UNKNOWN:
        return True
    if isinstance(promised, Opaque) or isinstance(actual, Opaque):
        return promised == actual
    if promised.dtype not in (None, actual.dtype):
        return False
    return promised.shape is None or _fits(promised, actual)


def _fits(promised: TensorType, actual: TensorType) -> bool:
    wanted, got = promised.shape or (), actual.shape or ()
    named: Mapping[Any, Any] = {d: g for d, g in zip(wanted, got, strict=False) if isinstance(d, str)}
    return len(wanted) == len(got) and all(
        d is None or (named[d] if isinstance(d, str) else d) == g for d, g in zip(wanted, got, strict=True)
    )
