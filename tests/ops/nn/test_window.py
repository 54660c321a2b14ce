"""Layouts of windows are remembered, the last ones, and none that was refused."""

from __future__ import annotations

import attrs
import pytest

from netdsl.errors import InferenceError
from netdsl.ops import lookup
from netdsl.ops.nn.window import LAYOUTS, Axis, Windowed


def pool() -> Windowed:
    made = lookup("MaxPool").bind({"kernel": 2, "stride": 2})
    assert isinstance(made, Windowed)
    return attrs.evolve(made)  # of its own: bind may return one that other tests have used


def test_the_layout_of_a_shape_is_computed_once() -> None:
    op = pool()
    first = op.axes((1, 3, 8, 8))
    assert first == (Axis(2, 2, 1, 0, 0, 4),) * 2
    assert op.axes((1, 3, 8, 8)) is first
    assert op.axes([1, 3, 8, 8]) is first
    assert op.axes((1, 3, 8, 6)) != first
    assert op.axes(("N", 3, "H", 8))[1] == first[1]
    assert pool().axes((1, 3, 8, 8)) is not first


def test_only_the_last_layouts_are_kept() -> None:
    op = pool()
    first, last = op.axes((1, 3, 8, 8)), op.axes((1, 3, 8, 10))
    for n in range(LAYOUTS - 1):
        op.axes((1, 3, 8, 12 + n))
    assert op.axes((1, 3, 8, 10)) is last
    assert op.axes((1, 3, 8, 8)) is not first


def test_a_refusal_is_not_remembered_and_operators_stay_equal() -> None:
    op, other = pool(), pool()
    for _ in range(2):
        with pytest.raises(InferenceError, match="window is larger"):
            op.axes((1, 3, 1, 8))
    op.axes((1, 3, 8, 8))
    assert (op, hash(op)) == (other, hash(other))
