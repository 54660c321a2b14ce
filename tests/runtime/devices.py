"""What every backend with arrays of its own must do; run on strict everywhere, on CuPy where a GPU is."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.runtime.backends import Backend, get
from netdsl.runtime.memory import Arena, Budget
from tests.runtime.cuda_programs import compiled
from tests.runtime.formulas import assert_same, full

LIBRARY_FUNCTIONS = ("adam",)
"""Programs that call functions whose last bits belong to a library."""


def check_groups(backend: Backend) -> None:
    """Groups compute, on the device's own buffers, what their bodies compute plainly on NumPy."""
    for name, _, arrays, plain, _, group in compiled(3001):
        own = {k: backend.from_host(arrays.get(k, np.zeros_like(a))) for k, a in plain.items()}
        offer = backend.group(group)
        assert offer is not None
        calls = offer.make(own, group.shape, Arena(Budget(1 << 40)).begin())
        assert calls is not None
        with backend.scope():
            for function, args in calls:
                function(*args)
        for k, array in own.items():
            if name in LIBRARY_FUNCTIONS:
                np.testing.assert_allclose(backend.to_host(array), plain[k], rtol=1e-6)
            else:
                assert_same(backend.to_host(array), plain[k], f"{k} of {name}")


def check_streams(backend: Backend) -> None:
    """Random numbers are the same words everywhere."""
    for draw in (
        lambda s: s.uniform((7, 3), -1.0, 2.0),
        lambda s: s.normal((7, 3), 1.0, 0.5),
        lambda s: s.integers((100,), -3, 9),
        lambda s: s.keep((100,), 0.3),
    ):
        here, there = draw(get("numpy").stream(1, "x", (2,))), draw(backend.stream(1, "x", (2,)))
        assert backend.is_array(there)
        assert_same(backend.to_host(there), here)


def check_supplied(backend: Backend) -> None:
    """The functions that each backend supplies itself agree with NumPy's."""
    xp, reference = backend.xp, get("numpy").xp
    put, take = backend.from_host, backend.to_host
    a, b = full((6, 5), 0, 1, "f4"), full((5, 4), 1, 1, "f4")
    a, b = np.nan_to_num(a, posinf=1, neginf=-1), np.nan_to_num(b, posinf=1, neginf=-1)
    a, b = np.clip(a, -9, 9), np.clip(b, -9, 9)
    for dtype, near in (("f4", {"rtol": 1e-5, "atol": 1e-5}), ("f2", {"rtol": 2e-3, "atol": 2e-3})):
        x, y = a.astype(dtype), b.astype(dtype)
        np.testing.assert_allclose(take(xp.dot(put(x), put(y))), reference.dot(x, y), **near)
        np.testing.assert_allclose(take(xp.total(put(x), 0, True)), reference.total(x, 0, True), **near)
        np.testing.assert_allclose(take(xp.erf(put(x))), reference.erf(x), **near)
    index = np.array([0, 5, 0, 2], "i4")
    for dtype in ("f4", "f8", "f2", "i4", "i8", "u1"):
        target, values = np.arange(12).reshape(6, 2).astype(dtype), np.arange(8).reshape(4, 2).astype(dtype)
        own = put(target)
        xp.scatter_add(own, put(index), put(values))
        reference.scatter_add(target, index, values)
        assert_same(take(own), target, dtype)
    image = np.arange(2 * 7 * 8, dtype="f4").reshape(2, 7, 8)
    shape = ((3, 2), (2, 1), (1, 3))
    assert_same(take(xp.windows(put(image), *shape)), np.array(reference.windows(image, *shape)))
    assert_same(take(xp.array_of((1.5, 2.5), "float16")), np.array([1.5, 2.5], "f2"))


def check_copying(backend: Backend) -> None:
    """Buffers are copied in and out, also onto themselves."""
    array = np.arange(6, dtype="f4")
    own = backend.from_host(array)
    array[:] = 0
    there = backend.empty((6,), np.dtype("f4"))
    backend.copyto(there, own)
    backend.copyto(own[1:], own[:-1])
    backend.to_host(there)[:] = 9
    np.testing.assert_array_equal(backend.to_host(there), np.arange(6))
    np.testing.assert_array_equal(backend.to_host(own), [0, 0, 1, 2, 3, 4])
    with pytest.raises(TypeError, match="stay on the host"):
        backend.from_host(np.array([b"text"], object))


CHECKS = [check_groups, check_streams, check_supplied, check_copying]
