"""Matrix products for hot kernels; those of halves go by way of float32 scratch memory."""

from __future__ import annotations

import numpy as np

from netdsl.runtime.backends import Call


class Wide:
    """Collects the calls that widen halves, each array once, before the products that read them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._wide: dict[int, np.ndarray] = {}

    def read(self, a: np.ndarray) -> np.ndarray:
        """Return ``a``, or for halves the scratch array that will hold its values in float32."""
        if a.dtype != np.float16:
            return a
        found = self._wide.get(id(a))
        if found is None:
            found = self._wide[id(a)] = np.empty(a.shape, np.float32)
            self.calls.append((np.copyto, (found, a)))
        return found

    def product(self, a: np.ndarray, b: np.ndarray, target: np.ndarray) -> list[Call]:
        """The calls for ``target = a @ b``; operands have been through :meth:`read`."""
        if target.dtype != np.float16:
            return [(np.matmul, (a, b, target))]
        wide = np.empty(target.shape, np.float32)
        return [(np.matmul, (a, b, wide)), (np.copyto, (target, wide))]
