"""Slips of the keyboard in names, as far as they can be told from names that are meant to differ."""

from __future__ import annotations

import re
import warnings
from collections.abc import Container, Iterator
from string import ascii_lowercase

from netdsl.errors import NearNameWarning
from netdsl.ir import SourceLine

_LEAST = 4
_WORD = re.compile(rf"[a-z]{{{_LEAST},}}")


def slip(name: str, *known: Container[str]) -> str | None:
    """The known name that ``name`` misspells, if that is all but certain.

    Inside a word of four lower-case letters or more, beginning and end of it aside, two letters are swapped, one
    is left out or one is too many. So ``x1`` is no slip for ``x2``, nor ``fc_b`` for ``fc_w``, nor ``labels`` for
    ``label``, nor ``mask`` for ``task``.
    """
    for word in _WORD.finditer(name):
        head, tail = name[: word.start()], name[word.end() :]
        for meant in _meant(word[0]):
            candidate = head + meant + tail
            if any(candidate in names for names in known):
                return candidate
    return None


def _meant(word: str) -> Iterator[str]:
    """What ``word`` may be a slip for."""
    for at in range(1, len(word) - 1):
        before, one, two, after = word[:at], word[at], word[at + 1], word[at + 2 :]
        if one != two:
            yield before + two + one + after
        if len(word) > _LEAST:
            yield before + two + after
    for at in range(1, len(word)):
        for letter in ascii_lowercase:
            yield word[:at] + letter + word[at:]


def warn(name: str, near: str, net: str, where: SourceLine | None) -> None:
    """Warn, at the author's line, that a new input of ``net`` looks like a slip for ``near``."""
    what = f"net {net!r} has no blob {name!r} so far, so it becomes an input; did you mean {near!r}?"
    at = where or SourceLine("<netdsl>", 0)
    warnings.warn_explicit(what, NearNameWarning, at.file, at.line)
