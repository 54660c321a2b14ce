"""Cutting out a part of a tensor, and repeating one."""

from __future__ import annotations

from collections.abc import Sequence

from netdsl.errors import InferenceError, RunError, SchemaError
from netdsl.ir import Dim, Shape, TensorType
from netdsl.ir.dims import canonical_axis, conflict, divide, minus, product
from netdsl.ops.dtypes import AnyDType, AnyTensor, Float, Index
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free
from netdsl.ops.xp import Array, ArrayModule

_STARTS = In("starts", Index, optional=True, host=True, doc="The starts, as an input (instead of the argument).")
_ENDS = In("ends", Index, optional=True, host=True, doc="The ends, as an input (instead of the argument).")
_STARTS_DOC = "Where each dim begins; negative ones count from one past the end: -1 is the end."
_ENDS_DOC = "Where each dim ends (exclusive); -1 is its full extent, -2 leaves the last out."


@operator
class Slice(Operator):
    """Cut out a range of one dim: ``Y = X[starts:ends]``; dims without start and end are kept whole.

    Ranges past the extent are cut off at it. As in Caffe2, only one dim may get smaller.
    """

    inputs = (In("X", AnyTensor), _STARTS, _ENDS)
    outputs = (Out("Y", view="X"),)

    starts: tuple[int, ...] | None = arg(None, doc=_STARTS_DOC)
    ends: tuple[int, ...] | None = arg(None, doc=_ENDS_DOC)

    cost = free

    def infer(self, X: TensorType, starts: TensorType | None = None, ends: TensorType | None = None) -> TensorType:
        dims = dims_of(X)
        check_bounds(self, starts is not None, ends is not None)
        if starts is not None:
            return X.with_shape((None,) * len(dims))
        return X.with_shape(sliced(dims, self.starts or (), self.ends or ()))

    def gradient(self, g: Gradients) -> None:
        g.add(SliceGradient, [g.blob.X, g.blob.starts, g.blob.ends, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array, starts: Array | None = None, ends: Array | None = None) -> Array:
        return X[_part(self, X, starts, ends)]


@operator
class SliceGradient(Operator):
    """Gradient of :class:`Slice`: dY in its place, zeros elsewhere."""

    inputs = (In("X", AnyDType), _STARTS, _ENDS, In("dY", AnyDType))
    outputs = (Out("dX"),)

    starts: tuple[int, ...] | None = arg(None, doc=_STARTS_DOC)
    ends: tuple[int, ...] | None = arg(None, doc=_ENDS_DOC)

    cost = free

    def infer(self, X: TensorType, starts: TensorType | None, ends: TensorType | None, dY: TensorType) -> TensorType:
        check_bounds(self, starts is not None, ends is not None)
        return X

    def compute(self, xp: ArrayModule, X: Array, starts: Array | None, ends: Array | None, dY: Array) -> Array:
        dX = xp.zeros(X.shape, dtype=X.dtype)
        dX[_part(self, X, starts, ends)] = dY
        return dX


def check_bounds(op: Slice | SliceGradient, starts: bool, ends: bool) -> None:
    """Check that starts and ends are given once.

    Raises:
        InferenceError: given twice, only one of them, or not at all.
    """
    by_args = (op.starts is not None, op.ends is not None)
    if starts != ends or by_args[0] != by_args[1] or starts == by_args[0]:
        raise InferenceError(
            f"{type(op).__name__}: the range is not given once",
            expected="starts and ends, both as arguments or both as inputs",
        )


def sliced(dims: Shape, starts: Sequence[int], ends: Sequence[int]) -> Shape:
    """The shape that is left of ``dims``.

    Raises:
        InferenceError: ranges that do not fit, or cut more than one dim.
    """
    if len(starts) != len(ends) or len(starts) > len(dims):
        got = f"{list(starts)} and {list(ends)}"
        raise InferenceError(
            "Slice: one start and one end for each dim", expected=f"at most {len(dims)} of both", got=got
        )
    ranges = zip(dims, starts, ends, strict=False)
    shape = [_extent(dim, start, end) for dim, start, end in ranges]
    cut = [i for i, (dim, left) in enumerate(zip(dims, shape, strict=False)) if conflict(dim, left)]
    if len(cut) > 1:
        raise InferenceError("Slice: only one dim may be cut", expected="one Slice after the other", got=f"dims {cut}")
    return (*shape, *dims[len(shape) :])


def _extent(dim: Dim, start: int, end: int) -> Dim:
    if isinstance(dim, int):
        low, high = _range(dim, start, end)
        return high - low
    if dim is None or end >= 0:  # cut off where the dim ends
        return None
    return minus(dim, start - end - 1) if start >= 0 else (end - start if start <= end else None)


def _range(dim: int, start: int, end: int) -> tuple[int, int]:
    if dim == 0:
        return 0, 0
    low, high = (min(n + dim + 1 if n < 0 else n, dim) for n in (start, end))
    if not 0 <= low <= high:
        raise InferenceError(
            "Slice: a range makes no sense", expected=f"0 <= start <= end <= {dim}", got=f"{start} to {end}"
        )
    return low, high


def _part(op: Slice | SliceGradient, X: Array, starts: Array | None, ends: Array | None) -> tuple[slice, ...]:
    lows = op.starts if starts is None else [int(n) for n in starts]
    highs = op.ends if ends is None else [int(n) for n in ends]
    sliced(X.shape, lows or (), highs or ())
    return tuple(slice(*_range(d, low, high)) for d, low, high in zip(X.shape, lows or (), highs or (), strict=False))


_TILES = In("tiles_input", Index, optional=True, host=True, doc="How often, as an input.")
_AXIS = In("axis_input", Index, optional=True, host=True, doc="The axis, as an input.")


@operator
class Tile(Operator):
    """Repeat a tensor ``tiles`` times along an axis. Inputs for both override the arguments."""

    inputs = (In("X", AnyTensor), _TILES, _AXIS)
    outputs = (Out("Y"),)

    tiles: int | None = arg(None, doc="How often.")
    axis: int | None = arg(None, doc="The axis; negative ones count from the end.")

    cost = free

    def infer(
        self, X: TensorType, tiles_input: TensorType | None = None, axis_input: TensorType | None = None
    ) -> TensorType:
        dims = dims_of(X)
        _check_tiling(self, tiles_input is not None, axis_input is not None)
        if axis_input is not None or self.axis is None:
            return X.with_shape((None,) * len(dims))
        axis = canonical_axis(self.axis, len(dims))
        times = None if tiles_input is not None else self.tiles
        return X.with_shape((*dims[:axis], product((dims[axis], times)), *dims[axis + 1 :]))

    def gradient(self, g: Gradients) -> None:
        g.add(TileGradient, [g.grad.Y, g.blob.tiles_input, g.blob.axis_input], [g.grad.X])

    def compute(
        self, xp: ArrayModule, X: Array, tiles_input: Array | None = None, axis_input: Array | None = None
    ) -> Array:
        tiles, axis = _tiling(self, X.ndim, tiles_input, axis_input)
        return xp.concatenate([X] * tiles, axis=axis) if tiles else X[(slice(None),) * axis + (slice(0, 0),)].copy()


@operator
class TileGradient(Operator):
    """Gradient of :class:`Tile`: the sum over the repetitions."""

    inputs = (In("dY", Float), _TILES, _AXIS)
    outputs = (Out("dX"),)

    tiles: int | None = arg(None, doc="As in Tile.")
    axis: int | None = arg(None, doc="As in Tile.")

    def infer(
        self, dY: TensorType, tiles_input: TensorType | None = None, axis_input: TensorType | None = None
    ) -> TensorType:
        dims = dims_of(dY)
        _check_tiling(self, tiles_input is not None, axis_input is not None)
        if axis_input is not None or self.axis is None:
            return dY.with_shape((None,) * len(dims))
        axis = canonical_axis(self.axis, len(dims))
        extent = None if tiles_input is not None or self.tiles is None else divide(dims[axis], self.tiles)
        return dY.with_shape((*dims[:axis], extent, *dims[axis + 1 :]))

    def compute(
        self, xp: ArrayModule, dY: Array, tiles_input: Array | None = None, axis_input: Array | None = None
    ) -> Array:
        tiles, axis = _tiling(self, dY.ndim, tiles_input, axis_input)
        if not tiles or dY.shape[axis] % tiles:
            raise RunError(
                "TileGradient: the gradient is no repetition", expected=f"a multiple of {tiles}", got=dY.shape[axis]
            )
        parts = xp.reshape(dY, (*dY.shape[:axis], tiles, dY.shape[axis] // tiles, *dY.shape[axis + 1 :]))
        return xp.total(parts, axis=axis)


def _check_tiling(op: Tile | TileGradient, tiles: bool, axis: bool) -> None:
    missing = [name for name, given in (("tiles", tiles), ("axis", axis)) if not given and getattr(op, name) is None]
    if missing:
        raise SchemaError(
            f"{type(op).__name__} needs {' and '.join(missing)}", expected="as an argument or as an input"
        )
    if not tiles and op.tiles is not None and op.tiles < 0:
        raise SchemaError(f"{type(op).__name__}: cannot repeat so often", expected="tiles >= 0", got=op.tiles)


def _tiling(op: Tile | TileGradient, rank: int, tiles: Array | None, axis: Array | None) -> tuple[int, int]:
    times = op.tiles if tiles is None else int(tiles.reshape(-1)[0])
    along = op.axis if axis is None else int(axis.reshape(-1)[0])
    _check_tiling(op, tiles is not None, axis is not None)
    assert times is not None
    assert along is not None
    if times < 0:
        raise RunError(f"{type(op).__name__}: cannot repeat so often", expected="tiles >= 0", got=times)
    return times, canonical_axis(along, rank)
