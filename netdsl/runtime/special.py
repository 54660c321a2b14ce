"""Elementwise functions that NumPy lacks, called as its ufuncs are: ``erf(a, out)``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.ops.primitives import PRIMITIVES


def function(name: str) -> Callable[..., Any]:
    """Return what computes a primitive on NumPy's arrays; the last argument may be the array to write to."""
    return globals()[name] if PRIMITIVES[name].own else getattr(np, name)


_PART = 16384
"""Elements computed at a time, so that a dozen float64 arrays of them stay in the cache."""


def erf(a: Any, out: np.ndarray | None = None) -> Any:
    """The error function, computed in float64, in the dtype of ``a``; ``out``, contiguous, may be ``a`` itself."""
    target = np.empty(a.shape, a.dtype) if out is None else out
    given, flat = a.reshape(-1), target.reshape(-1)
    for low in range(0, given.size, _PART):
        flat[low : low + _PART] = _erf(given[low : low + _PART].astype(np.float64))
    return target if isinstance(a, np.ndarray) else target[()]


# Rational approximations of erf by W. J. Cody (Math. Comp. 23, 1969), good to 16 digits; highest power first.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
_MIDDLE = (
    (
        *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1),
        *(2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3),
        1.23033935479799725e3,
    ),
    (
        *(1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3),
        *(3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
    ),
)
_FAR = (
    (
        *(1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1),
        *(1.60837851487422766e-2, 6.58749161529837803e-4),
    ),
    (
        *(1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1),
        *(6.05183413124413191e-2, 2.33520497626869185e-3),
    ),
)


def _erf(x: np.ndarray) -> np.ndarray:
    size = np.minimum(np.abs(x), 6.0)  # beyond, it is 1 in float64
    square = size * size
    tail, middle = _ratio(_MIDDLE, size), size <= 4.0
    if not middle.all():
        least = np.maximum(size, 4.0)
        far = least**-2
        tail = np.where(middle, tail, (1.0 / math.sqrt(math.pi) - far * _ratio(_FAR, far)) / least)
    tail *= np.exp(-square)
    result = np.subtract(1.0, tail, tail)
    near = size <= 0.46875
    if near.any():
        result = np.where(near, size * _ratio(_NEAR, square), result)
    return np.copysign(result, x, result)


def _ratio(table: tuple[tuple[float, ...], tuple[float, ...]], x: np.ndarray) -> np.ndarray:
    above = _polynomial(table[0], x)
    return np.divide(above, _polynomial(table[1], x), above)


def _polynomial(factors: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    y = x * factors[0]
    for factor in factors[1:-1]:
        y += factor
        y *= x
    y += factors[-1]
    return y
