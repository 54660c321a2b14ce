"""Hot kernels: faster ways to run one operator, which a backend offers, found by the operator's class.

The kernel of ``netdsl.ops.nn.fc.FC`` for NumPy is registered by ``netdsl/runtime/kernels/numpy/nn/fc.py``,
which is imported when a net with that operator first runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from netdsl.ir import TensorType
from netdsl.ops.schema import Operator
from netdsl.runtime.backends import Make

Kernel = Callable[[Any, Sequence[Any], Sequence[TensorType]], "Make | None"]
"""Decides from the operator and the static types of inputs (by formal) and outputs whether it covers the case."""

_OPERATORS = "netdsl.ops."


class Registry:
    """The kernels of one array library, whose modules lie in ``package`` as the operators' do in ``netdsl.ops``."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._kernels: dict[type[Operator], tuple[Kernel, bool]] = {}
        self._known: set[type[Operator]] = set()

    def __call__(self, operator: type[Operator], *, inplace: bool = False) -> Callable[[Kernel], Kernel]:
        """Register a hot kernel. Unless ``inplace``, it is never given an output that is also an input."""

        def register(function: Kernel) -> Kernel:
            self._kernels[operator] = (function, inplace)
            return function

        return register

    def find(self, op: Operator, inplace: bool) -> Kernel | None:
        """Return the hot kernel of an operator, if it may be used."""
        cls = type(op)
        if cls not in self._known:
            if cls.__module__.startswith(_OPERATORS):
                _load(f"{self._package}.{cls.__module__.removeprefix(_OPERATORS)}")
            self._known.add(cls)
        function, able = self._kernels.get(cls, (None, False))
        return function if able or not inplace else None


@functools.cache
def _load(module: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise
