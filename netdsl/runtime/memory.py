"""Memory beside blobs: the budget of a workspace, and ``Arena``, the scratch memory that its programs share."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from netdsl.errors import OutOfMemoryError
from netdsl.ops.turns import Turns, called

ALIGNMENT = 64
"""Bytes at whose multiples scratch arrays begin."""


@functools.cache
def machine_bytes() -> int:
    """Return the bytes of memory that this machine, or the control group of this process, has."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")] if hasattr(os, "sysconf") else []
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found.append(int(Path(path).read_text("ascii")))
        except (OSError, ValueError):  # no such group, or one without a limit
            continue
    return min(found, default=1 << 62)


class Budget:
    """How many bytes the buffers of a workspace may have together, and have."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0

    @property
    def left(self) -> int:
        """Bytes that may still be taken."""
        return self.limit - self.used

    def take(self, wanted: int, what: str, before: int = 0) -> None:
        """Count ``wanted`` bytes in the place of ``before``.

        Raises:
            OutOfMemoryError: that many are not left; nothing is counted.
        """
        if self.used + wanted - before > self.limit:
            raise OutOfMemoryError(
                f"{what} does not fit into memory",
                wanted=f"{wanted:,} bytes",
                left=f"{max(self.left + before, 0):,} of {self.limit:,} bytes",
                fix="make it smaller, or give the workspace more: Workspace(max_bytes=...)",
            )
        self.used += wanted - before


def aligned(size: int) -> np.ndarray:
    """Return so many bytes of the host's memory, from a multiple of ALIGNMENT on."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


class Arena:
    """Scratch memory for the calls of one unit at a time: what one unit was given, the next is given again.

    It grows by chunks, which stay where they are, so calls that are bound to it need never be bound again.
    ``turns`` are the runs under way whose calls are bound here: one within another, all in one thread.
    """

    __slots__ = ("_beside", "_budget", "_chunks", "_empty", "_free", "turns")

    def __init__(self, budget: Budget, empty: Callable[[int], Any] = aligned) -> None:
        self._budget, self._empty = budget, empty
        self._chunks: list[Any] = []
        self._free: list[int] = []
        self._beside: dict[Any, Arena] = {}
        self.turns = Turns()

    def taken(self, run: FrameType) -> bool:
        """Whether another run is under way here than those that ``run`` is within."""
        other = self.turns.before(run)
        return other is not None and not called(other, run)

    @property
    def nbytes(self) -> int:
        """Bytes of all chunks."""
        return sum(chunk.nbytes for chunk in self._chunks)

    def __del__(self) -> None:
        if hasattr(self, "_chunks"):
            self._budget.used -= self.nbytes

    def begin(self) -> Arena:
        """Give all memory free, for the next unit."""
        self._free = [0] * len(self._chunks)
        for arena in self._beside.values():
            arena.begin()
        return self

    def on(self, device: Any, empty: Callable[[int], Any]) -> Arena:
        """Return the arena of another memory that belongs to this one; ``empty`` gives so many bytes there."""
        if device not in self._beside:
            self._beside[device] = Arena(self._budget, empty)
        return self._beside[device]

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        """Return an array of undefined content, which overlaps no other one since :meth:`begin`."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        whole = -(-size // ALIGNMENT) * ALIGNMENT
        for at, chunk in enumerate(self._chunks):
            if chunk.nbytes - self._free[at] >= whole:
                break
        else:
            at = self._grow(whole)
        start = self._free[at]
        self._free[at] = start + whole
        return self._chunks[at][start : start + size].view(dtype).reshape(shape)

    def _grow(self, wanted: int) -> int:
        """Add a chunk; each is larger than all before it, so that there are few."""
        size = max(wanted, self.nbytes + self.nbytes // 2, 1 << 12)
        try:
            self._budget.take(size, "scratch memory")
        except OutOfMemoryError:
            size = wanted
            self._budget.take(size, "scratch memory")
        try:
            self._chunks.append(self._empty(size))
        except BaseException:
            self._budget.used -= size
            raise
        self._free.append(0)
        return len(self._chunks) - 1


class Pool:
    """The arenas of a workspace: one, and one more for every thread that runs nets at the same time."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.arenas = [Arena(budget)]

    def arena(self, run: FrameType) -> Arena:
        """Return an arena that no other thread uses, taken for a run."""
        for arena in self.arenas:
            arena.turns.append(run)
            if not arena.taken(run):
                return arena
            arena.turns.remove(run)
        arena = Arena(self.budget)
        arena.turns.append(run)
        self.arenas.append(arena)
        return arena
