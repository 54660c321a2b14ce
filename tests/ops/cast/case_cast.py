"""Cases of the conversions between dtypes; measured numbers cover the values that are hard to round."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

FLOAT, INT32, BOOL, DOUBLE = 1, 2, 5, 13


def to(dtype: Any) -> Any:
    """Element by element, through Python's numbers."""
    return lambda X, **_: np.array([dtype(x) for x in X.reshape(-1)], dtype).reshape(X.shape)


def nearest_half(X: Any, clip: int = 0) -> Any:
    """The half among the neighbours of a cheap guess that is nearest: none is nearer than 2**-11 of the value."""
    guess = np.round(X.astype(np.float64) * 2048 / 2 ** np.ceil(np.log2(np.abs(X)))) / 2048
    exact = guess * 2 ** np.ceil(np.log2(np.abs(X)))
    return np.clip(exact, -65504, 65504) if clip else exact


X = normal(3, 4)
halves = X.astype(np.float16)

CASES = [
    Case("Cast", (X * 3,), {"to": INT32}, to(np.int32), grad=False, batch=(0,)),
    Case("Cast", (X,), {"to": BOOL}, to(np.bool_), grad=False),
    Case("Cast", (integers(3, 4, low=-5),), {"to": FLOAT}, to(np.float32), grad=False, label="from int64"),
    Case("Cast", (normal(3, 4, dtype=np.float64),), {"to": DOUBLE, "from_type": DOUBLE}, to(np.float64), batch=(0,)),
    Case("Cast", (X,), {"to": 4}, refuses="Cast", label="to strings"),
    Case("FloatToHalf", (X,), {}, nearest_half, step=0.25, batch=(0,)),
    Case("FloatToHalf", (X * 1e6,), {"clip": 1}, nearest_half, grad=False, label="clipped"),
    Case("FloatToHalf", (halves,), refuses="is of the wrong type", label="half"),
    Case("HalfToFloat", (halves,), {}, (X,), rtol=2.0**-11, step=0.25, batch=(0,)),
    Case("HalfToFloat", (X,), refuses="is of the wrong type", label="single"),
]
