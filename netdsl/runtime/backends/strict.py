"""The strict backend: NumPy behind CuPy's manners, so that bodies written on a CPU also run on a GPU.

Device arrays never turn into host arrays by themselves and never mix with them; only the names and the
keywords of CuPy exist (``cupy_manifest.json``, written by ``tools/cupy_manifest.py``); reductions and
single elements stay 0-d device arrays. It proves manners, not the numbers of a GPU.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.resources import files
from typing import Any

import numpy as np

from netdsl.ops.primitives import PRIMITIVES, UFUNCS
from netdsl.ops.xp import Array, Stream
from netdsl.runtime import special
from netdsl.runtime.backends import Backend, Offer
from netdsl.runtime.backends import numpy as host
from netdsl.runtime.backends.hoststream import HostStream
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.memory import Arena
from netdsl.runtime.values import numpy_dtype


@functools.cache
def manifest() -> dict[str, Any]:
    """Return the record of CuPy's names, parameters and loops."""
    return json.loads(files("netdsl.runtime.backends").joinpath("cupy_manifest.json").read_text("utf-8"))


ARRAY_PARAMETERS = {
    *("a", "b", "x", "y", "x1", "x2", "v", "ar", "ary", "array", "arr", "A", "tup", "prototype"),
    *("condition", "indices", "fill_value", "a_min", "a_max", "min", "max", "out", "value"),
}
"""Parameters by which CuPy takes device arrays; for every other (axes, shapes, counts) it wants Python values."""

FROM_ANYTHING = frozenset(["asarray", "ascontiguousarray", "full", "empty", "zeros", "ones", "arange"])
"""Functions that make device arrays of Python values; the others take device arrays only."""

_SCALARS = (bool, int, float, np.generic)


def refuse_host(value: Any, where: str) -> None:
    """Raise TypeError as CuPy does when it meets a host array."""
    raise TypeError(
        f"{where}: a {type(value).__name__} of the host cannot be mixed with device arrays; use xp.from_host"
    )


def wrap(value: Any) -> Any:
    """Return NumPy's result as CuPy would give it: every array, 0-d ones too, on the device."""
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, tuple | list):
        return type(value)(map(wrap, value)) if type(value) in (tuple, list) else tuple(map(wrap, value))
    return value


def unwrap(value: Any, where: str) -> Any:
    """Return what lies behind device arrays, in sequences too; refuse host arrays."""
    if isinstance(value, DeviceArray):
        return value._host
    if isinstance(value, np.ndarray):
        refuse_host(value, where)
    if isinstance(value, tuple | list):
        return type(value)(unwrap(v, where) for v in value)
    return value


def python_only(value: Any, where: str) -> Any:
    """Return a value that no device array is part of; CuPy would have to wait for the device to read it."""
    for item in value if isinstance(value, tuple | list) else (value,):
        if isinstance(item, DeviceArray | np.ndarray):
            raise TypeError(f"{where}: expected Python values, got a {type(item).__name__}")
    return value


def arguments(
    where: str, record: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return a call's arguments unwrapped, after checking their number, names and kinds against the record."""
    names: list[str] = record["positional"]
    if len(args) > len(names) and not record.get("any_positional"):
        raise TypeError(f"{where} takes {len(names)} positional arguments in CuPy, got {len(args)}")
    if not record.get("any_keyword"):
        for name in kwargs:
            if name not in record["keywords"]:
                raise TypeError(f"{where} has no keyword {name!r} in CuPy")
    padded = [*names, *[""] * (len(args) - len(names))]

    def checked(name: str, value: Any) -> Any:
        return (unwrap if name in ARRAY_PARAMETERS else python_only)(value, where)

    positional = [checked(n, v) for n, v in zip(padded, args, strict=False)]
    return positional, {n: checked(n, v) for n, v in kwargs.items()}


def check_loop(where: str, types: Sequence[str], args: Sequence[Any]) -> None:
    """Raise TypeError where CuPy has no loop for these dtypes."""
    kinds = [a.dtype for a in args if isinstance(a, np.ndarray | np.generic)]
    for loop in types:
        if all(np.can_cast(k, c, "safe") for k, c in zip(kinds, loop, strict=False)):
            return
    raise TypeError(f"{where} has no loop in CuPy for {', '.join(map(str, kinds))}")


def function(name: str) -> Callable[..., Any]:
    """Return NumPy's function of this name as CuPy's."""
    record, target = manifest()["functions"][name], getattr(np, name)
    where = f"xp.{name}"

    def call(*args: Any, **kwargs: Any) -> Any:
        plain, keywords = arguments(where, record, args, kwargs)
        if "types" in record:
            check_loop(where, record["types"], plain[: record["inputs"]])
        elif name not in FROM_ANYTHING and not _has_array(args[:1] or tuple(kwargs.values())[:1]):
            raise TypeError(f"{where}: CuPy wants a device array first, got a {type(args[0]).__name__}")
        if name in ("argsort", "sort"):
            keywords = _stable(where, keywords)
        return wrap(target(*plain, **keywords))

    call.__name__ = name
    return call


def own(name: str) -> Callable[..., Any]:
    """Return a primitive that NumPy lacks, which takes device arrays only."""
    return lambda *args: wrap(special.function(name)(*_arrays(name, *args)))


def _has_array(values: Sequence[Any]) -> bool:
    return any(isinstance(v, DeviceArray) or (isinstance(v, tuple | list) and _has_array(v)) for v in values)


def _stable(where: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """CuPy sorts stably, always, and knows no other kind."""
    if keywords.get("kind") not in (None, "stable"):
        raise TypeError(f"{where}: CuPy has no kind {keywords['kind']!r}, only 'stable'")
    return {**keywords, "kind": "stable"}


class DeviceArray:
    """An array that only functions of the backend can look into."""

    __slots__ = ("_host",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray) -> None:
        self._host = array

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a device array does not turn into a host array by itself; use xp.to_host")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        """NumPy scalars come here by their operators, as they do with CuPy."""
        name = UFUNCS.get(ufunc.__name__, ufunc.__name__)
        if method != "__call__" or name not in manifest()["functions"]:
            return NotImplemented
        return function(name)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        record = manifest()
        if name in record["attributes"] and hasattr(np.ndarray, name):
            return wrap(getattr(self._host, name))
        if name in record["methods"] and hasattr(np.ndarray, name):
            return functools.partial(self._call, name)
        raise AttributeError(f"a CuPy array has no {name!r} that NumPy shares")

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        where = f"ndarray.{name}"
        plain, keywords = arguments(where, manifest()["methods"][name], args, kwargs)
        if name in ("argsort", "sort"):
            keywords = _stable(where, keywords)
        return wrap(getattr(self._host, name)(*plain, **keywords))

    def __getitem__(self, index: Any) -> DeviceArray:
        return wrap(self._host[unwrap(index, "indexing")])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, DeviceArray | bool | int | float | np.generic):
            refuse_host(value, "assigning")
        self._host[unwrap(index, "indexing")] = unwrap(value, "assigning")

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return map(wrap, self._host)

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __repr__(self) -> str:
        return f"DeviceArray({self._host!r})"


def _operator(name: str) -> Callable[..., Any]:
    target = getattr(np.ndarray, name)

    def call(self: DeviceArray, *others: Any) -> Any:
        for other in others:
            if isinstance(other, np.ndarray):
                refuse_host(other, name)
            if not isinstance(other, (DeviceArray, *_SCALARS)):
                return NotImplemented
        result = target(self._host, *(unwrap(o, name) for o in others))
        if name.startswith("__i") and result is self._host:
            return self
        return result if result is NotImplemented else wrap(result)

    call.__name__ = name
    return call


_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
_BINARY += ["and", "or", "xor", "lshift", "rshift"]
for _name in [
    *(f"__{kind}{n}__" for n in _BINARY for kind in ("", "r", "i") if (kind, n) != ("i", "matmul")),
    *(f"__{n}__" for n in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert")),
]:
    setattr(DeviceArray, _name, _operator(_name))


class StrictModule:
    """The functions that CuPy has, and those that every backend supplies."""

    def __init__(self) -> None:
        record = manifest()
        for name in record["constants"]:
            setattr(self, name, getattr(np, name))
        for name in record["functions"]:
            setattr(self, name, function(name))
        for primitive in PRIMITIVES.values():
            if primitive.own:
                setattr(self, primitive.name, own(primitive.name))
        self._numpy: Any = host.make().xp

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"xp has no {name!r}: it is not in netdsl.ops.xp.ArrayModule, or CuPy lacks it")

    def dot(self, a: Array, b: Array) -> Array:
        return wrap(self._numpy.dot(*_arrays("dot", a, b)))

    def total(self, a: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return wrap(self._numpy.total(*_arrays("total", a), axis=python_only(axis, "total"), keepdims=keepdims))

    def scatter_add(self, target: Array, indices: Array, values: Array) -> None:
        self._numpy.scatter_add(*_arrays("scatter_add", target, indices, values))

    def windows(self, a: Array, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
        return wrap(self._numpy.windows(*_arrays("windows", a), kernel, stride, dilation))

    def array_of(self, values: Sequence[Any], dtype: Any) -> Array:
        if numpy_dtype(dtype).kind == "O":
            raise TypeError("array_of: CuPy has no arrays of strings; the operator belongs on the host")
        return wrap(self._numpy.array_of(values, dtype))

    def to_host(self, a: Array) -> np.ndarray:
        return _arrays("to_host", a)[0].copy()

    def from_host(self, a: np.ndarray) -> DeviceArray:
        if not isinstance(a, np.ndarray | np.generic):
            raise TypeError(f"from_host: expected a NumPy array, got a {type(a).__name__}")
        if a.dtype.kind == "O":
            raise TypeError("from_host: CuPy has no arrays of strings; they stay on the host")
        return DeviceArray(np.array(a, order="C"))


def _arrays(where: str, *values: Any) -> list[np.ndarray]:
    for value in values:
        if not isinstance(value, DeviceArray):
            raise TypeError(f"xp.{where}: expected a device array, got a {type(value).__name__}")
    return [v._host for v in values]


class StrictBackend(Backend):
    """Blobs are device arrays, whose memory is the host's."""

    name = "strict"
    engines = frozenset(["STRICT"])
    array_type = DeviceArray

    def __init__(self) -> None:
        self.xp: Any = StrictModule()
        self._numpy = host.make()

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> DeviceArray:
        return DeviceArray(self._numpy.empty(shape, dtype))

    def copyto(self, target: DeviceArray, source: DeviceArray) -> None:
        self._numpy.copyto(*_arrays("copyto", target, source))

    def to_host(self, a: DeviceArray) -> np.ndarray:
        return self.xp.to_host(a)

    def from_host(self, a: np.ndarray) -> DeviceArray:
        return self.xp.from_host(a)

    def stream(self, seed: int, name: str, path: Sequence[Any]) -> Stream:
        return HostStream(self._numpy.stream(seed, name, path), self.from_host)

    def group(self, group: Group) -> Offer | None:
        offer: Any = self._numpy.group(group)

        def make(buffers: Mapping[str, DeviceArray], shape: tuple[int, ...], scratch: Arena) -> list[Call] | None:
            return offer.make({name: array._host for name, array in buffers.items()}, shape, scratch)

        return Offer(make)

    def scope(self) -> AbstractContextManager[object]:
        return self._numpy.scope()


@functools.cache
def make() -> StrictBackend:
    """Return the one strict backend; it holds no state."""
    return StrictBackend()
