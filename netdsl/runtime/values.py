"""Between blob types and NumPy: dtypes, the type of a value, and what may be fed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from netdsl.errors import InferenceError
from netdsl.ir import BlobType, DType, Opaque, TensorType

_TO_NUMPY = {d: np.dtype(d.value) for d in DType if d not in (DType.STRING, DType.BYTE)}
_TO_NUMPY |= {DType.STRING: np.dtype(object), DType.BYTE: np.dtype(np.uint8)}
_FROM_NUMPY = {n: d for d, n in _TO_NUMPY.items() if d is not DType.BYTE}
_BY_NAME = {d.value: n for d, n in _TO_NUMPY.items()}


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a :class:`DType`, of its name, or of what NumPy takes for one."""
    if isinstance(dtype, DType):
        return _TO_NUMPY[dtype]
    found = _BY_NAME.get(dtype) if isinstance(dtype, str) else None
    return np.dtype(dtype) if found is None else found


def dtype_of(array: Any) -> DType | None:
    """Return the DType of an array, None if blobs cannot have it."""
    return _FROM_NUMPY.get(array.dtype)


def is_text(type_: BlobType) -> bool:
    """Whether a blob is a string tensor, which every workspace holds on the host."""
    return isinstance(type_, TensorType) and type_.dtype is DType.STRING


def type_of(value: Any) -> BlobType:
    """Return the type of what a blob holds; an object says in ``kind`` what kind of opaque blob it is."""
    if type(value) is np.ndarray:
        return _tensor(value.dtype, value.shape)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return TensorType(dtype_of(value), value.shape)
    return Opaque(getattr(value, "kind", type(value).__name__.lower()))


@lru_cache(maxsize=4096)
def _tensor(dtype: np.dtype[Any], shape: tuple[int, ...]) -> TensorType:
    return TensorType(_FROM_NUMPY.get(dtype), shape)


def as_tensor(name: str, value: Any) -> np.ndarray:
    """Return what was fed to blob ``name`` as an array; it may be the very array that was given.

    Arrays keep their dtype. Python numbers and lists of them become int64, float32 or bool; texts
    become a string tensor, which holds bytes (str is encoded as UTF-8).

    Raises:
        InferenceError: no tensor can hold it.
    """
    array = value if isinstance(value, np.ndarray | np.generic) else _converted(name, value)
    array = np.asarray(array)
    if array.dtype.kind in "USO":
        return _strings(name, array)
    if array.dtype not in _FROM_NUMPY:
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype not in _FROM_NUMPY:
        raise InferenceError(
            f"blob {name!r} cannot hold {array.dtype} values", expected=", ".join(d.value for d in _FROM_NUMPY.values())
        )
    return array


def _converted(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype.kind in "US":  # NumPy's fixed-width texts lose trailing zeros
            array = np.asarray(value, object)
    except UnicodeDecodeError:  # texts of both kinds
        return np.asarray(value, object)
    except (TypeError, ValueError) as error:
        raise InferenceError(f"blob {name!r} cannot hold this value", got=repr(value)[:80], why=error) from error
    if hasattr(value, "dtype"):  # another library's array, which knows its precision
        return array
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, as in arguments
            return array.astype(np.float32)
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def _strings(name: str, array: np.ndarray) -> np.ndarray:
    texts = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        if not isinstance(item, str | bytes):
            raise InferenceError(
                f"blob {name!r} cannot hold a {type(item).__name__}",
                expected="an array, numbers, texts, or a list of these; operators make all other blobs",
                got=repr(item)[:80],
            )
        texts[index] = item.encode() if isinstance(item, str) else item
    return texts
