"""Argument values, devices and types as the text form writes them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from netdsl.errors import ParseError, SchemaError, did_you_mean
from netdsl.ir.args import Packed, normalize
from netdsl.ir.defs import Device
from netdsl.ir.extents import ExtentError, extent, read
from netdsl.ir.scan import BREAKS, Scanner
from netdsl.ir.text import PACKED_DTYPES, WORD
from netdsl.ir.types import BlobType, Dim, DType, Opaque, TensorType

_ELIDED = re.compile(r"(?:float32|int64) x [0-9]+ <elided>")
_CODES = {name: code for code, name in PACKED_DTYPES.items()}
_ITEM_SIZES = {"f": 4, "q": 8}
_EASY_DIM = re.compile(rf"(?:({WORD})|[0-9]{{1,18}})(?=[,\]])")
_PLAIN_DIM = re.compile(r"[+-]|[0-9]+(?![0-9])\s*(?![-+*/\sA-Za-z_(])")
_MADE_DIM = re.compile(r"[A-Za-z0-9_(]")
_DTYPES = {dtype.value: dtype for dtype in DType}
_DEVICE_FIELDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "extra_info": (
        "a list of texts",
        lambda value: isinstance(value, tuple) and all(isinstance(text, str) for text in value),  # type: ignore[misc]
    ),
    "node_name": ("a text", lambda value: isinstance(value, str)),
    "numa_node": ("an int", lambda value: isinstance(value, int)),
    "random_seed": ("an int", lambda value: isinstance(value, int)),
}


class Values(Scanner):
    """Takes a value, a device or a type: all that may follow a name but a nested net."""

    def pairs(self, opening: str, closing: str, what: str) -> dict[str, Any]:
        """Take ``{name = value, ...}``."""
        found: dict[str, Any] = {}

        def pair() -> None:
            start = self.skip()
            name = self.name(f"{what} or '{closing}'")
            if name in found:
                self.fail(f"argument '{name}' given twice", at=start)
            self.expect("=", f"'{name}'")
            found[name] = self.value()

        self.items(opening, closing, "this", pair)
        return found

    def value(self) -> Any:
        number = self.number()
        if number is not None:
            return number
        start = self.pos
        if self.text.startswith("[", start):
            return self.list()
        if self.text.startswith('"', start):
            return self.string("a text")
        return self.bytes() if self.text.startswith('b"', start) else self.word_value()

    def word_value(self) -> Packed:
        """Take packed values, the only value that begins with a word."""
        start = self.skip()
        word = self.peek_word()
        if word == "packed":
            self.word()
            return self.packed()
        if _ELIDED.match(self.text, start):
            self.fail("values that were left out when this text was written", expected="a text dumped without elide")
        if word == "net":
            self.fail("a nested net among other arguments", expected="it on a line of its own, under the operator")
        near = {"true": "1", "false": "0"}.get((word or "").lower())
        text = f'in quotes a text ("{word}")' if word and near is None else 'a "text"'  # the operator knows which
        return self.fail(expected=f'a number, {text}, b"bytes", a [list] or packed values', did_you_mean=near)

    def packed(self) -> Packed:
        start = self.skip()
        dtype = self.word() or ""
        if dtype not in _CODES:
            self.fail(
                at=start, expected="'float32' or 'int64' after 'packed'", did_you_mean=did_you_mean(dtype, _CODES)
            )
        start = self.skip()
        try:
            data = base64.b64decode(self.string("base64"), validate=True)
        except (binascii.Error, ValueError) as error:
            if isinstance(error, ParseError):
                raise
            self.fail(f"bad base64: {error}", at=start, expected="the base64 of little-endian numbers")
        code = _CODES[dtype]
        if len(data) % _ITEM_SIZES[code]:
            self.fail(f"{len(data)} bytes are no {dtype} list", at=start, expected=f"a multiple of {_ITEM_SIZES[code]}")
        return Packed(code, data)

    def list(self) -> Any:
        start = self.skip()
        found: list[Any] = []

        def item() -> None:
            if self.at("["):
                self.fail("a list within a list", expected="numbers or texts")
            found.append(self.value())

        self.items("[", "]", "'='", item)
        try:
            return normalize(found)
        except SchemaError as error:
            self.fail(error.what, at=start, expected="all numbers or all texts")

    def device(self) -> Device:
        kind = self.short_word("a kind of device such as cpu or cuda")
        index = self.count("the number of a device") if self.take(":") else 0
        start = self.skip()
        rest = self.pairs("(", ")", "a field of the device") if self.at("(") else {}
        for name, value in rest.items():
            if name not in _DEVICE_FIELDS:
                near = did_you_mean(name, _DEVICE_FIELDS)
                self.fail(f"unknown field '{name}'", at=start, expected=", ".join(_DEVICE_FIELDS), did_you_mean=near)
            what, fits = _DEVICE_FIELDS[name]
            if not fits(value):
                self.fail(f"wrong value of '{name}'", at=start, expected=what)
        return Device(kind, index, **rest)

    # Types

    def type(self) -> BlobType:
        if self.take("<"):
            kind = self.name("a kind of blob such as mutex")
            self.expect(">", "the kind of blob")
            return Opaque(kind)
        start = self.skip()
        dtype = None
        if not self.take("?"):
            word = self.word() or ""
            dtype = _DTYPES.get(word)
            if dtype is None:
                near = did_you_mean(word, _DTYPES)
                self.fail(at=start, expected="a type: float32[N, 64], ?[...] or <mutex>", did_you_mean=near)
        dims: list[Dim] = []
        unknown: list[bool] = []

        def dim() -> None:
            if not dims and self.take("..."):
                unknown.append(True)
                if not self.at("]"):
                    self.fail(expected="']' after '...'")
                return
            dims.append(self.dim())

        self.items("[", "]", "the dtype", dim)
        return TensorType(dtype, None if unknown else tuple(dims))

    def dim(self) -> Dim:
        start = self.skip()
        easy = _EASY_DIM.match(self.text, start)
        if easy is not None:
            self.pos = easy.end()
            return easy[1] or int(easy[0])
        if self.take("?"):
            return None
        try:
            if self.at('"'):
                return extent(self.string("an extent"))
            if _PLAIN_DIM.match(self.text, start):
                return self.count("an extent")
            if not _MADE_DIM.match(self.text, start):
                self.fail(expected="an extent, a name, '?' or ']'")
            dim, self.pos = read(self.text, start, BREAKS)
        except ExtentError as error:
            at = start if self.pos > start else error.at
            self.fail(error.what, at=at, expected=error.expected)
        if not (self.at(",") or self.at("]")):
            self.fail(expected="'+', '-', '*', '//', ',' or ']'")
        return dim
