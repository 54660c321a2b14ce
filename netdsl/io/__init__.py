"""Nets and tensors in files. Loaded name by name: protobuf and NumPy come in when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netdsl.io.files import load, save
    from netdsl.io.tensors import load_tensors, save_tensors

__all__ = ["load", "load_tensors", "save", "save_tensors"]

_HOMES = {"load": "files", "save": "files", "load_tensors": "tensors", "save_tensors": "tensors"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
