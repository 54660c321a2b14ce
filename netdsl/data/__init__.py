"""The handwritten digits that the demo and the examples train on.

See ``digits.LICENSE.txt`` beside this file for their authors and licence.
"""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["digits", "stratified_split"]


def digits() -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return the images, float32 [1797, 1, 8, 8] within 0..1, and their labels, int32 [1797]."""
    import numpy as np

    packed = files(__name__).joinpath("digits.csv.gz").read_bytes()
    rows = np.loadtxt(gzip.decompress(packed).decode("ascii").splitlines(), np.float32, delimiter=",")
    images = (rows[:, :-1] / np.float32(16)).reshape(-1, 1, 8, 8)
    return images, rows[:, -1].astype(np.int32)


def stratified_split(
    labels: NDArray[np.int32], fraction: float = 0.2, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ascending indices to train on and those held out, ``fraction`` of every label.

    The same arguments give the same split everywhere: it rests on the words of Philox, which no
    NumPy release changes. Raises ValueError unless ``fraction`` lies strictly between 0 and 1.
    """
    import numpy as np

    if not 0 < fraction < 1:
        raise ValueError(f"fraction must lie strictly between 0 and 1, got {fraction}")
    order = np.argsort(np.random.Philox(key=seed).random_raw(len(labels)), kind="stable")
    held = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        members = order[labels[order] == label]
        held[members[: round(fraction * len(members))]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
