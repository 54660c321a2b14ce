"""Rules that decide, parameter by parameter, how it is trained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from netdsl.dsl import Parameter, Tag
from netdsl.dsl.types import as_dtype
from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.optimizers.base import Optimizer
from netdsl.optimizers.checks import ByKeyword, check_number, flag, instance, number, text

NORMS = frozenset(["spatial_bn", "batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "lrn"])
"""The kinds of layer that ``kind="norm"`` stands for."""


def _is_regex(made: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    instance(str, "a text")(made, attribute, value)
    try:
        re.compile(value or "")
    except re.error as error:
        raise SchemaError("a rule's regex is no regular expression", got=repr(value), problem=error) from None


def _is_function(_: Any, __: Any, value: Any) -> None:
    if value is not None and not callable(value):
        raise SchemaError("a rule's 'where' is a function of the parameter", got=repr(value))


def _as_tag(value: Tag | str | None) -> Tag | None:
    return None if value is None else Tag(value)


def _as_kinds(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if value is None else _as_tuple("kind", (value,) if isinstance(value, str) else value, str)


def _as_shape(value: Iterable[int | None] | None) -> tuple[int | None, ...] | None:
    return None if value is None else _as_tuple("shape", value, int, type(None))


def _as_tuple(name: str, value: Any, *kinds: type) -> tuple[Any, ...]:
    found = tuple(value) if isinstance(value, Iterable) else None
    if found is None or not all(isinstance(part, kinds) for part in found):
        expected = "names of layers" if str in kinds else "whole numbers, or None for any extent"
        raise SchemaError(f"a rule's {name} is a list", expected=expected, got=repr(value))
    return found


def _as_dtype(value: Any) -> DType | None:
    return None if value is None else as_dtype(value)


_NUMBER = number()


@attrs.frozen(kw_only=True)
class Rule(ByKeyword):
    """Which parameters, and what of them: all conditions given must hold; what is not given is left alone.

    Conditions: ``name`` (a glob over the whole name), ``regex`` (found anywhere in it), ``tag`` ("weight" or
    "bias"), ``kind`` of the layer that made it (one or several; "norm" is any normalisation),
    ``dtype``, ``shape`` (None for any extent), ``scope`` (the name begins with it and a separator), and
    ``where``, any function of the Parameter.

    Settings: ``lr_multiplier`` (those of several rules multiply), ``weight_decay``, ``decoupled``,
    ``momentum``, ``optimizer`` and ``freeze`` (of these the last rule wins). ``label`` is how tables call
    the rule; an ``optional`` one may match nothing; ``sought`` is the text that ``where`` looks for, to
    which near names are shown when it finds nothing.

    Raises:
        SchemaError: a rule that sets nothing, a pattern that is no regular expression, a negative number, ...
    """

    name: str | None = attrs.field(default=None, validator=text)
    regex: str | None = attrs.field(default=None, validator=_is_regex)
    tag: Tag | None = attrs.field(default=None, converter=_as_tag)
    kind: tuple[str, ...] = attrs.field(default=None, converter=_as_kinds)
    dtype: DType | None = attrs.field(default=None, converter=_as_dtype)
    shape: tuple[int | None, ...] | None = attrs.field(default=None, converter=_as_shape)
    scope: str | None = attrs.field(default=None, validator=text)
    where: Callable[[Parameter], bool] | None = attrs.field(default=None, validator=_is_function)

    lr_multiplier: float | None = attrs.field(default=None, validator=_NUMBER)
    weight_decay: float | None = attrs.field(default=None, validator=_NUMBER)
    decoupled: bool | None = attrs.field(default=None, validator=flag)
    momentum: float | None = attrs.field(default=None, validator=_NUMBER)
    optimizer: Optimizer | None = attrs.field(default=None, validator=instance(Optimizer, "an optimizer, as SGD()"))
    freeze: bool | None = attrs.field(default=None, validator=flag)
    label: str = attrs.field(default="", validator=text)
    optional: bool = attrs.field(default=False, validator=flag)
    sought: str = attrs.field(default="", validator=attrs.validators.instance_of(str))

    def __attrs_post_init__(self) -> None:
        if all(getattr(self, name) is None for name in SETTINGS):
            raise SchemaError("a rule sets nothing", expected=f"one of {', '.join(SETTINGS)}", got=str(self))

    def matches(self, parameter: Parameter) -> bool:
        """Whether every condition holds of ``parameter``."""
        name = parameter.name
        checks = (
            self.name is None or fnmatchcase(name, self.name),
            self.regex is None or re.search(self.regex, name) is not None,
            self.tag is None or parameter.tag is self.tag,
            not self.kind or any(_is_kind(parameter.kind, kind) for kind in self.kind),
            self.dtype is None or _dtype(parameter) is self.dtype,
            self.shape is None or _has_shape(parameter, self.shape),
            self.scope is None or in_scope(name, self.scope),
        )
        return all(checks) and (self.where is None or bool(self.where(parameter)))

    def __str__(self) -> str:
        """The label, or the conditions: what tables show as having decided a value."""
        if self.label:
            return self.label
        shown = [
            f"{field.name}={_shown(getattr(self, field.name))}"
            for field in attrs.fields(type(self))
            if field.name in CONDITIONS and getattr(self, field.name) not in (None, ())
        ]
        return ", ".join(shown) or "all"


CONDITIONS = ("name", "regex", "tag", "kind", "dtype", "shape", "scope", "where")
SETTINGS = ("lr_multiplier", "weight_decay", "decoupled", "momentum", "optimizer", "freeze")


def _is_kind(kind: str, wanted: str) -> bool:
    return kind == wanted or (wanted == "norm" and kind in NORMS)


def _dtype(parameter: Parameter) -> DType | None:
    type_ = parameter.blob.type
    return type_.dtype if isinstance(type_, TensorType) else None


def _has_shape(parameter: Parameter, wanted: tuple[int | None, ...]) -> bool:
    shape = parameter.shape
    if shape is None or len(shape) != len(wanted):
        return False
    return all(w is None or w == d for w, d in zip(wanted, shape, strict=True))


def in_scope(name: str, scope: str) -> bool:
    """Whether ``name`` lies below ``scope``, in Caffe2's manner (``a/b``) or PyTorch's (``a.b``)."""
    scope = scope.rstrip("/.")
    return not scope or name.startswith((f"{scope}/", f"{scope}."))


def _shown(value: Any) -> str:
    if isinstance(value, Tag | DType):
        return value.value
    if isinstance(value, tuple):
        return "|".join("?" if v is None else str(v) for v in value)
    return getattr(value, "__name__", None) or (repr(value) if isinstance(value, str) else str(value))


def layerwise_decay(scopes: Sequence[str], decay: float) -> list[Rule]:
    """Return rules by which layer ``i`` of the n ``scopes`` (first to last) learns ``decay ** (n - i)`` times as fast.

    Raises:
        SchemaError: one scope instead of several, or a negative ``decay``.
    """
    if isinstance(scopes, str) or not isinstance(scopes, Sequence):
        raise SchemaError("layerwise_decay takes the scopes of the layers, first to last", got=repr(scopes))
    check_number("layerwise_decay: 'decay'", decay, positive=True)
    count = len(scopes)
    return [
        Rule(scope=name, lr_multiplier=decay ** (count - at), label=f"layer {at} of {count}")
        for at, name in enumerate(scopes, 1)
    ]
