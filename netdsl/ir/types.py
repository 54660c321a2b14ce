"""What is known of a blob before it is computed: dtypes, shapes with unknown and named dims, opaque kinds."""

from __future__ import annotations

import enum

import attrs

Dim = int | str | None
"""An extent: known, named (``"N"``, equal to every other ``"N"`` of the net), made of names (``"2*N"``) or unknown.

A text is in canonical form, which :func:`netdsl.ir.extents.extent` gives; nobody looks whether it is.
"""

Shape = tuple[Dim, ...]


class DType(enum.Enum):
    """Element types, valued by their NumPy name (``string`` is an object array of bytes)."""

    FLOAT = "float32"
    INT32 = "int32"
    BYTE = "byte"
    STRING = "string"
    BOOL = "bool"
    UINT8 = "uint8"
    INT8 = "int8"
    UINT16 = "uint16"
    INT16 = "int16"
    INT64 = "int64"
    FLOAT16 = "float16"
    DOUBLE = "float64"

    __hash__ = object.__hash__  # that of Enum is a Python function, and dtypes are looked up for every operator

    @property
    def number(self) -> int:
        """The number that Caffe2's files and ``dtype`` arguments use."""
        return _NUMBERS[self]

    @classmethod
    def from_number(cls, number: int) -> DType:
        """Return the dtype that Caffe2 numbers so; raises KeyError."""
        return _BY_NUMBER[number]

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return _SIZES[self]

    @property
    def is_float(self) -> bool:
        return self in (DType.FLOAT, DType.FLOAT16, DType.DOUBLE)


_NUMBERS = {
    DType.FLOAT: 1,
    DType.INT32: 2,
    DType.BYTE: 3,
    DType.STRING: 4,
    DType.BOOL: 5,
    DType.UINT8: 6,
    DType.INT8: 7,
    DType.UINT16: 8,
    DType.INT16: 9,
    DType.INT64: 10,
    DType.FLOAT16: 12,
    DType.DOUBLE: 13,
}
_BY_NUMBER = {number: dtype for dtype, number in _NUMBERS.items()}
_SIZES = {
    DType.FLOAT: 4,
    DType.INT32: 4,
    DType.BYTE: 1,
    DType.STRING: 8,
    DType.BOOL: 1,
    DType.UINT8: 1,
    DType.INT8: 1,
    DType.UINT16: 2,
    DType.INT16: 2,
    DType.INT64: 8,
    DType.FLOAT16: 2,
    DType.DOUBLE: 8,
}


def _as_shape(shape: object) -> Shape | None:
    return None if shape is None else tuple(shape)  # type: ignore[arg-type]


@attrs.frozen
class TensorType:
    """A tensor; ``dtype`` and ``shape`` are None where unknown, and so are single dims."""

    dtype: DType | None = None
    shape: Shape | None = attrs.field(default=None, converter=_as_shape)

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether dtype and every dim are known numbers."""
        return self.dtype is not None and self.shape is not None and all(isinstance(d, int) for d in self.shape)

    def with_shape(self, shape: Shape | None) -> TensorType:
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: DType | None) -> TensorType:
        return TensorType(dtype, self.shape)

    def __str__(self) -> str:
        dtype = "?" if self.dtype is None else self.dtype.value
        if self.shape is None:
            return f"{dtype}[...]"
        return f"{dtype}[{', '.join('?' if d is None else str(d) for d in self.shape)}]"


@attrs.frozen
class Opaque:
    """A blob that is no tensor: a mutex, counter, queue, database, map, step scopes, ..."""

    kind: str

    def __str__(self) -> str:
        return f"<{self.kind}>"


BlobType = TensorType | Opaque
UNKNOWN = TensorType()
