"""The printer, and that the parser gives back what was printed."""

from __future__ import annotations

import math
import re
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdsl.errors import ParseError
from netdsl.ir import Args, Device, DType, NetDef, Opaque, OperatorDef, Packed, SourceLine, TensorType, dump, parse
from netdsl.ir.args import float32
from netdsl.ir.extents import ExtentError, extent
from netdsl.ir.text import float_text, quote, quote_bytes

texts = st.one_of(
    st.sampled_from(
        ["x", "fc1_w", "net", "input", "output", "blob", "", "a b", "net/Split:0", 'q"', "\\", "\n", "#", "é"]
    ),
    st.text(max_size=6),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl"]), max_size=3),
)
ints = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(width=32).filter(lambda x: x == x) | st.just(math.nan) | st.just(-math.nan)
names = st.lists(texts, max_size=3)
scalars = ints | floats | texts | st.binary(max_size=4)
lists = (
    st.lists(ints, max_size=4)
    | st.lists(floats, max_size=4)
    | st.lists(texts | st.binary(max_size=3), max_size=3)
    | st.lists(floats, min_size=48, max_size=50)
    | st.lists(ints, min_size=48, max_size=50)
)


def is_canonical(dim: str) -> bool:
    """Whether a text may stand for an extent."""
    try:
        return extent(dim) == dim
    except ExtentError:
        return False


maybe_int = st.none() | st.integers(0, 9)
devices = st.builds(
    Device,
    kind=st.sampled_from(["cpu", "cuda", "hip", "my kind", ""]),
    index=st.integers(0, 3),
    random_seed=maybe_int,
    node_name=texts,
    numa_node=maybe_int,
    extra_info=st.lists(texts, max_size=2).map(tuple),
)
dims = st.none() | st.integers(0, 2**40) | texts.filter(is_canonical) | st.sampled_from(["2*N", "(T+1)//2", "N*T"])
types = st.builds(TensorType, st.none() | st.sampled_from(DType), st.none() | st.lists(dims, max_size=3)) | st.builds(
    Opaque, texts
)
lines = st.none() | st.builds(SourceLine, texts, st.integers(1, 99))


def nets_over(values: st.SearchStrategy[Any]) -> st.SearchStrategy[NetDef]:
    """Nets whose arguments, and whose operators' arguments, are ``values``."""
    arguments = st.dictionaries(texts, values, max_size=3)
    ops = st.builds(
        OperatorDef,
        type=texts,
        inputs=names,
        outputs=names,
        args=arguments,
        device=st.none() | devices,
        engine=texts,
        name=texts,
        control_inputs=names,
        domain=texts,
        debug_info=texts,
        is_gradient=st.booleans(),
        where=lines,
    )
    return st.builds(
        NetDef,
        name=texts,
        ops=st.lists(ops, max_size=3),
        inputs=names,
        outputs=names,
        types=st.dictionaries(texts, types, max_size=3),
        args=arguments,
        type=texts,
        num_workers=st.integers(-1, 8),
        device=st.none() | devices,
        metadata=st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
    )


flat = nets_over(scalars | lists)
nested = nets_over(scalars | flat | st.lists(flat, max_size=2))
nets = flat | nested | nets_over(nested | st.lists(nested, min_size=1, max_size=2))


@given(nets)
def test_what_is_printed_parses_to_an_equal_net(net: NetDef) -> None:
    text = dump(net)
    assert parse(text) == net
    assert dump(parse(text)) == text


@given(nets)
def test_text_can_be_written_to_a_file_and_split_into_lines(net: NetDef) -> None:
    text = dump(net)
    assert text.encode().decode() == text
    assert text.splitlines() == text.split("\n")[:-1]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=300)
def test_floats_read_as_the_same_float32_in_the_fewest_digits(bits: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    text = float_text(value)
    assert any(sign in text for sign in (".", "e", "inf", "nan"))
    if value != value:
        assert text.lstrip("-") == "nan"
        return
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)
    digits = len(text.lstrip("-").split("e")[0].replace(".", "").strip("0"))
    if math.isfinite(value) and digits > 1:
        assert float32(float(f"{value:.{digits - 2}e}")) != value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e-5, "1e-05"),
        (1e20, "1e+20"),
        (1 / 3, "0.33333334"),
        (2.0**-149, "1e-45"),
        (16777216.0, "16777216.0"),
        (3.4028234663852886e38, "3.4028235e+38"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
    ],
)
def test_floats_are_short(value: float, text: str) -> None:
    assert float_text(float32(value)) == text


def op(*args: Any, **kwargs: Any) -> str:
    """The line of an operator in a net without name."""
    return dump(NetDef("", [OperatorDef(*args, **kwargs)])).split("\n", 1)[1].removesuffix("\n")


def test_an_operator_with_everything_is_one_line_with_sorted_arguments() -> None:
    device = Device("cuda", 1, random_seed=0, node_name="w1", numa_node=2, extra_info=("a", "b"))
    args = {"zeta": 1, "alpha": 1.0, "list": [1, 2], "none": [], "s": "té\n", "b": b"a\xff", "flag": True}
    line = op("FC", ["x", "w"], ["y", "z"], args, device, "CUDNN", "fc1", ["a", "b c"], "dom", "debug")
    assert line == (
        'y, z = FC(x, w) {alpha = 1.0, b = b"a\\xff", flag = 1, list = [1, 2], none = [], s = "té\\n", zeta = 1} '
        '@cuda:1(extra_info = ["a", "b"], node_name = "w1", numa_node = 2, random_seed = 0) '
        'engine "CUDNN" name "fc1" control (a, "b c") domain "dom" debug "debug"'
    )


def test_the_explicit_cpu_is_told_from_no_device() -> None:
    assert op("AtomicIter", ["m", "i"], ["i"]) == "i = AtomicIter(m, i)"
    assert op("AtomicIter", ["m", "i"], ["i"], device=Device()) == "i = AtomicIter(m, i) @cpu"
    assert op("Print", ["x"], device=Device("cpu", 1)) == "Print(x) @cpu:1"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("fc1/w.0-a", "fc1/w.0-a"),
        ("123", "123"),
        ("net/Split:0", '"net/Split:0"'),
        ("-x", '"-x"'),
        ("", '""'),
        ("input", '"input"'),
        ("inputs", "inputs"),
        ("größe", '"größe"'),
        ("a\nb\t\r", '"a\\nb\\t\\r"'),
        ('"\\', '"\\"\\\\"'),
        ("\x00\x85\u2028\ud800\U000e0001", '"\\x00\\x85\\u2028\\ud800\\U000e0001"'),
    ],
)
def test_names_outside_the_plain_alphabet_are_quoted(name: str, written: str) -> None:
    line = op(name, [name], [name], {name: 1})
    assert line == f"{written} = {written}({written}) {{{written} = 1}}"
    assert parse(f'net ""\n{line}').ops[0] == OperatorDef(name, [name], [name], {name: 1})


def test_quoting_leaves_what_prints_alone() -> None:
    assert quote("日本 \u0301é") == '"日本 \u0301é"'
    assert quote_bytes(b'\x00"\\\n~\x7f\x80') == 'b"\\x00\\"\\\\\\n~\\x7f\\x80"'


def test_declarations() -> None:
    net = NetDef(
        "n",
        inputs=["x", "y", "x", "m", "r", "s"],
        outputs=["y", "y"],
        types={
            "x": TensorType(DType.FLOAT, ["N", 64, None, "a b", "größe"]),
            "m": Opaque("mutex"),
            "r": TensorType(DType.INT64),
            "s": TensorType(None, [2, 3]),
            "z": TensorType(DType.BOOL, []),
            "k": Opaque("a kind"),
        },
        type="dag",
        num_workers=4,
        device=Device("cuda"),
        args={"a": 1},
    )
    expected = """\
net "n" type "dag" workers 4 @cuda:0 {a = 1}
input x: float32[N, 64, ?, "a b", "größe"]
input y
input x
input m: <mutex>
input r: int64[...]
input s: ?[2, 3]
blob k: <"a kind">
blob z: bool[]
output y
output y
"""
    assert dump(net) == expected == str(net)
    assert parse(expected) == net


def test_nested_nets_are_indented_blocks() -> None:
    inner = NetDef("inner", [OperatorDef("Relu", ["x"], ["y"])], args={"deep": NetDef("deep", outputs=["d"])})
    args = {"then_net": inner, "b": 1, "branches": [NetDef("a"), inner], "c": 2}
    net = NetDef("outer", [OperatorDef("If", ["c"], [], args), OperatorDef("Copy", ["y"], ["z"])], args={"n": NetDef()})
    expected = """\
net "outer"
  n = net ""
If(c) {b = 1, c = 2}
  branches[0] = net "a"
  branches[1] = net "inner"
      deep = net "deep"
        output d
    y = Relu(x)
  then_net = net "inner"
      deep = net "deep"
        output d
    y = Relu(x)
z = Copy(y)
"""
    assert dump(net) == expected
    assert parse(expected) == net


def test_nets_nest_deep() -> None:
    net = NetDef("bottom", [OperatorDef("Relu", ["x"], ["y"])])
    for depth in range(39):
        net = NetDef(str(depth), [OperatorDef("Do", ["x"], ["y"], {"net": net})])
    assert parse(dump(net)) == net


def test_long_lists_are_packed_and_can_be_elided() -> None:
    net = NetDef("", [OperatorDef("GivenTensorFill", [], ["w"], {"values": [0.5] * 48, "shape": [48], "i": range(99)})])
    line = dump(net).splitlines()[1]
    assert line.startswith('w = GivenTensorFill() {i = packed int64 "AAAAAAAAAAABAAAA')
    assert 'values = packed float32 "AAAAPwAAAD8' in line
    assert parse(dump(net)) == net
    assert isinstance(parse(dump(net)).ops[0].args["values"], Packed)
    assert dump(net, elide=True).splitlines()[1] == (
        "w = GivenTensorFill() {i = int64 x 99 <elided>, shape = [48], values = float32 x 48 <elided>}"
    )


def test_comments_stand_behind_operators_of_all_nets_and_parse() -> None:
    inner = NetDef("inner", [OperatorDef("Relu", ["x"], ["y"])])
    net = NetDef("outer", [OperatorDef("Copy", ["x"], ["z"]), OperatorDef("If", ["c"], [], {"then_net": inner})])

    def comment(within: NetDef, index: int) -> str | None:
        return None if within is net and index == 0 else f"{within.name}\n{within.ops[index].type}"

    text = dump(net, comments=comment)
    assert text.splitlines() == [
        'net "outer"',
        "z = Copy(x)",
        "If(c)  # outer If",
        '  then_net = net "inner"',
        "    y = Relu(x)  # inner Relu",
    ]
    assert parse(text) == net


def test_text_does_not_depend_on_the_order_of_mappings() -> None:
    one = NetDef("", [OperatorDef("A", args={"a": 1, "b": NetDef()})], types={"p": Opaque("x"), "q": Opaque("y")})
    two = NetDef("", [OperatorDef("A", args={"b": NetDef(), "a": 1})], types={"q": Opaque("y"), "p": Opaque("x")})
    assert dump(one) == dump(two)


def test_metadata_is_not_printed() -> None:
    plain = OperatorDef("A", ["x"], ["y"])
    told = OperatorDef("A", ["x"], ["y"], is_gradient=True, where=SourceLine("a.py", 3))
    assert dump(NetDef("", [plain])) == dump(NetDef("", [told], metadata={"a": 1}))


def test_hand_written_text() -> None:
    text = """
        # a comment before the net

        net  "n"   {a = 1,}  type "dag"   # the header
        input x : float32[ N,64, ] , y,
              # indented strangely
        output=Relu( x )name "r" {
            alpha = .5, # half
            list = [1,
                    2.5,],

            "b" = +3,
        } @cuda

        input = Copy(output,)
        net, "q" = input(x , y)
        Print ( x )
          sub = net "s"
            z = Copy(x) \r
        output z, w
        """.replace("y,\n", "y\n")
    net = parse(text)
    assert net == NetDef(
        "n",
        [
            OperatorDef(
                "Relu", ["x"], ["output"], {"alpha": 0.5, "list": [1.0, 2.5], "b": 3}, Device("cuda"), name="r"
            ),
            OperatorDef("Copy", ["output"], ["input"]),
            OperatorDef("input", ["x", "y"], ["net", "q"]),
            OperatorDef("Print", ["x"], args={"sub": NetDef("s", [OperatorDef("Copy", ["x"], ["z"])])}),
        ],
        ["x", "y"],
        ["z", "w"],
        {"x": TensorType(DType.FLOAT, ["N", 64])},
        {"a": 1},
        "dag",
    )
    assert parse(dump(net)) == net


def test_the_examples_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "text-format.md").read_text(encoding="utf-8")
    examples = re.findall(r"```text\n(net .*?)```", page, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        assert dump(parse(example)) == example
    message = re.findall(r"```text\n(unexpected .*?)\n```", page, re.DOTALL)
    with pytest.raises(ParseError) as caught:
        parse('net "n"' + "\n" * 11 + "y = FC(x w, b)", "train.net")
    assert [str(caught.value)] == message


def test_windows_line_ends_byte_order_mark_and_no_final_line_end() -> None:
    assert parse('\ufeffnet "a"\r\ny = Relu(x)\r\noutput y') == NetDef(
        "a", [OperatorDef("Relu", ["x"], ["y"])], (), ["y"]
    )


def test_short_packed_values_become_a_list() -> None:
    assert parse('net "" {a = packed int64 "AQAAAAAAAAA="}').args == Args({"a": [1]})


def test_large_nets_take_linear_time() -> None:
    """Four times the operators may take up to nine times as long, quadratic code would take sixteen."""

    def seconds(count: int) -> float:
        ops = [
            OperatorDef("FC", [f"fc{i}", f"w:{i}", "b"], [f"fc{i + 1}"], {"axis": i, "x": 0.1}) for i in range(count)
        ]
        net = NetDef("big", ops)
        start = time.process_time()
        assert len(parse(dump(net)).ops) == count
        return time.process_time() - start

    small = min(seconds(1500) for _ in range(3))
    assert min(seconds(6000) for _ in range(2)) < 9 * small


def test_every_operator_knows_its_line():
    text = '# a remark\nnet "n"\ninput x\n\ny = If(x)\n  then_net = net "t"\n    y = Relu(x)\n'
    text += 'z, "odd name" = Split(\n  y,\n)\n'
    made = parse(text, "a.net")
    (nested,) = (net for _, net in made.ops[0].nested)
    found = [op.where for op in (*made.ops, *nested.ops)]
    assert list(map(str, found)) == ["a.net:5", "a.net:8", "a.net:7"]
