"""Tensors in files: Caffe2's TensorProto to and from arrays, and checkpoints of named arrays."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from netdsl.errors import FileFormatError, NetdslError
from netdsl.io import messages
from netdsl.io.atomic import replace_file
from netdsl.ir import DType

Array = NDArray[Any]

# The repeated field that holds the values of each dtype.
_FIELDS = {
    DType.FLOAT: "float_data",
    DType.DOUBLE: "double_data",
    DType.INT64: "int64_data",
    DType.STRING: "string_data",
    **dict.fromkeys(
        (DType.INT32, DType.BOOL, DType.UINT8, DType.INT8, DType.UINT16, DType.INT16, DType.FLOAT16), "int32_data"
    ),
}

# Dtypes whose bits stand in their field as another's numbers.
_STORED_AS = {DType.FLOAT16: np.uint16, DType.BOOL: np.uint8}

# Zip entries need a date; a fixed one makes equal checkpoints equal files.
_DATE = (1980, 1, 1, 0, 0, 0)


def dtype_of(dtype: DType) -> np.dtype[Any]:
    """Return the array dtype in which ``dtype`` is stored, little-endian (bytes as uint8, strings as objects)."""
    if dtype is DType.STRING:
        return np.dtype(object)
    return np.dtype("uint8" if dtype is DType.BYTE else dtype.value).newbyteorder("<")


def to_array(tensor: Any) -> Array:
    """Return what a ``messages.TensorProto`` holds: numbers, booleans, or an object array of bytes.

    Half-precision values may stand as bit patterns in ``int32_data``, as Caffe2 writes them, or as bytes.

    Raises:
        FileFormatError: an unknown dtype, values kept elsewhere, too many or too few values, or one chunk of several.
    """
    where = f"tensor {tensor.name!r}"
    shape, count = _shape(tensor.dims, where)
    if tensor.HasField("segment") and (tensor.segment.begin, tensor.segment.end) != (0, count):
        begin, end = tensor.segment.begin, tensor.segment.end
        raise FileFormatError(
            "a tensor that was saved in chunks must be joined",
            expected=f"values 0 to {count}",
            got=f"values {begin} to {end}; give all chunks to join_chunks",
            where=where,
        )
    return _values(tensor, count, where).reshape(shape)


def join_chunks(tensors: Sequence[Any]) -> Array:
    """Return the one array whose chunks (messages with a ``segment``) ``tensors`` are, in any order.

    Raises:
        FileFormatError: chunks that overlap, leave a gap or disagree about shape or dtype.
    """
    chunks = sorted(tensors, key=lambda t: t.segment.begin)
    if not chunks:
        raise FileFormatError("a tensor has at least one chunk", got="none")
    first = chunks[0]
    where = f"tensor {first.name!r}"
    shape, count = _shape(first.dims, where)
    ends = [0, *(t.segment.end for t in chunks)]
    spans = [(t.segment.begin, t.segment.end) for t in chunks]
    if [begin for begin, _ in spans] != ends[:-1] or ends[-1] != count:
        raise FileFormatError(f"chunks do not make up values 0 to {count}", got=spans, where=where)
    if any((t.data_type, list(t.dims)) != (first.data_type, list(first.dims)) for t in chunks):
        raise FileFormatError("chunks of one tensor disagree about its shape or dtype", where=where)
    parts = [_values(t, end - begin, where) for t, (begin, end) in zip(chunks, spans, strict=True)]
    return np.concatenate(parts).reshape(shape)


def from_array(array: Any, name: str = "") -> Any:
    """Return a ``messages.TensorProto`` holding ``array``, in the fields that Caffe2 itself writes.

    Raises:
        NetdslError: elements that Caffe2 has no dtype for.
    """
    array = np.asarray(array)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    dtype = _dtype(array, name)
    tensor = messages.TensorProto(name=name, data_type=dtype.number, dims=array.shape)
    flat = array.ravel()
    if dtype is DType.STRING:
        tensor.string_data.extend(_string(item, name) for item in flat.tolist())
    else:
        stored = _STORED_AS.get(dtype)
        getattr(tensor, _FIELDS[dtype]).extend((flat.view(stored) if stored else flat).tolist())
    return tensor


def _dtype(array: Array, name: str) -> DType:
    if array.dtype.kind in "OSU":
        return DType.STRING
    for dtype in DType:
        if dtype not in (DType.STRING, DType.BYTE) and array.dtype == dtype.value:
            return dtype
    raise NetdslError(
        f"Caffe2 has no tensors of {array.dtype}",
        expected=", ".join(dtype.value for dtype in DType if dtype is not DType.BYTE),
        tensor=name or None,
    )


def _string(item: Any, name: str) -> bytes:
    if isinstance(item, str | bytes):
        return item.encode() if isinstance(item, str) else item
    raise NetdslError("a tensor of strings holds str and bytes only", got=repr(item)[:80], tensor=name or None)


def _shape(dims: Sequence[int], where: str) -> tuple[tuple[int, ...], int]:
    if any(dim < 0 for dim in dims):
        raise FileFormatError("a tensor has a negative extent", got=list(dims), where=where)
    return tuple(dims), math.prod(dims)


def _values(tensor: Any, count: int, where: str) -> Array:
    try:
        dtype = DType.from_number(tensor.data_type)
    except KeyError:
        kind = messages.TensorProto.DataType.Name(tensor.data_type)
        raise FileFormatError(f"a tensor of type {kind} cannot be read", where=where) from None
    if tensor.storage_type in (messages.TensorProto.EXTERNAL, messages.TensorProto.NO_CONTENT):
        raise FileFormatError(
            "the values of a tensor are not in this file",
            got=f"storage_type {messages.TensorProto.StorageType.Name(tensor.storage_type)}",
            where=where,
        )
    values = _decode(tensor, dtype, where)
    if values.size != count:
        raise FileFormatError(
            "a tensor holds another number of values than its shape says",
            expected=f"{count} values of {dtype.value}",
            got=values.size,
            where=where,
        )
    return values


def _decode(tensor: Any, dtype: DType, where: str) -> Array:
    if dtype is DType.STRING:
        values = np.empty(len(tensor.string_data), object)
        values[:] = list(tensor.string_data)
        return values
    stored = dtype_of(dtype)
    native = stored.newbyteorder("=")
    data = tensor.raw_data or tensor.byte_data
    if data or dtype is DType.BYTE:
        if len(data) % stored.itemsize:
            raise FileFormatError(
                "a tensor's bytes end within a value",
                expected=f"a multiple of {stored.itemsize} bytes",
                got=f"{len(data)} bytes",
                where=where,
            )
        return np.frombuffer(data, stored).astype(native)
    numbers = getattr(tensor, _FIELDS[dtype])
    if dtype is DType.FLOAT16:
        return np.array(numbers, np.int32).astype(np.uint16).view(np.float16)
    return np.array(numbers, np.int32 if _FIELDS[dtype] == "int32_data" else native).astype(native)


# ---------------------------------------------------------------- checkpoints


def save_tensors(tensors: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write named arrays as one ``.npz`` file, whole or not at all; equal arrays make equal files.

    Strings (object arrays of str or bytes) are kept as bytes.

    Raises:
        NetdslError: an array of other objects, or strings that end in NUL, which the format cannot keep.
    """
    with replace_file(path) as file:
        write_tensors(tensors, file)


def write_tensors(tensors: Mapping[str, Any], file: BinaryIO) -> None:
    """Write what :func:`save_tensors` saves into an open file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors.items():
            array = _storable(np.asarray(tensor), name)
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def load_tensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Return the named arrays of a ``.npz`` file, in its order; strings come as object arrays of bytes.

    Raises:
        FileFormatError: a file that is truncated, corrupt or of another kind.
    """
    if os.path.isdir(path):
        raise FileFormatError(f"{os.fspath(path)!r} is a folder", expected="a checkpoint (.npz)")
    tensors: dict[str, Array] = {}
    name = None
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith(".npy"):
                    raise ValueError("not an array")
                with archive.open(name) as entry:
                    array = np.lib.format.read_array(entry, allow_pickle=False)
                tensors[name.removesuffix(".npy")] = array.astype(object) if array.dtype.kind == "S" else array
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise FileFormatError(
            f"{os.fspath(path)!r} is no checkpoint",
            expected="a zip archive of NumPy arrays (.npz), complete",
            got=error,
            entry=name,
        ) from error
    return tensors


def _storable(array: Array, name: str) -> Array:
    if array.dtype.kind not in "OU":
        return array
    items = [_string(item, name) for item in array.ravel().tolist()]
    if any(item.endswith(b"\0") for item in items):
        raise NetdslError("a checkpoint cannot keep a string that ends in NUL", tensor=name)
    return np.array(items, dtype=bytes).reshape(array.shape)
