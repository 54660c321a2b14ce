"""The kinds an argument may be declared as, and the checked conversion of a recorded value to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from netdsl.errors import SchemaError, did_you_mean
from netdsl.ir import NetDef, Packed


def _int(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return int(value)
    raise TypeError


def _float(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    raise TypeError


def _bool(value: Any) -> bool:
    if isinstance(value, int):
        return bool(value)
    raise TypeError


def _str(value: Any) -> str | bytes:
    if isinstance(value, str | bytes):
        return value
    raise TypeError


def _net(value: Any) -> NetDef:
    if isinstance(value, NetDef):
        return value
    raise TypeError


def _list_of(item: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert_list(value: Any) -> Any:
        if isinstance(value, Packed):
            return value if item is not _str and (item is _float or value.code == "q") else tuple(map(item, value))
        if not isinstance(value, tuple | list):
            raise TypeError
        return tuple(map(item, value))

    return convert_list


KINDS: dict[str, Callable[[Any], Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "bytes": _str,
    "NetDef": _net,
    "tuple[int, ...]": _list_of(_int),
    "tuple[float, ...]": _list_of(_float),
    "tuple[bool, ...]": _list_of(_bool),
    "tuple[str, ...]": _list_of(_str),
    "tuple[NetDef, ...]": _list_of(_net),
    "ArgValue": lambda value: value,
}
"""What an argument's annotation may be (each also as ``... | None``), and how a value becomes one."""


def kind_of(field: attrs.Attribute[Any]) -> Callable[[Any], Any]:
    """Return the converter of a declared argument; raises TypeError for an unknown annotation."""
    kind = str(field.type).removesuffix(" | None")
    if kind not in KINDS:
        raise TypeError(f"argument {field.name}: its annotation {field.type!r} is none of {', '.join(KINDS)}")
    return KINDS[kind]


def convert(operator: str, field: attrs.Attribute[Any], value: Any) -> Any:
    """Return ``value`` as the declared kind of argument ``field``.

    Raises:
        SchemaError: a value of another kind, or none of the declared choices.
    """
    enum, choices = field.metadata["enum"], field.metadata["choices"]
    if enum and isinstance(value, str):
        value = _enum_value(operator, field.name, enum, value)
    try:
        converted = kind_of(field)(value)
    except TypeError:
        raise SchemaError(
            f"{operator}: argument {field.name!r} is of the wrong kind", expected=field.type, got=repr(value)[:80]
        ) from None
    if choices and converted not in choices:
        near = did_you_mean(str(converted), choices)
        raise SchemaError(
            f"{operator}: {field.name!r} cannot be {converted!r}", expected=", ".join(choices), did_you_mean=near
        )
    return converted


def _enum_value(operator: str, name: str, enum: Any, value: str) -> int:
    if value.lower() not in enum:
        near = did_you_mean(value, enum)
        raise SchemaError(f"{operator}: {name!r} cannot be {value!r}", expected=", ".join(enum), did_you_mean=near)
    return enum[value.lower()]
