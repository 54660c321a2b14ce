"""Running a net by calling one body after the other: the plainest meaning of a net, to hold the runtime against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import attrs
import numpy as np

from netdsl.analysis.infer import infer_bound
from netdsl.errors import BlobError, MissingKernelError, RunError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, NetDef, Opaque, OperatorDef
from netdsl.ir.dims import conflict
from netdsl.ir.extents import is_made, substitute
from netdsl.ops.schema import Computes, Operator, Runs, Samples, bound, stream_of
from netdsl.runtime import Workspace, backends
from netdsl.runtime.values import as_tensor, type_of


@attrs.define(eq=False)
class Plain:
    """NumPy blobs by name, and the one way to change them: :meth:`run`.

    No plan, no buffers, no traced groups; every type that inference promises is checked against what
    the body returned. What a body writes by rows is a copy, so that fed arrays stay as they are.
    """

    blobs: MutableMapping[str, Any] = attrs.field(factory=dict)
    seed: int = 0
    lines: list[str] = attrs.field(factory=list)
    _runs: Counter[int] = attrs.field(factory=Counter)
    _kinds: dict[str, BlobType] = attrs.field(factory=dict)
    _memories: dict[OperatorDef, dict[str, Any]] = attrs.field(factory=dict)

    def run(self, net: NetDef | OperatorDef, path: tuple[Any, ...] | None = None) -> None:
        """Run a net, or a single operator; ``path`` is what random numbers go by in a nested net.

        Raises:
            NetdslError: an operator that refuses its inputs; what ran before it stays.
            AssertionError: an operator that computes other types than it infers.
        """
        net = NetDef("plain", [net]) if isinstance(net, OperatorDef) else net
        library = backends.get("numpy")
        with library.scope():
            for op in net.ops:
                self._step(library, op, path or (self._runs[hash(net)],))
        self._runs[hash(net)] += path is None

    def type_of(self, name: str) -> BlobType:
        """The type of a blob; of one that is no tensor, what its operator said."""
        value = self.blobs[name]
        return type_of(value) if hasattr(value, "dtype") else self._kinds.get(name, type_of(value))

    def _step(self, library: backends.Backend, op: OperatorDef, path: tuple[Any, ...]) -> None:
        made = bound(op)
        for name in op.inputs:
            if name not in self.blobs:
                near = did_you_mean(name, self.blobs)
                raise BlobError(f"blob {name!r} does not exist", read_by=op, did_you_mean=near)
        values = self._values(made, op)
        made.formal_outputs.layout(len(op.outputs))
        promised = infer_bound(made, op, [self.type_of(name) for name in op.inputs])
        inputs = made.formal_inputs.group(values)
        if isinstance(made, Runs):
            memory = self._memories.setdefault(op, {})
            result = made.run(PlainContext(self, library, op, memory, path), *inputs)
        elif isinstance(made, Samples):
            stream = library.stream(self.seed, stream_of(op), path)
            result = made.sample(library.xp, stream, *inputs)
        elif isinstance(made, Computes):
            result = made.compute(library.xp, *inputs)
        else:
            raise MissingKernelError(f"{op.type} cannot be executed", operator=op)
        if result is not None:
            results = made.formal_outputs.results(result, len(op.outputs))
            _check_rows(made, op, values, results)
            self._write(op, promised, results)

    def _values(self, made: Operator, op: OperatorDef) -> list[Any]:
        """What a body gets for each input of the record."""
        written = {out.enforced for out in made.outputs if out.rows is not None}
        values = [self.blobs[name] for name in op.inputs]
        formals: list[Any] = [made.formal_inputs.formal_at(i, len(values)) for i in range(len(values))]
        return [v.copy("K") if f.name in written else v for f, v in zip(formals, values, strict=True)]

    def _write(self, op: OperatorDef, promised: tuple[BlobType, ...], results: Sequence[Any]) -> None:
        for name, type_, value in zip(op.outputs, promised, results, strict=True):
            if value is None:
                continue
            self.blobs[name], self._kinds[name] = value, type_
            actual = self.type_of(name)
            assert agrees(type_, actual), f"{op}: {name} is inferred as {type_}, computed as {actual}"


def _check_rows(made: Operator, op: OperatorDef, values: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise unless outputs that are written by rows are the very arrays that the body was given."""
    for index, value in enumerate(results):
        formal: Any = made.formal_outputs.formal_at(index, len(results))
        if formal.rows is not None:
            at = made.formal_inputs.first_index(formal.enforced, len(values))
            given = None if at is None else values[at]
            assert value is given, f"{op}: {formal.name} is not the array given as {formal.enforced}"


class _Inner(MutableMapping[str, Any]):
    """Blobs as a nested net sees them: its own, and those around it, some by other names."""

    def __init__(self, outer: MutableMapping[str, Any], bound: Mapping[str, str], local: Sequence[str]) -> None:
        self._outer, self._bound, self._local = outer, bound, frozenset(local)
        self._own: dict[str, Any] = {}

    def _home(self, name: str) -> tuple[MutableMapping[str, Any], str]:
        if name in self._bound:
            return self._outer, self._bound[name]
        return (self._outer, name) if name in self._outer and name not in self._local else (self._own, name)

    def __getitem__(self, name: str) -> Any:
        home, key = self._home(name)
        return home[key]

    def __setitem__(self, name: str, value: Any) -> None:
        home, key = self._home(name)
        home[key] = value

    def __delitem__(self, name: str) -> None:
        home, key = self._home(name)
        del home[key]

    def __iter__(self) -> Iterator[str]:
        return iter({*self._own, *self._bound, *self._outer} - (self._local - {*self._own}))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@attrs.define
class PlainContext:
    """What ``run`` bodies get here (see :class:`netdsl.ops.context.RunContext`)."""

    owner: Plain
    library: backends.Backend
    op: OperatorDef
    memory: dict[str, Any]
    path: tuple[Any, ...]
    executions: int = 0
    stopped: bool = False

    @property
    def xp(self) -> Any:
        return self.library.xp

    def frame(self, bound: Mapping[str, str] | None = None, local: Sequence[str] = ()) -> Plain:
        return Plain(_Inner(self.owner.blobs, bound or {}, local), self.owner.seed, self.owner.lines)

    def execute(self, net: NetDef, frame: Plain | None = None) -> None:
        (frame or self.owner).run(net, (*self.path, (stream_of(self.op), self.executions)))
        self.executions += 1

    def has(self, name: str, frame: Plain | None = None) -> bool:
        return name in (frame or self.owner).blobs

    def take(self, name: str, frame: Plain | None = None) -> Any:
        return (frame or self.owner).blobs[name]

    def put(self, name: str, value: Any, frame: Plain | None = None) -> None:
        (frame or self.owner).blobs[name] = value

    def fetch(self, name: str) -> Any:
        return self.owner.blobs[name]

    def stream(self, name: str = "") -> Any:
        return self.library.stream(self.owner.seed, stream_of(self.op) + (name and f"/{name}"), self.path)

    def function(self, token: str) -> None:
        """No function: there is no workspace to have any."""

    def write(self, text: str) -> None:
        self.owner.lines.append(text)

    def wait(self, attempt: Callable[[float], Any], what: str) -> Any:
        found = attempt(1.0)
        if found is None:  # nothing else runs that could bring it
            raise RunError(f"{self.op.type} would wait for {what} for ever", operator=self.op)
        return found


def execute(
    net: NetDef, feeds: Mapping[str, Any], how: str = "plain", *, times: int = 1, seed: int = 0
) -> dict[str, Any]:
    """Run ``net`` and return every blob; ``how`` is "plain" (see :class:`Plain`) or a backend of the runtime.

    Fed arrays are copied, except write-protected ones by "plain", which prove that no body writes them.
    """
    if how == "plain":
        plain = Plain({name: _fed(name, value) for name, value in feeds.items()}, seed)
        for _ in range(times):
            plain.run(net)
        return dict(plain.blobs)
    workspace = Workspace(how, seed=seed)
    for name, value in feeds.items():
        workspace.feed(name, value)
    workspace.run(net, times)
    return {name: workspace.fetch(name) for name in workspace.blobs}


def _fed(name: str, value: Any) -> np.ndarray:
    array = as_tensor(name, value)
    return array.copy("K") if array.flags.writeable else array


def agrees(promised: BlobType, actual: BlobType, dims: Mapping[str, int] | None = None) -> bool:
    """Whether a value of type ``actual`` is what ``promised`` says, as far as it says something.

    ``dims`` gives the extents of named dims; one that is not there may be any, but the same throughout.
    """
    if promised == UNKNOWN:
        return True
    if isinstance(promised, Opaque) or isinstance(actual, Opaque):
        return promised == actual
    if promised.dtype not in (None, actual.dtype):
        return False
    if promised.shape is None:
        return True
    wanted, got = promised.shape, actual.shape or ()
    named: dict[str, Any] = {d: g for d, g in zip(wanted, got, strict=False) if isinstance(d, str) and not is_made(d)}
    told = [substitute(d, {**named, **(dims or {})}) for d in wanted]
    return len(told) == len(got) and not any(map(conflict, told, got))


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two blobs are arrays that overlap."""
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.shares_memory(a, b)
