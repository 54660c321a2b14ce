"""``Backend``: what the runtime must know of an array library, and ``get`` to find one by name."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netdsl.errors import NetError, did_you_mean
from netdsl.ops.xp import Array, ArrayModule, Stream

if TYPE_CHECKING:
    from netdsl.runtime.groups import Group

Call = tuple[Callable[..., object], tuple[object, ...]]
"""A function bound to the very values it is called with."""


class Backend(abc.ABC):
    """An array library. Arrays of a backend know ``shape``, ``dtype`` and ``nbytes``; buffers are C-contiguous."""

    name: ClassVar[str]
    array_type: type[Any]
    xp: ArrayModule

    def is_array(self, value: object) -> bool:
        """Whether ``value`` is an array of this backend."""
        return isinstance(value, self.array_type)

    @abc.abstractmethod
    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return a new buffer of undefined content."""

    @abc.abstractmethod
    def copyto(self, target: Array, source: Array) -> None:
        """Copy between arrays of this backend that agree in shape and dtype; they may overlap."""

    @abc.abstractmethod
    def to_host(self, a: Array) -> np.ndarray:
        """Return the same values as a NumPy array."""

    @abc.abstractmethod
    def from_host(self, a: np.ndarray) -> Array:
        """Return the values of a NumPy array as a new array of this backend."""

    @abc.abstractmethod
    def stream(self, seed: int, net: str, output: str, run: int) -> Stream:
        """Return the random numbers of one output in one run (see :mod:`netdsl.runtime.random`)."""

    def compile_group(self, group: Group, buffers: Mapping[str, Array]) -> list[Call] | None:
        """Return calls that run an elementwise group on these buffers; None to run its operators one by one."""
        return None

    def scope(self) -> AbstractContextManager[object]:
        """What surrounds every run (floating-point error state, current device)."""
        return nullcontext()


NAMES = ("numpy", "strict", "cupy")


def get(name: str | Backend) -> Backend:
    """Return a backend by name; each is one module, imported on first use, whose ``make()`` returns it.

    Raises:
        NetError: no backend is called so.
        MissingExtraError: its array library is not installed.
    """
    if isinstance(name, Backend):
        return name
    if name not in NAMES:
        near = did_you_mean(str(name), NAMES)
        raise NetError(f"no backend is called {name!r}", expected=", ".join(NAMES), did_you_mean=near)
    return import_module(f"netdsl.runtime.backends.{name}").make()
