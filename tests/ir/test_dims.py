"""Types of blobs, and arithmetic on dims that may be named or unknown."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdsl.ir import UNKNOWN, Dim, DType, NetDef, Opaque, Shape, TensorType, dims, extents
from netdsl.ir.extents import substitute

all_dims = st.none() | st.integers(0, 4) | st.sampled_from(["N", "M", "2*N", "M+1"])
shapes = st.lists(all_dims, max_size=4).map(tuple)


def worlds(*of: Shape) -> list[dict[str, int]]:
    """Some numbers that the names could stand for."""
    names = sorted({name for shape in of for dim in shape for name in extents.names(dim)})
    return [dict(zip(names, sizes, strict=True)) for sizes in itertools.product((0, 1, 3), repeat=len(names))]


def agrees(claimed: Dim, truth: int, world: dict[str, int]) -> bool:
    """Whether a claim about a dim holds in a world; not to know is never wrong."""
    return claimed is None or substitute(claimed, world) == truth


def concrete(shape: Shape, world: dict[str, int], unknown: int) -> tuple[int, ...]:
    return tuple(unknown if d is None else int(str(substitute(d, world))) for d in shape)


@given(shapes, st.integers(0, 3))
def test_product_and_total_are_never_wrong(shape: Shape, unknown: int) -> None:
    for world in worlds(shape):
        sizes = concrete(shape, world, unknown)
        assert agrees(dims.product(shape), int(np.prod(sizes, dtype=int)), world)
        assert agrees(dims.total(shape), sum(sizes), world)


@pytest.mark.parametrize(
    ("of", "product", "total"),
    [
        ((), 1, 0),
        ((2, 3), 6, 5),
        (("N",), "N", "N"),
        (("N", 1), "N", "N+1"),
        (("N", 0), 0, "N"),
        (("N", 2), "2*N", "N+2"),
        (("N", "N"), "N*N", "2*N"),
        (("N", "2*N", 3), "6*N*N", "3*N+3"),
        (("N", "T"), "N*T", "N+T"),
        ((None, 2), None, None),
        ((None, 0), 0, None),
    ],
)
def test_product_and_total_know_what_can_be_known(of: Shape, product: Dim, total: Dim) -> None:
    assert dims.product(of) == product
    assert dims.total(of) == total


def test_divide() -> None:
    assert dims.divide(7, 2) == 3
    assert dims.divide("N", 1) == "N"
    assert dims.divide("N", 2) == "N//2"
    assert dims.divide("2*N", 2) == "N"
    assert dims.divide("N", 0) is None
    assert dims.divide(None, 1) is None
    assert dims.divide(4, 0) is None


def test_conflict_merge_same() -> None:
    assert dims.conflict(2, 3)
    assert not any(dims.conflict(a, b) for a, b in [(2, 2), (2, "N"), ("N", "M"), (None, 2), ("N", "2*N"), (3, "2*N")])
    assert dims.conflict("T", "T+1")
    assert [dims.merge(a, b) for a, b in [(None, 2), (2, None), ("N", 2), (2, "N"), ("N", None), (None, None)]] == [
        2,
        2,
        2,
        2,
        "N",
        None,
    ]
    assert dims.same((2, None), ("N", 3))
    assert dims.same(None, (2,))
    assert not dims.same((2,), (2, 1))
    assert not dims.same((2, 3), (2, 4))
    assert dims.merge_shapes((None, 3), ("N", None)) == ("N", 3)
    assert dims.merge_shapes(None, (2,)) == (2,)
    assert dims.merge_shapes((2,), None) == (2,)
    assert dims.merge_shapes(None, None) is None


@given(st.lists(st.lists(st.integers(1, 3), max_size=3).map(tuple), max_size=3))
def test_broadcast_of_known_shapes_is_numpys(of: list[tuple[int, ...]]) -> None:
    try:
        expected: Any = np.broadcast_shapes(*of)
    except ValueError:
        with pytest.raises(ValueError, match=r"extents .* do not broadcast"):
            dims.broadcast(*of)
    else:
        assert dims.broadcast(*of) == expected


@given(st.lists(shapes, min_size=1, max_size=3), st.integers(1, 3))
def test_broadcast_is_never_wrong(of: list[Shape], unknown: int) -> None:
    for world in worlds(*of):
        sizes = [concrete(shape, world, unknown) for shape in of]
        try:
            truth = np.broadcast_shapes(*sizes)
        except ValueError:
            continue
        claimed = dims.broadcast(*of)
        assert claimed is not None
        assert len(claimed) == len(truth)
        assert all(map(agrees, claimed, truth, [world] * len(truth)))


def test_broadcast_knows_what_can_be_known() -> None:
    assert dims.broadcast(("N", 3), (3,)) == ("N", 3)
    assert dims.broadcast(("N", 1), ("N", 4)) == ("N", 4)
    assert dims.broadcast(("N",), (1,)) == ("N",)
    assert dims.broadcast(("N",), (5,)) == (5,)
    assert dims.broadcast(("N",), ("M",)) == (None,)
    assert dims.broadcast((2,), None) is None
    assert dims.broadcast() == ()


@pytest.mark.parametrize(("axis", "found"), [(0, 0), (2, 2), (-1, 2), (-3, 0)])
def test_canonical_axis(axis: int, found: int) -> None:
    assert dims.canonical_axis(axis, 3) == found


@pytest.mark.parametrize(("axis", "rank"), [(3, 3), (-4, 3), (0, 0)])
def test_an_axis_out_of_range_is_refused(axis: int, rank: int) -> None:
    with pytest.raises(ValueError, match=f"axis {axis} is out of range for rank {rank}"):
        dims.canonical_axis(axis, rank)


@pytest.mark.parametrize("dtype", list(DType))
def test_dtypes(dtype: DType) -> None:
    assert DType.from_number(dtype.number) is dtype
    if dtype not in (DType.BYTE, DType.STRING):
        assert dtype.itemsize == np.dtype(dtype.value).itemsize
        assert dtype.is_float == (np.dtype(dtype.value).kind == "f")


def test_dtypes_have_the_numbers_of_caffe2() -> None:
    assert {dtype.name: dtype.number for dtype in DType} == {
        "FLOAT": 1,
        "INT32": 2,
        "BYTE": 3,
        "STRING": 4,
        "BOOL": 5,
        "UINT8": 6,
        "INT8": 7,
        "UINT16": 8,
        "INT16": 9,
        "INT64": 10,
        "FLOAT16": 12,
        "DOUBLE": 13,
    }
    with pytest.raises(KeyError):
        DType.from_number(11)


def test_tensor_types() -> None:
    known = TensorType(DType.FLOAT, [2, 3])
    assert (known.shape, known.rank, known.is_static) == ((2, 3), 2, True)
    assert (UNKNOWN.rank, UNKNOWN.is_static) == (None, False)
    assert not TensorType(DType.FLOAT, ["N"]).is_static
    assert not TensorType(None, [2]).is_static
    assert known.with_shape(None) == TensorType(DType.FLOAT)
    assert known.with_dtype(None) == TensorType(None, (2, 3))
    assert hash(known) == hash(TensorType(DType.FLOAT, (2, 3)))


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (TensorType(DType.FLOAT, ["N", None, 3]), "float32[N, ?, 3]"),
        (TensorType(DType.DOUBLE, []), "float64[]"),
        (UNKNOWN, "?[...]"),
        (Opaque("mutex"), "<mutex>"),
    ],
)
def test_types_as_text(type_: TensorType | Opaque, text: str) -> None:
    assert str(type_) == text


def test_a_net_keeps_only_types_that_say_something() -> None:
    assert NetDef(types={"x": UNKNOWN, "y": Opaque("k")}) == NetDef(types={"y": Opaque("k")})


@pytest.mark.parametrize("change", [lambda t: setattr(t, "dtype", None), lambda t: setattr(t, "shape", ())])
def test_types_are_frozen(change: Callable[[TensorType], None]) -> None:
    with pytest.raises(AttributeError):
        change(TensorType(DType.FLOAT, (2,)))


@pytest.mark.parametrize(
    ("whole", "parts", "left"),
    [
        ((4, 6), (3,), 8),
        ((4, 6), (), 24),
        (("N", 8, 8), (64,), "N"),
        (("N", 8), ("N", 2), 4),
        (("N", 8), (4,), "2*N"),
        (("N", 2), (4,), "N//2"),
        (("N", "M"), ("N",), "M"),
        (("N", "M"), (), "M*N"),
        (("6*N", "M"), (3, "N"), "2*M"),
        (("N*T", 8), ("T", 2), "4*N"),
        (("N",), ("M",), None),
        ((None, 8), (8,), None),
        ((8,), ("N",), None),
        ((0, 3), (3,), 0),
        ((0, 3), (0,), 0),
        ((7,), (2,), 3),
    ],
)
def test_quotient(whole: tuple[Dim, ...], parts: tuple[Dim, ...], left: Dim) -> None:
    assert dims.quotient(whole, parts) == left
