"""Names, types and arguments as short text, and escaping."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from netdsl.ir import BlobType, DType, NetDef, Opaque, OperatorDef, Packed, TensorType
from netdsl.ops.schema import is_known, lookup

_SHORT = {
    DType.FLOAT: "f32",
    DType.FLOAT16: "f16",
    DType.DOUBLE: "f64",
    DType.INT64: "i64",
    DType.INT32: "i32",
    DType.INT16: "i16",
    DType.INT8: "i8",
    DType.UINT16: "u16",
    DType.UINT8: "u8",
}
TIMES = "\u00d7"
_UNPRINTABLE = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "\u2421"}
_NOT_XML = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def printable(text: str) -> str:
    """Return ``text`` with control characters shown as symbols, and what XML or UTF-8 cannot hold replaced."""
    return text.translate(_UNPRINTABLE | _NOT_XML) if not text.isprintable() else text


def markup(text: object) -> str:
    """Escape for HTML and SVG, in text as in attributes."""
    return html.escape(printable(str(text)))


def script_json(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element or opens a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fit(text: str, room: int) -> str:
    """Return ``text`` in at most ``room`` characters, leaving out its middle (names differ at their ends)."""
    text = printable(text)
    if len(text) <= room:
        return text
    if room < 4:
        return text[: max(room - 1, 0)] + "…" if room > 0 else ""
    tail = (room - 1) * 3 // 5
    return f"{text[: room - 1 - tail]}…{text[-tail:]}"


def fit_list(texts: Sequence[str], room: int) -> str:
    """Return as many of ``texts`` as fit, and how many there are beyond: ``conv1_w_grad, conv1_b_grad +1``."""
    for count in range(len(texts), 0, -1):
        rest = f" +{len(texts) - count}" if count < len(texts) else ""
        shown = ", ".join(texts[:count])
        if len(shown) + len(rest) <= room:
            return printable(shown) + rest
    if len(texts) < 2:
        return fit("".join(texts), room)
    rest = f" +{len(texts) - 1}"
    return fit(texts[0], room - len(rest)) + rest


def dims(type_: BlobType) -> str:
    """Return a shape alone, with crosses for ``[16, 3, 3]``; "scalar" for rank 0; empty where nothing is known."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return ""
    return TIMES.join("?" if d is None else str(d) for d in type_.shape) or "scalar"


def short_type(type_: BlobType) -> str:
    """Return a type as ``f16`` and its dims, with nothing for what is not known."""
    if isinstance(type_, Opaque):
        return type_.kind
    dtype = "" if type_.dtype is None else _SHORT.get(type_.dtype, type_.dtype.value)
    return " ".join(part for part in (dtype, dims(type_)) if part)


def heading(column: str) -> str:
    """Return what stands above a column of a table of parameters; a schedule changes the rates that it tells."""
    return "lr (base)" if column == "lr" else column.replace("_", " ")


def argument(value: Any, room: int = 400) -> str:
    """Return one argument's value as text; nested nets and long lists by their size only."""
    if isinstance(value, NetDef):
        return f"net of {len(value.ops)} operators"
    if isinstance(value, Packed):
        return f"{len(value)} numbers"
    if isinstance(value, tuple):
        return "[" + ", ".join(argument(item, 40) for item in value[:24]) + (", …]" if len(value) > 24 else "]")
    if isinstance(value, float):
        return f"{value:.7g}"
    return fit(value if isinstance(value, str) else str(value), room)


def enum_name(field: Any, value: Any) -> str | None:
    """Return what a number of an enumeration means (``int64`` for ``dtype = 10``), where the field declares one."""
    enum = None if field is None else field.metadata["enum"]
    return next((name for name, number in enum.items() if number == value), None) if enum else None


def main_arguments(op: OperatorDef, room: int) -> str:
    """Return the plain arguments that change the result, as many as fit: ``kernel 3 · pad 1``."""
    fields = lookup(op.type).arguments() if is_known(op.type) else {}
    shown = ""
    for name, value in op.args.items():
        field = fields.get(name)
        is_hint = name == "order" or (field is not None and field.metadata["hint"])
        if is_hint or not isinstance(value, int | float | str):
            continue
        one = f"{name} {enum_name(field, value) or argument(value)}"
        text = f"{shown} · {one}" if shown else one
        if len(text) > room:
            break
        shown = text
    return printable(shown)
