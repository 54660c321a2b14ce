"""Immutable descriptions of nets: plain data, no schemas, no arrays."""

from netdsl.ir.args import Args, Packed
from netdsl.ir.defs import Device, NetDef, OperatorDef, SourceLine
from netdsl.ir.json import from_json, to_json
from netdsl.ir.parse import parse
from netdsl.ir.text import dump
from netdsl.ir.types import UNKNOWN, BlobType, Dim, DType, Opaque, Shape, TensorType

__all__ = [
    "UNKNOWN",
    "Args",
    "BlobType",
    "DType",
    "Device",
    "Dim",
    "NetDef",
    "Opaque",
    "OperatorDef",
    "Packed",
    "Shape",
    "SourceLine",
    "TensorType",
    "dump",
    "from_json",
    "parse",
    "to_json",
]
