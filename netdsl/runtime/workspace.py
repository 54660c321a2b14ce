"""``Workspace``: the root frame, where blobs are fed and fetched and nets are run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol, Self, TextIO

import attrs
import numpy as np

from netdsl.errors import BlobError, NetError, did_you_mean
from netdsl.ir import BlobType, NetDef
from netdsl.ops.functions import Allowed
from netdsl.runtime import backends
from netdsl.runtime.backends import Backend
from netdsl.runtime.backends import numpy as on_host
from netdsl.runtime.cells import Cell, Clock, Frame
from netdsl.runtime.dag import Dag
from netdsl.runtime.executable import Executable, compile
from netdsl.runtime.memory import Arena, Budget, Pool
from netdsl.runtime.program import Program
from netdsl.runtime.runnable import CONCURRENT, Runnable
from netdsl.runtime.steps import Target
from netdsl.runtime.threads import Lanes
from netdsl.runtime.values import as_tensor

PROGRAMS, OPERATORS = 256, 16_384
"""How many nets a workspace remembers how to run: more than the first of small ones, with the second in all."""

SEEN = 65_536
"""How many nets that ran once are remembered, by their hashes."""

Backends = str | Backend | Sequence[str | Backend]


class HasDefinition(Protocol):
    """What describes a net: a ``netdsl.Net``."""

    @property
    def definition(self) -> NetDef: ...


class Workspace(Frame):
    """Blobs by name, isolated from every other workspace but its ``parent``.

    Args:
        backend: "numpy", "strict" (NumPy with a device's manners) or "cupy", or several backends in the order
            in which they may offer to run operators; the last holds the blobs, and the others share its arrays.
        seed: what random operators draw from; the same seed repeats everything.
        output: a text stream for operators that print; standard output by default.
        parent: a workspace whose blobs are seen here: a name that it has is its blob, any other is this one's.
        max_bytes: how many bytes all buffers of blobs and all scratch memory may have together; by default what
            the machine, the control group of the process, or the device has. A child counts with its parent.
        python: functions that nets may call here (the operator Python), beside those of the process and of the
            parent: themselves, as "module:name", or as "module:*", those that a module defines. A net from a file
            calls and imports nothing else.

    Several nets of one workspace may run at once, each in one thread at a time (docs/threads.md). A workspace
    is a context manager that closes itself.
    """

    def __init__(
        self,
        backend: Backends | None = None,
        *,
        seed: int = 0,
        output: TextIO | None = None,
        parent: Workspace | None = None,
        max_bytes: int | None = None,
        python: Iterable[str | Callable[..., Any]] = (),
    ) -> None:
        self.target = _target(backend, parent)
        self.backend, self.host = self.target.base, self.target.host
        if parent is None:
            clock = Clock(Budget(self.backend.memory() if max_bytes is None else max_bytes))
        elif max_bytes is not None:
            raise NetError("a workspace with a parent shares its parent's memory", got=f"max_bytes={max_bytes}")
        else:
            clock = parent.clock
        super().__init__(parent, clock)
        self.pool: Pool = parent.pool if parent is not None else Pool(clock.budget)
        self.seed, self.output = seed, output
        self.functions: dict[str, Callable[..., Any]] = {}
        """Functions that operators call by a token or a name; a child sees its parent's."""
        self._allowed = Allowed(python)
        self.lanes: Lanes = parent.lanes if parent is not None else Lanes()
        self._closed = False
        self._runs: dict[int, int] = {}
        self._programs: OrderedDict[tuple[NetDef, frozenset[str] | None], Runnable] = OrderedDict()
        self._latest: dict[int, Runnable] = {}
        self._remembered = 0
        self._seen: set[int] = set()

    def __repr__(self) -> str:
        return f"<Workspace on {self.backend.name}: {len(self.blobs)} blobs>"

    def __reduce__(self) -> Any:
        raise TypeError("a workspace cannot be pickled: send its NetDefs, and its blobs as arrays")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what waits in this workspace, and refuse to run nets from now on; blobs can still be fetched."""
        self._closed = self.clock.closed = True
        if self.parent is None:
            self.lanes.close()

    @property
    def closed(self) -> bool:
        """Whether it, or its parent, was closed."""
        return self._closed or (self.parent is not None and self.parent.root.closed)

    @property
    def root(self) -> Workspace:
        """Itself: what belongs to a parent is found there."""
        return self

    # blobs

    def feed(self, name: Any, value: Any) -> None:
        """Copy ``value`` into a blob: into its buffer where dtype and shape agree, else into a new one.

        Arrays keep their dtype; Python numbers and lists of them become int64, float32 or bool; str
        and bytes make a string tensor, which holds bytes. In a workspace of a device, tensors go there;
        those of strings, and those that operators on the CPU made, stay on the host.

        Raises:
            InferenceError: a value that no tensor can hold.
            OutOfMemoryError: one that is larger than the workspace has room for.
        """
        name = _name(name)
        device = self.target.two_places
        if device and self.backend.is_array(value):
            self.cell(name).store(self.backend, value)
            return
        array, cell = as_tensor(name, value), self.cell(name)
        if not device or self.host.is_array(cell.value) or array.dtype.hasobject:
            cell.store(self.host, array)
        else:
            cell.store(self.backend, self.backend.from_host(array))

    def fetch(self, name: Any) -> Any:
        """Return a copy of a blob as a NumPy array; a blob that is no tensor is returned as it is.

        Raises:
            BlobError: it does not exist; names the near ones.
        """
        cell = self._ready(_name(name))
        if self.host.is_array(cell.value):
            return np.array(cell.value)
        if cell.event is not None:
            self.backend.wait_for(cell.event)
        return self.backend.to_host(cell.value) if self.backend.is_array(cell.value) else cell.value

    @property
    def blobs(self) -> tuple[str, ...]:
        """The names of all blobs of this workspace (not its parent's), sorted."""
        return tuple(sorted(name for name, cell in list(self.cells.items()) if cell.ready))

    def __contains__(self, name: Any) -> bool:
        cell = self.find(_name(name))
        return cell is not None and cell.ready

    def types(self) -> dict[str, BlobType]:
        """The type of every blob."""
        return {name: self.cells[name].type for name in self.blobs}

    def remove(self, name: Any) -> None:
        """Delete a blob.

        Raises:
            BlobError: it does not exist.
        """
        self._ready(_name(name)).clear()

    def reset(self) -> None:
        """Delete every blob, and begin the random numbers anew."""
        for cell in self.cells.values():
            cell.clear()
        self._runs.clear()

    # nets

    def create(self, net: NetDef | HasDefinition | Runnable, *, keep: Iterable[Any] | None = None) -> Runnable:
        """Return the program that runs ``net`` here.

        With ``keep``, only those blobs (and the state that the net reads before it writes it) can be
        fetched after a run: the others share buffers, are never stored, or, where nothing kept depends on
        them, are not computed.

        Raises:
            UnknownOperatorError, SchemaError, MissingKernelError: the net cannot be executed.
        """
        return self._find(net, keep, once=False)

    def run(
        self,
        net: NetDef | HasDefinition | Runnable,
        times: int = 1,
        *,
        keep: Iterable[Any] | None = None,
        hooks: Iterable[Any] = (),
    ) -> None:
        """Run ``net``, ``times`` times; afterwards every blob of it can be fetched, or those of ``keep``.

        What is run for the first time is interpreted; what is run again is planned, and remembered.
        ``hooks`` observe every operator (see :mod:`netdsl.runtime.hooks`).

        Raises:
            BlobError: blobs that the net reads do not exist; nothing has run.
            RunError: another thread runs the same net here.
            Exception: whatever an operator raises; its text or a note tells which one.
        """
        program = self._find(net, keep, once=times == 1)
        program.run(times, hooks=hooks)
        if program.remembers and self._latest.get(id(program.net)) is not program:
            self._remember(program)

    def run_missing(self, net: NetDef | HasDefinition) -> tuple[str, ...]:
        """Run those operators of an init net whose outputs are not all here yet; return the names they made."""
        definition = _definition(net)
        ops = [op for op in definition.ops if any(name not in self for name in op.outputs)]
        made = dict.fromkeys(name for op in ops for name in op.outputs if name not in self)
        self.run(attrs.evolve(definition, ops=ops))
        return tuple(made)

    def runs(self, net: NetDef | HasDefinition) -> int:
        """Return how many runs of ``net``, if it may draw random numbers, there were: the next draws by this number."""
        return self._runs.get(hash(_definition(net)), 0)

    def set_runs(self, net: NetDef | HasDefinition, count: int) -> None:
        """Let the next run of ``net`` draw as its run number ``count``, from 0, would: to go on with a training."""
        if not 0 <= count < 1 << 64:
            raise NetError("a number of runs makes no sense", expected="a whole number from 0", got=count)
        self._runs[hash(_definition(net))] = count

    def _find(self, net: NetDef | HasDefinition | Runnable, keep: Iterable[Any] | None, *, once: bool) -> Runnable:
        one = isinstance(keep, str) or hasattr(keep, "name")
        kept = None if keep is None else frozenset(map(_name, [keep] if one else keep))
        if isinstance(net, Runnable):
            if net.frame is not self or kept is not None:
                raise NetError(f"a program of net {net.net.name!r} runs in its own workspace, with its own keep=")
            return net
        definition = _definition(net)
        latest = self._latest.get(id(definition))
        if latest is not None and latest.net is definition and latest.executable.keep == kept:
            return latest
        key = (definition, kept)
        program = self._programs.get(key)
        if program is None:
            mark = hash(key)
            seen = mark in self._seen
            if once and not seen:
                if len(self._seen) >= SEEN:
                    self._seen.clear()
                self._seen.add(mark)
                return _runnable(self, Executable(definition, self.target, kept), self.pool.arenas[0])
            program = _runnable(self, compile(definition, self.target, kept), self.pool.arenas[0], seen=seen)
            self._remember(program)
        with suppress(KeyError):  # another thread may have forgotten it meanwhile
            self._programs.move_to_end(key)
        self._latest[id(program.net)] = program
        return program

    def _remember(self, program: Runnable) -> None:
        key = (program.net, program.executable.keep)
        before = self._programs.pop(key, None)
        if before is not None:
            self._latest.pop(id(before.net), None)
        self._programs[key] = self._latest[id(program.net)] = program
        self._remembered += len(program.net.ops) if before is None else 0
        self._forget()

    def _forget(self) -> None:
        """Forget the programs that were created or asked for longest ago, of more than are remembered."""
        while len(self._programs) > PROGRAMS and self._remembered > OPERATORS:
            _, oldest = self._programs.popitem(last=False)
            self._latest.pop(id(oldest.net), None)
            self._remembered -= len(oldest.net.ops)

    # for programs

    def program(self, net: NetDef, frame: Frame, arena: Arena) -> Runnable:
        """Return what runs a nested net in a frame of this workspace."""
        return _runnable(frame, compile(net, self.target), arena)

    def count_run(self, net: NetDef) -> int:
        """Return the number of this run of a net, from 0."""
        key = hash(net)
        count = self._runs.get(key, 0)
        self._runs[key] = count + 1
        return count

    def function(self, token: str) -> Callable[..., Any] | None:
        """Return the function that this workspace or a parent has, or allows, under ``token``."""
        found = self.functions.get(token)
        if found is None:
            found = self._allowed.find(token)
        return self.parent.root.function(token) if found is None and self.parent is not None else found

    def _ready(self, name: str) -> Cell:
        cell = self.find(name)
        if cell is not None and cell.ready:
            return cell
        if cell is not None and cell.elided_by is not None:
            raise BlobError(
                f"blob {name!r} was not stored",
                computed_by=f"net {cell.elided_by!r}, which was run with keep=",
                fix=f"name it there: keep=[..., {name!r}]",
            )
        raise BlobError(f"blob {name!r} does not exist in the workspace", did_you_mean=did_you_mean(name, self.blobs))


def _runnable(frame: Frame, executable: Executable, arena: Arena, *, seen: bool = False) -> Runnable:
    """Return what runs an executable: a program, or one for each part of a net whose operators need other threads."""
    if executable.net.type in CONCURRENT and any(step.waits or step.touches for step in executable.steps):
        return Dag(frame, executable)
    return Program(frame, executable, arena, seen=seen)


def _target(backend: Backends | None, parent: Workspace | None) -> Target:
    """What nets are made ready for: the parent's, the given backends, or NumPy."""
    if backend is None:
        return parent.target if parent is not None else _target("numpy", None)
    named = [backend] if isinstance(backend, str | Backend) else list(backend)
    if not named:
        raise NetError("a workspace needs a backend", expected=", ".join(backends.NAMES))
    found = tuple(map(backends.get, named))
    if any(one.on_host is not found[-1].on_host for one in found):
        raise NetError(
            "backends of one workspace share their arrays",
            got=", ".join(f"{one.name} ({'host' if one.on_host else 'device'})" for one in found),
        )
    if parent is not None and found != parent.target.backends:
        raise NetError("a workspace has the backends of its parent", expected=parent.backend.name, got=backend)
    return _made(found)


@lru_cache(maxsize=64)
def _made(found: tuple[Backend, ...]) -> Target:
    return Target(found, found[-1] if found[-1].on_host else on_host.make())


def _definition(net: NetDef | HasDefinition) -> NetDef:
    found = net if isinstance(net, NetDef) else getattr(net, "definition", None)
    if not isinstance(found, NetDef):
        two = "; a model has two: run its init_net once, then its net" if hasattr(net, "init_net") else ""
        raise TypeError(f"a net to run is a Net, a NetDef or a Program, not {type(net).__name__}{two}")
    return found


def _name(name: Any) -> str:
    found = name if isinstance(name, str) else getattr(name, "name", None)
    if not isinstance(found, str):
        raise TypeError(f"a blob's name is a str, or something with a .name, not {type(name).__name__}")
    return str(found)
