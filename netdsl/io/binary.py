"""NetDef messages in their binary and text encodings, with errors that say where."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, EncodeError

from netdsl.errors import FileFormatError, NetError
from netdsl.io import messages

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NO_UTF8 = "a name that is not UTF-8"
_OP_FIELD = 2
# What else might be in a binary file, the most telling first.
_OTHER_KINDS = ("MetaNetDef", "PlanDef", "TensorProtos", "TensorProto", "BlobProto")


def decode(data: bytes, source: str) -> Any:
    """Return the ``messages.NetDef`` in ``data``; ``source`` names it in errors.

    Raises:
        FileFormatError: bytes that are no complete NetDef message.
    """
    message = None
    try:
        message = messages.NetDef.FromString(data)
        flaw = _flaw(message)
    except DecodeError as error:
        flaw = _damage(data) or str(error)
    except UnicodeDecodeError:  # from protobuf's pure Python runtime; the others give bytes
        flaw = _NO_UTF8
    if flaw is not None:
        other = _other_kind(data)
        raise FileFormatError(
            f"{source!r} is no Caffe2 net, or damaged",
            expected="a complete NetDef message",
            got=flaw,
            looks_like=other and f"a {other} message",
        )
    return message


def encode(message: Any) -> bytes:
    """Return ``message`` in binary, the same bytes for the same message."""
    try:
        return message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError) as error:
        raise NetError("this net cannot be written as a Caffe2 message", got=error) from error


def decode_text(text: str, source: str) -> Any:
    """Return the ``messages.NetDef`` that protobuf text describes.

    Raises:
        FileFormatError: text that does not parse, with line and column.
    """
    try:
        message = text_format.Parse(text, messages.NetDef())
    except text_format.ParseError as error:
        line, column = error.GetLine(), error.GetColumn()
        reason = str(error).removeprefix(f"{line}:{column} : ")
        unclosed = text.count("{") > text.count("}")
        raise FileFormatError(
            f"{source!r} is no net in Caffe2's text form",
            got=reason,
            at=None if line is None else f"line {line}, column {column}",
            note="more braces open than close; the file may be truncated" if unclosed else None,
        ) from error
    if (flaw := _flaw(message)) is not None:
        raise FileFormatError(f"{source!r} is no net in Caffe2's text form", got=flaw)
    return message


def encode_text(message: Any) -> str:
    """Return ``message`` as protobuf text."""
    return text_format.MessageToString(message)


def _flaw(message: Any) -> str | None:
    """Return what no net would have, or None; a wrong message often decodes, into nonsense."""
    for index, op in enumerate(message.op):
        if not op.type:
            return f"operator {index}, which has no type"
    if isinstance(message.name, bytes):  # what protobuf gives for text that is not UTF-8
        return _NO_UTF8
    bare = not (message.op or message.external_input or message.external_output)
    if bare and (not message.HasField("name") or _CONTROL.search(message.name)):
        return "no operator and no name"
    unknown = _drop_unknown(message)
    return f"{unknown} bytes in fields that no Caffe2 net has" if unknown else None


def _drop_unknown(message: Any) -> int:
    """Remove the fields that our description lacks; return their size in bytes."""
    size = len(message.SerializePartialToString())
    message.DiscardUnknownFields()
    return size - len(message.SerializePartialToString())


def _other_kind(data: bytes) -> str | None:
    for name in _OTHER_KINDS:
        try:
            message = messages.message_class(name).FromString(data)
        except (DecodeError, UnicodeDecodeError):
            continue
        if message.IsInitialized() and not _drop_unknown(message) and message.ByteSize() == len(data):
            return name
    return None


def _damage(data: bytes) -> str | None:
    """Return where the outermost fields of a message stop making sense."""
    position, ops = 0, 0
    while position < len(data):
        start = position
        try:
            number, kind, position, end = _field(data, position)
        except (IndexError, ValueError):
            return f"nonsense at byte {start} of {len(data)}, after {ops} operators"
        if end > len(data):
            inside = f"operator {ops}" if number == _OP_FIELD else f"field {number}"
            return f"the end of the file: {inside}, at byte {start}, reaches to byte {end} of {len(data)}"
        if number == _OP_FIELD and kind == 2:
            try:
                messages.OperatorDef.FromString(data[position:end])
            except (DecodeError, UnicodeDecodeError):
                return f"bytes {start} to {end}: operator {ops} does not decode"
            ops += 1
        position = end
    return None


def _field(data: bytes, position: int) -> tuple[int, int, int, int]:
    """Return number, wire type, and begin and end of the content of the field at ``position``."""
    tag, position = _varint(data, position)
    number, kind = tag >> 3, tag & 7
    if number == 0 or kind not in (0, 1, 2, 5):
        raise ValueError("no field begins here")
    if kind == 0:
        return number, kind, position, _varint(data, position)[1]
    if kind == 2:
        length, position = _varint(data, position)
        return number, kind, position, position + length
    return number, kind, position, position + (8 if kind == 1 else 4)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError("a number of more than ten bytes")
