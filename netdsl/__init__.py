"""Nets as data: build, differentiate, check, rewrite, save and run them.

Every public name is imported when it is first used, so that ``import netdsl`` is quick and an
author who only builds nets needs no array library.
"""

from __future__ import annotations

import sys
from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "netdsl.dsl": ("Blob", "Net", "Parameter", "SparseGradient", "Tag", "cond", "device_scope", "name_scope"),
    "netdsl.io": ("load", "save"),
    "netdsl.ir": ("DType", "Device", "NetDef", "Opaque", "OperatorDef", "TensorType", "from_json", "parse", "to_json"),
    "netdsl.model": ("Model",),
    "netdsl.ops.functions": ("python_function",),
    "netdsl.runtime": ("Workspace", "set_threads"),
}
_MODULES = {
    "errors": "netdsl.errors",
    "initializers": "netdsl.initializers",
    "layers": "netdsl.model.layers",
    "optimizers": "netdsl.optimizers",
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted([*_NAMES, *_MODULES])]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        value: object = import_module(_MODULES[name])
    elif name in _NAMES:
        value = getattr(import_module(_NAMES[name]), name)
    else:
        raise AttributeError(f"module 'netdsl' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
