"""Immutable descriptions of nets: plain data, no schemas, no arrays."""

from netdsl.ir.args import Args, Packed
from netdsl.ir.defs import Device, NetDef, OperatorDef, SourceLine
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
]
