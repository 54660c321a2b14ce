"""The tokens of the text form, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn
from unicodedata import east_asian_width

from netdsl.errors import ParseError
from netdsl.ir.text import NAME, WORD

_NAME = re.compile(NAME)
_WORD = re.compile(WORD)
_INT = re.compile(r"[+-]?[0-9]+(?![0-9.eE])")
_NUMBER = re.compile(r"[+-]?(?:(?:inf|nan)(?![A-Za-z0-9_])|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_STRING = re.compile(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_SIMPLE_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "r": "\r"}
_SPACE = re.compile(r"[ \t\r]*(?:#[^\n]*)?")
BREAKS = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
"""What may stand between tokens within brackets."""

_NEXT_LINE = re.compile(r"(?:[ \t\r]*(?:#[^\n]*)?\n)*( *)")
_SHOWN = 100


class Scanner:
    """Walks over a text: every method skips space and comments, then takes one token or fails.

    A line ends a statement, but not within brackets. ``depth`` is the indentation of the current line, -1 at the end.
    """

    def __init__(self, text: str, filename: str) -> None:
        text = text.removeprefix("\ufeff")
        self.text = text if text.endswith("\n") else text + "\n"
        self.filename = filename
        self.pos = 0
        self.depth = 0
        self._brackets: list[int] = []

    def next_line(self) -> None:
        """Go to the next line that says something; the current one must be finished."""
        found = _NEXT_LINE.match(self.text, self.pos)
        assert found is not None
        self.pos = found.end()
        self.depth = found.end() - found.start(1) if self.pos < len(self.text) else -1
        if self.text.startswith("\t", self.pos):
            self.fail("a tab in the indentation", at=self.pos, expected="spaces")

    def skip(self) -> int:
        """Skip space and comments; return the position."""
        if self.text[self.pos : self.pos + 1] not in " \t\r\n#":
            return self.pos  # most calls; an empty slice is in every text
        found = (BREAKS if self._brackets else _SPACE).match(self.text, self.pos)
        assert found is not None
        self.pos = found.end()
        return self.pos

    def at(self, token: str) -> bool:
        """Whether ``token``, some punctuation, comes next."""
        return self.text.startswith(token, self.pos) or self.text.startswith(token, self.skip())

    def take(self, token: str) -> bool:
        """Take ``token`` if it comes next."""
        if not self.at(token):
            return False
        self.pos += len(token)
        return True

    def expect(self, token: str, after: str) -> None:
        if not self.take(token):
            self.fail(expected=f"'{token}' after {after}")

    def word(self) -> str | None:
        """Take a plain name if one comes next, keywords included."""
        found = _NAME.match(self.text, self.skip())
        if found is None:
            return None
        self.pos = found.end()
        return found[0]

    def peek_word(self) -> str | None:
        """Return the plain name that comes next, without taking it."""
        found = _NAME.match(self.text, self.skip())
        return None if found is None else found[0]

    def name(self, what: str) -> str:
        """Take a name, plain or in quotes."""
        if self.at('"'):
            return self.string(what)
        found = self.word()
        return self.fail(expected=what) if found is None else found

    def short_word(self, what: str) -> str:
        """Take the name of a dim or a kind of device, plain or in quotes."""
        if self.at('"'):
            return self.string(what)
        found = _WORD.match(self.text, self.pos)
        if found is None:
            self.fail(expected=what)
        self.pos = found.end()
        return found[0]

    def string(self, what: str) -> str:
        """Take a text in double quotes."""
        start = self.skip()
        if not self.text.startswith('"', start):
            word = self.peek_word()
            self.fail(expected=f"{what} in double quotes", did_you_mean=f'"{word}"' if word else None)
        return self._quoted(start)

    def bytes(self) -> bytes:
        r"""Take ``b"..."``, which holds ASCII and ``\xNN``."""
        start = self.skip()
        text = self._quoted(start + 1)
        source = self.text[start : self.pos]
        if not source.isascii() or re.search(r"(?<!\\)(?:\\\\)*\\[uU]", source):
            self.fail("a character that is no byte", at=start, expected="ASCII characters and \\xNN")
        return text.encode("latin-1")

    def _quoted(self, start: int) -> str:
        found = _STRING.match(self.text, start)
        if found is None:
            self.fail("a text without its closing quote", at=start, expected="'\"' on the same line")
        self.pos = found.end()
        body = found[1]
        return self._unescape(body, start + 1) if "\\" in body else body

    def _unescape(self, body: str, start: int) -> str:
        def char(found: re.Match[str]) -> str:
            simple = found[4]
            if simple in _SIMPLE_ESCAPES:
                return _SIMPLE_ESCAPES[simple]
            code = -1 if simple else int(found[found.lastindex or 0], 16)
            if not 0 <= code < 0x110000:
                self.fail(
                    f"an unknown escape {found[0]}",
                    at=start + found.start(),
                    expected='\\\\ \\" \\n \\t \\r \\xNN \\uNNNN or \\UNNNNNNNN',
                )
            return chr(code)

        return _ESCAPE.sub(char, body)

    def number(self) -> int | float | None:
        """Take a number if one comes next: a float if it has a point or exponent or is not finite."""
        start = self.skip()
        found = _NUMBER.match(self.text, start)
        if found is None:
            return None
        self.pos = found.end()
        if not found[0].lstrip("+-").isdigit():
            return float(found[0])
        return self._checked(found[0], start)

    def integer(self, what: str) -> int:
        """Take an int of at most 64 bits."""
        start = self.skip()
        found = _INT.match(self.text, start)
        if found is None:
            self.fail(expected=what)
        self.pos = found.end()
        return self._checked(found[0], start)

    def count(self, what: str) -> int:
        """Take an int that is not negative."""
        start = self.skip()
        value = self.integer(what)
        if value < 0:
            self.fail(f"{what} below 0", at=start, expected="0 or more")
        return value

    def _checked(self, digits: str, start: int) -> int:
        if len(digits) > 4000 or not -(2**63) <= (value := int(digits)) < 2**64:
            self.fail("an int of more than 64 bits", at=start, expected="-2**63 to 2**64 - 1")
        return value

    def items(self, opening: str, closing: str, after: str, item: Callable[[], None]) -> None:
        """Take a bracketed list: ``item`` takes each element; commas between, one more may follow the last."""
        self.expect(opening, after)
        self._brackets.append(self.pos - 1)
        while not self.take(closing):
            item()
            if not self.take(",") and not self.at(closing):
                self.fail(expected=f"',' or '{closing}'")
        self._brackets.pop()

    def end_line(self, expected: str) -> None:
        """Take the end of the line."""
        if not self.text.startswith("\n", self.skip()):
            self.fail(expected=expected)

    def line_of(self, pos: int) -> int:
        """Return the number of the line that ``pos`` is in, from 1."""
        return self.text.count("\n", 0, pos) + 1

    def seen(self, pos: int) -> str:
        """Describe what stands at ``pos``."""
        if not self.text[pos:].strip():
            return "end of the text"
        if self.text[pos] == "\n":
            return "end of the line"
        found = _STRING.match(self.text, pos) or _NUMBER.match(self.text, pos) or _NAME.match(self.text, pos)
        token = found[0] if found else self.text[pos]
        return token[:40] if token.startswith('"') else f"'{token[:40]}'"

    def fail(
        self,
        what: str | None = None,
        *,
        at: int | None = None,
        expected: str | None = None,
        did_you_mean: str | None = None,
    ) -> NoReturn:
        """Raise a ParseError that shows the line, with a caret under position ``at`` (the current one)."""
        pos = self.skip() if at is None else at
        what = f"unexpected {self.seen(pos)}" if what is None else what
        if pos >= len(self.text):
            pos = max(len(self.text.rstrip()), 0)
        start = self.text.rfind("\n", 0, pos) + 1
        line, column = self.line_of(pos), pos - start + 1
        opened = self.line_of(self._brackets[-1]) if self._brackets else line
        details = {
            "at": f"{self.filename}:{line}:{column}",
            "text": "",
            "expected": expected,
            "opened": f"'{self.text[self._brackets[-1]]}' in line {opened}" if opened != line else None,
            "did_you_mean": did_you_mean,
        }
        margin = max(len(key) for key, value in details.items() if value is not None) + len("   : ")
        details["text"] = self._pointed(start, pos, margin)
        raise ParseError(what, line=line, column=column, **details)

    def _pointed(self, start: int, pos: int, margin: int) -> str:
        """Return the line from ``start``, or the part of a long one around ``pos``, and a caret below."""
        end = self.text.find("\n", pos)
        line = self.text[start : len(self.text) if end < 0 else end]
        before = pos - start
        first = max(0, min(before - _SHOWN // 2, len(line) - _SHOWN))
        shown = "".join(char if char.isprintable() else " " for char in line[first : first + _SHOWN])
        ahead = shown[: before - first]
        if first:
            shown, ahead = f"...{shown}", f"...{ahead}"
        if first + _SHOWN < len(line):
            shown += "..."
        width = sum(2 if east_asian_width(char) in "WF" else 1 for char in ahead)
        return f"{shown.rstrip()}\n{' ' * (margin + width)}^"
