"""The strict backend has CuPy's manners."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.runtime.backends import get
from netdsl.runtime.backends.strict import DeviceArray
from tests.runtime.devices import CHECKS

BACKEND = get("strict")
xp = BACKEND.xp


@pytest.fixture
def x() -> DeviceArray:
    return BACKEND.from_host(np.arange(12, dtype="f4").reshape(3, 4))


@pytest.mark.parametrize("check", CHECKS)
def test_device(check):
    check(BACKEND)


REFUSED = {
    "mixing by an operator": lambda x: x + np.ones((3, 4), "f4"),
    "mixing from the left": lambda x: np.ones((3, 4), "f4") * x,
    "comparing with a host array": lambda x: x == np.ones((3, 4), "f4"),
    "a host array in a function": lambda x: xp.maximum(x, np.zeros(4, "f4")),
    "a host array in a list": lambda x: xp.concatenate([x, np.zeros((1, 4), "f4")]),
    "a host array as index": lambda x: x[np.array([0, 1])],
    "assigning a host array": lambda x: x.__setitem__(0, np.zeros(4, "f4")),
    "a list as operand": lambda x: x * [1, 2, 3, 4],
    "becoming a host array": lambda x: np.asarray(x),
    "a host array made device array": lambda x: xp.asarray(np.zeros(3)),
    "from_host of a device array": lambda x: BACKEND.from_host(x),
    "to_host of a host array": lambda x: BACKEND.to_host(np.zeros(3)),
    "out= on the host": lambda x: np.add(x, x, out=np.zeros((3, 4), "f4")),
    "where= of sum": lambda x: xp.sum(x, where=x > 1),
    "initial= of max": lambda x: xp.max(x, initial=0),
    "initial= of the method": lambda x: x.max(initial=0),
    "order= of zeros_like by position": lambda x: xp.zeros_like(x, None, "K", None, None, 1),
    "quicksort": lambda x: xp.argsort(x, kind="quicksort"),
    "a device array as shape": lambda x: xp.zeros(x),
    "a device array as axis": lambda x: xp.sum(x, axis=x[0, 1]),
    "a device array as repeats": lambda x: xp.repeat(x, xp.asarray([1, 2, 3])),
    "counting with a device array": lambda x: range(x[0, 0]),
    "a list where an array belongs": lambda x: xp.sum([1, 2]),
    "no loop": lambda x: xp.negative(x > 1),
    "hashing": lambda x: {x: 1},
    "reducing by a ufunc of NumPy": lambda x: np.add.reduce(x),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(x, what):
    with pytest.raises(TypeError):
        REFUSED[what](x)


@pytest.mark.parametrize("name", ["get", "set", "itemset", "newbyteorder", "tostring", "toDlpack", "scatter_add"])
def test_methods_that_the_two_libraries_do_not_share(x, name):
    with pytest.raises(AttributeError):
        getattr(x, name)


@pytest.mark.parametrize("name", ["errstate", "einsum", "add_at", "bincount", "frombuffer", "float128"])
def test_functions_outside_the_interface(name):
    with pytest.raises(AttributeError, match="ArrayModule"):
        getattr(xp, name)


def test_everything_stays_on_the_device(x):
    results = [
        x.sum(),
        xp.mean(x),
        x[1, 2],
        x[0],
        x.T,
        x > 3,
        x * 2,
        2 / (x + 1),
        np.float32(2) * x,
        -x,
        abs(x),
        x @ x.T,
    ]
    results += [xp.argmax(x), xp.count_nonzero(x), *xp.nonzero(x), *x, *xp.split(x, [1]), xp.where(x > 1, x, 0)]
    results += [x.reshape(-1), x.astype("f2"), xp.maximum(1, 2), x[x > 3], x[xp.asarray([0, 2])], x[None, ..., 1:]]
    assert all(isinstance(r, DeviceArray) for r in results)
    assert x.sum().shape == ()
    assert xp.count_nonzero(x).dtype == np.int64


def test_single_values_may_be_read(x):
    assert float(x.sum()) == 66.0
    assert int(x[0, 3]) == 3
    assert bool(xp.all(x >= 0))
    assert x.sum().item() == 66.0
    assert len(x) == 3
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes, x.itemsize) == ((3, 4), np.float32, 2, 12, 48, 4)


def test_writing_in_place(x):
    same = x
    x += 1
    x[0] = 5
    x[1, 1:] = x[2, 1:]
    assert x is same
    np.testing.assert_array_equal(BACKEND.to_host(x), [[5, 5, 5, 5], [5, 10, 11, 12], [9, 10, 11, 12]])


def test_results_look_at_the_same_memory(x):
    x.reshape(-1)[3:] = 0
    assert float(x.sum()) == 3.0


def test_the_message_says_what_to_do(x):
    with pytest.raises(TypeError, match=r"xp\.from_host"):
        x + np.ones(4, "f4")
    with pytest.raises(TypeError, match=r"xp\.sum has no keyword 'where' in CuPy"):
        xp.sum(x, where=x > 1)
