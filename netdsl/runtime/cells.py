"""``Cell``: the place of one blob in a workspace, which programs hold on to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol
from weakref import ReferenceType

import numpy as np

from netdsl.ir import BlobType, Opaque
from netdsl.runtime.backends import Backend
from netdsl.runtime.values import type_of


class Watcher(Protocol):
    """What is bound to arrays of cells, and must know when one of them is replaced."""

    stale: bool


class Cell:
    """One blob. A tensor's buffer is the cell's own, C-contiguous, and is kept as long as dtype and shape agree.

    ``ready`` tells whether the blob has been written: a program allocates what it is going to write.
    """

    __slots__ = ("_base", "_kind", "_watchers", "elided_by", "name", "ready", "value")

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.ready = False
        self.elided_by: str | None = None
        self._base: Any = None
        self._kind: Opaque | None = None
        self._watchers: list[ReferenceType[Any]] = []

    @property
    def type(self) -> BlobType:
        """The type of what the cell holds."""
        return self._kind or type_of(self.value)

    def watch(self, watcher: ReferenceType[Any]) -> None:
        """Set ``watcher``'s stale flag whenever the cell gets another value (not: other content)."""
        if watcher not in self._watchers:
            self._watchers = [ref for ref in self._watchers if ref() is not None]
            self._watchers.append(watcher)

    def put(self, value: Any) -> None:
        """Hold this very value."""
        self.elided_by = self._kind = None
        if value is self.value:
            return
        self.value = value
        self._watchers = [ref for ref in self._watchers if (watcher := ref()) and _alert(watcher)]

    def claim(self, backend: Backend, dtype: np.dtype[Any], shape: Sequence[int]) -> Any:
        """Make the cell hold a buffer of this dtype and shape, the present one if it agrees, and return it."""
        held = self.value
        if backend.is_array(held) and held.shape == tuple(shape) and held.dtype == dtype:
            self.elided_by = None
            return held
        count, base = math.prod(shape), self._base
        if not (backend.is_array(base) and base.dtype == dtype and count <= base.size <= 4 * max(count, 16)):
            base = self._base = backend.empty((count,), dtype)
        self.put(base[:count].reshape(tuple(shape)))
        return self.value

    def store(self, backend: Backend, array: Any) -> None:
        """Copy an array of ``backend`` into the cell's buffer."""
        backend.copyto(self.claim(backend, array.dtype, array.shape), array)
        self.ready = True

    def hold(self, value: object, kind: BlobType | None = None) -> None:
        """Hold an object that is no tensor."""
        self.put(value)
        self._base, self.ready = None, True
        self._kind = kind if isinstance(kind, Opaque) else None

    def clear(self, elided_by: str | None = None) -> None:
        """Forget the blob; ``elided_by`` names the net that computes it without storing it."""
        self.put(None)
        self._base, self.ready, self.elided_by = None, False, elided_by


def _alert(watcher: Watcher) -> bool:
    watcher.stale = True
    return True
