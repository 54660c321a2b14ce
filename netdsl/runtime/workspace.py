"""``Workspace``: blobs by name, and the nets that run on them."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Any, Protocol, TextIO

import attrs
import numpy as np

from netdsl.errors import BlobError, NetError, did_you_mean
from netdsl.ir import BlobType, NetDef
from netdsl.runtime import backends
from netdsl.runtime.backends import Backend
from netdsl.runtime.backends import numpy as on_host
from netdsl.runtime.cells import Cell
from netdsl.runtime.program import Program
from netdsl.runtime.values import as_tensor

PROGRAMS, OPERATORS = 256, 16_384
"""How many nets a workspace remembers how to run: more than the first of small ones, with the second in all."""


class HasDefinition(Protocol):
    """What describes a net: a ``netdsl.Net``."""

    @property
    def definition(self) -> NetDef: ...


class Workspace:
    """Blobs by name, isolated from every other workspace.

    Args:
        backend: "numpy", "strict" (NumPy with a device's manners) or "cupy".
        seed: what random operators draw from; the same seed repeats everything.
        output: a text stream for operators that print; standard output by default.

    Use one workspace from one thread at a time.
    """

    def __init__(self, backend: str | Backend = "numpy", *, seed: int = 0, output: TextIO | None = None) -> None:
        self.backend = backends.get(backend)
        self.host = self.backend if self.backend.name == "numpy" else on_host.make()
        self.seed, self.output = seed, output
        self._cells: dict[str, Cell] = {}
        self._runs: Counter[str] = Counter()
        self._programs: OrderedDict[tuple[NetDef, frozenset[str] | None], Program] = OrderedDict()
        self._latest: dict[int, Program] = {}
        self._remembered = 0

    def __repr__(self) -> str:
        return f"<Workspace on {self.backend.name}: {len(self.blobs)} blobs>"

    # blobs

    def feed(self, name: Any, value: Any) -> None:
        """Copy ``value`` into a blob: into its buffer where dtype and shape agree, else into a new one.

        Arrays keep their dtype; Python numbers and lists of them become int64, float32 or bool; str
        and bytes make a string tensor, which holds bytes. In a workspace of a device, tensors go there;
        those of strings, and those that operators on the CPU made, stay on the host.

        Raises:
            InferenceError: a value that no tensor can hold.
        """
        name = _name(name)
        if self.backend is not self.host and self.backend.is_array(value):
            self.cell(name).store(self.backend, value)
            return
        array, cell = as_tensor(name, value), self.cell(name)
        if self.backend is self.host or self.host.is_array(cell.value) or array.dtype.hasobject:
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
        return self.backend.to_host(cell.value) if self.backend.is_array(cell.value) else cell.value

    @property
    def blobs(self) -> tuple[str, ...]:
        """The names of all blobs, sorted."""
        return tuple(sorted(name for name, cell in self._cells.items() if cell.ready))

    def __contains__(self, name: Any) -> bool:
        cell = self._cells.get(_name(name))
        return cell is not None and cell.ready

    def types(self) -> dict[str, BlobType]:
        """The type of every blob."""
        return {name: self._cells[name].type for name in self.blobs}

    def remove(self, name: Any) -> None:
        """Delete a blob.

        Raises:
            BlobError: it does not exist.
        """
        self._ready(_name(name)).clear()

    def reset(self) -> None:
        """Delete every blob, and begin the random numbers anew."""
        for cell in self._cells.values():
            cell.clear()
        self._runs.clear()

    # nets

    def create(self, net: NetDef | HasDefinition | Program, *, keep: Iterable[Any] | None = None) -> Program:
        """Return the program that runs ``net`` here.

        With ``keep``, only those blobs (and the state that the net reads before it writes it) can be
        fetched after a run: the others share buffers, or are never stored.

        Raises:
            UnknownOperatorError, SchemaError, MissingKernelError: the net cannot be executed.
        """
        one = isinstance(keep, str) or hasattr(keep, "name")
        kept = None if keep is None else frozenset(map(_name, [keep] if one else keep))
        if isinstance(net, Program):
            if net.workspace is not self or kept is not None:
                raise NetError(f"a program of net {net.net.name!r} runs in its own workspace, with its own keep=")
            return net
        definition = _definition(net)
        latest = self._latest.get(id(definition))
        if latest is not None and latest.net is definition and latest.keep == kept:
            return latest
        key = (definition, kept)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = Program(self, definition, kept)
            self._remembered += len(definition.ops)
            self._forget()
        self._programs.move_to_end(key)
        self._latest[id(program.net)] = program
        return program

    def _forget(self) -> None:
        """Forget the programs that were created or asked for longest ago, of more than are remembered."""
        while len(self._programs) > PROGRAMS and self._remembered > OPERATORS:
            _, oldest = self._programs.popitem(last=False)
            self._latest.pop(id(oldest.net), None)
            self._remembered -= len(oldest.net.ops)

    def run(
        self,
        net: NetDef | HasDefinition | Program,
        times: int = 1,
        *,
        keep: Iterable[Any] | None = None,
        hooks: Iterable[Any] = (),
    ) -> None:
        """Run ``net``, ``times`` times; afterwards every blob of it can be fetched, or those of ``keep``.

        ``hooks`` observe every operator (see :mod:`netdsl.runtime.hooks`).

        Raises:
            BlobError: blobs that the net reads do not exist; nothing has run.
            Exception: whatever an operator raises, with a note that tells which one.
        """
        self.create(net, keep=keep).run(times, hooks=hooks)

    def run_missing(self, net: NetDef | HasDefinition) -> tuple[str, ...]:
        """Run those operators of an init net whose outputs are not all here yet; return the names they made."""
        definition = _definition(net)
        ops = [op for op in definition.ops if any(name not in self for name in op.outputs)]
        made = dict.fromkeys(name for op in ops for name in op.outputs if name not in self)
        self.run(attrs.evolve(definition, ops=ops))
        return tuple(made)

    # for programs

    def cell(self, name: str) -> Cell:
        """Return the cell of a blob, which may not hold anything yet."""
        found = self._cells.get(name)
        if found is None:
            found = self._cells[name] = Cell(name)
        return found

    def count_run(self, net: str) -> int:
        """Return the number of this run of the nets called so, from 0: what random operators draw by."""
        self._runs[net] += 1
        return self._runs[net] - 1

    def _ready(self, name: str) -> Cell:
        cell = self._cells.get(name)
        if cell is not None and cell.ready:
            return cell
        if cell is not None and cell.elided_by is not None:
            raise BlobError(
                f"blob {name!r} was not stored",
                computed_by=f"net {cell.elided_by!r}, which was run with keep=",
                fix=f"name it there: keep=[..., {name!r}]",
            )
        raise BlobError(f"blob {name!r} does not exist in the workspace", did_you_mean=did_you_mean(name, self.blobs))


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
