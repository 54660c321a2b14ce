"""``Site``: where the steps of one program run, and what they share there."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any
from weakref import proxy

import numpy as np

from netdsl.errors import BlobError, OutOfMemoryError
from netdsl.ir import UNKNOWN, BlobType, NetDef, TensorType
from netdsl.runtime.backends import Backend
from netdsl.runtime.cells import Cell, Frame, Ledger
from netdsl.runtime.executable import Executable
from netdsl.runtime.memory import Arena
from netdsl.runtime.steps import Step
from netdsl.runtime.values import dtype_of


class Cells(dict[str, Cell]):
    """The cells of the blobs of one net in a frame, found when they are first asked for.

    Blobs that ``keep=`` elides and that calls cannot be bound to have cells here only.
    """

    def __init__(self, frame: Frame, elided: frozenset[str]) -> None:
        self.frame, self.elided = frame, elided

    def __missing__(self, name: str) -> Cell:
        found = self[name] = Cell(name, self.frame.clock) if name in self.elided else self.frame.cell(name)
        return found

    def free(self) -> None:
        """Let go of the blobs that are here only."""
        for name in self.elided.intersection(self):
            self.pop(name).forget_buffer()


class Site:
    """Where steps run: a frame, with what one program keeps beside it, and the run under way.

    ``path`` is what random numbers go by, ``arena`` the scratch memory that calls are bound to.
    """

    __slots__ = (
        *("arena", "cells", "executable", "executions", "frame", "hooks", "ledger", "memories", "nested", "path"),
        *("programs", "start", "stop", "target", "waiting"),
    )

    def __init__(self, frame: Frame, executable: Executable, arena: Arena) -> None:
        self.frame, self.executable, self.arena = frame, executable, arena
        self.target = executable.target
        self.cells = Cells(frame, executable.elided)
        self.ledger = Ledger()
        self.memories: dict[int, dict[str, Any]] = {}
        self.programs: dict[int, Any] = {}
        self.nested: dict[int, Executable] = {}
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
        """The program of a nested net here, or in a child frame, which keeps it (and is not kept by it)."""
        table = self.programs if frame is None else frame.programs
        found = table.get(id(net))
        if found is None or found.executable.net is not net:
            here: Any = self.frame if frame is None else proxy(frame)
            found = table[id(net)] = self.frame.root.program(net, here, self.arena)
            self.nested[id(net)] = found.executable  # which outlives frames that are made anew in every run
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

    def claim(self, name: str, dtype: np.dtype[Any], shape: Any, place: Backend | None) -> Any:
        """Make a blob ready to be written, which the ledger notes, and return its buffer."""
        cell = self.cells[name]
        held = cell.held
        try:
            array = cell.claim(place or self.target.host, dtype, shape)
        except OutOfMemoryError as error:
            writer = next((s for s in self.executable.steps[self.start :] if name in s.op.outputs), None)
            wanted = TensorType(dtype_of(np.empty(0, dtype)), shape)
            error.tell(type=wanted, written_by=writer and f"{writer.op}     ({writer.place})")
            raise
        if held is None or array is not held[0]:
            self.ledger.expect(name, cell, held)
        return array
