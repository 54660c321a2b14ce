"""Extents made of names: their canonical text, how it is read, and that it means what it says."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from netdsl.errors import ParseError, SchemaError
from netdsl.ir import Dim, DType, NetDef, TensorType, dims, dump, extents, from_json, parse, to_json
from netdsl.ir.extents import ExtentError, extent, names, substitute

NAMES = ("N", "M", "T_1")
sizes = st.fixed_dictionaries({name: st.integers(0, 9) for name in NAMES})

expressions = st.recursive(
    st.sampled_from(NAMES) | st.integers(0, 9).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", " * "]), inner).map(lambda p: f"({p[0]}{p[1]}{p[2]})")
        | st.tuples(inner, st.integers(1, 6)).map(lambda p: f"({p[0]} // {p[1]})")
    ),
    max_leaves=8,
)


def value(text: Dim, of: Mapping[str, int]) -> int:
    """What Python says of an expression."""
    return eval(str(text), {}, dict(of))


def read(text: str) -> Dim:
    """The canonical form, or assume that there is one."""
    try:
        return extent(text)
    except ExtentError as error:
        assume(error.what is None)  # below 0, or too large
        raise


@given(expressions, sizes)
def test_the_canonical_form_has_the_same_value(text: str, of: dict[str, int]) -> None:
    found = read(text)
    assert value(found, of) == value(text, of)
    assert substitute(found, of) == value(text, of) if isinstance(found, str) else True
    assert names(found) <= names(found) & {*NAMES}


@given(expressions)
def test_the_canonical_form_reads_as_itself(text: str) -> None:
    found = read(text)
    if isinstance(found, str):
        assert extent(found) == found
        assert extent(f" ( {found} )+0") == found
        net = NetDef(types={"x": TensorType(DType.FLOAT, (found, 3))})
        assert f"float32[{found}, 3]" in dump(net)
        assert parse(dump(net)) == net
        assert from_json(to_json(net)) == net


def told(*of: Dim) -> None:
    assume(None not in of)


@given(expressions.map(read), expressions.map(read), expressions.map(read))
def test_sums_and_products_do_not_ask_for_the_order(a: Dim, b: Dim, c: Dim) -> None:
    for rule in (dims.product, dims.total):
        assert rule((a, b)) == rule((b, a))
        one, other = rule((rule((a, b)), c)), rule((a, rule((b, c))))
        told(one, other)
        assert one == other == rule((c, a, b))
    one, other = dims.product((a, dims.total((b, c)))), dims.total((dims.product((a, b)), dims.product((a, c))))
    told(one, other)
    assert one == other


@given(expressions.map(read), expressions.map(read), st.integers(1, 9))
def test_what_is_put_on_comes_off_again(a: Dim, b: Dim, by: int) -> None:
    product, total = dims.product((a, by)), dims.total((a, b))
    told(product, total)
    assert dims.divide(product, by) == a
    assert dims.minus(total, b) == a
    assert not dims.conflict(total, dims.total((b, a)))


@given(expressions.map(read), expressions.map(read), sizes)
def test_what_conflicts_is_never_equal(a: Dim, b: Dim, of: dict[str, int]) -> None:
    assert not (dims.conflict(a, b) and value(a, of) == value(b, of))
    assert dims.conflict(a, dims.total((a, 1)))


@given(expressions, sizes, expressions)
def test_extents_may_be_put_in_for_names(text: str, of: dict[str, int], other: str) -> None:
    made = substitute(read(text), {"N": read(other)})
    told(made)
    assert value(made, of) == value(text, of | {"N": value(other, of)})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("N", "N"),
        (" N ", "N"),
        ("7", 7),
        ("T*2", "2*T"),
        ("T+N*2", "2*N+T"),
        ("1+T", "T+1"),
        ("T+1-2", "T-1"),
        ("1-T", "1-T"),
        ("T*N+T*N", "2*N*T"),
        ("N*N", "N*N"),
        ("N-N+3", 3),
        ("(N+1)*(N-1)", "N*N-1"),
        ("(2*T)//2", "T"),
        ("N*6//3", "2*N"),
        ("(2*T+5)//2", "T+2"),
        ("(T-1)//2+1", "(T+1)//2"),
        ("((T+1)//2+1)//2", "(T+3)//4"),
        ("T//2//3", "T//6"),
        ("(6*T+3)//4", "T+(T+1)//2"),
        ("(6*T+3)//9", "(2*T+1)//3"),
        ("2*(T//2)", "2*(T//2)"),
        ("T//2*2", "2*(T//2)"),
        ("(N*T)//2", "(N*T)//2"),
        ("batch size", "batch size"),
        ("größe", "größe"),
    ],
)
def test_canonical_forms(text: str, found: Dim) -> None:
    assert extent(text) == found


WRONG = [
    ("2*", 2, "a name, a number or '('"),
    ("T//0", 3, "a number above 0"),
    ("T//N", 3, "a number above 0"),
    ("N**2", 2, "a name, a number or '('"),
    ("2T", 1, "'+', '-', '*', '//'"),
    ("(N+1", 4, "'+', '-', '*', '//' or ')'"),
    ("N+1)", 3, "'+', '-', '*', '//'"),
    ("T/2", 1, "'+', '-', '*', '//'"),
    ("3-5", 0, "0 or more"),
    ("(" * 61 + "N" + ")" * 61, 60, "at most 60 brackets"),
    ("*".join("N" * 9), 0, "at most 16 terms"),
    ("+".join(f"{name}*{name}" for name in "abcdefghijklmnopqr"), 0, "at most 16 terms"),
    ("9" * 30 + "*N", 0, "at most 16 terms"),
]


@pytest.mark.parametrize(("text", "at", "expected"), WRONG)
def test_what_is_no_extent_says_where_and_what_is_expected(text: str, at: int, expected: str) -> None:
    with pytest.raises(ExtentError) as caught:
        extent(text)
    assert caught.value.at == at
    assert expected in caught.value.expected


@pytest.mark.parametrize(("text", "at", "expected"), [*WRONG, ("-N", 0, "0 or more"), ("N^2", 1, "',' or ']'")])
def test_the_text_form_points_at_it(text: str, at: int, expected: str) -> None:
    if text == "-N":
        expected = "an extent"
    with pytest.raises(ParseError) as caught:
        parse(f'net "n"\ninput x: float32[4, {text}, 3]\n')
    assert caught.value.line == 2
    assert caught.value.column == len("input x: float32[4, ") + at + 1
    assert expected in str(caught.value)


def test_the_text_form_reads_any_spelling() -> None:
    net = parse('net "n"\ninput x: float32[T * 2 , (N+ # rows\n  1)//2, 2 *3, "a b", "T*2", N*0, 4]\n')
    assert net.types["x"] == TensorType(DType.FLOAT, ("2*T", "(N+1)//2", 6, "a b", "2*T", 0, 4))
    assert 'input x: float32[2*T, (N+1)//2, 6, "a b", 2*T, 0, 4]\n' in dump(net)


def test_json_says_what_is_expected() -> None:
    text = to_json(NetDef(inputs=["x"], types={"x": TensorType(DType.FLOAT, ("2*T",))}))
    assert from_json(text.replace("2*T", "T*2")).types["x"] == TensorType(DType.FLOAT, ("2*T",))
    with pytest.raises(ParseError, match=r"a name, a number or '\(', at character 3") as caught:
        from_json(text.replace("2*T", "2*"))
    assert "shape[0]" in str(caught.value)


def test_an_author_is_shown_the_place() -> None:
    import netdsl as nd

    net = nd.Net("n")
    x = net.input("x", ("T*2", 3, "(T+1)//2"))
    assert net.definition.types[str(x)] == TensorType(DType.FLOAT, ("2*T", 3, "(T+1)//2"))
    with pytest.raises(SchemaError, match=r"'2\*' is no extent") as caught:
        net.input("y", ("2*", 3))
    assert str(caught.value).splitlines()[1:] == [
        "  text     : 2*",
        "               ^",
        "  expected : a name, a number or '('",
    ]


def test_what_cannot_be_said_is_unknown() -> None:
    assert dims.product(("a b", 2)) is None
    assert dims.product(("N", None)) is None
    assert dims.total(("N", None)) is None
    assert dims.product(("N",) * 9) is None
    assert dims.total(tuple(f"N{i}" for i in range(17))) is None
    assert dims.total(("N" * 90, "M" * 90)) is None
    assert dims.minus(1, "N") == "1-N"
    assert dims.minus(0, "N") is None
    assert extents.divide("N", "M") is None
    assert extents.divide("N", -1) is None
    assert substitute("2*N", {"N": None}) is None
    assert substitute("a b", {"N": 1}) == "a b"
    assert math.prod([int(extents.is_made(d)) for d in ("2*N", "N*T", "T//2")]) == 1
    assert not any(map(extents.is_made, ("N", "a b", "2*", "")))
