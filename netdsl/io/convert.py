"""Between our immutable NetDef and Caffe2's NetDef message.

What the record has no field for travels in arguments under reserved names, so that every format keeps it:

- ``netdsl_input_types`` of a net: what is known of its inputs, a line each, ``x: float32[N, 64]`` (Caffe2 ignores it);
- ``netdsl_argument_NAME``: an argument that holds a tensor, or several values at once, as its serialised message;
- ``netdsl_op_version`` of an operator and ``netdsl_partition_info`` of a net.

``where`` and ``metadata`` have no place in a message and are left out; fields set to nothing count as not set.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from netdsl.errors import FileFormatError, NetError, ParseError, did_you_mean
from netdsl.io import messages
from netdsl.ir import BlobType, Device, NetDef, OperatorDef, Packed, dump, parse

INPUT_TYPES = "netdsl_input_types"
ARGUMENT = "netdsl_argument_"
OP_VERSION = "netdsl_op_version"
PARTITION_INFO = "netdsl_partition_info"

# Protobuf reads no message more than 100 levels deep; a nested net is three levels below its net.
_DEEPEST = 34

_OTHER_DEVICE = re.compile(r"device(\d+)")


def from_message(message: Any) -> NetDef:
    """Return the net that a ``messages.NetDef`` describes.

    Raises:
        FileFormatError: a device number below 0, text that is not UTF-8, or one argument given twice, differently.
    """
    label = f"net {_text(message.name)!r}"
    _check_texts((message.name, message.type, *message.external_input, *message.external_output), label)
    args = _read_args(message.arg, label)
    if len(message.partition_info):
        args[PARTITION_INFO] = tuple(_serialize(info, label) for info in message.partition_info)
    return NetDef(
        name=message.name,
        ops=[_read_op(op, index, label) for index, op in enumerate(message.op)],
        inputs=message.external_input,
        outputs=message.external_output,
        types=_read_types(args.pop(INPUT_TYPES, ()), label),
        args=args,
        type=message.type,
        num_workers=message.num_workers,
        device=_read_device(message, label),
    )


def to_message(net: NetDef) -> Any:
    """Return ``net`` as a ``messages.NetDef``.

    Raises:
        NetError: a device, text or number that the message cannot hold, or nets nested too deep.
    """
    if _depth(net) > _DEEPEST:
        raise NetError(
            f"nets are nested too deep in net {net.name!r}", expected=f"at most {_DEEPEST} within one another"
        )
    return _to_message(net)


def _depth(net: NetDef) -> int:
    """Return how many nets stand within one another."""
    return 1 + max((_depth(inner) for op in net.ops if op.args for _, inner in op.nested), default=0)


def _to_message(net: NetDef) -> Any:
    message = messages.NetDef()
    label = f"net {net.name!r}"
    with _Located(label):
        message.name = net.name  # set even when empty, or an empty net would be an empty file
        message.external_input.extend(net.inputs)
        message.external_output.extend(net.outputs)
        if net.type:
            message.type = net.type
        if net.num_workers:
            message.num_workers = net.num_workers
        _write_device(net.device, message)
        args = dict(net.args)
        for data in args.pop(PARTITION_INFO, ()):
            message.partition_info.add().ParseFromString(_bytes(data))
        if net.types:
            args[INPUT_TYPES] = _type_lines(net.types)
        _write_args(args, message)
    for index, op in enumerate(net.ops):
        with _Located(f"operator {index} ({op}) of {label}"):
            _write_op(op, message.op.add())
    return message


class _Located:
    """Turns what goes wrong inside a ``with`` block into a NetError that says where."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NetError):
            raise NetError(error.what, **({"where": self.where} | error.details)) from error
        if isinstance(error, ValueError | TypeError | DecodeError):
            raise NetError("this cannot be written as a Caffe2 message", got=error, where=self.where) from error


# ---------------------------------------------------------------- operators and devices


def _read_op(op: Any, index: int, net: str) -> OperatorDef:
    label = f"operator {index} ({_text(op.type)}) of {net}"
    texts = (*op.input, *op.output, op.type, op.name, op.engine, op.domain, op.debug_info, *op.control_input)
    _check_texts(texts, label)
    args = _read_args(op.arg, label)
    if op.op_version:
        args[OP_VERSION] = op.op_version
    return OperatorDef(
        type=op.type,
        inputs=op.input,
        outputs=op.output,
        args=args,
        device=_read_device(op, label),
        engine=op.engine,
        name=op.name,
        control_inputs=op.control_input,
        domain=op.domain,
        debug_info=op.debug_info,
        is_gradient=op.is_gradient_op,
    )


def _write_op(op: OperatorDef, message: Any) -> None:
    message.input.extend(op.inputs)
    message.output.extend(op.outputs)
    message.type = op.type
    message.control_input.extend(op.control_inputs)
    for field in ("name", "engine", "domain", "debug_info"):
        if value := getattr(op, field):
            setattr(message, field, value)
    if op.is_gradient:
        message.is_gradient_op = True
    _write_device(op.device, message)
    args = dict(op.args)
    if OP_VERSION in args:
        message.op_version = args.pop(OP_VERSION)
    _write_args(args, message)


def _read_device(owner: Any, where: str) -> Device | None:
    if not owner.HasField("device_option"):
        return None
    option, known = owner.device_option, messages.DEVICE_KINDS
    number = option.device_type
    _check_texts((option.node_name, *option.extra_info), where)
    if number < 0:
        raise FileFormatError("a device type is never negative", got=number, where=where)
    return Device(
        kind=known[number] if number < len(known) else f"device{number}",
        index=option.device_id,
        random_seed=option.random_seed if option.HasField("random_seed") else None,
        node_name=option.node_name,
        numa_node=option.numa_node_id if option.HasField("numa_node_id") else None,
        extra_info=tuple(option.extra_info),
    )


def _write_device(device: Device | None, owner: Any) -> None:
    if device is None:
        return
    option = owner.device_option
    option.device_type = _device_number(device.kind)
    if device.index:
        option.device_id = device.index
    if device.random_seed is not None:
        option.random_seed = device.random_seed
    if device.node_name:
        option.node_name = device.node_name
    if device.numa_node is not None:
        option.numa_node_id = device.numa_node
    option.extra_info.extend(device.extra_info)


def _device_number(kind: str) -> int:
    if kind in messages.DEVICE_KINDS:
        return messages.DEVICE_KINDS.index(kind)
    if match := _OTHER_DEVICE.fullmatch(kind):
        return int(match[1])
    raise NetError(
        f"Caffe2 has no device type {kind!r}",
        expected=f"{', '.join(messages.DEVICE_KINDS)}, or deviceN for the type numbered N",
        did_you_mean=did_you_mean(kind, messages.DEVICE_KINDS),
    )


# ---------------------------------------------------------------- arguments


def _read_args(arguments: Any, where: str) -> dict[str, Any]:
    args: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    _check_texts([argument.name for argument in arguments], where)
    for argument in arguments:
        name = argument.name
        if name in seen and seen[name] != argument:
            raise FileFormatError(f"argument {name!r} is given twice with different values", where=where)
        seen[name] = argument
        fields = [field.name for field, _ in argument.ListFields() if field.name != "name"]
        if not fields:
            args[name] = ()
        elif len(fields) == 1 and fields[0] in _READERS:
            args[name] = _READERS[fields[0]](getattr(argument, fields[0]))
        else:
            args[ARGUMENT + name] = _serialize(argument, where)
    return args


def _packed(code: str, values: Any) -> Packed:
    numbers = array(code, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return Packed(code, numbers.tobytes())  # Args makes a tuple of a short one


_READERS: dict[str, Any] = {
    "i": int,
    "f": float,
    "s": bytes,
    "n": from_message,
    "ints": lambda values: _packed("q", values),
    "floats": lambda values: _packed("f", values),
    "strings": tuple,
    "nets": lambda nets: tuple(from_message(net) for net in nets),
}


def _write_args(args: dict[str, Any], owner: Any) -> None:
    for name, value in args.items():
        argument = owner.arg.add()
        if name.startswith(ARGUMENT):
            argument.ParseFromString(_bytes(value))
        else:
            argument.name = name
            _write_value(value, argument)


def _write_value(value: Any, argument: Any) -> None:
    if isinstance(value, int):
        argument.i = value
    elif isinstance(value, float):
        argument.f = value
    elif isinstance(value, str | bytes):
        argument.s = _bytes(value)
    elif isinstance(value, NetDef):
        argument.n.CopyFrom(_to_message(value))
    elif isinstance(value, Packed):
        (argument.floats if value.code == "f" else argument.ints).extend(value)
    elif value:
        _write_list(value, argument)


def _write_list(values: tuple[Any, ...], argument: Any) -> None:
    first = values[0]
    if isinstance(first, int):
        argument.ints.extend(values)
    elif isinstance(first, float):
        argument.floats.extend(values)
    elif isinstance(first, str | bytes):
        argument.strings.extend(map(_bytes, values))
    else:
        argument.nets.extend(map(_to_message, values))


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _check_texts(texts: Iterable[str | bytes], where: str) -> None:
    for text in texts:
        if isinstance(text, bytes):  # what protobuf gives for text that is not UTF-8
            raise FileFormatError("a name that is not UTF-8", got=text[:80], where=where)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode(errors="replace")


def _serialize(message: Any, where: str) -> bytes:
    _check_texts(_texts_in(message), where)
    return message.SerializePartialToString(deterministic=True)


def _texts_in(message: Any) -> Iterator[str | bytes]:
    for field, value in message.ListFields():
        for item in value if hasattr(value, "extend") else (value,):
            if field.message_type is not None:
                yield from _texts_in(item)
            elif field.type == field.TYPE_STRING:
                yield item


# ---------------------------------------------------------------- types of declared inputs


def _type_lines(types: Mapping[str, BlobType]) -> tuple[str, ...]:
    """Return ``x: float32[N, 64]`` for each, as the text form spells it."""
    lines = dump(NetDef(types=types)).splitlines()[1:]
    return tuple(line.removeprefix("blob ") for line in lines)


def _read_types(lines: Any, where: str) -> Mapping[str, BlobType]:
    texts = [_text(line) for line in (lines if isinstance(lines, tuple) else (lines,))]
    try:
        return parse("\n".join(['net ""', *(f"blob {text}" for text in texts)])).types
    except ParseError as error:
        raise FileFormatError(
            f"argument {INPUT_TYPES!r} does not describe inputs",
            expected="texts such as 'x: float32[N, 64]'",
            got=repr(texts[error.line - 2]) if error.line > 1 else error.what,
            where=where,
        ) from error
