"""Loading and saving nets as files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from netdsl.errors import FileFormatError, ParseError, UnknownArgumentWarning, did_you_mean
from netdsl.io.atomic import replace_file
from netdsl.io.sniff import FORMATS, foreign, text_beginning, text_format
from netdsl.ir import NetDef, OperatorDef, dump, from_json, parse, to_json
from netdsl.ops.schema import is_known, lookup
from netdsl.ops.validate import unknown_arguments

_EXPECTED = "a net: Caffe2's binary or text form, netdsl text, or JSON"
_EXTENSIONS = {
    ".pb": "pb",
    ".pbtxt": "pbtxt",
    ".prototxt": "pbtxt",
    ".net": "net",
    ".txt": "net",
    ".json": "json",
}


def load(path: str | os.PathLike[str]) -> NetDef:
    """Return the net in a file: Caffe2 binary, Caffe2 text, netdsl text or JSON, told apart by its content.

    Arguments that an operator does not know are kept, and warned of once each (UnknownArgumentWarning).

    Raises:
        FileFormatError: an empty, truncated or damaged file, one of another kind, or a folder.
        ParseError: netdsl text with a mistake; has line and column.
        OSError: a file that does not exist or cannot be read.
    """
    source = os.fspath(path)
    if os.path.isdir(path):
        raise FileFormatError(f"{source!r} is a folder", expected=_EXPECTED)
    net = decode(Path(path).read_bytes(), source)
    for (type_, name), op in _unknown_arguments(net).items():
        near = did_you_mean(name, lookup(type_).arguments())
        meant = f"; did you mean {near}?" if near else ""
        text = f"{type_} has no argument {name!r}, which does nothing in {op} of {source!r}{meant}"
        warnings.warn(text, UnknownArgumentWarning, stacklevel=2)
    return net


def _unknown_arguments(net: NetDef) -> dict[tuple[str, str], OperatorDef]:
    """The first operator of each type with each argument that the type does not know, nested nets included."""
    found: dict[tuple[str, str], OperatorDef] = {}
    for op in net.ops:
        for _, nested in op.nested:
            found = {**_unknown_arguments(nested), **found}
        for name in unknown_arguments(op) if is_known(op.type) else ():
            found.setdefault((op.type, name), op)
    return found


def save(net: Any, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write ``net`` (a Net or NetDef) to a file, whole or not at all.

    ``format`` is ``"pb"`` (Caffe2 binary), ``"pbtxt"`` (Caffe2 text), ``"net"`` (netdsl text) or ``"json"``; by
    default the extension decides: .pb, .pbtxt or .prototxt, .net or .txt, .json. Authors' lines and metadata are
    kept by JSON only.

    Raises:
        FileFormatError: an unknown format or extension.
        NetError: a net that the format cannot hold.
        OSError: a folder that does not exist or cannot be written.
    """
    data = encode(net, format or _format_of(path))
    with replace_file(path) as file:
        file.write(data)


def decode(data: bytes, source: str = "<bytes>") -> NetDef:
    """Return the net in ``data``, the content of a file of any format; ``source`` names it in errors."""
    if not data.strip():
        raise FileFormatError(f"{source!r} is empty", expected=_EXPECTED)
    if (kind := foreign(data)) is not None:
        raise FileFormatError(f"{source!r} is no net", expected=_EXPECTED, got=kind)
    format = text_format(data)
    return _decode_binary(data, source) if format is None else _decode_text(data.decode("utf-8-sig"), format, source)


def encode(net: Any, format: str) -> bytes:
    """Return the content of a file that holds ``net`` (a Net or NetDef) in ``format``."""
    definition: NetDef = getattr(net, "definition", net)
    if format == "net":
        return dump(definition).encode()
    if format == "json":
        return to_json(definition).encode()
    if format not in FORMATS:
        raise FileFormatError(
            f"no format is called {format!r}",
            expected=", ".join(FORMATS),
            did_you_mean=did_you_mean(format, FORMATS),
        )
    from netdsl.io import binary, convert

    message = convert.to_message(definition)
    return binary.encode(message) if format == "pb" else binary.encode_text(message).encode()


def _format_of(path: str | os.PathLike[str]) -> str:
    extension = os.path.splitext(path)[1]
    if extension.lower() in _EXTENSIONS:
        return _EXTENSIONS[extension.lower()]
    raise FileFormatError(
        f"the extension {extension!r} names no format",
        expected=f"{', '.join(_EXTENSIONS)}; or format={'|'.join(FORMATS)}",
        file=os.fspath(path),
        did_you_mean=did_you_mean(extension, _EXTENSIONS),
    )


def _decode_binary(data: bytes, source: str) -> NetDef:
    from netdsl.io import binary

    try:
        return _from_message(binary.decode(data, source), source)
    except FileFormatError:
        if (beginning := text_beginning(data)) is None:
            raise
    raise FileFormatError(f"{source!r} is no net", expected=_EXPECTED, got=f"text that begins {beginning!r}")


def _decode_text(text: str, format: str, source: str) -> NetDef:
    if format == "net":
        return parse(text, source)
    if format == "pbtxt":
        from netdsl.io import binary

        return _from_message(binary.decode_text(text, source), source)
    try:
        return from_json(text)
    except ParseError as error:
        raise FileFormatError(f"{source!r}: {error.what}", **error.details) from error


def _from_message(message: Any, source: str) -> NetDef:
    from netdsl.io.convert import from_message

    try:
        return from_message(message)
    except FileFormatError as error:
        raise FileFormatError(error.what, file=source, **error.details) from error
