"""The printer of the text form; the grammar is written down in docs/text-format.md."""

from __future__ import annotations

import base64
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from netdsl.ir.args import Packed, float32
from netdsl.ir.defs import Device, NetDef, OperatorDef
from netdsl.ir.extents import is_made
from netdsl.ir.types import BlobType, Dim, Opaque

Comments = Callable[[NetDef, int], str | None]
"""Given a net (the one dumped or one nested in it) and an operator's index: what to say behind its line."""

KEYWORDS = ("net", "input", "output", "blob")
"""The words that start a line which is no operator; the printer quotes names that equal one."""

NAME = r"[A-Za-z0-9_][A-Za-z0-9_./-]*"
"""Names that need no quotes, as a pattern."""

WORD = r"[A-Za-z_][A-Za-z0-9_]*"
"""Names of dims and kinds of device that need no quotes, as a pattern."""

PACKED_DTYPES = {"f": "float32", "q": "int64"}
"""How the codes of packed lists are written."""

STEP = "  "
"""How much deeper an argument stands than its operator, and a nested net than its argument."""

_is_plain = re.compile(NAME).fullmatch
_is_word = re.compile(WORD).fullmatch
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dump(net: NetDef, *, elide: bool = False, comments: Comments | None = None) -> str:
    """Return ``net`` in the text form, which ``parse`` turns back into an equal net.

    Equal nets give equal text, which ends with a newline. ``elide`` replaces long numeric lists by
    their length (such text is for reading and cannot be parsed); ``comments`` adds a remark to operators.
    """
    writer = _Writer(elide, comments)
    writer.net(net, head="", indent="")
    return "\n".join([*writer.lines, ""])


def quote(text: str) -> str:
    """Return ``text`` in double quotes; whatever does not print is escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escape, text))}"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quote_bytes(data: bytes) -> str:
    """Return ``data`` as ``b"..."``."""
    chars = (chr(byte) if byte < 0x80 else f"\\x{byte:02x}" for byte in data)
    return f'b"{"".join(_escape(char) if len(char) == 1 else char for char in chars)}"'


def name_text(name: str) -> str:
    """Return a name of a blob, operator type or argument, in quotes where it needs them."""
    return name if _is_plain(name) and name not in KEYWORDS else quote(name)


def word_text(word: str) -> str:
    """Return the name of a dim or a kind of device, in quotes where it needs them."""
    return word if _is_word(word) else quote(word)


def float_text(value: float) -> str:
    """Return the shortest text that reads as the same float32 and cannot be taken for an int."""
    if value != value or value == 0:  # both are keys that a cache would mix up
        sign = "-" if math.copysign(1, value) < 0 else ""
        return f"{sign}nan" if value != value else f"{sign}0.0"
    return _nonzero_text(value)


@functools.lru_cache(4096)
def _nonzero_text(value: float) -> str:
    subnormal = abs(value) < 2.0**-126
    for digits in range(1 if subnormal else 6, 9):
        short = float(f"{value:.{digits}g}")
        if float32(short) == value:
            return repr(short)
    return repr(float(f"{value:.9g}"))


def _list_text(values: Iterable[Any]) -> str:
    return f"[{', '.join([_value_text(value) for value in values])}]"


def _packed_text(value: Packed) -> str:
    return f'packed {PACKED_DTYPES[value.code]} "{base64.b64encode(value.data).decode()}"'


_VALUES: Mapping[type, Callable[[Any], str]] = {
    int: repr,
    float: float_text,
    str: quote,
    bytes: quote_bytes,
    tuple: _list_text,
    Packed: _packed_text,
}


def _value_text(value: Any) -> str:
    return _VALUES[type(value)](value)


def type_text(type_: BlobType) -> str:
    """Return ``float32[N, 64]``, ``?[...]`` or ``<mutex>``."""
    if isinstance(type_, Opaque):
        return f"<{name_text(type_.kind)}>"
    dtype = "?" if type_.dtype is None else type_.dtype.value
    return f"{dtype}[...]" if type_.shape is None else f"{dtype}[{', '.join(map(_dim_text, type_.shape))}]"


def _dim_text(dim: Dim) -> str:
    if dim is None:
        return "?"
    return str(dim) if isinstance(dim, int) or is_made(dim) else word_text(dim)


@functools.lru_cache(256)
def device_text(device: Device) -> str:
    """Return ``@cpu``, ``@cuda:1`` or, with the rarer fields, ``@cuda:1(random_seed = 3)``."""
    kind = word_text(device.kind)
    place = f"@{kind}" if device.kind == "cpu" and not device.index else f"@{kind}:{device.index}"
    rest: dict[str, Any] = {
        "extra_info": device.extra_info or None,
        "node_name": device.node_name or None,
        "numa_node": device.numa_node,
        "random_seed": device.random_seed,
    }
    given = [f"{name} = {_value_text(value)}" for name, value in rest.items() if value is not None]
    return f"{place}({', '.join(given)})" if given else place


def _is_nets(value: Any) -> bool:
    kind = value.__class__
    return kind is tuple and len(value) > 0 and isinstance(value[0], NetDef)


class _Names(dict[str, str]):
    """Names as they are written, each looked at once."""

    def __missing__(self, name: str) -> str:
        self[name] = text = name_text(name)
        return text


class _Writer:
    def __init__(self, elide: bool, comments: Comments | None) -> None:
        self.lines: list[str] = []
        self.elide = elide
        self.comments = comments
        self.names = _Names()

    def net(self, net: NetDef, head: str, indent: str) -> None:
        """Write ``net``: its first line behind ``head``, the others behind ``indent``."""
        names = self.names
        self.first_line(net, head, indent)
        told: set[str] = set()
        for name in net.inputs:
            known = name in net.types and name not in told
            self.lines.append(f"{indent}input {names[name]}" + (f": {type_text(net.types[name])}" if known else ""))
            told.add(name)
        for name in sorted(set(net.types) - told):
            self.lines.append(f"{indent}blob {names[name]}: {type_text(net.types[name])}")
        for index, op in enumerate(net.ops):
            self.operator(op, indent, self.comments and self.comments(net, index))
        self.lines += [f"{indent}output {names[name]}" for name in net.outputs]

    def first_line(self, net: NetDef, head: str, indent: str) -> None:
        line = f"{head}net {quote(net.name)}"
        if net.type:
            line += f" type {quote(net.type)}"
        if net.num_workers:
            line += f" workers {net.num_workers}"
        if net.device is not None:
            line += f" {device_text(net.device)}"
        inline, nested = self.arguments(net.args)
        self.lines.append(line + inline)
        self.nested(nested, indent + STEP)

    def operator(self, op: OperatorDef, indent: str, comment: str | None) -> None:
        names = self.names
        line = f"{names[op.type]}({', '.join([names[name] for name in op.inputs])})"
        if op.outputs:
            line = f"{', '.join([names[name] for name in op.outputs])} = {line}"
        nested: list[tuple[str, NetDef]] = []
        if op.args:
            inline, nested = self.arguments(op.args)
            line += inline
        if op.device is not None:
            line += f" {device_text(op.device)}"
        if op.engine or op.name or op.control_inputs or op.domain or op.debug_info:
            line += self.rare(op)
        if comment:
            line += f"  # {' '.join(comment.split())}"
        self.lines.append(indent + line if indent else line)
        if nested:
            self.nested(nested, indent + STEP)

    def rare(self, op: OperatorDef) -> str:
        """Return the fields that few operators have."""
        text = f" engine {quote(op.engine)}" if op.engine else ""
        if op.name:
            text += f" name {quote(op.name)}"
        if op.control_inputs:
            text += f" control ({', '.join([self.names[name] for name in op.control_inputs])})"
        if op.domain:
            text += f" domain {quote(op.domain)}"
        return f"{text} debug {quote(op.debug_info)}" if op.debug_info else text

    def arguments(self, args: Mapping[str, Any]) -> tuple[str, list[tuple[str, NetDef]]]:
        """Return the arguments for the line, and the nets that go below it."""
        inline: list[str] = []
        nested: list[tuple[str, NetDef]] = []
        for name, value in args.items():
            if isinstance(value, NetDef):
                nested.append((self.names[name], value))
            elif _is_nets(value):
                nested += [(f"{self.names[name]}[{i}]", net) for i, net in enumerate(value)]
            elif self.elide and isinstance(value, Packed):
                inline.append(f"{self.names[name]} = {PACKED_DTYPES[value.code]} x {len(value)} <elided>")
            else:
                inline.append(f"{self.names[name]} = {_value_text(value)}")
        return (f" {{{', '.join(inline)}}}" if inline else ""), nested

    def nested(self, nets: list[tuple[str, NetDef]], indent: str) -> None:
        for place, net in nets:
            self.net(net, head=f"{indent}{place} = ", indent=indent + STEP)
