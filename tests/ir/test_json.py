"""JSON keeps everything that a net holds, and bad documents are refused by place."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdsl.errors import NetError, ParseError
from netdsl.ir import Device, DType, NetDef, Opaque, OperatorDef, Packed, SourceLine, TensorType, from_json, to_json


def full() -> NetDef:
    """A net with something in every field."""
    inner = NetDef("inner", [OperatorDef("Relu", ["x"], ["y"], where=SourceLine("a.py", 4))], metadata={"of": "inner"})
    args = {
        "int": -1,
        "float": 1.0,
        "third": 1 / 3,
        "zero": -0.0,
        "inf": math.inf,
        "nan": math.nan,
        "text": "é\ud800\n",
        "bytes": b"\xff",
        "empty": [],
        "ints": [1, 2],
        "floats": [1.0, -math.inf],
        "texts": ["a", b"\xfe"],
        "net": inner,
        "nets": [inner, NetDef()],
        "weights": [0.5] * 50,
        "offsets": range(50),
    }
    op = OperatorDef(
        "All",
        ["a", ""],
        ["b"],
        args,
        Device("cuda", 2, random_seed=0, node_name="n", numa_node=0, extra_info=("e",)),
        "CUDNN",
        "name",
        ["c"],
        "domain",
        "debug",
        is_gradient=True,
        where=SourceLine("train.py", 16),
    )
    types = {"x": TensorType(DType.FLOAT, ["N", 2, None]), "m": Opaque("mutex"), "r": TensorType(DType.BOOL)}
    metadata = {"params": [{"name": "w", "shape": [2, 3], "frozen": False, "decay": 0.1}], "note": None}
    return NetDef("net", [op], ["x", "x"], ["y"], types, {"n": inner}, "dag", 4, Device(), metadata)


def same(one: NetDef, two: NetDef) -> bool:
    """Whether two nets agree, also in what their equality leaves out."""
    return (
        one == two
        and one.metadata == two.metadata
        and list(one.types) == list(two.types)
        and [(op.is_gradient, op.where) for op in one.ops] == [(op.is_gradient, op.where) for op in two.ops]
        and all(
            same(a, b)
            for x, y in zip(one.ops, two.ops, strict=True)
            for (_, a), (_, b) in zip(x.nested, y.nested, strict=True)
        )
    )


def test_everything_is_kept() -> None:
    net = full()
    text = to_json(net)
    assert text.isascii()
    assert "\n" not in text
    back = from_json(text)
    assert same(net, back)
    assert back.ops[0].where == SourceLine("train.py", 16)
    assert back.ops[0].is_gradient
    assert back.metadata["params"][0]["decay"] == 0.1
    assert isinstance(back.ops[0].args["weights"], Packed)
    assert to_json(back) == text


def test_what_equality_ignores_is_compared_here() -> None:
    """The comparison above sees each of the fields that ``==`` does not."""
    plain = NetDef("n", [OperatorDef("A")])
    assert not same(plain, NetDef("n", [OperatorDef("A", is_gradient=True)]))
    assert not same(plain, NetDef("n", [OperatorDef("A", where=SourceLine("a", 1))]))
    assert not same(plain, NetDef("n", [OperatorDef("A")], metadata={"a": 1}))


def test_the_form() -> None:
    net = NetDef(
        "n", [OperatorDef("FC", ["x"], ["y"], {"axis": 1, "f": 1.0})], ["x"], types={"x": TensorType(None, [2])}
    )
    assert json.loads(to_json(net)) == {
        "netdsl": 1,
        "net": {
            "name": "n",
            "inputs": ["x"],
            "types": {"x": {"dtype": None, "shape": [2]}},
            "ops": [
                {"type": "FC", "inputs": ["x"], "outputs": ["y"], "args": {"axis": {"int": 1}, "f": {"float": 1.0}}}
            ],
        },
    }
    assert from_json('{"netdsl": 1, "net": {}}') == NetDef()


def test_tools_that_write_whole_floats_as_ints_do_no_harm() -> None:
    net = NetDef("n", [OperatorDef("A", args={"i": 1, "f": 1.0, "l": [2.0]})])
    assert from_json(to_json(net).replace("1.0", "1").replace("2.0", "2")) == net


@given(st.integers(0, 2**32 - 1))
def test_every_float32_survives(bits: int) -> None:
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    back = from_json(to_json(NetDef("", args={"f": value}))).args["f"]
    assert struct.pack("<f", back) == struct.pack("<f", value) or (back != back and value != value)


@given(st.text(), st.binary())
def test_every_text_survives(text: str, data: bytes) -> None:
    net = NetDef(text, [OperatorDef(text, [text], args={text: data})])
    assert from_json(to_json(net)) == net


@pytest.mark.parametrize("value", [object(), {1, 2}, math.nan])
def test_metadata_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(NetError, match="the metadata of net 'n' cannot be written as JSON"):
        to_json(NetDef("n", metadata={"a": value}))


def test_metadata_of_a_nested_net_is_refused_by_its_name() -> None:
    inner = NetDef("inner", metadata={"a": object()})
    with pytest.raises(NetError, match="net 'inner'"):
        to_json(NetDef("outer", [OperatorDef("If", args={"n": inner})], metadata={"fine": 1}))


def document(**op: Any) -> str:
    return json.dumps({"netdsl": 1, "net": {"ops": [{"type": "A"}, op]}})


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("[]", "the outermost object", "an object"),
        ("{}", "the outermost object", '{"netdsl": 1'),
        ('{"net": {}}', "the outermost object", '{"netdsl": 1'),
        ('{"netdsl": 2, "net": {}}', "netdsl", "version 1"),
        ('{"netdsl": 1, "net": []}', "net", "an object"),
        ('{"netdsl": 1, "net": {"name": 3}}', "net.name", "a text"),
        ('{"netdsl": 1, "net": {"num_workers": true}}', "net.num_workers", "an int"),
        ('{"netdsl": 1, "net": {"inputs": "x"}}', "net.inputs", "a list"),
        ('{"netdsl": 1, "net": {"inputs": ["x", 1]}}', "net.inputs[1]", "a text"),
        ('{"netdsl": 1, "net": {"types": {"x": {"dtype": "float33"}}}}', "net.types.x.dtype", "float32"),
        ('{"netdsl": 1, "net": {"types": {"x": {"shape": [1.5]}}}}', "net.types.x.shape[0]", "an int, a name or null"),
        ('{"netdsl": 1, "net": {"types": {"x": {"shape": [-1]}}}}', "net.types.x.shape[0]", "an int of 0 or more"),
        ('{"netdsl": 1, "net": {"device": {"index": -1}}}', "net.device.index", "an int of 0 or more"),
        ('{"netdsl": 1, "net": {"types": {"x": {"opaque": "m", "shape": null}}}}', "net.types.x", "either"),
        ('{"netdsl": 1, "net": {"name": "a", "name": "b"}}', "the outermost object", "each name once"),
        (document(inputs=[]), "net.ops[1]", 'an operator with its "type"'),
        (document(type="A", where={"file": "a"}), "net.ops[1].where", '"file" and "line"'),
        (document(type="A", is_gradient=1), "net.ops[1].is_gradient", "true or false"),
        (document(type="A", device={"kind": 1}), "net.ops[1].device.kind", "a text"),
        (document(type="A", args={"a": 1}), "net.ops[1].args.a", "an object"),
        (document(type="A", args={"a": {}}), "net.ops[1].args.a", "an object of one kind"),
        (document(type="A", args={"a": {"int": 1, "float": 1.0}}), "net.ops[1].args.a", "an object of one kind"),
        (document(type="A", args={"a": {"int": 1.0}}), "net.ops[1].args.a.int", "an int"),
        (document(type="A", args={"a": {"int": 2**63}}), "net.ops[1].args.a.int", "an int of 64 bits"),
        (document(type="A", args={"a": {"float": "x"}}), "net.ops[1].args.a.float", "a number"),
        (document(type="A", args={"a": {"floats": [1, []]}}), "net.ops[1].args.a.floats[1]", "a number"),
        (document(type="A", args={"a": {"text": {}}}), "net.ops[1].args.a.text", "a text or"),
        (document(type="A", args={"a": {"text": {"base64": "?"}}}), "net.ops[1].args.a.text.base64", "base64"),
        (document(type="A", args={"a": {"packed": "float32"}}), "net.ops[1].args.a", "an object of one kind"),
        (document(type="A", args={"a": {"packed": "int64", "base64": "AAAA"}}), "net.ops[1].args.a", "bytes of whole"),
        (
            document(type="A", args={"a": {"packed": "int8", "base64": ""}}),
            "net.ops[1].args.a.packed",
            "float32, int64",
        ),
        (document(type="A", args={"a": {"nets": [{"name": 1}]}}), "net.ops[1].args.a.nets[0].name", "a text"),
    ],
)
def test_documents_that_are_no_nets_are_refused_by_place(text: str, place: str, expected: str) -> None:
    with pytest.raises(ParseError, match="JSON that is no net") as caught:
        from_json(text)
    assert caught.value.details["at"] == place
    assert str(caught.value.details["expected"]).startswith(expected)


def test_unknown_fields_get_near_names() -> None:
    with pytest.raises(ParseError) as caught:
        from_json(document(type="A", inptus=[]))
    assert caught.value.details["at"] == "net.ops[1]"
    assert caught.value.details["did you mean"] == "inputs"


def test_text_that_is_no_json_is_pointed_at() -> None:
    with pytest.raises(ParseError, match="no JSON") as caught:
        from_json('{"netdsl": 1,\n "net": }')
    assert (caught.value.line, caught.value.column) == (2, 9)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"netdsl": 1, "net": {"args": {"a": {"net": ' * 5000])
def test_endless_nesting_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        from_json(text)
