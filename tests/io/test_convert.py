"""NetDef to and from Caffe2's message: nothing lost, nothing added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdsl.errors import FileFormatError, NetError
from netdsl.io import messages
from netdsl.io.binary import decode, decode_text
from netdsl.io.convert import from_message, to_message
from netdsl.io.files import decode as decode_file
from netdsl.io.files import encode as encode_file
from netdsl.io.sniff import FORMATS
from netdsl.ir import Device, DType, NetDef, Opaque, OperatorDef, Packed, TensorType
from tests.ir.test_text import is_canonical

DATA = Path(__file__).parents[1] / "data"
FILES = [*sorted(p for p in (DATA / "models").rglob("*") if p.suffix in (".pb", ".pbtxt")), DATA / "io/golden.pb"]
VALUES = ("f", "i", "s")  # of an Argument: set to 0 says more than not set


def read_message(path: Path) -> Any:
    data = path.read_bytes()
    return decode(data, path.name) if path.suffix == ".pb" else decode_text(data.decode(), path.name)


def canonical(message: Any) -> Any:
    """Return ``message`` with arguments in the order of their names, and without fields set to nothing."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if hasattr(value, "extend") else [value]:
                canonical(inner)
        elif not value and not (message.DESCRIPTOR.name == "Argument" and field.name in VALUES):
            message.ClearField(field.name)
    if "arg" in message.DESCRIPTOR.fields_by_name:
        ordered = sorted(message.arg, key=lambda argument: argument.name)
        del message.arg[:]
        message.arg.extend(ordered)
    return message


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_messages_come_back_equal(path: Path):
    message = read_message(path)
    assert canonical(to_message(from_message(message))) == canonical(message)


def argument(**fields: Any) -> Any:
    return messages.NetDef(op=[messages.OperatorDef(type="A", arg=[messages.Argument(name="a", **fields)])])


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("i", 3, 3),
        ("i", -(2**63), -(2**63)),
        ("i", 0, 0),
        ("f", 0.1, 0.10000000149011612),
        ("f", 0.0, 0.0),
        ("s", b"NCHW", "NCHW"),
        ("s", b"", ""),
        ("s", b"\xff\x00", b"\xff\x00"),
        ("ints", [1, 2], (1, 2)),
        ("floats", [1.0, 0.5], (1.0, 0.5)),
        ("floats", [0.5] * 60, Packed("f", b"\0\0\0?" * 60)),
        ("strings", [b"a", b"\xff"], ("a", b"\xff")),
        ("n", messages.NetDef(name="inner"), NetDef("inner")),
        ("nets", [messages.NetDef(name="inner")], (NetDef("inner"),)),
    ],
)
def test_argument_values(field: str, value: Any, expected: Any):
    message = argument(**{field: value})
    net = from_message(message)
    assert net == NetDef(ops=[OperatorDef("A", args={"a": expected})])
    assert type(net.ops[0].args["a"]) is type(expected)
    assert canonical(to_message(net)) == canonical(message)


def test_an_argument_with_only_a_name_is_an_empty_list():
    net = from_message(argument())
    assert net.ops[0].args["a"] == ()
    assert to_message(net).op[0].arg[0] == messages.Argument(name="a")


@pytest.mark.parametrize(
    "fields",
    [
        {"t": messages.TensorProto(dims=[1], float_data=[2.0])},
        {"tensors": [messages.TensorProto(dims=[1], float_data=[2.0])] * 2},
        {"qtensors": [messages.QTensorProto(precision=8, scale=1.0, bias=0.0, is_signed=True)]},
        {"i": 1, "f": 2.0},
    ],
    ids=["tensor", "tensors", "qtensors", "int and float"],
)
@pytest.mark.parametrize("format", FORMATS)
def test_arguments_that_no_value_can_hold_travel_as_messages(fields: dict[str, Any], format: str):
    message = argument(**fields)
    net = from_message(message)
    assert list(net.ops[0].args) == ["netdsl_argument_a"]
    assert canonical(to_message(decode_file(encode_file(net, format)))) == canonical(message)


def test_the_same_argument_twice_counts_once_but_not_with_another_value():
    message = argument(i=1)
    message.op[0].arg.add(name="a", i=1)
    assert from_message(message).ops[0].args == OperatorDef("A", args={"a": 1}).args
    message.op[0].arg[1].i = 2
    with pytest.raises(FileFormatError, match=r"(?s)'a' is given twice.*operator 0 \(A\)"):
        from_message(message)


def test_every_field_of_operators_and_nets_survives():
    op = OperatorDef(
        "FC",
        ["x", "w"],
        ["y"],
        {"axis": 1, "netdsl_op_version": 3},
        device=Device("hip", 2, random_seed=0, node_name="host", numa_node=0, extra_info=("a",)),
        engine="CUDNN",
        name="first",
        control_inputs=["c"],
        domain="d",
        debug_info="why",
        is_gradient=True,
    )
    net = NetDef("n", [op], ["x", "x", "w"], ["y"], type="dag", num_workers=2, device=Device(), args={"hint": 1})
    message = to_message(net)
    assert (message.op[0].op_version, message.op[0].is_gradient_op) == (3, True)
    assert message.device_option.HasField("device_type")
    back = from_message(message)
    assert back == net
    assert back.ops[0].is_gradient
    assert back.ops[0].device == op.device


@pytest.mark.parametrize("number", [*range(len(messages.DEVICE_KINDS)), 10, 77])
def test_every_device_type(number: int):
    message = messages.NetDef(name="n", device_option=messages.DeviceOption(device_type=number))
    assert to_message(from_message(message)).device_option.device_type == number


def test_types_of_inputs_travel_in_an_argument_that_caffe2_ignores():
    types = {
        "x": TensorType(DType.FLOAT, ("N", 64)),
        "odd: name\n": TensorType(None, (None, "odd, dim")),
        "m": Opaque("mutex"),
        "s": TensorType(DType.INT64, ()),
    }
    inner = NetDef("inner", inputs=["x"], types={"x": TensorType(DType.FLOAT16, None)})
    net = NetDef("n", [OperatorDef("If", args={"then_net": inner})], list(types), types=types)
    message = to_message(net)
    assert [a.name for a in message.arg] == ["netdsl_input_types"]
    assert message.arg[0].strings[-1] == b"x: float32[N, 64]"
    assert from_message(message) == net
    assert not from_message(message).args


def test_a_spoilt_list_of_types_is_an_error():
    message = messages.NetDef(name="n", arg=[messages.Argument(name="netdsl_input_types", strings=[b"x: float33[2]"])])
    with pytest.raises(FileFormatError, match=r"(?s)got.*'x: float33\[2\]'.*net 'n'"):
        from_message(message)


@pytest.mark.parametrize(
    "inside",
    [
        b"J\x03\n\x01\xff",  # a partition's name
        b'\x12\x0e"\x01A*\x09\n\x01aR\x04:\x02\xff\xff',  # the name of a tensor in an argument
        b'\x12\x08"\x01A2\x03"\x01\xff',  # a device's node name
    ],
)
def test_names_that_are_not_utf_8_are_refused_wherever_they_stand(inside: bytes):
    with pytest.raises(FileFormatError, match=r"UTF-8"):
        decode_file(b"\n\x01n" + inside)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (OperatorDef("A", device=Device("cuda", 2**40)), "Value out of range"),
        (OperatorDef("\ud800"), "(surrogates|UTF-8)"),
        (OperatorDef("A", args={"netdsl_argument_a": "\x01"}), "(parsing|illegal)"),
    ],
)
def test_what_a_message_cannot_hold_is_refused_with_its_place(op: OperatorDef, expected: str):
    with pytest.raises(NetError, match=rf"(?s){expected}.*operator 1 .*of net 'n'"):
        to_message(NetDef("n", [OperatorDef("Fine"), op]))


def test_nets_nested_deeper_than_protobuf_reads_are_refused():
    net = NetDef("n")
    for _ in range(33):
        net = NetDef("n", [OperatorDef("If", args={"then_net": net})])
    assert decode_file(encode_file(net, "pb")) == net
    with pytest.raises(NetError, match="too deep"):
        to_message(NetDef("n", [OperatorDef("If", args={"then_net": net})]))


names = st.text(st.characters(codec="utf-8"), max_size=8)
floats = st.floats(width=32, allow_nan=False) | st.just(float("nan"))
ints = st.integers(-(2**63), 2**63 - 1)
texts = names | st.binary(max_size=6)
plain = ints | floats | texts
listed = st.lists(ints, max_size=60) | st.lists(floats, max_size=60) | st.lists(texts, max_size=3)
types = st.builds(
    TensorType,
    st.none() | st.sampled_from(DType),
    st.none() | st.lists(st.none() | st.integers(0, 99) | names.filter(is_canonical), max_size=3).map(tuple),
) | st.builds(Opaque, names)
devices = st.builds(Device, st.sampled_from(messages.DEVICE_KINDS), st.integers(0, 9), st.none() | st.integers(0, 9))


def nets(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    args = st.dictionaries(names, plain | listed | inner, max_size=3)
    ops = st.builds(
        OperatorDef,
        names.filter(bool),
        st.lists(names, max_size=3),
        st.lists(names, max_size=2),
        args,
        device=st.none() | devices,
        engine=names,
        name=names,
        domain=names,
    )
    return st.builds(
        NetDef,
        names,
        st.lists(ops, min_size=1, max_size=3),
        st.lists(names, max_size=3),
        st.lists(names, max_size=2),
        st.dictionaries(names, types, max_size=2),
        args,
        names,
        st.integers(0, 9),
        st.none() | devices,
    )


@given(nets(nets(plain)))
def test_any_net_survives_every_format(net: NetDef):
    for format in FORMATS:
        assert decode_file(encode_file(net, format)) == net
