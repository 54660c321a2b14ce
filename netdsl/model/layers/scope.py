"""Argument scopes: defaults for layer functions inside a ``with`` block."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from netdsl.errors import SchemaError, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")

_DEFAULTS: ContextVar[dict[str, dict[str, Any]]] = ContextVar("netdsl_arg_scope", default={})


def layer(function: Callable[P, R]) -> Callable[P, R]:
    """Make a layer function heed argument scopes; arguments given at the call win."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        scoped = _DEFAULTS.get().get(function.__name__)
        if scoped:
            given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
            kwargs.update({name: value for name, value in scoped.items() if name not in given})
        return function(*args, **kwargs)

    return wrapped


@contextlib.contextmanager
def arg_scope(layers: Callable[..., Any] | Sequence[Callable[..., Any]], **defaults: Any) -> Iterator[None]:
    """Give the layer functions ``layers`` other defaults inside: ``with arg_scope([conv, fc], weight_init=...)``.

    Scopes nest; the inner one wins.

    Raises:
        SchemaError: a default that one of the layers does not take.
    """
    functions = [layers] if callable(layers) else list(layers)
    merged = dict(_DEFAULTS.get())
    for function in functions:
        takes = inspect.signature(function).parameters
        open_ended = any(p.kind is p.VAR_KEYWORD for p in takes.values())
        for name in defaults:
            if name not in takes and not open_ended:
                near = did_you_mean(name, takes)
                raise SchemaError(f"layer {function.__name__} takes no {name!r}", takes=", ".join(takes), did_you_mean=near)
        merged[function.__name__] = {**merged.get(function.__name__, {}), **defaults}
    token = _DEFAULTS.set(merged)
    try:
        yield
    finally:
        _DEFAULTS.reset(token)
