"""What arguments may be, how they are normalised, and when two are the same."""

from __future__ import annotations

import enum
import math
import pickle
import struct
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdsl.errors import SchemaError
from netdsl.ir import Args, DType, NetDef, OperatorDef, Packed
from netdsl.ir.args import NO_ARGS, PACKED_FROM, as_args, float32


class Colour(enum.IntEnum):
    RED = 3


class Holder:
    """Stands for a Net: it has a definition."""

    definition = NetDef("held")


class Named:
    """Stands for a Blob: it has a name."""

    name = "blob"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (3, 3),
        (True, 1),
        (Colour.RED, 3),
        (2**64 - 1, -1),
        (-(2**63), -(2**63)),
        (0.1, float32(0.1)),
        (1e40, math.inf),
        (-1e40, -math.inf),
        ("text", "text"),
        (b"text", "text"),
        (bytearray(b"\xff"), b"\xff"),
        ([], ()),
        ([1, 2], (1, 2)),
        (range(3), (0, 1, 2)),
        (array("i", [1, 2]), (1, 2)),
        ([1, 0.5], (1.0, 0.5)),
        ([True, False], (1, 0)),
        (["a", b"\xff"], ("a", b"\xff")),
        (DType.FLOAT16, 12),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), 1),
        (np.arange(3), (0, 1, 2)),
        (np.array([0.1]), (float32(0.1),)),
        (Holder(), NetDef("held")),
        ([Holder(), NetDef()], (NetDef("held"), NetDef())),
        (Named(), "blob"),
        (Packed("q", struct.pack("<2q", 1, 2)), (1, 2)),
    ],
)
def test_values_are_normalised(value: Any, kept: Any) -> None:
    found = Args({"a": value})["a"]
    assert found == kept
    assert type(found) is type(kept)
    if isinstance(kept, tuple):
        assert [type(item) for item in found] == [type(item) for item in kept]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**64, "an integer argument has at most 64 bits"),
        (-(2**63) - 1, "an integer argument has at most 64 bits"),
        (object(), "an argument cannot hold a object"),
        ({"a": 1}, "an argument cannot hold a dict"),
        (1j, "an argument cannot hold a complex"),
        ([1, "a"], "a list argument holds values of one kind"),
        ([[1], [2]], "a list argument holds values of one kind"),
        ([1, NetDef()], "a list argument holds values of one kind"),
        ([[0.5] * PACKED_FROM], "a list argument holds values of one kind"),
        ([1, 2**64], "an integer argument has at most 64 bits"),
    ],
)
def test_what_no_argument_can_hold_is_refused(value: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Args({"a": value})


def test_none_means_not_given_and_order_does_not_matter() -> None:
    args = Args({"b": 1, "none": None, "a": 2})
    assert list(args) == ["a", "b"]
    assert args == Args({"a": 2, "b": 1})
    assert "none" not in args
    assert repr(args) == "Args({'a': 2, 'b': 1})"


def test_long_numeric_lists_are_packed() -> None:
    short, long = Args({"a": [0.5] * (PACKED_FROM - 1)}), Args({"a": [0.5] * PACKED_FROM})
    assert type(short["a"]) is tuple
    packed = long["a"]
    assert isinstance(packed, Packed)
    assert packed.code == "f"
    assert len(packed.data) == 4 * PACKED_FROM
    assert packed.view.obj is packed.data
    assert Args({"a": range(PACKED_FROM)})["a"].code == "q"
    assert type(Args({"a": ["t"] * PACKED_FROM})["a"]) is tuple


def test_packed_is_a_sequence() -> None:
    packed = Packed("q", struct.pack("<4q", 5, -6, 7, 8))
    assert list(packed) == [5, -6, 7, 8]
    assert (len(packed), packed[1], packed[-1], packed[1:3]) == (4, -6, 8, (-6, 7))
    assert 7 in packed
    assert packed.index(8) == 3
    with pytest.raises(IndexError):
        packed[4]
    assert repr(packed) == "Packed(code='q', data=<32 bytes>)"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 1.0),
        (0.0, -0.0),
        ([1], [1.0]),
        ([0.0], [-0.0]),
        (1, [1]),
        ("1", 1),
        ("a", ["a"]),
        (b"\xff", "\xff"),
        ([0.0] * 50, [-0.0] * 50),
        ([0] * 50, [0.0] * 50),
        (NetDef("a"), NetDef("b")),
        (NetDef("a", args={"x": 1}), NetDef("a", args={"x": 1.0})),
    ],
)
def test_kind_and_bits_tell_values_apart(one: Any, two: Any) -> None:
    assert Args({"a": one}) != Args({"a": two})
    assert OperatorDef("A", args={"a": one}) != OperatorDef("A", args={"a": two})


def test_nan_equals_itself_and_hashes_alike() -> None:
    one, two = Args({"a": float("nan"), "b": [math.nan, 1.0]}), Args({"b": [float("nan"), 1.0], "a": math.nan})
    assert one == two
    assert hash(one) == hash(two)
    assert OperatorDef("A", args=one) == OperatorDef("A", args=two)


@given(st.dictionaries(st.text(max_size=3), st.integers(-9, 9) | st.floats(width=32) | st.lists(st.floats(width=32))))
def test_equal_arguments_hash_alike_and_survive_pickling(values: dict[str, Any]) -> None:
    one, two = Args(values), Args(dict(reversed(values.items())))
    assert one == two
    assert hash(one) == hash(two)
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one
    assert Args(copy) == one


@given(st.floats(width=32))
def test_float32_keeps_float32(value: float) -> None:
    assert struct.pack("<d", float32(value)) == struct.pack("<d", value) or value != value


def test_float32_rounds_to_nearest_even() -> None:
    assert float32(1 + 2**-24) == 1.0
    assert float32(1 + 3 * 2**-24) == 1 + 2**-22
    assert float32(3.4028235677973366e38) == math.inf
    assert float32(2.0**-150) == 0.0


def test_arguments_cannot_be_changed() -> None:
    values = {"a": [1, 2]}
    args = Args(values)
    values["a"].append(3)
    assert args["a"] == (1, 2)
    with pytest.raises(TypeError):
        args["a"] = 1  # type: ignore[index]
    with pytest.raises(KeyError):
        args["missing"]


def test_as_args_reuses() -> None:
    args = Args({"a": 1})
    assert as_args(args) is args
    assert as_args({}) is NO_ARGS
    assert as_args({"a": 1}) == args
    assert args != {"a": 1}
