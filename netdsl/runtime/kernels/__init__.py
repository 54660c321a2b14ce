"""Hot kernels: faster ways to run one operator on one backend, found by the operator's class.

The kernel of ``netdsl.ops.nn.fc.FC`` for NumPy is registered by ``netdsl/runtime/kernels/numpy/nn/fc.py``,
which is imported when a plan first meets that operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from netdsl.ir import TensorType
from netdsl.ops.schema import Operator
from netdsl.runtime.backends import Call

Make = Callable[[Sequence[Any], Sequence[Any]], list[Call]]
"""Binds a kernel to arrays, given one value per formal input and the outputs as recorded: the calls that run it."""

Kernel = Callable[[Any, Sequence[Any], Sequence[TensorType]], "Make | None"]
"""Decides from the operator and the static types of inputs (by formal) and outputs whether it covers the case."""

_KERNELS: dict[tuple[type[Operator], str], tuple[Kernel, bool]] = {}
_OPERATORS = "netdsl.ops."


def kernel(operator: type[Operator], backend: str, *, inplace: bool = False) -> Callable[[Kernel], Kernel]:
    """Register a hot kernel. Unless ``inplace``, it is never given an output that is also an input."""

    def register(function: Kernel) -> Kernel:
        _KERNELS[operator, backend] = (function, inplace)
        return function

    return register


def find(op: Operator, backend: str, inplace: bool) -> Kernel | None:
    """Return the hot kernel of an operator that a backend has, if it may be used."""
    cls = type(op)
    if cls.__module__.startswith(_OPERATORS):
        _load(f"{__name__}.{backend}.{cls.__module__.removeprefix(_OPERATORS)}")
    function, able = _KERNELS.get((cls, backend), (None, False))
    return function if able or not inplace else None


@functools.cache
def _load(module: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise
