"""What authors may give for dtypes and shapes, and when two types of one blob contradict each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from netdsl.errors import SchemaError, did_you_mean
from netdsl.ir import BlobType, Dim, DType, Shape, TensorType
from netdsl.ir.dims import same
from netdsl.ir.extents import ExtentError, extent


def as_dtype(dtype: Any) -> DType:
    """Return a dtype given as a DType, its NumPy name or anything that prints as one.

    Raises:
        SchemaError: no such dtype.
    """
    if isinstance(dtype, DType):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    try:
        return DType(name)
    except ValueError:
        known = [d.value for d in DType]
        near = did_you_mean(name, known)
        raise SchemaError(f"{name!r} is no dtype", expected=", ".join(known), did_you_mean=near) from None


def as_shape(shape: Any) -> Shape:
    """Return extents given as integers of any kind, names, texts made of names (``"2*N"``), or None for unknown ones.

    Raises:
        SchemaError: anything else.
    """
    if isinstance(shape, Iterable) and not isinstance(shape, str):
        given = cast("Iterable[Any]", shape)
        dims = [d.__index__() if hasattr(d, "__index__") else d for d in given]
        if all(d is None or (isinstance(d, str) and d) or (isinstance(d, int) and d >= 0) for d in dims):
            return tuple([_extent(d) if isinstance(d, str) else d for d in dims])
        shape = dims
    raise SchemaError("this is no shape", expected="extents of 0 or more, names, or None for unknown ones", got=shape)


def _extent(text: str) -> Dim:
    try:
        return extent(text)
    except ExtentError as error:
        what = f"{text!r} is no extent" + (f": {error.what}" if error.what else "")
        at = f"{text}\n{' ' * (error.at + len('  expected : '))}^"
        raise SchemaError(what, text=at, expected=error.expected) from None


def clash(one: BlobType, other: BlobType) -> bool:
    """Whether no blob can be of both types."""
    if not (isinstance(one, TensorType) and isinstance(other, TensorType)):
        return one != other
    if one.dtype is not other.dtype and None not in (one.dtype, other.dtype):
        return True
    return not same(one.shape, other.shape)
