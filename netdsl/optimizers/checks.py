"""Checks of the numbers that people give to optimizers, as functions and as attrs validators."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import attrs

from netdsl.errors import SchemaError


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
    """A validator: the field is None or a ``kind``; ``expected`` says so in words."""

    def validate(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is not None and not isinstance(value, kind):
            got = value.__name__ if isinstance(value, type) else repr(value)
            what = f"{type(made).__name__}: {attribute.name!r} is of the wrong kind"
            raise SchemaError(what, expected=expected, got=got)

    return validate
