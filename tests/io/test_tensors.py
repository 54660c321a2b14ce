"""Tensors in messages and in checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netdsl.errors import FileFormatError, NetdslError
from netdsl.io import load_tensors, messages, save_tensors
from netdsl.io.tensors import dtype_of, from_array, join_chunks, to_array
from netdsl.ir import DType

DATA = Path(__file__).parents[1] / "data"
T = messages.TensorProto


def samples() -> dict[str, np.ndarray[Any, Any]]:
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for dtype in DType:
        if dtype not in (DType.STRING, DType.BYTE):
            kind = np.dtype(dtype.value)
            extremes = [False, True] if dtype is DType.BOOL else [1, 0]
            if kind.kind in "iu":
                extremes = [np.iinfo(kind).min, np.iinfo(kind).max]
            if kind.kind == "f":
                extremes = [-0.0, np.inf, np.finfo(kind).smallest_subnormal, np.finfo(kind).max, np.nan]
            arrays[dtype.value] = np.array([extremes], kind)
    arrays["string"] = np.array([b"a", b"", b"\xff"], object)
    arrays["scalar"] = np.array(2.5, np.float32)
    arrays["empty"] = np.zeros((3, 0), np.float16)
    return arrays


@pytest.mark.parametrize("name", samples())
def test_every_dtype_comes_back_bit_equal(name: str):
    array = samples()[name]
    tensor = from_array(array, "t")
    back = to_array(T.FromString(tensor.SerializeToString()))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tolist() == array.tolist() if array.dtype == object else back.tobytes() == array.tobytes()
    assert tensor.name == "t"


def test_half_precision_in_files():
    tensor = T(dims=[3], data_type=T.FLOAT16, int32_data=[15360, 16384, 48640])
    array = to_array(tensor)
    assert array.dtype == np.float16
    assert array.tolist() == [1.0, 2.0, -1.5]
    assert from_array(array) == T(name="", dims=[3], data_type=T.FLOAT16, int32_data=[15360, 16384, 48640])


def test_half_precision_as_caffe2_writes_it():
    blob = messages.BlobProto.FromString((DATA / "io/float16_blob.pb").read_bytes())
    assert to_array(blob.tensor).tolist() == [1.0, 2.0, -1.5]


@pytest.mark.parametrize("field", ["byte_data", "raw_data"])
@pytest.mark.parametrize("dtype", ["float16", "int8", "uint16", "bool", "float32", "int64", "float64"])
def test_values_may_stand_as_bytes(dtype: str, field: str):
    array = np.array([[1, 0], [0, 1]], dtype)
    tensor = T(dims=[2, 2], data_type=DType(dtype).number, **{field: array.tobytes()})
    back = to_array(tensor)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()
    back[0, 0] = 0  # not read-only


def test_bytes_are_uint8():
    back = to_array(T(dims=[2], data_type=T.BYTE, byte_data=b"\x01\xff"))
    assert (back.dtype, back.tolist()) == (np.uint8, [1, 255])
    assert dtype_of(DType.BYTE) == np.uint8


def test_arrays_need_be_neither_native_nor_contiguous():
    array = np.arange(6, dtype=">f4").reshape(2, 3).T
    assert to_array(from_array(array)).tolist() == array.tolist()
    half = np.arange(6, dtype=">f2").reshape(2, 3)[:, ::2]
    assert to_array(from_array(half)).tolist() == half.tolist()


def test_str_becomes_bytes():
    assert to_array(from_array(["ä", "b"])).tolist() == ["ä".encode(), b"b"]


def chunk(begin: int, end: int, dims: tuple[int, ...] = (2, 3)) -> Any:
    values = [float(v) for v in range(begin, end)]
    return T(name="t", dims=dims, float_data=values, segment={"begin": begin, "end": end})


def test_chunks_join_in_any_order():
    assert join_chunks([chunk(4, 6), chunk(0, 4)]).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert to_array(chunk(0, 6)).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], "at least one"),
        ([chunk(0, 4)], "do not make up values 0 to 6"),
        ([chunk(0, 4), chunk(3, 6)], "do not make up"),
        ([chunk(0, 4), chunk(4, 6, (6,))], "disagree"),
    ],
)
def test_chunks_that_do_not_fit(chunks: list[Any], expected: str):
    with pytest.raises(FileFormatError, match=expected):
        join_chunks(chunks)


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (T(name="t", dims=[2], float_data=[1.0]), r"(?s)expected : 2 values of float32.*got      : 1.*'t'"),
        (T(dims=[-1], float_data=[1.0]), "negative extent"),
        (T(dims=[1], data_type=T.UNDEFINED), "UNDEFINED"),
        (T(dims=[1], data_type=T.ZERO_COLLISION_HASH), "ZERO_COLLISION_HASH"),
        (T(dims=[1], storage_type=T.EXTERNAL), "EXTERNAL"),
        (T(dims=[1], storage_type=T.NO_CONTENT), "NO_CONTENT"),
        (T(dims=[1], raw_data=b"abc"), "a multiple of 4 bytes"),
        (chunk(0, 4), "join_chunks"),
    ],
)
def test_broken_tensors(tensor: Any, expected: str):
    with pytest.raises(FileFormatError, match=expected):
        to_array(tensor)


@pytest.mark.parametrize("array", [np.array([1j]), np.array([1], np.uint64), np.array([object()])])
def test_arrays_without_a_caffe2_type(array: Any):
    with pytest.raises(NetdslError, match=r"t$"):
        from_array(array, "t")


def test_a_checkpoint_keeps_names_order_and_bits(tmp_path: Path):
    tensors = {"b": samples()["float16"], "gpu_0/w:0": samples()["float32"], "file": samples()["scalar"]}
    tensors |= {"a": samples()["string"], "a.npy": samples()["empty"], "ä ": samples()["bool"]}
    save_tensors(tensors, tmp_path / "c.npz")
    back = load_tensors(tmp_path / "c.npz")
    assert list(back) == list(tensors)
    for name, array in tensors.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert (
            back[name].tolist() == array.tolist() if array.dtype == object else back[name].tobytes() == array.tobytes()
        )


def test_numpy_reads_checkpoints_and_we_read_numpys(tmp_path: Path):
    save_tensors({"w": np.arange(3.0)}, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        assert archive["w"].tolist() == [0, 1, 2]
    np.savez_compressed(tmp_path / "b.npz", w=np.arange(3.0))
    assert load_tensors(tmp_path / "b.npz")["w"].tolist() == [0, 1, 2]


def test_equal_arrays_make_equal_files(tmp_path: Path):
    for name in ("a", "b"):
        save_tensors({"w": np.arange(3.0)}, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("array", [np.array([object()]), np.array([b"a\0"], object)])
def test_what_a_checkpoint_cannot_keep_leaves_nothing(array: Any, tmp_path: Path):
    with pytest.raises(NetdslError, match=r"t$"):
        save_tensors({"fine": np.zeros(2), "t": array}, tmp_path / "c.npz")
    assert os.listdir(tmp_path) == []


def test_broken_checkpoints(tmp_path: Path):
    path = tmp_path / "c.npz"
    save_tensors({"w": np.arange(100.0)}, path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for content in (b"", b"PK", whole[:-30], whole[:middle] + b"x" + whole[middle + 1 :]):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"c.npz' is no checkpoint"):
            load_tensors(path)
    np.savez(path, w=np.array([object()]))
    with pytest.raises(FileFormatError, match=r"(?s)c.npz' is no checkpoint.*w\.npy"):
        load_tensors(path)
    with pytest.raises(FileFormatError, match="is a folder"):
        load_tensors(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_tensors(tmp_path / "none.npz")
