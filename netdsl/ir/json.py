"""Nets as JSON: everything a NetDef holds, also what equality and the text form leave out.

The outermost object is ``{"netdsl": 1, "net": {...}}``. Fields that hold their default are left out. An
argument is an object that names its kind (``{"float": 1.0}``), because many tools write 1.0 as 1; bytes and
packed lists are base64; what JSON has no number for is the text ``"inf"``, ``"-inf"`` or ``"nan"``.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from netdsl.errors import NetError, ParseError, did_you_mean
from netdsl.ir.args import DEEPEST, Packed
from netdsl.ir.defs import Device, NetDef, OperatorDef, SourceLine
from netdsl.ir.extents import ExtentError, extent
from netdsl.ir.text import PACKED_DTYPES, float_text
from netdsl.ir.types import BlobType, DType, Opaque, TensorType

VERSION = 1
"""Of the form written; readers refuse others."""

_CODES = {name: code for code, name in PACKED_DTYPES.items()}
_DTYPES = {dtype.value: dtype for dtype in DType}


def to_json(net: NetDef) -> str:
    """Return ``net`` as one line of ASCII JSON, which ``from_json`` turns back into it, metadata included.

    Raises:
        NetError: ``metadata`` holds what JSON cannot.
    """
    return json.dumps({"netdsl": VERSION, "net": _net(net)}, allow_nan=False)


def _net(net: NetDef) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": net.name,
        "type": net.type,
        "num_workers": net.num_workers,
        "device": net.device and _device(net.device),
        "args": {name: _value(value) for name, value in net.args.items()},
        "inputs": net.inputs,
        "types": {name: _type(type_) for name, type_ in net.types.items()},
        "ops": [_operator(op) for op in net.ops],
        "outputs": net.outputs,
        "metadata": net.metadata and _metadata(net),
    }
    return _given(fields)


def _metadata(net: NetDef) -> dict[str, Any]:
    found = dict(net.metadata)
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NetError(f"the metadata of net '{net.name}' cannot be written as JSON", because=error) from None
    return found


def _operator(op: OperatorDef) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "inputs": op.inputs,
        "outputs": op.outputs,
        "args": {name: _value(value) for name, value in op.args.items()},
        "device": op.device and _device(op.device),
        "engine": op.engine,
        "name": op.name,
        "control_inputs": op.control_inputs,
        "domain": op.domain,
        "debug_info": op.debug_info,
        "is_gradient": op.is_gradient,
        "where": op.where and {"file": op.where.file, "line": op.where.line},
    }
    return {"type": op.type, **_given(fields)}


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _device(device: Device) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "index": device.index or None,
        "random_seed": device.random_seed,
        "node_name": device.node_name or None,
        "numa_node": device.numa_node,
        "extra_info": device.extra_info or None,
    }
    return {"kind": device.kind, **{name: value for name, value in fields.items() if value is not None}}


def _type(type_: BlobType) -> dict[str, Any]:
    if isinstance(type_, Opaque):
        return {"opaque": type_.kind}
    return {"dtype": type_.dtype and type_.dtype.value, "shape": type_.shape}


def _number(value: float) -> float | str:
    text = float_text(value)
    return float(text) if math.isfinite(value) else text


def _text(value: str | bytes) -> Any:
    return value if isinstance(value, str) else {"base64": base64.b64encode(value).decode()}


def _value(value: Any) -> dict[str, Any]:
    kind = value.__class__
    if kind is tuple:
        name, write = _WRITE[type(value[0]) if value else int]
        return {f"{name}s": [write(item) for item in value]}
    if kind is Packed:
        return {"packed": PACKED_DTYPES[value.code], "base64": base64.b64encode(value.data).decode()}
    name, write = _WRITE[kind]
    return {name: write(value)}


_WRITE: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    int: ("int", int),
    float: ("float", _number),
    str: ("text", _text),
    bytes: ("text", _text),
    NetDef: ("net", _net),
}


def from_json(text: str) -> NetDef:
    """Return the net that ``to_json`` wrote.

    Raises:
        ParseError: the text is no JSON (names line and column), or no net (names the place, ``net.ops[3].args``).
    """
    try:
        data = json.loads(text, object_pairs_hook=_unique)
        found = _fields(data, {"netdsl": _version, "net": _read_net})
        if "net" not in found or "netdsl" not in found:
            raise _MisfitError('{"netdsl": 1, "net": {...}}', data)
        return found["net"]
    except json.JSONDecodeError as error:
        raise ParseError(
            f"no JSON: {error.msg}", line=error.lineno, column=error.colno, at=f"line {error.lineno}:{error.colno}"
        ) from None
    except _MisfitError as error:
        place = "".join(error.path).lstrip(".") or "the outermost object"
        raise ParseError(
            "JSON that is no net", at=place, expected=error.expected, got=error.got, did_you_mean=error.near
        ) from None
    except (RecursionError, NetError):
        raise ParseError("nets are nested too deep", expected=f"at most {DEEPEST} within one another") from None


class _MisfitError(Exception):
    """A part of the document that is not as it should be; readers on the way out complete ``path``."""

    def __init__(self, expected: str, got: object, near: str | None = None) -> None:
        self.expected = expected
        self.got = repr(got)[:80]
        self.near = near
        self.path: list[str] = []


Reader = Callable[[Any], Any]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _MisfitError("each name once in an object", next(name for name in names if names.count(name) > 1))
    return found


def _fields(data: Any, readers: Mapping[str, Reader]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in _object(data).items():
        reader = readers.get(name)
        if reader is None:
            raise _MisfitError(f"one of {', '.join(readers)}", name, did_you_mean(name, readers))
        found[name] = _at(f".{name}", reader, value)
    return found


def _at(place: str, reader: Reader, value: Any) -> Any:
    try:
        return reader(value)
    except _MisfitError as error:
        error.path.insert(0, place)
        raise


def _of(kind: type, what: str) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _MisfitError(what, value)
        return value

    return read


_object = _of(dict, "an object")
_string = _of(str, "a text")
_bool = _of(bool, "true or false")
_plain_int = _of(int, "an int")


def _count(value: Any) -> int:
    if _plain_int(value) < 0:
        raise _MisfitError("an int of 0 or more", value)
    return value


def _int64(value: Any) -> int:
    if not -(2**63) <= _plain_int(value) < 2**63:
        raise _MisfitError("an int of 64 bits", value)
    return value


def _list_of(reader: Reader) -> Callable[[Any], list[Any]]:
    def read(value: Any) -> list[Any]:
        if type(value) is not list:
            raise _MisfitError("a list", value)
        return [_at(f"[{index}]", reader, item) for index, item in enumerate(value)]  # pyright: ignore

    return read


def _table_of(reader: Reader) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        return {name: _at(f".{name}", reader, item) for name, item in _object(value).items()}

    return read


def _version(value: Any) -> int:
    if value != VERSION:
        raise _MisfitError(f"version {VERSION}", value)
    return value


def _float(value: Any) -> float:
    if type(value) in (int, float):
        return float(value)
    if value in ("inf", "-inf", "nan", "-nan"):
        return float(value)
    raise _MisfitError('a number, "inf", "-inf" or "nan"', value)


def _base64(value: Any) -> bytes:
    try:
        return base64.b64decode(_string(value), validate=True)
    except (binascii.Error, ValueError):
        raise _MisfitError("base64", value) from None


def _read_text(value: Any) -> str | bytes:
    if type(value) is str:
        return value
    found = _fields(value, {"base64": _base64})
    if not found:
        raise _MisfitError('a text or {"base64": ...}', value)
    return found["base64"]


def _packed(found: dict[str, Any]) -> Packed:
    code, data = found["packed"], found["base64"]
    if len(data) % (4 if code == "f" else 8):
        raise _MisfitError(f"bytes of whole {PACKED_DTYPES[code]} numbers", f"{len(data)} bytes")
    return Packed(code, data)


def _read_value(value: Any) -> Any:
    found = _fields(value, _VALUES)
    if len(found) == 1 and "packed" not in found and "base64" not in found:
        return next(iter(found.values()))
    if found.keys() == {"packed", "base64"}:
        return _packed(found)
    raise _MisfitError('an object of one kind, such as {"int": 1}', value)


def _choice(known: Mapping[str, Any]) -> Reader:
    def read(value: Any) -> Any:
        if _string(value) not in known:
            raise _MisfitError(", ".join(known), value, did_you_mean(value, known))
        return known[value]

    return read


def _dim(value: Any) -> int | str | None:
    if type(value) is int:
        return _count(value)
    if type(value) is str:
        try:
            return extent(value)
        except ExtentError as error:
            raise _MisfitError(f"{error.expected}, at character {error.at + 1}", value) from None
    if value is None:
        return None
    raise _MisfitError("an int, a name or null", value)


def _optional(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _read_type(value: Any) -> BlobType:
    found = _fields(value, _TYPE)
    if "opaque" in found:
        if len(found) > 1:
            raise _MisfitError('either "opaque" or "dtype" and "shape"', value)
        return Opaque(found["opaque"])
    return TensorType(**found)


def _read_device(value: Any) -> Device:
    return Device(**_fields(value, _DEVICE))


def _read_where(value: Any) -> SourceLine:
    found = _fields(value, {"file": _string, "line": _plain_int})
    if len(found) < 2:
        raise _MisfitError('"file" and "line"', value)
    return SourceLine(**found)


def _read_operator(value: Any) -> OperatorDef:
    found = _fields(value, _OPERATOR)
    if "type" not in found:
        raise _MisfitError('an operator with its "type"', value)
    return OperatorDef(**found)


def _read_net(value: Any) -> NetDef:
    return NetDef(**_fields(value, _NET))


_SINGLE: Mapping[str, Reader] = {
    "int": _int64,
    "float": _float,
    "text": _read_text,
    "net": _read_net,
}
_VALUES: Mapping[str, Reader] = {
    **_SINGLE,
    **{f"{name}s": _list_of(reader) for name, reader in _SINGLE.items()},
    "packed": _choice(_CODES),
    "base64": _base64,
}
_TYPE: Mapping[str, Reader] = {
    "opaque": _string,
    "dtype": _optional(_choice(_DTYPES)),
    "shape": _optional(_list_of(_dim)),
}
_DEVICE: Mapping[str, Reader] = {
    "kind": _string,
    "index": _count,
    "random_seed": _plain_int,
    "node_name": _string,
    "numa_node": _plain_int,
    "extra_info": lambda value: tuple(_list_of(_string)(value)),
}
_OPERATOR: Mapping[str, Reader] = {
    "type": _string,
    "inputs": _list_of(_string),
    "outputs": _list_of(_string),
    "args": _table_of(_read_value),
    "device": _read_device,
    "engine": _string,
    "name": _string,
    "control_inputs": _list_of(_string),
    "domain": _string,
    "debug_info": _string,
    "is_gradient": _bool,
    "where": _read_where,
}
_NET: Mapping[str, Reader] = {
    "name": _string,
    "type": _string,
    "num_workers": _plain_int,
    "device": _read_device,
    "args": _table_of(_read_value),
    "inputs": _list_of(_string),
    "types": _table_of(_read_type),
    "ops": _list_of(_read_operator),
    "outputs": _list_of(_string),
    "metadata": _object,
}
