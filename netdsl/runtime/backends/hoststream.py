"""Random numbers made on the host and delivered to a device: the same words for every backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from netdsl.ops.xp import Array, Stream


class HostStream:
    """A stream whose results pass through ``put`` on their way."""

    def __init__(self, stream: Stream, put: Callable[[Any], Array]) -> None:
        self._stream, self._put = stream, put

    def uniform(self, shape: Sequence[int], low: float = 0.0, high: float = 1.0) -> Array:
        return self._put(self._stream.uniform(shape, low, high))

    def normal(self, shape: Sequence[int], mean: float = 0.0, std: float = 1.0) -> Array:
        return self._put(self._stream.normal(shape, mean, std))

    def integers(self, shape: Sequence[int], low: int, high: int) -> Array:
        return self._put(self._stream.integers(shape, low, high))

    def keep(self, shape: Sequence[int], ratio: float) -> Array:
        return self._put(self._stream.keep(shape, ratio))
