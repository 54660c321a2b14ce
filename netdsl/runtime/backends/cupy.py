"""The CuPy backend: blobs live on a GPU; the only module that imports CuPy."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netdsl.errors import MissingExtraError, RunError
from netdsl.ops.primitives import PRIMITIVES
from netdsl.ops.xp import Array, Stream
from netdsl.runtime.backends import Backend, Offer
from netdsl.runtime.backends import numpy as host
from netdsl.runtime.backends.hoststream import HostStream
from netdsl.runtime.backends.strict import manifest
from netdsl.runtime.cuda_source import OPTIONS, PREAMBLE, Kernel, kernels, pieces
from netdsl.runtime.groups import Call, Group
from netdsl.runtime.memory import Arena


@functools.cache
def library() -> Any:
    """Return the ``cupy`` module, imported on first use.

    Raises:
        MissingExtraError: CuPy is not installed.
    """
    try:
        import cupy  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingExtraError(
            "the cupy backend needs CuPy", why=error, install="pip install 'netdsl[cupy]'", extra="cupy"
        ) from error
    return cupy


class CupyModule:
    """CuPy's functions under the names of ArrayModule, and those that every backend supplies."""

    def __init__(self) -> None:
        self._cupy, self._numpy = library(), host.make().xp
        for name in (*manifest()["constants"], *manifest()["functions"]):
            setattr(self, name, getattr(self._cupy, name))

    def dot(self, a: Array, b: Array) -> Array:
        if a.dtype == np.float16:  # by way of float32, whatever cuBLAS chooses to accumulate halves in
            return self._cupy.matmul(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
        return self._cupy.matmul(a, b)

    def total(self, a: Array, axis: Any = None, keepdims: bool = False) -> Array:
        if a.dtype == np.float16:
            return self._cupy.sum(a, axis=axis, dtype=np.float32, keepdims=keepdims).astype(np.float16)
        return self._cupy.sum(a, axis=axis, dtype=a.dtype, keepdims=keepdims)

    def __getattr__(self, name: str) -> Any:
        if name not in PRIMITIVES or not PRIMITIVES[name].own:
            raise AttributeError(f"xp has no {name!r}")
        from cupyx.scipy import special  # pyright: ignore[reportMissingImports]

        return getattr(special, name)

    def scatter_add(self, target: Array, indices: Array, values: Array) -> None:
        """As declared; the atomic additions of one element come in any order."""
        if target.dtype in (np.float32, np.float64, np.int32):
            target.scatter_add(indices, values.astype(target.dtype, copy=False))
        elif target.dtype == np.int64:  # two's complement: the same bits, and there is an atomic addition
            target.view(np.uint64).scatter_add(indices, values.astype(np.int64, copy=False).view(np.uint64))
        else:
            wide = target.astype(np.float32 if target.dtype == np.float16 else np.int32)
            wide.scatter_add(indices, values.astype(wide.dtype))
            target[...] = wide.astype(target.dtype)

    def windows(self, a: Array, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Array:
        shape, strides = host.windows_of(a.shape, a.strides, kernel, stride, dilation)
        return self._cupy.lib.stride_tricks.as_strided(a, shape, strides)

    def array_of(self, values: Sequence[Any], dtype: Any) -> Array:
        return self.from_host(self._numpy.array_of(values, dtype))

    def to_host(self, a: Array) -> np.ndarray:
        return self._cupy.asnumpy(a)

    def from_host(self, a: np.ndarray) -> Array:
        if a.dtype.kind == "O":
            raise TypeError("from_host: CuPy has no arrays of strings; they stay on the host")
        return self._cupy.array(a, order="C")


@functools.lru_cache(maxsize=1024)
def compiled(kernel: Kernel) -> Any:
    """Return CuPy's kernel of this source; CuPy compiles it when it is first called, and caches it on disk."""
    return library().ElementwiseKernel(
        kernel.inputs,
        kernel.outputs,
        kernel.body,
        "netdsl_group",
        preamble=PREAMBLE,
        loop_prep=kernel.prologue,
        options=OPTIONS,
        no_return=True,
    )


class CupyBackend(Backend):
    """Blobs are CuPy arrays on the current device; nothing moves by itself."""

    name = "cupy"
    engines = frozenset(["CUPY"])

    def __init__(self) -> None:
        self._cupy, self._numpy = library(), host.make()
        self.array_type = self._cupy.ndarray
        self.xp: Any = CupyModule()

    def empty(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        return self._cupy.empty(tuple(shape), dtype)

    def copyto(self, target: Array, source: Array) -> None:
        if self._cupy.may_share_memory(target, source):
            source = source.copy()
        self._cupy.copyto(target, source)

    def to_host(self, a: Array) -> np.ndarray:
        return self.xp.to_host(a)

    def from_host(self, a: np.ndarray) -> Array:
        return self.xp.from_host(a)

    def stream(self, seed: int, name: str, path: Sequence[Any]) -> Stream:
        return HostStream(self._numpy.stream(seed, name, path), self.from_host)

    def memory(self) -> int:
        return int(self._cupy.cuda.runtime.memGetInfo()[1])

    def event(self) -> Any:
        stream, event = self._cupy.cuda.get_current_stream(), self._cupy.cuda.Event(disable_timing=True)
        event.record(stream)
        return event, stream.ptr

    def wait_for(self, event: Any) -> None:
        stream = self._cupy.cuda.get_current_stream()
        if stream.ptr != event[1]:  # a stream does what it is asked in order
            stream.wait_event(event[0])

    def group(self, group: Group) -> Offer | None:
        parts = pieces(group)
        sources = [[(kernel, compiled(kernel)) for kernel in kernels(part)] for part in parts]

        def make(buffers: Mapping[str, Array], shape: tuple[int, ...], scratch: Arena) -> list[Call] | None:
            arrays = {name: buffers[name] for name in group.buffers}
            bounds = sorted((a.data.ptr, a.data.ptr + a.nbytes) for a in arrays.values() if a.nbytes)
            apart = all(high <= low for (_, high), (low, _) in itertools.pairwise(bounds))
            if not apart or not all(a.flags.c_contiguous for a in arrays.values()):
                return None
            flat = {name: a.reshape(-1) for name, a in arrays.items()}
            known, memory = group.shapes(shape), scratch.on(self, self._bytes)
            for name in itertools.chain.from_iterable(part.buffers for part in parts):
                if name not in flat:  # one piece leaves it to the next; the group as a whole does not store it
                    dtype, extents = known[name]
                    flat[name] = memory((math.prod(extents),), dtype)
            return [
                (run, tuple(flat[name] for name in (*kernel.loads, *kernel.uniforms, *kernel.stores)))
                for kernel, run in itertools.chain.from_iterable(sources)
            ]

        return Offer(make)

    def _bytes(self, size: int) -> Array:
        return self._cupy.empty((size,), np.uint8)


@functools.cache
def make() -> CupyBackend:
    """Return the one CuPy backend; it holds no state.

    Raises:
        MissingExtraError: CuPy is not installed.
        RunError: there is no GPU, or its driver does not answer.
    """
    cupy = library()
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RunError("the cupy backend needs a GPU", why=error, instead="backend 'numpy'") from error
    if not count:
        raise RunError("the cupy backend needs a GPU", found="none", instead="backend 'numpy'")
    return CupyBackend()
