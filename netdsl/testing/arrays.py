"""Arrays for cases: the same ones every time, with what makes a check sharp (no ties, no kinks)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Normal values of mean 0 and standard deviation 1."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Values in [low, high)."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def integers(*shape: int, low: int = 0, high: int = 10, dtype: Any = np.int64, seed: int = 0) -> np.ndarray:
    """Integers in [low, high)."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def spread(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    """Shuffled values from -1 to 1 at equal distances, none of them 0: for kinks at 0 and for maxima without ties."""
    size = math.prod(shape)
    values = np.linspace(-1, 1, size + size % 2)[:size]
    return np.random.default_rng(seed).permutation(values).reshape(shape).astype(dtype)
