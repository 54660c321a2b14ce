"""Random numbers that depend on seed, stream and path only: not on order, threads, backend or a net's name.

A stream is the first output's name as it was when the operator was built. The path is the number of the run,
counted for each net, and of every operator around the net that runs it (a loop, say) the stream and the number
of the iteration. The words are those of ``numpy.random.Philox`` (4x64-10). Its 128-bit key is a hash of seed,
stream and the path behind the run; the run counts in the highest word of its counter. A 64-bit word gives two
32-bit words, the low half first; every request begins with a fresh 64-bit word.

* ``uniform``: the high 24 bits of a 32-bit word, times 2**-24, scaled in float32: exact, hence equal everywhere.
* ``integers``: the high 64 bits of word times span.
* ``keep``: a 32-bit word compared with ``ratio * 2**32``.
* ``normal``: Box-Muller on two 32-bit words in float64, rounded once to float32; it agrees between
  libraries as closely as their ``log``, ``sin`` and ``cos`` do.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def philox_key(seed: int, stream: str, inner: Sequence[tuple[str, int]] = ()) -> np.ndarray:
    """Return the two key words of one stream; ``inner`` is the path behind the number of the run."""
    text = "\0".join((str(seed), stream, *(f"{name}\0{count}" for name, count in inner))).encode()
    return np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), "<u8")


class PhiloxStream:
    """The random numbers of one stream in one run, as NumPy arrays."""

    def __init__(self, seed: int, stream: str, path: Sequence[Any]) -> None:
        counter = np.array([0, 0, 0, path[0]], np.uint64)
        self._bits = np.random.Philox(key=philox_key(seed, stream, path[1:]), counter=counter)

    def words(self, count: int) -> np.ndarray:
        """The next ``count`` 64-bit words."""
        return self._bits.random_raw(count)

    def halves(self, count: int) -> np.ndarray:
        """The next ``count`` 32-bit words; an odd one out is dropped."""
        return self.words((count + 1) // 2).astype("<u8", copy=False).view("<u4")[:count]

    def uniform(self, shape: Sequence[int], low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """float32 values in [low, high)."""
        start, stop = np.float32(low), np.float32(high)
        unit = (self.halves(math.prod(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        values = start + unit * (stop - start)
        if stop > start:  # rounding may reach the end, which does not belong to it
            values = np.minimum(values, np.nextafter(stop, start))
        return values.reshape(tuple(shape))

    def normal(self, shape: Sequence[int], mean: float = 0.0, std: float = 1.0) -> np.ndarray:
        """float32 values of a normal distribution."""
        count = math.prod(shape)
        pairs = self.halves(2 * ((count + 1) // 2)).astype(np.float64).reshape(-1, 2)
        radius = np.sqrt(-2.0 * np.log((pairs[:, 0] + 1.0) * 2.0**-32))
        angle = pairs[:, 1] * (2.0 * math.pi * 2.0**-32)
        both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:count]
        return (mean + std * both).astype(np.float32).reshape(tuple(shape))

    def integers(self, shape: Sequence[int], low: int, high: int) -> np.ndarray:
        """int64 values in [low, high]: both ends belong to it."""
        words, span = self.words(math.prod(shape)), high - low + 1
        if span < 1 << 64:
            words = _high_product(words, span)
        return (words + np.uint64(low % (1 << 64))).view(np.int64).reshape(tuple(shape))

    def keep(self, shape: Sequence[int], ratio: float) -> np.ndarray:
        """A bool mask, False with probability ``ratio``."""
        limit = np.uint64(round(ratio * 2.0**32))
        return (self.halves(math.prod(shape)).astype(np.uint64) >= limit).reshape(tuple(shape))


def _high_product(words: np.ndarray, by: int) -> np.ndarray:
    """The high 64 bits of the 128-bit product, from 32-bit limbs."""
    top, low = words >> _HALF, words & _LOW
    by_top, by_low = np.uint64(by >> 32), np.uint64(by & 0xFFFFFFFF)
    middle = top * by_low + ((low * by_low) >> _HALF)
    other = low * by_top + (middle & _LOW)
    return top * by_top + (middle >> _HALF) + (other >> _HALF)
