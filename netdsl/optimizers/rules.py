"""Rules that decide, parameter by parameter, how it is trained."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from netdsl.dsl import Parameter, Tag
from netdsl.dsl.net import as_dtype
from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.optimizers.base import Optimizer

NORMS = frozenset(["spatial_bn", "batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "lrn"])
"""The kinds of layer that ``kind="norm"`` stands for."""


def _checked_regex(_: Any, __: Any, value: str | None) -> None:
    if value is None:
        return
    try:
        re.compile(value)
    except re.error as error:
        raise SchemaError("a rule's regex is no regular expression", got=repr(value), problem=error) from None


def _not_negative(_: Any, attribute: attrs.Attribute[Any], value: float | None) -> None:
    if value is not None and not value >= 0:
        raise SchemaError(f"a rule's {attribute.name!r} is zero or positive", got=value)


def _as_tag(value: Tag | str | None) -> Tag | None:
    try:
        return None if value is None else Tag(value)
    except ValueError:
        expected = ", ".join(tag.value for tag in Tag)
        raise SchemaError("a rule's tag is unknown", expected=expected, got=repr(value)) from None


def _as_kinds(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if value is None else ((value,) if isinstance(value, str) else tuple(value))


def _as_shape(value: Sequence[int | None] | None) -> tuple[int | None, ...] | None:
    return None if value is None else tuple(value)


def _as_dtype(value: Any) -> DType | None:
    return None if value is None else as_dtype(value)


@attrs.frozen(kw_only=True)
class Rule:
    """Which parameters, and what of them: all conditions given must hold; what is not given is left alone.

    Conditions: ``name`` (a glob over the whole name), ``regex`` (found anywhere in it), ``tag`` ("weight",
    "bias", "computed"), ``kind`` of the layer that made it (one or several; "norm" is any normalisation),
    ``dtype``, ``shape`` (None for any extent), ``scope`` (the name begins with it and a separator), and
    ``where``, any function of the Parameter.

    Settings: ``lr_multiplier`` (those of several rules multiply), ``weight_decay``, ``decoupled``,
    ``momentum``, ``optimizer`` (of these the last rule wins) and ``freeze``. ``label`` is how tables call
    the rule; an ``optional`` one may match nothing.
    """

    name: str | None = None
    regex: str | None = attrs.field(default=None, validator=_checked_regex)
    tag: Tag | None = attrs.field(default=None, converter=_as_tag)
    kind: tuple[str, ...] = attrs.field(default=None, converter=_as_kinds)
    dtype: DType | None = attrs.field(default=None, converter=_as_dtype)
    shape: tuple[int | None, ...] | None = attrs.field(default=None, converter=_as_shape)
    scope: str | None = None
    where: Callable[[Parameter], bool] | None = None

    lr_multiplier: float | None = attrs.field(default=None, validator=_not_negative)
    weight_decay: float | None = attrs.field(default=None, validator=_not_negative)
    decoupled: bool | None = None
    momentum: float | None = attrs.field(default=None, validator=_not_negative)
    optimizer: Optimizer | None = None
    freeze: bool = False
    label: str = ""
    optional: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.freeze and all(getattr(self, name) is None for name in SETTINGS):
            raise SchemaError("a rule sets nothing", expected=f"one of {', '.join(SETTINGS)}, freeze", got=str(self))

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
SETTINGS = ("lr_multiplier", "weight_decay", "decoupled", "momentum", "optimizer")


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
    return name.startswith((f"{scope}/", f"{scope}."))


def _shown(value: Any) -> str:
    if isinstance(value, Tag | DType):
        return value.value
    if isinstance(value, tuple):
        return "|".join("?" if v is None else str(v) for v in value)
    return getattr(value, "__name__", None) or (repr(value) if isinstance(value, str) else str(value))


def layerwise_decay(scopes: Iterable[str], decay: float) -> list[Rule]:
    """Return rules by which layer ``i`` of ``scopes`` (first to last) learns ``decay ** (n - i)`` times as fast."""
    names = list(scopes)
    return [
        Rule(scope=name, lr_multiplier=decay ** (len(names) - 1 - at), label=f"layer {at + 1} of {len(names)}")
        for at, name in enumerate(names)
    ]
