"""Name scopes and device scopes, as context variables: threads and tasks do not meet."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from netdsl.errors import SchemaError, did_you_mean
from netdsl.ir import Device

_NAMES: ContextVar[str] = ContextVar("netdsl_name_scope", default="")
_DEVICE: ContextVar[Device | None] = ContextVar("netdsl_device_scope", default=None)

KINDS = ("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "msnpu", "xla")


@contextlib.contextmanager
def name_scope(name: str, *, reset: bool = False) -> Generator[str]:
    """Prefix the blob names given as text inside with ``name/``; ``reset`` forgets the scopes around."""
    if not name and not reset:
        raise SchemaError("a name scope needs a name", got=repr(name))
    outer = "" if reset else _NAMES.get()
    token = _NAMES.set(f"{outer}{name}/" if name else outer)
    try:
        yield _NAMES.get()
    finally:
        _NAMES.reset(token)


def current_name_scope() -> str:
    """The prefix that holds now: empty, or ending in ``/``."""
    return _NAMES.get()


@contextlib.contextmanager
def device_scope(device: Device | str | None) -> Generator[Device | None]:
    """Put the operators appended inside on ``device``: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or none in particular."""
    token = _DEVICE.set(as_device(device))
    try:
        yield _DEVICE.get()
    finally:
        _DEVICE.reset(token)


def current_device() -> Device | None:
    """The device that operators get now."""
    return _DEVICE.get()


def as_device(device: Device | str | None) -> Device | None:
    """Return ``device`` as a record.

    Raises:
        SchemaError: text that names no device.
    """
    if device is None or isinstance(device, Device):
        return device
    kind, colon, index = device.partition(":")
    if kind not in KINDS or (colon and not (index.isascii() and index.isdecimal())):
        near = did_you_mean(kind, KINDS)
        raise SchemaError(f"{device!r} is no device", expected="cpu, cuda, cuda:1, ...", did_you_mean=near)
    return Device(kind, int(index or 0))
