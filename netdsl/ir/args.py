"""Argument values: what they may be, how they are normalised, and when two are the same."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

from netdsl.errors import NetError, SchemaError

PACKED_FROM = 48
"""Numeric lists of at least this length are stored packed."""

DEEPEST = 40
"""How many nets may stand within one another."""

_INT64_MIN, _UINT64_MAX = -(2**63), 2**64 - 1


@attrs.frozen
class Packed(Sequence[Any]):
    """A long, immutable list of numbers: ``code`` is ``"f"`` (float32) or ``"q"`` (int64), little-endian.

    ``memoryview(packed.data).cast(packed.code)`` reads it without a copy.
    """

    code: str
    data: bytes = attrs.field(repr=lambda data: f"<{len(data)} bytes>")

    @property
    def view(self) -> memoryview:
        return memoryview(self.data).cast(self.code)  # type: ignore[call-overload]

    def __len__(self) -> int:
        return len(self.data) // (4 if self.code == "f" else 8)

    def __getitem__(self, index: Any) -> Any:
        found = cast("Any", self.view)[index]
        return tuple(found) if isinstance(index, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.view)


ArgValue = Any
"""One argument: an int, float, str, bytes, NetDef, or a tuple (or Packed) of one kind of these."""


def float32(value: float) -> float:
    """Round to the nearest float32; what overflows becomes infinite."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def normalize(value: Any) -> Any:
    """Return ``value`` as an argument: bools as ints, floats rounded to float32, lists as tuples or Packed.

    Raises:
        SchemaError: a value that no argument can hold, or a list of several kinds.
        NetError: a net with more than ``DEEPEST`` within one another.
    """
    kind = cast("type[Any]", type(value))
    if kind is int or kind is str:
        return _checked_int(value) if kind is int else value
    if kind is float:
        return float32(value)
    if kind is bool:
        return int(value)
    if isinstance(value, bytes | bytearray):
        return _text(bytes(value))
    if isinstance(value, Packed):
        return value if len(value) >= PACKED_FROM else tuple(value)
    if isinstance(value, list | tuple | range | array):
        return _normalize_list(value)
    return str(value) if isinstance(value, str) else _normalize_object(value)


def _normalize_object(value: Any) -> Any:
    """Return what an object stands for, by what it can do; nothing it may come from is imported."""
    if isinstance(value, type):
        raise SchemaError("an argument cannot hold a class", got=value.__name__)
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return normalize(value.tolist())
    if hasattr(value, "definition"):
        value = value.definition
    if hasattr(value, "ops") and hasattr(value, "inputs"):
        if _depth(value) >= DEEPEST:
            raise NetError("nets are nested too deep", expected=f"at most {DEEPEST} within one another")
        return value
    if hasattr(value, "number") and hasattr(value, "itemsize"):  # a DType
        return value.number
    if hasattr(value, "__index__"):
        return _checked_int(value.__index__())
    if hasattr(value, "__float__"):
        return float32(float(value))
    if hasattr(value, "name") and isinstance(value.name, str):  # a Blob
        return value.name
    raise SchemaError(
        f"an argument cannot hold a {type(value).__name__}",
        expected="int, float, bool, str, bytes, a net, or a list of one of these",
        got=repr(value)[:80],
    )


def _depth(net: Any) -> int:
    """How many nets stand within one another, ``net`` included."""
    return 1 + max((_depth(inner) for op in net.ops if op.args for _, inner in op.nested), default=0)


def _checked_int(value: int) -> int:
    if not _INT64_MIN <= value <= _UINT64_MAX:
        raise SchemaError("an integer argument has at most 64 bits", got=value)
    return value - 2**64 if value > 2**63 - 1 else value


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _normalize_list(values: Any) -> Any:
    items: list[Any] = [normalize(v) for v in values]
    if not items:
        return ()
    kinds: set[type[Any]] = {type(v) for v in items}
    if kinds == {int, float}:
        items, kinds = [float32(float(v)) for v in items], {float}
    if len(kinds - {str, bytes}) > (0 if kinds & {str, bytes} else 1) or kinds & {tuple, Packed}:
        raise SchemaError(
            "a list argument holds values of one kind",
            expected="all numbers, all texts or all nets",
            got=", ".join(sorted(k.__name__ for k in kinds)),
        )
    if len(items) >= PACKED_FROM and kinds in ({int}, {float}):
        code = "q" if kinds == {int} else "f"
        return Packed(code, struct.pack(f"<{len(items)}{code}", *items))
    return tuple(items)


def identity(value: Any) -> Any:
    """Return a hashable key under which equal kind and bits mean equal (1 is not 1.0, NaN equals itself)."""
    if type(value) is float:
        return struct.pack("<d", value)
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return (tuple, *map(identity, items))
    return (type(value), value)


_PLAIN = frozenset({int, float, str, bytes, Packed})


class Args(Mapping[str, Any]):
    """The arguments given to an operator or a net: immutable, sorted by name, compared by kind and bits."""

    __slots__ = ("_hash", "_key", "_values", "has_nets")

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        items = sorted((values or {}).items())
        self._values = {name: normalize(value) for name, value in items if value is not None}
        self._key: Any = None
        self._hash = 0
        self.has_nets = False
        """Whether an argument is a net or a list of nets: asked of every operator, so it is found once."""
        for value in self._values.values():
            first = cast("Any", value[0] if type(value) is tuple and value else value)
            if type(first) not in _PLAIN and hasattr(first, "ops"):
                self.has_nets = True

    @property
    def key(self) -> tuple[Any, ...]:
        """What equality and hash are made of."""
        if self._key is None:
            self._key = tuple((name, identity(value)) for name, value in self._values.items())
            self._hash = hash(self._key)
        return self._key

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Args) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key) if self._key is None else self._hash

    def __repr__(self) -> str:
        return f"Args({self._values!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Args, (self._values,)


NO_ARGS = Args()


def as_args(values: Mapping[str, Any]) -> Args:
    """Return ``values`` as Args (itself if it is one); used as an attrs converter."""
    if isinstance(values, Args):
        return values
    return Args(values) if values else NO_ARGS
