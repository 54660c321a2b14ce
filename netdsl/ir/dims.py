"""Arithmetic on dims that may be unknown (None) or have names ("N", "2*N"); the only place that does it.

Names stand for extents of 0 or more, and large enough for what is cut out of them: ``T`` without its first element
is ``T-1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from netdsl.ir import extents
from netdsl.ir.types import Dim, Shape


def product(dims: Sequence[Dim]) -> Dim:
    """Return the number of elements."""
    known = 1
    names: list[Dim] = []
    for dim in dims:
        if isinstance(dim, int):
            known *= dim
        else:
            names.append(dim)
    if known == 0 or not names:
        return known
    if None in names:
        return None
    return names[0] if len(names) == 1 and known == 1 else extents.multiply((*names, known))


def total(dims: Sequence[Dim]) -> Dim:
    """Return the sum."""
    names = [d for d in dims if not isinstance(d, int)]
    known = sum(d for d in dims if isinstance(d, int))
    if not names:
        return known
    if None in names:
        return None
    return names[0] if len(names) == 1 and known == 0 else extents.add((*names, known))


def minus(a: Dim, b: Dim) -> Dim:
    """Return ``a - b``."""
    return a - b if isinstance(a, int) and isinstance(b, int) else (a if b == 0 else extents.add((a,), b))


def divide(dim: Dim, by: int) -> Dim:
    """Return ``dim // by``."""
    return dim if by == 1 else ((dim // by if isinstance(dim, int) else extents.divide(dim, by)) if by else None)


def windows(dim: Dim, reach: int, stride: int) -> Dim:
    """Return how many windows of ``reach`` elements, ``stride`` apart, an axis has room for."""
    return total((divide(total((dim, -reach)), stride), 1))


def conflict(a: Dim, b: Dim) -> bool:
    """Whether two dims are known to differ: numbers, or names by a number (else a name may equal anything)."""
    if a == b or a is None or b is None:
        return False
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int)
    return isinstance(extents.add((a,), b), int)


def merge(a: Dim, b: Dim) -> Dim:
    """Return the better known of two dims that must be equal."""
    return b if a is None or (isinstance(a, str) and isinstance(b, int)) else a


def same(a: Shape | None, b: Shape | None) -> bool:
    """Whether two shapes may be equal."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and not any(map(conflict, a, b))


def merge_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    """Return the better known of two shapes that must be equal."""
    if a is None or b is None:
        return b if a is None else a
    return tuple(map(merge, a, b))


def common(a: Shape, b: Shape) -> Shape | None:
    """Return what two shapes have in common: extents that differ are unknown; None where ranks differ."""
    return tuple([x if x == y else None for x, y in zip(a, b, strict=True)]) if len(a) == len(b) else None


def broadcast(*shapes: Shape | None) -> Shape | None:
    """Return the shape of NumPy's broadcasting; raises ValueError where it is impossible."""
    if not shapes or shapes.count(shapes[0]) == len(shapes):
        return shapes[0] if shapes else ()
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    rank = max(map(len, known), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in known]
    return tuple(_broadcast_dim(dims) for dims in zip(*padded, strict=True))


def _broadcast_dim(dims: Sequence[Dim]) -> Dim:
    sizes = {d for d in dims if isinstance(d, int) and d != 1}
    if len(sizes) > 1:
        raise ValueError(f"extents {', '.join(map(str, sorted(sizes)))} do not broadcast")
    if sizes:
        return sizes.pop()
    names = {d for d in dims if not isinstance(d, int)}
    return 1 if not names else (names.pop() if len(names) == 1 else None)


def canonical_axis(axis: int, rank: int) -> int:
    """Return ``axis`` counted from the front; raises ValueError where it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def quotient(whole: Sequence[Dim], parts: Sequence[Dim]) -> Dim:
    """Return what the product of ``parts`` must be multiplied by to give that of ``whole``; None if not told.

    Dims in both cancel: [N, 8, 8] by [64] is N, [N, T] by [N] is T. Returns 0 where a part is 0.
    """
    if 0 in parts:
        return 0
    left, by = list(whole), list(parts)
    for part in parts:
        if isinstance(part, str) and part in left:
            left.remove(part)
            by.remove(part)
    size, known = product(left), product(by)
    if isinstance(size, int) and isinstance(known, int):
        return size // known
    return extents.divide(size, known)
