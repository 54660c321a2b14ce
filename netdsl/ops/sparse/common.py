"""What operators on rows chosen by indices have in common."""

from __future__ import annotations

from netdsl.errors import RunError
from netdsl.ops.xp import Array, ArrayModule


def check_indices(operator: str, xp: ArrayModule, indices: Array, extent: int, *, negative: bool = False) -> None:
    """Check that every index lies in [0, extent), or with ``negative`` in [-extent, extent).

    Raises:
        RunError: the first one that does not.
    """
    if not indices.size:
        return
    least, most = int(xp.min(indices)), int(xp.max(indices))
    if least < (-extent if negative else 0) or most >= extent:
        raise RunError(
            f"{operator}: an index is out of range",
            expected=f"{-extent if negative else 0} to {extent - 1}",
            got=most if most >= extent else least,
        )


def add_rows(xp: ArrayModule, count: int, indices: Array, values: Array) -> Array:
    """Sum rows of ``values`` by index into ``count`` rows; halves are summed in float32 and rounded once."""
    wide = xp.float32 if values.dtype == xp.float16 else values.dtype
    total = xp.zeros((count, *values.shape[1:]), dtype=wide)
    xp.scatter_add(total, indices, values.astype(wide))
    return total.astype(values.dtype)


def segment_ids(operator: str, xp: ArrayModule, lengths: Array, count: int | None = None) -> Array:
    """The segment of each row, from the length of each segment; ``count`` is the number of rows expected.

    Raises:
        RunError: negative lengths, or lengths that do not add up to ``count``.
    """
    if lengths.size and int(xp.min(lengths)) < 0:
        raise RunError(f"{operator}: a length is negative", expected="lengths >= 0", got=int(xp.min(lengths)))
    ends = xp.cumsum(lengths.astype(xp.int64), axis=0)
    total = int(ends[-1]) if lengths.size else 0
    if count is not None and total != count:
        raise RunError(f"{operator}: the lengths do not add up to the number of rows", expected=count, got=total)
    return xp.searchsorted(ends, xp.arange(total, dtype=xp.int64), side="right")
