"""Checks of what people give to optimizers: names of settings, numbers and kinds of values."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from netdsl.errors import SchemaError, did_you_mean


class ByKeyword:
    """Base of attrs classes that people set up by keyword: an unknown one raises SchemaError, with the near names."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__attrs_attrs__" not in vars(cls) or "__attrs_init__" in vars(cls):
            return  # the class before attrs makes it anew, with slots and __init__; or one with an __init__ of its own
        init: Callable[..., None] = vars(cls)["__init__"]
        fields = [field for field in attrs.fields(cls) if field.init]  # pyright: ignore[reportArgumentType]
        names = [field.alias or field.name for field in fields]
        by_position = sum(not field.kw_only for field in fields)

        @functools.wraps(init)
        def checked(self: Any, *args: Any, **given: Any) -> None:
            for name in given.keys() - {*names}:
                near = _spelled_out(name, names) or did_you_mean(name, names)
                raise SchemaError(f"{cls.__name__} takes no {name!r}", expected=", ".join(names), did_you_mean=near)
            if len(args) > by_position:
                what = f"{cls.__name__} takes {by_position or 'no'} values without a name"
                raise SchemaError(what, expected=", ".join(names), got=", ".join(map(repr, args)))
            init(self, *args, **given)

        cls.__init__ = checked


def _spelled_out(name: str, known: Iterable[str]) -> str | None:
    """The names of whose words ``name`` has the last initials: "lr" is base_learning_rate."""
    found = [long for long in known if "".join(word[0] for word in long.split("_")).endswith(name)]
    return ", ".join(found) or None


def check_number(what: str, value: Any, *, positive: bool = False, infinite: bool = False) -> None:
    """Raise SchemaError unless ``value`` is a number, zero or (``positive``) more, and finite but for ``infinite``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        exponent = isinstance(value, str) and re.fullmatch(r"[-+]?\d+[eE][-+]?\d+", value)
        fix = "YAML wants a dot in a number with an exponent: 1.0e-4" if exponent else None
        raise SchemaError(f"{what} is a number", got=repr(value), fix=fix)
    if not (value > 0 if positive else value >= 0):
        raise SchemaError(f"{what} is {'positive' if positive else 'zero or positive'}", got=value)
    if math.isinf(value) and not infinite:
        raise SchemaError(f"{what} is finite", got=value)


def number(*, positive: bool = False, infinite: bool = False) -> Callable[..., None]:
    """A validator: the field passes :func:`check_number`, or is None where that is its default."""

    def validate(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None or attribute.default is not None:
            check_number(f"{type(made).__name__}: {attribute.name!r}", value, positive=positive, infinite=infinite)

    return validate


def instance(kind: type, expected: str) -> Callable[..., None]:
    """A validator: the field is a ``kind``, or None where that is its default; ``expected`` says so in words."""

    def validate(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        allowed = value is None and attribute.default is None
        if not (allowed or isinstance(value, kind)):
            got = value.__name__ if isinstance(value, type) else repr(value)
            what = f"{type(made).__name__}: {attribute.name!r} is of the wrong kind"
            raise SchemaError(what, expected=expected, got=got)

    return validate


def whole(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """A validator: the field is a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SchemaError(f"{type(made).__name__}: {attribute.name!r} is a positive whole number", got=repr(value))


flag = instance(bool, "True or False")
text = instance(str, "a text")
