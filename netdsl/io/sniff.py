"""What a file holds, judged by its content: which form of a net, or what else, for the error message."""

from __future__ import annotations

import io
import re
import zipfile

FORMATS = ("pb", "pbtxt", "net", "json")
"""Caffe2 binary, Caffe2 text, netdsl text, JSON."""

_MAGIC = {
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF\r\n": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"SQLite format 3\0": "an SQLite database",
    b"\x7fELF": "a program or shared library",
    b"\x80\x02": "a Python pickle, such as PyTorch saves",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}

_FIRST_TOKEN = re.compile(
    r"(?:\s|#[^\n]*)*(?:(?P<json>[{\[])|(?P<net>net\b)(?!\s*[:{<])|(?P<field>[A-Za-z_]\w*)\s*[:{<])"
)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_OTHER_TEXT = {
    "protos": "Caffe2 tensors (TensorProtos)",
    "nets": "a Caffe2 MetaNetDef",
    "blobs": "a Caffe2 MetaNetDef",
    "network": "a Caffe2 plan",
    "execution_step": "a Caffe2 plan",
    "layer": "a Caffe (not Caffe2) net",
    "layers": "a Caffe (not Caffe2) net",
    "ir_version": "an ONNX model",
}


def text_format(data: bytes) -> str | None:
    """Return ``"json"``, ``"net"`` or ``"pbtxt"`` for text that begins like one, else None."""
    first = _first_token(data)
    if first is None:
        return None
    return "pbtxt" if first.lastgroup == "field" else first.lastgroup


def foreign(data: bytes) -> str | None:
    """Return what ``data`` is, in words, where it is plainly no net."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    if b"!!META_NET_DEF" in data[:64]:
        return "a Caffe2 predictor database (minidb)"
    if data[4:8] == b"TFL3":
        return "a TensorFlow Lite model"
    if data.startswith(b"\x08"):
        return "another protobuf message, perhaps an ONNX model"
    first = _first_token(data)
    return _OTHER_TEXT.get(first["field"] or "") if first else None


def text_beginning(data: bytes) -> str | None:
    """Return the first words of ``data`` if it is text, else None."""
    text = _text(data)
    return None if text is None else text.strip()[:40]


def _text(data: bytes) -> str | None:
    if _BINARY.search(data):
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _first_token(data: bytes) -> re.Match[str] | None:
    text = _text(data)
    return None if text is None else _FIRST_TOKEN.match(text)


def _archive(data: bytes) -> str:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except zipfile.BadZipFile:
        return "a damaged zip archive"
    if any(name.endswith("data.pkl") for name in names):
        return "a PyTorch file"
    if names and all(name.endswith(".npy") for name in names):
        return "NumPy arrays (.npz); load_tensors reads them"
    return "a zip archive"
