"""Extents made of names, as canonical text: polynomials with integer coefficients over names and floor divisions.

``2*T``, ``N*T``, ``T+1``, ``(T+1)//2``: equal polynomials have equal text, which reads as itself, and a divisor is a
number. What cannot be said, or not in so many words, is None. :mod:`netdsl.ir.dims` calculates with dims of any kind.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, reduce
from typing import ParamSpec, cast

from netdsl.ir.types import Dim

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ODD = re.compile(r"(?![\s0-9])[^-+*/%()]+(?<!\s)")
_TOKEN = re.compile(rf"{_WORD.pattern}|[0-9]+|//|[-+*()]")
_SPACE = re.compile(r"\s*")
_TERMS, _DEGREE, _DIGITS, _LENGTH, _DEEPEST = 16, 8, 18, 120, 60  # as deep as a text may be long
_CACHED = 4096
P = ParamSpec("P")

_Poly = dict[tuple[str, ...], int]
"""Coefficients by sorted factors: names, and floor divisions as their text."""


class ExtentError(ValueError):
    """A text that is no extent: ``at`` which place what is ``expected``; ``what`` is wrong, where more can be said."""

    def __init__(self, at: int, expected: str, what: str | None = None) -> None:
        super().__init__(at, expected, what)
        self.at, self.expected, self.what = at, expected, what


class _UnsayableError(Exception):
    """What is unknown, or has more terms, factors, digits or characters than are kept."""


def _sum(parts: Iterable[_Poly]) -> _Poly:
    made: _Poly = {}
    for part in parts:
        for factors, times in part.items():
            made[factors] = made.get(factors, 0) + times
    return _checked(made)


def _product(a: _Poly, b: _Poly) -> _Poly:
    made: _Poly = {}
    for x, m in a.items():
        for y, n in b.items():
            factors = tuple(sorted(x + y))
            made[factors] = made.get(factors, 0) + m * n
    return _checked(made)


def _checked(made: _Poly) -> _Poly:
    made = {factors: times for factors, times in made.items() if times}
    if len(made) > _TERMS or any(len(f) > _DEGREE or abs(times) >= 10**_DIGITS for f, times in made.items()):
        raise _UnsayableError
    return made


def _floor(whole: _Poly, by: int) -> _Poly:
    """``whole // by`` for a ``by`` above 0: what divides is taken out, and floors of floors become one."""
    out = {factors: times // by for factors, times in whole.items() if times // by}
    rest = {factors: times % by for factors, times in whole.items() if times % by}
    if not any(rest):
        return out
    shared = math.gcd(by, *(times for factors, times in rest.items() if factors))
    rest = {factors: times // shared for factors, times in rest.items() if times // shared}
    by //= shared
    inner = min((f for f, times in rest.items() if times == 1 and len(f) == 1 and "//" in f[0]), default=None)
    if inner is not None:  # (x//a + y)//b is (x + a*y)//(a*b)
        text, _, divisor = inner[0].rpartition("//")
        del rest[inner]
        scaled = _product(rest, {(): int(divisor)})
        return _sum((out, _floor(_sum((_whole(text), scaled)), by * int(divisor))))
    text = _text(rest)
    return _sum((out, {(f"{text if _WORD.fullmatch(text) else f'({text})'}//{by}",): 1}))


def _text(poly: _Poly) -> str:
    terms = sorted(poly.items(), key=lambda term: (term[1] < 0, -len(term[0]), "//" in "".join(term[0]), term[0]))
    text = "".join([f"{'-' if times < 0 else '+'}{_term(factors, abs(times))}" for factors, times in terms])
    if len(text) > _LENGTH:
        raise _UnsayableError
    return text.removeprefix("+") or "0"


def _term(factors: tuple[str, ...], times: int) -> str:
    parts = [*([str(times)] if times != 1 or not factors else []), *factors]
    return "*".join([f"({part})" if "//" in part and len(parts) > 1 else part for part in parts])


def _dim(poly: _Poly) -> Dim:
    """Return the extent, a negative number too; None where it cannot be told to be above 0 at all."""
    if not any(poly):
        return poly.get((), 0)
    return _text(poly) if any(times > 0 for times in poly.values()) else None


class _Reader:
    """Reads an extent from ``text``: sum = term {+|- term}, term = factor {* factor | // number}."""

    def __init__(self, text: str, pos: int = 0, space: re.Pattern[str] = _SPACE) -> None:
        self.text, self.pos, self.space, self.depth = text, pos, space, 0
        self.known: Mapping[str, Dim] = {}

    def next(self) -> str:
        """Skip space and return the token that comes next, or nothing."""
        self.pos = self.space.match(self.text, self.pos).end()  # type: ignore[union-attr]
        found = _TOKEN.match(self.text, self.pos)
        return found[0] if found else ""

    def sum(self) -> _Poly:
        made = self.term()
        while (sign := self.next()) in ("+", "-"):
            self.pos += 1
            made = _sum((made, _product(self.term(), {(): 1 if sign == "+" else -1})))
        return made

    def term(self) -> _Poly:
        made = self.factor()
        while (sign := self.next()) in ("*", "//"):
            self.pos += len(sign)
            made = _product(made, self.factor()) if sign == "*" else _floor(made, self.number(1, "a number above 0"))
        return made

    def number(self, least: int, expected: str) -> int:
        token = self.next()
        if not token.isdigit() or (not token.strip("0") and least):
            raise ExtentError(self.pos, expected)
        self.pos += len(token)
        if len(token) > _DIGITS:
            raise _UnsayableError
        return int(token)

    def factor(self) -> _Poly:
        token = self.next()
        if _WORD.match(token):
            self.pos += len(token)
            return _poly(self.known[token]) if token in self.known else {(token,): 1}
        if token != "(":
            return _checked({(): self.number(0, "a name, a number or '('")})
        if self.depth == _DEEPEST:
            raise ExtentError(self.pos, f"at most {_DEEPEST} brackets within one another")
        self.pos, self.depth = self.pos + 1, self.depth + 1
        made = self.sum()
        if self.next() != ")":
            raise ExtentError(self.pos, "'+', '-', '*', '//' or ')'")
        self.pos, self.depth = self.pos + 1, self.depth - 1
        return made


@lru_cache(_CACHED)
def _whole(text: str) -> _Poly:
    """Return what a whole text says; raises ExtentError where it is no extent."""
    reader = _Reader(text)
    made = reader.sum()
    if reader.next() or reader.pos < len(text):
        raise ExtentError(reader.pos, "'+', '-', '*', '//' or the end")
    return made


def _poly(dim: Dim) -> _Poly:
    """Return a dim as a polynomial, for reading only; raises _UnsayableError where there is none."""
    if isinstance(dim, int):
        return {(): dim} if dim else {}
    if dim is None:
        raise _UnsayableError
    try:
        return _whole(dim)
    except ExtentError:  # a name that is no word
        raise _UnsayableError from None


def read(text: str, pos: int = 0, space: re.Pattern[str] = _SPACE) -> tuple[Dim, int]:
    """Return the extent that stands in ``text`` at ``pos``, and where it ends; ``space`` is skipped.

    Raises:
        ExtentError: no extent, or one that is below 0 or too large to be kept.
    """
    reader = _Reader(text, pos, space)
    try:
        dim = _dim(reader.sum())
    except _UnsayableError:
        raise ExtentError(pos, f"at most {_TERMS} terms and {_LENGTH} characters", "an extent too large") from None
    if dim is None or (isinstance(dim, int) and dim < 0):
        raise ExtentError(pos, "0 or more", "an extent below 0")
    return dim, reader.pos


@lru_cache(_CACHED)
def extent(text: str) -> Dim:
    """Return the canonical form of an extent; a name that is no word stands as it is, unless it looks like more.

    Raises:
        ExtentError: as :func:`read`.
    """
    if _ODD.fullmatch(text):
        return text
    dim, end = read(text)
    if _SPACE.fullmatch(text, end) is None:
        raise ExtentError(end, "'+', '-', '*', '//' or the end")
    return dim


@lru_cache(_CACHED)
def is_made(dim: str) -> bool:
    """Whether a dim is made of names and not one itself."""
    try:
        return _ODD.fullmatch(dim) is None and any(_whole(dim))
    except (ExtentError, _UnsayableError):
        return False


def names(dim: Dim) -> set[str]:
    """Return the names that a dim holds."""
    return (set(_WORD.findall(dim)) if is_made(dim) else {dim}) if isinstance(dim, str) else set()


def substitute(dim: Dim, sizes: Mapping[str, Dim]) -> Dim:
    """Return ``dim`` with what ``sizes`` says put in for names: a number where it gives one for each."""
    if not (isinstance(dim, str) and is_made(dim)):
        return sizes.get(dim, dim) if isinstance(dim, str) else dim
    reader = _Reader(dim)
    reader.known = sizes
    try:
        return _dim(reader.sum())
    except _UnsayableError:
        return None


def _kept(rule: Callable[P, _Poly]) -> Callable[P, Dim]:
    @lru_cache(_CACHED)
    def made(*args: P.args, **kwargs: P.kwargs) -> Dim:
        try:
            return _dim(rule(*args, **kwargs))
        except _UnsayableError:
            return None

    return cast("Callable[P, Dim]", made)


@_kept
def add(dims: tuple[Dim, ...], less: Dim = 0) -> _Poly:
    """Return the sum of ``dims`` minus ``less``."""
    return _sum([*map(_poly, dims), _product(_poly(less), {(): -1})])


@_kept
def multiply(dims: tuple[Dim, ...]) -> _Poly:
    """Return the product."""
    return reduce(_product, map(_poly, dims), {(): 1})


@_kept
def divide(dim: Dim, by: Dim) -> _Poly:
    """Return ``dim // by``: by a number above 0, or by a product that has names, each in every term of ``dim``."""
    parts, made = _poly(by), _Poly()
    factors = next(iter(parts), ())
    if len(parts) != 1 or parts[factors] < 1:
        raise _UnsayableError
    for term, times in _poly(dim).items():
        left = Counter(term)
        left.subtract(factors)
        if min(left.values(), default=0) < 0:
            raise _UnsayableError
        made[tuple(sorted(left.elements()))] = times
    return _floor(made, parts[factors])
