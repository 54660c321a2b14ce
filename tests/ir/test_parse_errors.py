"""What the parser says of texts that are no nets."""

from __future__ import annotations

import json
import pickle
import re
import textwrap

import pytest

from netdsl.errors import NetError, ParseError
from netdsl.ir import NetDef, OperatorDef, dump, from_json, parse, to_json
from netdsl.ir.args import DEEPEST


def error(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse(text, "a.net")
    return caught.value


def in_net(line: str) -> str:
    return f'net "n"\n{line}\nz = Relu(y)\n'


@pytest.mark.parametrize(
    ("line", "column", "what", "expected"),
    [
        ("y = FC(x w, b)", 10, "unexpected 'w'", "',' or ')'"),
        ("y = FC(x,, b)", 10, "unexpected ','", "a name or ')'"),
        ("y = FC x", 8, "unexpected 'x'", "'(' after the type 'FC'"),
        ("y FC(x)", 3, "unexpected 'FC'", "'=', ',' or '(' after 'y'"),
        ("y, = FC(x)", 4, "unexpected '='", "an output"),
        ("y = (x)", 5, "unexpected '('", "the type of an operator"),
        ("y =", 4, "unexpected end of the line", "the type of an operator"),
        ("= FC(x)", 1, "unexpected '='", "an operator, 'input', 'output' or 'blob'"),
        ("y = FC(x) axis = 1", 11, "unexpected 'axis'", "'{arguments}', '@device', 'engine', 'name', 'control'"),
        ("y = FC(x) {axis 1}", 17, "unexpected '1'", "'=' after 'axis'"),
        ("y = FC(x) {axis = }", 19, "unexpected '}'", 'a number, a "text"'),
        ("y = FC(x) {axis = 1 b = 2}", 21, "unexpected 'b'", "',' or '}'"),
        ("y = FC(x) {axis = 1, axis = 2}", 22, "argument 'axis' given twice", None),
        ("y = FC(x) {axis = 1} {b = 2}", 22, "args given twice", None),
        ("y = FC(x) @cpu @cuda", 16, "device given twice", None),
        ("y = FC(x) @cuda:-1", 17, "the number of a device below 0", "0 or more"),
        ("input x: float32[N, -3]", 21, "an extent below 0", "0 or more"),
        ('y = FC(x) engine "A" engine "B"', 22, "engine given twice", None),
        ('y = FC(x) {s = "abc}', 16, "a text without its closing quote", "'\"' on the same line"),
        ('y = FC(x) {s = "abc\\"}', 16, "a text without its closing quote", "'\"' on the same line"),
        ('y = FC(x) {s = "a\\qb"}', 18, "an unknown escape \\q", "\\xNN"),
        ('y = FC(x) {s = "\\x4"}', 17, "an unknown escape \\x", "\\xNN"),
        ('y = FC(x) {s = "\\Uffffffff"}', 17, "an unknown escape \\Uffffffff", "\\xNN"),
        ('y = FC(x) {s = b"é"}', 16, "a character that is no byte", "ASCII"),
        ('y = FC(x) {s = b"\\u00e9"}', 16, "a character that is no byte", "ASCII"),
        ("y = FC(x) {i = 18446744073709551616}", 16, "an int of more than 64 bits", "-2**63 to 2**64 - 1"),
        ("y = FC(x) {i = 1.2.3}", 19, "unexpected '.3'", "',' or '}'"),
        ("y = FC(x) {i = 12ab}", 18, "unexpected 'ab'", "',' or '}'"),
        ('y = FC(x) {l = [1, "a"]}', 16, "a list argument holds values of one kind", "all numbers or all texts"),
        ("y = FC(x) {l = [[1]]}", 17, "a list within a list", "numbers or texts"),
        ("y = FC(x) {l = [1 2]}", 19, "unexpected '2'", "',' or ']'"),
        ('y = FC(x) {p = packed float32 "AA=A"}', 31, "bad base64", "little-endian"),
        ('y = FC(x) {p = packed float32 "é"}', 31, "bad base64", "little-endian"),
        ('y = FC(x) {p = packed float32 "AAAA"}', 31, "3 bytes are no float32 list", "a multiple of 4"),
        ('y = FC(x) {p = packed int64 "AAAAAA=="}', 29, "4 bytes are no int64 list", "a multiple of 8"),
        ("y = FC(x) {p = packed float32 AAAA}", 31, "unexpected 'AAAA'", "base64 in double quotes"),
        ("y = FC(x) {p = float32 x 1000 <elided>}", 16, "values that were left out", "a text dumped without elide"),
        ('y = If(x) {n = net "a"}', 16, "a nested net among other arguments", "a line of its own"),
        ('n = net "a"', 1, "a nested net without its operator", "2 spaces before it"),
        ('net "again"', 1, "a second net in the same text", "one net"),
        ("input", 6, "unexpected end of the line", "the name of an input"),
        ("input x: float32", 17, "unexpected end of the line", "'[' after the dtype"),
        ("input x: float32[2 3]", 20, "unexpected '3'", "',' or ']'"),
        ("input x: float32[..., 2]", 21, "unexpected ','", "']' after '...'"),
        ("input x: float32[2, ...]", 21, "unexpected '.'", "an extent, a name, '?' or ']'"),
        ("input x: float32[1.5]", 18, "unexpected '1.5'", "an extent"),
        ("input x: <mutex", 16, "unexpected end of the line", "'>' after the kind of blob"),
        ("input x: float32[2], x: float32[3]", 25, "another type for 'x'", "float32[2]"),
        ("input x y", 9, "unexpected 'y'", "the end of the line"),
        ("output x: float32[2]", 9, "unexpected ':'", "the end of the line"),
        ("blob x", 7, "unexpected end of the line", "':' after the name"),
        ("y = FC(x) @", 12, "unexpected end of the line", "a kind of device such as cpu or cuda"),
        ("y = FC(x) @cuda:a", 17, "unexpected 'a'", "the number of a device"),
        ("y = FC(x) @cuda(random_seed = 1.5)", 16, "wrong value of 'random_seed'", "an int"),
        ("y = FC(x) @cuda(extra_info = [1])", 16, "wrong value of 'extra_info'", "a list of texts"),
        ("y = FC(x) control x", 19, "unexpected 'x'", "'(' after 'control'"),
        ("y = FC(x) control (x, 'a')", 23, "unexpected '''", "a name or ')'"),
        ("y = FC(x) § 3", 11, "unexpected '§'", "the end of the line"),
        ("\ty = FC(x)", 1, "a tab in the indentation", "spaces"),
        (
            "  y = FC(x)",
            7,
            "wrong indentation, or no net argument",
            "'net'; an operator's line is indented by 0 spaces",
        ),
        (" y = FC(x)", 2, "wrong indentation of 1", "0 spaces, or 2 before a net argument"),
    ],
)
def test_a_bad_line_is_pointed_at(line: str, column: int, what: str, expected: str | None) -> None:
    found = error(in_net(line))
    assert found.what.startswith(what)
    assert (found.line, found.column) == (2, column)
    assert found.details["at"] == f"a.net:2:{column}"
    assert (expected or "") in str(found.details.get("expected"))
    assert isinstance(found, ValueError)


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("inptu x: float32[2]", "input"),
        ("outputs loss", "output"),
        ("input x: flaot32[2]", "float32"),
        ('y = FC(x) engin "CUDNN"', "engine"),
        ("y = FC(x) {flag = True}", "1"),
        ("y = FC(x) {flag = false}", "0"),
        ("y = FC(x) engine CUDNN", '"CUDNN"'),
        ("y = FC(x) @cuda:0(ranom_seed = 1)", "random_seed"),
        ('y = FC(x) {p = packed flot32 "AAAA"}', "float32"),
    ],
)
def test_near_names_are_offered(line: str, near: str) -> None:
    assert error(in_net(line)).details["did you mean"] == near


def test_a_word_may_be_a_number_gone_wrong_as_well_as_a_text() -> None:
    details = error(in_net("y = LearningRate(x) {base_lr = fast}")).details
    assert str(details["expected"]).startswith('a number, in quotes a text ("fast"), ')
    assert "did you mean" not in details


def test_the_message_shows_the_line_with_a_caret() -> None:
    assert "\n" + str(error('net "n"\n\ny = FC(x, w b)  # product\n')) == (
        textwrap.dedent("""
            unexpected 'b'
              at       : a.net:3:13
              text     : y = FC(x, w b)  # product
                                     ^
              expected : ',' or ')'""")
    )


def test_the_caret_keeps_its_place_beside_longer_keys_wide_characters_and_long_lines() -> None:
    for text in ('net "n"\ninptu x', 'net "n"\n"日本語" = FC x', f'net "n"\ny = FC({"x, " * 200}w b{", x" * 200})'):
        found = error(text)
        shown, caret = str(found.details["text"]).split("\n")
        margin = str(found).splitlines()[2].index(shown[0])
        start = caret.index("^") - margin
        wide = sum(ord(char) > 0x2000 for char in shown[:20])
        assert shown[start - wide] in "xib"
        assert len(shown) <= 106
    assert (found.line, found.column) == (2, 610)


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "y = Relu(x)\n", 'nett "a"\n', '{"netdsl": 1}'])
def test_a_text_begins_with_net(text: str) -> None:
    found = error(text)
    assert found.what == "the text does not begin with a net"
    assert found.details["expected"] == 'net "name"'
    assert (found.details.get("did you mean") == "net") == text.startswith("nett")


def test_the_header_is_checked_too() -> None:
    assert error("net a").details["did you mean"] == '"a"'
    assert error('net "a" tipe "dag"').details["did you mean"] == "type"
    assert error('net "a" workers many').details["expected"] == "a number of workers"


def test_an_open_bracket_is_named_where_the_text_goes_wrong() -> None:
    found = error('net "n"\ny = FC(x) {axis = 1\nz = Relu(y)\n')
    assert (found.line, found.column) == (3, 1)
    assert found.details["opened"] == "'{' in line 2"
    assert found.details["expected"] == "',' or '}'"
    found = error('net "n"\ny = FC(x,\n\n')
    assert (found.line, found.column) == (2, 10)
    assert found.what == "unexpected end of the text"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('net "n"\nIf(c)\n  t = net "t"\n   y = Relu(x)\n', 4, "wrong indentation of 3"),
        ('net "n"\nIf(c)\n  t = net "t"\n      y = Relu(x)\n', 4, "wrong indentation, or no net argument"),
        ('net "n"\nIf(c)\n   t = net "t"\n', 3, "wrong indentation of 3"),
        ('net "n"\nIf(c)\n  y = Relu(x)\n', 3, "wrong indentation, or no net argument"),
        ('net "n"\nIf(c) {t = 1}\n  t = net "t"\n', 3, "argument 't' given twice"),
        ('net "n"\nIf(c)\n  t = net "t"\n  t = net "u"\n', 4, "argument 't' given twice"),
        ('net "n"\nIf(c)\n  t = net "t"\n  t[0] = net "u"\n', 4, "argument 't' given twice"),
        ('net "n"\nIf(c)\n  t[0] = net "t"\n  t = net "u"\n', 4, "argument 't' given twice"),
        ('net "n"\nIf(c)\n  t[0] = net "t"\n  t[2] = net "u"\n', 4, "the nets of 't' are out of order"),
        ('  net "n"\ny = Relu(x)\n', 2, "wrong indentation of 0"),
        ('net "n"\ninput x\n  t = net "t"\n', 3, "wrong indentation of 2"),
    ],
)
def test_indentation_and_nested_nets(text: str, line: int, what: str) -> None:
    found = error(text)
    assert (found.line, found.what) == (line, what)


def test_elided_text_is_refused() -> None:
    net = NetDef("n", [OperatorDef("GivenTensorFill", [], ["w"], {"values": [0.5] * 100})])
    assert "left out" in error(dump(net, elide=True)).what


def nested(levels: int) -> str:
    lines = ['net "n"', "Do()"]
    for depth in range(1, levels):
        lines += [f'{"  " * (2 * depth - 1)}n = net ""', f"{'  ' * 2 * depth}Do()"]
    return "\n".join(lines)


@pytest.mark.parametrize("levels", [DEEPEST + 1, 1200])
def test_endless_nesting_is_refused(levels: int) -> None:
    found = error(nested(levels))
    assert found.what == "nets are nested too deep"
    assert found.details["expected"] == f"at most {DEEPEST} within one another"
    assert (found.line, found.column) == (2 * DEEPEST + 1, 2 * (2 * DEEPEST - 1) + 5)


def test_the_deepest_net_can_be_read_written_and_compared() -> None:
    net = parse(nested(DEEPEST))
    assert parse(dump(net)) == net == from_json(to_json(net))
    assert hash(net) == hash(parse(nested(DEEPEST)))
    with pytest.raises(NetError, match=f"nested too deep\n.*at most {DEEPEST} within one another"):
        OperatorDef("Do", args={"n": net})
    document = json.loads(to_json(net))
    outer = json.loads(to_json(parse(nested(1))))
    outer["net"]["ops"][0]["args"] = {"n": {"net": document["net"]}}
    with pytest.raises(ParseError, match=f"nested too deep\n.*at most {DEEPEST} within one another"):
        from_json(json.dumps(outer))


def refusal(text: str) -> ParseError | None:
    """What the parser has against ``text``; any other exception is a bug."""
    try:
        parse(text)
    except ParseError as found:
        return found
    return None


def test_every_cut_and_every_missing_character_is_a_parse_error_or_a_net() -> None:
    net = NetDef(
        'n"',
        [
            OperatorDef("FC", ["x", "a b"], ["y"], {"f": 0.5, "l": [1, 2], "s": "\n", "b": b"\xff", "p": range(50)}),
            OperatorDef(
                "If", ["c"], args={"t": NetDef("t", [OperatorDef("Relu", ["x"], ["y"])])}, control_inputs=["q"]
            ),
        ],
        ["x"],
    )
    text = dump(net)
    refused = 0
    for i in range(len(text)):
        for broken in (text[:i], text[:i] + text[i + 1 :], text[:i] + "}" + text[i:]):
            found = refusal(broken)
            if found is not None:
                refused += 1
                assert 1 <= found.line <= broken.count("\n") + 1
                assert re.search(r"^ +\^$", str(found.details["text"]), re.MULTILINE)
    assert refused > len(text)


def test_errors_can_be_pickled() -> None:
    found = error("y")
    copy = pickle.loads(pickle.dumps(found))
    assert (type(copy), str(copy), copy.details) == (ParseError, str(found), found.details)
    assert (copy.line, copy.column) == (found.line, found.column) != (0, 0)
