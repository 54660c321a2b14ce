"""Argument scopes: defaults for layer functions inside a ``with`` block."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from netdsl.errors import SchemaError, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")

Defaults = Mapping[Callable[..., Any], Mapping[str, Any]]

_NONE: Defaults = {}
_DEFAULTS: ContextVar[Defaults] = ContextVar("netdsl_arg_scope")


def layer(function: Callable[P, R]) -> Callable[P, R]:
    """Make a layer function heed argument scopes; arguments given at the call win."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        scoped = _DEFAULTS.get(_NONE).get(wrapped)
        if scoped:
            given = {*signature.bind_partial(*args, **kwargs).arguments, *kwargs}
            kwargs.update({name: value for name, value in scoped.items() if name not in given})
        return function(*args, **kwargs)

    return wrapped


@contextlib.contextmanager
def arg_scope(layers: Callable[..., Any] | Sequence[Callable[..., Any]], **defaults: Any) -> Iterator[None]:
    """Give the layer functions ``layers`` other defaults inside: ``with arg_scope([conv, fc], weight_init=...)``.

    Scopes nest; the inner one wins.

    Raises:
        SchemaError: something that is no layer, or a default that one of the layers does not take.
    """
    merged = dict(_DEFAULTS.get(_NONE))
    for function in [layers] if callable(layers) else layers:
        _check(function, defaults)
        merged[function] = {**merged.get(function, {}), **defaults}
    token = _DEFAULTS.set(merged)
    try:
        yield
    finally:
        _DEFAULTS.reset(token)


def _check(function: Callable[..., Any], defaults: Mapping[str, Any]) -> None:
    name = getattr(function, "__name__", repr(function))
    if not hasattr(function, "__wrapped__"):
        raise SchemaError(f"{name} heeds no argument scope", fix="decorate it with netdsl.layers.layer")
    takes = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        return
    for given in defaults:
        if given not in takes:
            raise SchemaError(
                f"layer {name} takes no {given!r}", takes=", ".join(takes), did_you_mean=did_you_mean(given, takes)
            )
