"""``Backend``: an array library and what it offers to run faster; ``get`` finds one by name."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, ClassVar

import attrs
import numpy as np

from netdsl.errors import NetError, did_you_mean
from netdsl.ir import OperatorDef, TensorType
from netdsl.ops.schema import Operator
from netdsl.ops.xp import Array, ArrayModule, Stream
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.memory import Arena, machine_bytes

Make = Callable[[Sequence[Any], Sequence[Any], Arena], list[Call]]
"""Binds an operator to arrays, given one value per formal input, the outputs as recorded, and where scratch
memory comes from: the calls that run it."""

MakeGroup = Callable[[Mapping[str, Any], tuple[int, ...], Arena], "list[Call] | None"]
"""Binds a group to its buffers by name and to the shape of its full arrays; None where these buffers forbid it."""

MakePiece = Callable[[Mapping[str, Any], Arena], list[Call]]
"""Binds consecutive operators to the arrays of every blob that they read and write."""


@attrs.frozen
class Offer:
    """A better way to run something than calling its operators' bodies one by one.

    ``cost`` is an estimate relative to that (1.0) from types alone, never from the clock, so that the same
    net always runs the same way. ``steps`` is how many operators a piece covers.
    """

    make: Any
    cost: float = 0.5
    steps: int = 1


class Later:
    """A call that makes way for a better one, once that is there: what is compiled in the background.

    An offer's ``make`` returns ``(later, ())`` for one of its calls. Whoever compiles sets ``better`` when it
    likes, to a call that computes the same bits; from the next time on that is called in the place of this.
    """

    __slots__ = ("at", "better", "calls", "present")

    def __init__(self, present: Call) -> None:
        self.present = present
        self.better: Call | None = None
        self.calls: list[Call] | None = None
        self.at = 0

    def __call__(self) -> None:
        function, arguments = self.better or self.present
        if self.better is not None and self.calls is not None:
            self.calls[self.at] = self.better
        function(*arguments)


class Backend(abc.ABC):
    """An array library. Arrays of a backend know ``shape``, ``dtype`` and ``nbytes``; buffers are C-contiguous.

    Attributes:
        name: what :func:`get` finds it by; nothing else depends on it.
        engines: which values of an operator record's ``engine`` mean this backend.
        on_host: its arrays are NumPy arrays; such backends share their blobs.
    """

    name: ClassVar[str]
    engines: ClassVar[frozenset[str]] = frozenset()
    on_host: ClassVar[bool] = False
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
    def stream(self, seed: int, name: str, path: Sequence[Any]) -> Stream:
        """Return the random numbers of one stream in one run (see :mod:`netdsl.runtime.random`)."""

    def scope(self) -> AbstractContextManager[object]:
        """What surrounds every run (floating-point error state, current device)."""
        return nullcontext()

    def memory(self) -> int:
        """Bytes of memory that its arrays can have."""
        return machine_bytes()

    def event(self) -> Any:
        """Mark what was asked of a device so far; None where nothing runs behind the caller's back."""
        return None

    def wait_for(self, event: Any) -> None:
        """Let what is asked from now on wait for what an event marks."""
        return

    # offers

    def kernel(
        self, op: Operator, inputs: Sequence[Any], outputs: Sequence[TensorType], *, inplace: bool
    ) -> Offer | None:
        """Offer to run one pure operator, given the static types of its inputs by formal and of its outputs.

        ``inplace`` tells that an output is also an input. The offer's ``make`` is a :data:`Make`.
        """
        return None

    def group(self, group: Group) -> Offer | None:
        """Offer to run a finished elementwise group, of arrays of any size; ``make`` is a :data:`MakeGroup`.

        It computes the bits of the bodies: a first run, which is interpreted, has no groups.
        """
        return None

    def piece(self, ops: Sequence[tuple[OperatorDef, Operator]], types: Mapping[str, Any]) -> Offer | None:
        """Offer to run the first few of these operators, all of them pure and of static types, as one.

        The planner asks at the start of every run of such operators, and behind every piece. ``make`` is a
        :data:`MakePiece`. Where it computes other bits than the bodies, so does a first run, which is interpreted.
        """
        return None


def engine_of(backends: Sequence[Backend], engine: str) -> tuple[Backend, ...]:
    """Return those of ``backends`` that an operator record's ``engine`` allows: all, where it means none of them."""
    if engine:
        wanted = {part.strip().upper() for part in engine.split(",")}
        if found := tuple(b for b in backends if not b.engines.isdisjoint(wanted)):
            return found
    return tuple(backends)


def best(offers: Sequence[Offer | None]) -> Offer | None:
    """Return the cheapest offer, of equal ones the first; None where calling the bodies is cheaper."""
    found = None
    for offer in offers:
        if offer is not None and offer.cost < (1.0 if found is None else found.cost):
            found = offer
    return found


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
