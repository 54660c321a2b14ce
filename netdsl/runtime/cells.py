"""``Cell``: the place of one blob in a frame; ``Clock``: tells when any cell of a tree of frames got another array."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from netdsl.errors import OutOfMemoryError
from netdsl.ir import BlobType, Opaque
from netdsl.runtime.backends import Backend
from netdsl.runtime.memory import Budget
from netdsl.runtime.values import type_of

VIEWS = 128
"""How many shapes a cell keeps views of its buffer for."""

ROOMY = 1 << 14
"""A buffer of so many elements is never too large for its blob; larger ones are, at four times the blob."""

PATIENCE = 16
"""How often in a row a buffer must have been found too large before it goes: batches of other sizes may return."""


class Clock:
    """Counts replaced arrays (``ticks``); who bound calls to arrays looks again when it has moved on.

    ``buffers`` counts those replaced because a blob had outgrown its buffer, or the buffer its blob. ``closed``
    tells that some workspace of the tree was closed. A count is
    raised after a cell changed and read before cells are looked at, so no change is missed even where two
    threads raise it at once.
    """

    __slots__ = ("budget", "buffers", "closed", "ticks")

    def __init__(self, budget: Budget) -> None:
        self.budget, self.closed = budget, False
        self.ticks = self.buffers = 0


class Cell:
    """One blob. A tensor lies in a buffer of the cell's own, of which every shape in use is a kept view.

    ``ready`` tells whether the blob has been written, ``place`` on which backend's memory its array lies (None:
    the host's), and ``event`` what a device records behind the last write.
    """

    __slots__ = ("_clock", "_kind", "_small", "_views", "base", "elided_by", "event", "name", "place", "ready", "value")

    def __init__(self, name: str, clock: Clock) -> None:
        self.name, self._clock = name, clock
        self.value: Any = None
        self.ready = False
        self.elided_by: str | None = None
        self.base: Any = None
        self.place: Backend | None = None
        self.event: Any = None
        self._kind: Opaque | None = None
        self._small = 0
        self._views: dict[tuple[int, ...], Any] = {}

    @property
    def type(self) -> BlobType:
        """The type of what the cell holds."""
        return self._kind or type_of(self.value)

    @property
    def key(self) -> Any:
        """What plans are found by: equal for equal types in equal places, and cheap; None of an unwritten blob."""
        value = self.value
        if not self.ready:
            return None
        if type(value) is np.ndarray:
            return value.dtype, value.shape
        return self.type if self.place is None else (value.dtype, value.shape, self.place)

    @property
    def held(self) -> tuple[Any, Backend | None] | None:
        """What a written cell holds, to :meth:`put` it back; None where nothing is written."""
        return (self.value, self.place) if self.ready else None

    def put(self, value: Any, place: Backend | None = None) -> None:
        """Hold this very value."""
        self.elided_by = self._kind = None
        if value is not self.value:
            self.value, self.place = value, place
            self._clock.ticks += 1

    def buffer(self, backend: Backend, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        """Return an array of this dtype and shape: what the cell holds if it agrees, else one of its own buffer.

        Raises:
            OutOfMemoryError: there is no memory for it; the cell is as it was.
        """
        held, here = self.value, (self.place is None) is backend.on_host
        if here and backend.is_array(held) and held.shape == shape and held.dtype == dtype:
            return held
        count = math.prod(shape)
        if not self._serves(backend, dtype, count):
            self._replace(backend, dtype, count)
        view = self._views.get(shape)
        if view is None:
            if len(self._views) >= VIEWS:
                self._views.pop(next(iter(self._views)))
            view = self._views[shape] = self.base[:count].reshape(shape)
        return view

    def _serves(self, backend: Backend, dtype: np.dtype[Any], count: int) -> bool:
        """Whether the buffer takes so many elements, and has not been far too large for long."""
        base = self.base
        if not (backend.is_array(base) and base.dtype == dtype and count <= base.size):
            return False
        self._small = self._small + 1 if base.size > max(4 * count, ROOMY) else 0
        return self._small < PATIENCE

    def claim(self, backend: Backend, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        """Make the cell hold such an array, whose content nobody may take for the blob's value yet; return it."""
        array = self.buffer(backend, dtype, shape)
        if array is self.value:
            self.elided_by = None
        else:
            self.ready = False
            self.put(array, None if backend.on_host else backend)
        return array

    def _replace(self, backend: Backend, dtype: np.dtype[Any], count: int) -> None:
        """Get another buffer; what outgrew one gets a quarter more than it needs, where there is room."""
        budget, base = self._clock.budget, self.base
        before = 0 if base is None else base.nbytes
        if base is not None and base.dtype == dtype and base.size < count <= 2 * base.size:
            count += count // 4 if budget.left + before >= count // 4 * 5 * dtype.itemsize else 0
        wanted = count * dtype.itemsize
        budget.take(wanted, f"blob {self.name!r}", before)
        try:
            base = backend.empty((count,), dtype)
        except BaseException as error:
            budget.used += before - wanted
            if isinstance(error, MemoryError):
                what = f"the machine has no memory for blob {self.name!r}"
                raise OutOfMemoryError(what, wanted=f"{wanted:,} bytes") from error
            raise
        self._clock.buffers += self.base is not None
        self.base, self._views, self._small = base, {}, 0

    def store(self, backend: Backend, array: Any) -> None:
        """Copy an array of ``backend`` into the cell's buffer, which it holds once that is done."""
        if array is not self.value:
            target = self.buffer(backend, array.dtype, array.shape)
            backend.copyto(target, array)
            self.put(target, None if backend.on_host else backend)
        self.ready = True
        if not backend.on_host:
            self.event = backend.event()

    def give(self, backend: Backend, array: Any) -> None:
        """Hold this very array, which is the cell's own from now on.

        It is copied if it is not contiguous, or if the cell holds one of its type, to which calls may be bound.
        """
        held = self.value
        same = self.ready and backend.is_array(held) and (held.dtype, held.shape) == (array.dtype, array.shape)
        if same or not array.flags.c_contiguous:
            self.store(backend, array)
            return
        self._clock.budget.take(array.nbytes, f"blob {self.name!r}", 0 if self.base is None else self.base.nbytes)
        self._clock.buffers += self.base is not None
        self.base, self._views = array.reshape(-1), {array.shape: array}
        self.put(array, None if backend.on_host else backend)
        self.ready = True

    def share(self, array: Any, place: Backend | None) -> None:
        """Hold another blob's array, whose memory the two have in common from now on."""
        self.put(array, place)
        self.forget_buffer()

    def hold(self, value: object, kind: BlobType | None = None) -> None:
        """Hold an object that is no tensor."""
        self.put(value)
        self.forget_buffer()
        self.ready = True
        self._kind = kind if isinstance(kind, Opaque) else None

    def clear(self, elided_by: str | None = None) -> None:
        """Forget the blob; ``elided_by`` names the net that computes it without storing it."""
        self.put(None)
        self.forget_buffer()
        self.ready, self.elided_by, self.event = False, elided_by, None

    def forget_buffer(self) -> None:
        """Let go of the cell's own buffer."""
        if self.base is not None:
            self._clock.budget.used -= self.base.nbytes
            self.base, self._views = None, {}


Output = tuple[str, Cell, Any, Any, "Backend | None"]
"""What a program writes: the net's name for it, its cell, the array and buffer it is bound to, and the place."""


def move(outputs: Sequence[Output], clock: Clock, ledger: Ledger) -> None:
    """Make many cells hold views of the buffers that they have, to be written: claimed and expected, in bulk."""
    pending = ledger.pending
    for name, cell, array, _, place in outputs:
        if name not in pending:
            pending[name] = cell, (cell.value, cell.place) if cell.ready else None
        cell.value, cell.place, cell.ready, cell.elided_by, cell._kind = array, place, False, None, None
    clock.ticks += len(outputs)


class Frame:
    """Blobs by name. Reading falls through to the parent; writing goes where the blob is, else here.

    ``bound`` gives cells of other frames names of their own here (a step net's inputs, a loop's state);
    ``local`` declares names that are this frame's own even where the parent has them.
    """

    def __init__(
        self, parent: Frame | None, clock: Clock, bound: Mapping[str, Cell] | None = None, local: Iterable[str] = ()
    ) -> None:
        self.parent, self.clock = parent, clock
        self.cells: dict[str, Cell] = dict(bound or {})
        self.programs: dict[int, Any] = {}
        self._bound = frozenset(self.cells)
        self._own = self._bound.union(local)
        for name in self._own - self._bound:
            self.cells[name] = Cell(name, clock)

    def __del__(self) -> None:
        cells: dict[str, Cell] = getattr(self, "cells", {})
        for name, cell in cells.items():  # frames come and go with step nets: their buffers count no more
            if name not in self._bound:
                cell.forget_buffer()

    @property
    def root(self) -> Any:
        """The workspace that this frame belongs to."""
        return self if self.parent is None else self.parent.root

    def find(self, name: str) -> Cell | None:
        """Return the cell of a blob, here or in a parent."""
        frame: Frame | None = self
        first: Cell | None = None
        while frame is not None:
            found = frame.cells.get(name)
            if found is not None:
                if found.ready or name in frame._own:
                    return found
                first = first or found  # only looked at so far: it hides no blob that a parent has got since
            frame = frame.parent
        return first

    def cell(self, name: str) -> Cell:
        """Return the cell of a blob, made here if no frame has it; it may not hold anything yet."""
        found = self.cells.get(name)
        if self.parent is not None and (found is None or not found.ready):
            found = self.find(name)
        if found is None:
            found = self.cells.setdefault(name, Cell(name, self.clock))
        return found


class Ledger:
    """Blobs whose buffers were bound for a net that has not written them yet, with what they held before."""

    __slots__ = ("pending", "settling", "skipped")

    def __init__(self) -> None:
        self.settling = False
        self.pending: dict[str, tuple[Cell, Any]] = {}
        self.skipped: set[str] = set()

    def expect(self, name: str, cell: Cell, held: tuple[Any, Backend | None] | None) -> None:
        """Note that a blob is going to be written; ``held`` is what to go back to (:attr:`Cell.held`)."""
        if name not in self.pending:
            self.pending[name] = (cell, held)
        cell.ready = False

    def wrote(self, names: Sequence[str]) -> None:
        """Declare blobs written, but for those that an operator left out."""
        for name in names:
            if name not in self.skipped and (found := self.pending.get(name)):
                found[0].ready = True
                del self.pending[name]

    def settle(self) -> None:
        """Declare everything written but for what operators left out, which holds what it held: the net has run."""
        self.settling = True
        for name in self.skipped.intersection(self.pending):
            cell, held = self.pending[name]
            if held is not None:
                cell.put(*held)
                cell.ready = True
            del self.pending[name]
        for cell, _ in self.pending.values():
            cell.ready = True
        self.pending.clear()
        self.skipped.clear()
        self.settling = False

    def end(self) -> None:
        """After an error or an interrupt: go on declaring what was being declared, or give everything back."""
        if self.settling:
            self.settle()
        elif self.pending or self.skipped:
            self.restore()

    def restore(self) -> None:
        """Give unwritten blobs back what they held."""
        for cell, held in self.pending.values():
            if held is None:
                cell.clear()
            else:
                cell.put(*held)
                cell.ready = True
        self.pending.clear()
        self.skipped.clear()
