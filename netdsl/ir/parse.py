"""The parser of the text form; the grammar is written down in docs/text-format.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from netdsl.errors import did_you_mean
from netdsl.ir.args import DEEPEST, Args
from netdsl.ir.defs import NetDef, OperatorDef, SourceLine
from netdsl.ir.text import KEYWORDS, NAME
from netdsl.ir.types import BlobType
from netdsl.ir.values import Values

_EASY_NAME = rf'(?:{NAME}|"[^"\\\n]*")'
_EASY_NAMES = rf"{_EASY_NAME}(?:, {_EASY_NAME})*"
_EASY_OPERATOR = re.compile(rf"(?:({_EASY_NAMES}) = )?({_EASY_NAME})\(({_EASY_NAMES})?\)([^\n]*)")
_easy_names = re.compile(_EASY_NAME).findall
_STEP = 2
_CACHED = 256


def parse(text: str, filename: str = "<text>") -> NetDef:
    """Return the net that ``text`` describes; ``filename`` is for messages and the operators' ``where``.

    Raises:
        ParseError: the text is no net; names line, column and what was expected there.
    """
    return _Parser(text, filename).parse()


def _split(names: str | None) -> Sequence[str]:
    """Return the names of an easy list: quotes hold no escapes and spaces are where the printer puts them."""
    if not names:
        return ()
    if '"' not in names:
        return names.split(", ")
    return [name[1:-1] if name[0] == '"' else name for name in _easy_names(names)]


@attrs.define
class _Body:
    """What the lines of a net have said so far."""

    ops: list[OperatorDef] = attrs.field(factory=lambda: list[OperatorDef]())
    inputs: list[str] = attrs.field(factory=lambda: list[str]())
    outputs: list[str] = attrs.field(factory=lambda: list[str]())
    types: dict[str, BlobType] = attrs.field(factory=lambda: dict[str, BlobType]())


class _Parser(Values):
    def __init__(self, text: str, filename: str) -> None:
        super().__init__(text, filename)
        self.endings: dict[str, dict[str, Any]] = {}
        self.located = (0, 1)
        self.nets = 1
        self.operator_fields: Mapping[str, Callable[[], Any]] = {
            "engine": lambda: self.string("an engine"),
            "name": lambda: self.string("a name"),
            "control": lambda: self.names("(", ")", "'control'"),
            "domain": lambda: self.string("a domain"),
            "debug": lambda: self.string("a text"),
        }
        self.net_fields: Mapping[str, Callable[[], Any]] = {
            "type": lambda: self.string("a type of net"),
            "workers": lambda: self.integer("a number of workers"),
        }
        self.declarations: Mapping[str, Callable[[_Body], None]] = {
            "input": self.input_line,
            "output": self.output_line,
            "blob": self.blob_line,
        }

    def parse(self) -> NetDef:
        self.next_line()
        start = self.pos
        if self.word() != "net":
            self.pos = start
            near = did_you_mean(self.peek_word() or "", ["net"])
            self.fail("the text does not begin with a net", expected='net "name"', did_you_mean=near)
        net = self.net(self.depth)
        if self.depth >= 0:
            self.fail(f"wrong indentation of {self.depth}", expected="the indentation of the line 'net'")
        return net

    # Lines

    def net(self, indent: int) -> NetDef:
        """Take a net from behind the word ``net``; its lines are indented by ``indent``."""
        name = self.string("the net's name")
        fields = self.fields(self.net_fields, "'type', 'workers', '@device', '{arguments}' or the end of the line")
        self.next_line()
        args = self.with_nested(fields.pop("args", None), indent)
        if "workers" in fields:
            fields["num_workers"] = fields.pop("workers")
        body = _Body()
        easy = _EASY_OPERATOR.match
        while self.depth == indent:
            found = easy(self.text, self.pos)
            if found is not None:
                self.easy_operator(found, body, indent)
            else:
                self.line(body, indent)
        if self.depth > indent:
            self.fail(
                f"wrong indentation of {self.depth}",
                expected=f"{indent} spaces, or {indent + _STEP} before a net argument",
            )
        return NetDef(name, body.ops, body.inputs, body.outputs, body.types, args, **fields)

    def easy_operator(self, found: re.Match[str], body: _Body, indent: int) -> None:
        """Take an operator spelled as the printer spells most; what follows the inputs tends to repeat."""
        outputs, type_, inputs, ending = found.groups()
        where = self.where(found.start())
        fields: dict[str, Any] | None = self.endings.get(ending)
        if fields is None:
            self.pos = found.start(4)
            fields = self.operator_ending()
            if self.pos == found.end() and len(ending) < _CACHED:
                self.endings[ending] = fields
        else:
            self.pos = found.end()
        self.next_line()
        if self.depth > indent:
            fields = fields | {"args": self.with_nested(fields.get("args"), indent)}
        if type_[0] == '"':
            type_ = type_[1:-1]
        body.ops.append(OperatorDef(type_, _split(inputs), _split(outputs), where=where, **fields))

    def line(self, body: _Body, indent: int) -> None:
        """Take any other line of a net."""
        start = self.pos
        word = self.word()
        if word in KEYWORDS and not any(map(self.at, ("=", ",", "("))):
            if word == "net":
                self.fail("a second net in the same text", at=start, expected="one net; nested ones are arguments")
            self.declarations[word](body)
            self.end_line("the end of the line")
            self.next_line()
            return
        if word is not None and not any(map(self.at, ("=", ",", "("))):
            near = did_you_mean(word, KEYWORDS)
            self.fail(
                f"unknown keyword '{word}'" if near else None,
                at=start if near else None,
                expected="an operator, 'input', 'output' or 'blob'" if near else f"'=', ',' or '(' after '{word}'",
                did_you_mean=near,
            )
        self.pos = start
        self.operator(body, indent)

    def input_line(self, body: _Body) -> None:
        while True:
            name = self.name("the name of an input")
            body.inputs.append(name)
            if self.take(":"):
                self.declare(name, body)
            if not self.take(","):
                break

    def output_line(self, body: _Body) -> None:
        body.outputs.append(self.name("the name of an output"))
        while self.take(","):
            body.outputs.append(self.name("the name of an output"))

    def blob_line(self, body: _Body) -> None:
        name = self.name("the name of a blob")
        self.expect(":", "the name")
        self.declare(name, body)

    def declare(self, name: str, body: _Body) -> None:
        start = self.skip()
        type_ = self.type()
        if body.types.setdefault(name, type_) != type_:
            self.fail(f"another type for '{name}'", at=start, expected=str(body.types[name]))

    # Operators

    def operator(self, body: _Body, indent: int) -> None:
        outputs: list[str] = []
        first = self.skip()
        where = self.where(first)
        type_ = self.name("an operator, 'input', 'output' or 'blob'")
        if not self.at("("):
            outputs = [type_]
            while self.take(","):
                outputs.append(self.name("an output"))
            self.expect("=", "the outputs")
            type_ = self.name("the type of an operator")
            if type_ == "net" and not self.at("("):
                self.fail(
                    "a nested net without its operator",
                    at=first,
                    expected=f"{indent + _STEP} spaces before it, under the operator it is an argument of",
                )
        inputs = self.names("(", ")", f"the type '{type_}'")
        fields = self.operator_ending()
        self.next_line()
        if self.depth > indent:
            fields["args"] = self.with_nested(fields.get("args"), indent)
        body.ops.append(OperatorDef(type_, inputs, outputs, where=where, **fields))

    def where(self, pos: int) -> SourceLine:
        """Return the line of ``pos``, which is never before that of the last call."""
        seen, line = self.located
        self.located = (pos, line + self.text.count("\n", seen, pos))
        return SourceLine(self.filename, self.located[1])

    def operator_ending(self) -> dict[str, Any]:
        expected = "'{arguments}', '@device', 'engine', 'name', 'control', 'domain', 'debug' or the end of the line"
        fields = self.fields(self.operator_fields, expected)
        if "control" in fields:
            fields["control_inputs"] = fields.pop("control")
        if "debug" in fields:
            fields["debug_info"] = fields.pop("debug")
        if "args" in fields:
            fields["args"] = Args(fields["args"])
        return fields

    def fields(self, known: Mapping[str, Callable[[], Any]], expected: str) -> dict[str, Any]:
        """Take what ends the first line of a net or operator: arguments, device and ``known`` fields, in any order."""
        found: dict[str, Any] = {}
        while not self.text.startswith("\n", start := self.skip()):
            if self.at("{"):
                key, value = "args", self.pairs("{", "}", "an argument")
            elif self.take("@"):
                key, value = "device", self.device()
            else:
                word = self.word()
                if word is None or word not in known:
                    self.fail(at=start, expected=expected, did_you_mean=did_you_mean(word or "", known))
                key, value = word, known[word]()
            if key in found:
                self.fail(f"{key} given twice", at=start)
            found[key] = value
        return found

    def names(self, opening: str, closing: str, after: str) -> list[str]:
        found: list[str] = []
        self.items(opening, closing, after, lambda: found.append(self.name(f"a name or '{closing}'")))
        return found

    def with_nested(self, args: Mapping[str, Any] | None, indent: int) -> Args:
        """Add the nets below a line that is indented by ``indent`` to its arguments."""
        found: dict[str, Any] = dict(args or {})
        lists: dict[str, list[NetDef]] = {}
        while self.depth > indent:
            if self.depth != indent + _STEP:
                self.fail(
                    f"wrong indentation of {self.depth}",
                    expected=f"{indent} spaces, or {indent + _STEP} before a net argument",
                )
            self.nested(found, lists, indent + 2 * _STEP)
        return Args({**found, **lists})

    def nested(self, found: dict[str, Any], lists: dict[str, list[NetDef]], indent: int) -> None:
        """Take one ``name = net ...`` or ``name[0] = net ...``."""
        start = self.pos
        name = self.name('a net argument, name = net "..."')
        listed = self.at("[")
        if name in found or (name in lists and not listed):
            self.fail(f"argument '{name}' given twice", at=start)
        if listed:
            self.index(name, len(lists.get(name, ())))
        self.expect("=", "the name of a net argument")
        after = self.skip()
        if self.word() != "net" or self.at("("):
            self.fail(
                "wrong indentation, or no net argument",
                at=after,
                expected=f"'net'; an operator's line is indented by {indent - 2 * _STEP} spaces here",
            )
        if self.nets == DEEPEST:
            self.fail("nets are nested too deep", at=after, expected=f"at most {DEEPEST} within one another")
        self.nets += 1
        net = self.net(indent)
        self.nets -= 1
        if listed:
            lists.setdefault(name, []).append(net)
        else:
            found[name] = net

    def index(self, name: str, due: int) -> None:
        self.expect("[", f"'{name}'")
        start = self.skip()
        if self.integer("the index of a net") != due:
            self.fail(f"the nets of '{name}' are out of order", at=start, expected=f"{name}[{due}]")
        self.expect("]", "the index")
