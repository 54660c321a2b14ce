"""Cases of comparisons, logic and selection."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

COMPARISONS = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}
LOGIC: dict[str, Callable[[Any, Any], Any]] = {
    "And": lambda a, b: bool(int(a) * int(b)),
    "Or": lambda a, b: bool(int(a) + int(b)),
    "Xor": lambda a, b: (int(a) + int(b)) == 1,
}
FEW = integers(3, 4, high=3, dtype=np.int32), integers(3, 4, high=3, dtype=np.int32, seed=1)
SPECIAL = np.float32([np.nan, np.nan, 1, np.inf, 0, -np.inf]), np.float32([np.nan, 1, np.nan, np.inf, -0.0, 1])
BITS = np.array([True, True, False, False]), np.array([True, False, True, False])


def each(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Compare element by element, as Python does, after NumPy's broadcasting."""

    def expect(A: Any, B: Any, **_: Any) -> Any:
        shape = np.broadcast_shapes(A.shape, B.shape)
        pairs = zip(np.broadcast_to(A, shape).reshape(-1), np.broadcast_to(B, shape).reshape(-1), strict=True)
        return np.array([function(a.item(), b.item()) for a, b in pairs], bool).reshape(shape)

    return expect


def along_rows(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda A, B, **_: each(function)(A, B[:, None])


CASES = [
    *(Case(name, FEW, {}, each(f), batch=(0, 1), label="int32") for name, f in COMPARISONS.items()),
    *(Case(name, SPECIAL, {}, each(f), label="special") for name, f in COMPARISONS.items()),
    *(Case(name, BITS, {}, each(f), label="bool") for name, f in COMPARISONS.items()),
    *(Case(name, (FEW[0], FEW[1][0]), {"broadcast": 1}, each(f), label="suffix") for name, f in COMPARISONS.items()),
    *(Case(name, (FEW[0], FEW[1][:, 0]), {"broadcast": 1, "axis": 0}, along_rows(f), label="axis")
      for name, f in COMPARISONS.items()),
    *(Case(name, (FEW[0][:, :1], FEW[1][0]), {}, each(f), label="both ways") for name, f in COMPARISONS.items()),
    *(Case(name, (normal(3), normal(2)), refuses="do not broadcast") for name in COMPARISONS),
    *(Case(name, (normal(3), FEW[0]), refuses="must share one dtype") for name in COMPARISONS),
    *(Case(name, BITS, {}, each(f), batch=(0, 1)) for name, f in LOGIC.items()),
    *(Case(name, (BITS[0][:, None], BITS[1]), {}, each(f), label="both ways") for name, f in LOGIC.items()),
    *(Case(name, (BITS[0].reshape(2, 2), BITS[1][:2]), {"broadcast": 1, "axis": 0}, along_rows(f), label="axis")
      for name, f in LOGIC.items()),
    *(Case(name, FEW, refuses="is of the wrong type") for name in LOGIC),
    Case("Not", BITS[:1], {}, lambda X: X ^ np.True_, batch=(0,)),
    Case("Not", FEW[:1], refuses="is of the wrong type"),
    Case("Where", (BITS[0], normal(4), normal(4, seed=1)), {}, lambda C, X, Y: np.choose(C.astype(int), [Y, X]),
         batch=(0, 1, 2)),
    Case("Where", (BITS[1], *BITS), {}, lambda C, X, Y: np.choose(C.astype(int), [Y, X]), label="bool"),
    Case("Where", (BITS[1], np.array([b"a", b"b", b"c", b"d"], object), np.array([b"w", b"x", b"y", b"z"], object)), {},
         (np.array([b"a", b"x", b"c", b"z"], object),), label="strings"),
    Case("Where", (BITS[1][:2], np.array([[b"a"], [b"b"]], object), np.array([[b"c"], [b"d"]], object)),
         {"broadcast_on_rows": 1}, (np.array([[b"a"], [b"d"]], object),), label="rows of strings"),
    Case("Where", (BITS[1], normal(4, 3, 2), normal(4, 3, 2, seed=1)), {"broadcast_on_rows": 1},
         lambda C, X, Y, **_: np.float32([x if c else y for c, x, y in zip(C, X, Y, strict=True)]).reshape(X.shape),
         batch=(0, 1, 2)),
    Case("Where", (BITS[0], normal(4), normal(4)), {"broadcast_on_rows": 1}, lambda C, X, Y, **_: X,
         label="rows of one"),
    Case("Where", (BITS[0], normal(4), normal(3)), refuses="X and Y differ in shape"),
    Case("Where", (BITS[0], normal(4, 2), normal(4, 2)), refuses="C differs from X in shape"),
    Case("Where", (BITS[0], normal(3, 2), normal(3, 2)), {"broadcast_on_rows": 1}, refuses="one element for each row"),
]  # fmt: skip
