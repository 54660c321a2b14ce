"""Half precision in hot kernels: computing on float32 scratch memory, converted by fast means.

NumPy converts to half one element at a time, and a hundred times slower where the results are
subnormal, as those of gradients often are; ``netdsl.runtime.half`` does it in vector operations.
"""

from __future__ import annotations

import numpy as np

from netdsl.runtime.backends import Call
from netdsl.runtime.blocks import Blocks
from netdsl.runtime.memory import Arena
from netdsl.runtime.trace import Graph

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def convert(target: np.ndarray, source: np.ndarray, scratch: Arena) -> list[Call]:
    """The calls that copy one contiguous array into another of the same shape, converting it."""
    if target.dtype == source.dtype:
        return [(np.copyto, (target, source))]
    graph = Graph()
    given = graph.node("input", (), source.dtype, "source", source.shape)
    outputs = {"target": graph.cast(given, target.dtype)}
    return Blocks(graph, outputs, source.size).bind({"source": source, "target": target}, source.shape, scratch)


class Wide:
    """Stands for arrays of halves by float32 ones: ``before`` reads them, ``after`` rounds them back.

    Arrays of other dtypes stand for themselves.
    """

    def __init__(self, scratch: Arena) -> None:
        self._scratch = scratch
        self.before: list[Call] = []
        self.after: list[Call] = []

    def read(self, a: np.ndarray) -> np.ndarray:
        """Return what holds the values of ``a`` once ``before`` ran."""
        if a.dtype != HALF:
            return a
        made = self._scratch(a.shape, SINGLE)
        self.before += convert(made, a, self._scratch)
        return made

    def write(self, a: np.ndarray) -> np.ndarray:
        """Return what to write for ``after`` to bring it to ``a``."""
        if a.dtype != HALF:
            return a
        made = self._scratch(a.shape, SINGLE)
        self.after += convert(a, made, self._scratch)
        return made

    def around(self, calls: list[Call]) -> list[Call]:
        """Return ``calls`` between ``before`` and ``after``."""
        return [*self.before, *calls, *self.after]
