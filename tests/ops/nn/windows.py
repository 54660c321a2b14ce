"""Windows written out one by one: what convolutions and pools are compared with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def per_axis(
    rank: int, one: Any = None, several: Any = None, *, h: Any = None, w: Any = None, default: int = 1
) -> list[int]:
    """The values of a setting by axis from its several spellings."""
    if several:
        return list(several)
    if h is not None:
        return [h, w]
    return [default if one is None else one] * rank


def channels_first(x: np.ndarray, order: str) -> np.ndarray:
    """In float64, with the channels as axis 1."""
    return (x if order == "NCHW" else np.moveaxis(x, -1, 1)).astype(np.float64)


def channels_back(x: np.ndarray, order: str) -> np.ndarray:
    """Undo the move of :func:`channels_first`."""
    return x if order == "NCHW" else np.moveaxis(x, 1, -1)


def windows(
    extents: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    heads: Sequence[int],
    counts: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], list[tuple[tuple[int, ...], tuple[int, ...]]]]]:
    """Every window's place, with the pairs (place in the window, place in the input) that lie inside the input."""
    for place in itertools.product(*map(range, counts)):
        inside = []
        for offset in itertools.product(*map(range, kernel)):
            at = tuple(p * s - t + o * d for p, s, t, o, d in zip(place, stride, heads, offset, dilation, strict=True))
            if all(0 <= i < n for i, n in zip(at, extents, strict=True)):
                inside.append((offset, at))
        yield place, inside
