"""The NumPy backend, which is also what every other backend calls the host."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from netdsl.ir import Packed, TensorType
from netdsl.ops.primitives import PRIMITIVES
from netdsl.ops.schema import Operator
from netdsl.ops.xp import Array, ArrayModule, Stream
from netdsl.runtime import special
from netdsl.runtime.backends import Backend, Offer
from netdsl.runtime.blocks import Blocks
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.kernels.numpy import kernel
from netdsl.runtime.memory import Arena
from netdsl.runtime.random import PhiloxStream
from netdsl.runtime.values import numpy_dtype


def windows_of(
    shape: Sequence[int], strides: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides of the view that :meth:`ArrayModule.windows` describes."""
    lead = len(shape) - len(kernel)
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(shape[lead:], kernel, stride, dilation, strict=True)]
    steps = [t * s for t, s in zip(strides[lead:], stride, strict=True)]
    inner = [t * d for t, d in zip(strides[lead:], dilation, strict=True)]
    return (*shape[:lead], *counts, *kernel), (*strides[:lead], *steps, *inner)


class NumpyModule:
    """NumPy's functions under the names of :class:`ArrayModule`, and those that every backend supplies."""

    def __init__(self) -> None:
        for name in (*ArrayModule.__annotations__, *vars(ArrayModule)):
            if not name.startswith("_") and not hasattr(type(self), name):
                setattr(self, name, special.function(name) if name in PRIMITIVES else getattr(np, name))

    def dot(self, a: Array, b: Array) -> Array:
        if a.dtype == np.float16:
            return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
        return np.matmul(a, b)

    def total(self, a: Array, axis: Any = None, keepdims: bool = False) -> Array:
        if a.dtype == np.float16:
            return np.sum(a, axis=axis, dtype=np.float32, keepdims=keepdims).astype(np.float16)
        return np.sum(a, axis=axis, dtype=a.dtype, keepdims=keepdims)

    def scatter_add(self, target: Array, indices: Array, values: Array) -> None:
        np.add.at(target, indices, values)

    def windows(self, a: Array, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
        shape, strides = windows_of(a.shape, a.strides, kernel, stride, dilation)
        return np.lib.stride_tricks.as_strided(a, shape, strides, writeable=False)

    def array_of(self, values: Sequence[Any], dtype: Any) -> Array:
        wanted = numpy_dtype(dtype)
        if isinstance(values, Packed):
            return np.frombuffer(values.data, "<f4" if values.code == "f" else "<i8").astype(wanted)
        if wanted.hasobject:
            values = [v.encode() if isinstance(v, str) else v for v in values]
        return np.array(values, wanted)

    def to_host(self, a: Array) -> np.ndarray:
        return a

    def from_host(self, a: np.ndarray) -> Array:
        return a


class NumpyBackend(Backend):
    """Blobs are NumPy arrays. It offers hot kernels, and groups as blocks that stay in the cache."""

    name = "numpy"
    engines = frozenset(["NUMPY"])
    on_host = True
    array_type = np.ndarray

    def __init__(self) -> None:
        self.xp: Any = NumpyModule()

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
        return np.empty(tuple(shape), dtype)

    def copyto(self, target: np.ndarray, source: np.ndarray) -> None:
        np.copyto(target, source)

    def to_host(self, a: np.ndarray) -> np.ndarray:
        return a

    def from_host(self, a: np.ndarray) -> np.ndarray:
        return np.array(a, order="C")

    def stream(self, seed: int, name: str, path: Sequence[Any]) -> Stream:
        return PhiloxStream(seed, name, path)

    def scope(self) -> AbstractContextManager[object]:
        return np.errstate(all="ignore")

    def kernel(
        self, op: Operator, inputs: Sequence[Any], outputs: Sequence[TensorType], *, inplace: bool
    ) -> Offer | None:
        found = kernel.find(op, inplace)
        make = None if found is None else found(op, inputs, outputs)
        return None if make is None else Offer(make)

    def group(self, group: Group) -> Offer | None:
        blocks = Blocks(group.graph, group.outputs, group.size)

        def make(buffers: Mapping[str, np.ndarray], shape: tuple[int, ...], scratch: Arena) -> list[Call] | None:
            arrays = [buffers[name] for name in group.buffers]
            if not all([a.flags.c_contiguous and a.flags.aligned for a in arrays]) or overlap(arrays):
                return None
            return blocks.bind(buffers, shape, scratch)

        return Offer(make)


def overlap(arrays: Iterable[np.ndarray]) -> bool:
    """Whether any two share memory, by sorted address ranges: there may be thousands."""
    bounds = sorted([np.lib.array_utils.byte_bounds(a) for a in arrays if a.size])
    return any(low < high for (_, high), (low, _) in itertools.pairwise(bounds))


@functools.lru_cache(maxsize=1)
def make() -> NumpyBackend:
    """Return the one NumPy backend; it holds no state."""
    return NumpyBackend()
