"""The dtype sets that formal inputs name, and Caffe2's enumerations."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from netdsl.ir import BlobType, DType, Opaque


@attrs.frozen
class DTypes:
    """A set of dtypes. Inputs that share a ``tied`` set must share one dtype."""

    name: str
    allowed: frozenset[DType] = attrs.field(converter=frozenset)
    tied: bool = True

    def accepts(self, type_: BlobType) -> bool:
        return not isinstance(type_, Opaque) and (type_.dtype is None or type_.dtype in self.allowed)

    def untied(self) -> DTypes:
        """The same set, for an input whose dtype is independent of the others'."""
        return attrs.evolve(self, tied=False)

    def __str__(self) -> str:
        return (
            "any dtype" if len(self.allowed) == len(DType) else " | ".join(d.value for d in DType if d in self.allowed)
        )


@attrs.frozen
class Kind:
    """A blob that is no tensor, of one kind."""

    name: str
    tied: bool = False

    def accepts(self, type_: BlobType) -> bool:
        return type_ == Opaque(self.name) if isinstance(type_, Opaque) else type_.dtype is None

    def __str__(self) -> str:
        return f"<{self.name}>"


@attrs.frozen
class Anything:
    """Any blob at all."""

    name: str = "anything"
    tied: bool = False

    def accepts(self, type_: BlobType) -> bool:
        return True

    def __str__(self) -> str:
        return "anything"


def _set(name: str, dtypes: Iterable[DType], tied: bool = True) -> DTypes:
    return DTypes(name, frozenset(dtypes), tied)


_F, _I = (DType.FLOAT, DType.FLOAT16, DType.DOUBLE), (DType.INT32, DType.INT64)
_SMALL = (DType.UINT8, DType.INT8, DType.UINT16, DType.INT16)

Float = _set("Float", _F)
Number = _set("Number", (*_F, *_I, *_SMALL))
Scalar = _set("Scalar", (*_F, *_I, *_SMALL, DType.BOOL))
Half = _set("Half", [DType.FLOAT16], tied=False)
Single = _set("Single", [DType.FLOAT], tied=False)
Integer = _set("Integer", (*_I, *_SMALL))
Index = _set("Index", _I, tied=False)
Int32 = _set("Int32", [DType.INT32], tied=False)
Counter = _set("Counter", [DType.INT64], tied=False)
Boolean = _set("Boolean", [DType.BOOL], tied=False)
AnyDType = _set("AnyDType", DType)
AnyTensor = _set("AnyTensor", DType, tied=False)
ANYTHING = Anything()

DTYPE_NUMBERS = {d.value: d.number for d in DType} | {d.name.lower(): d.number for d in DType}
"""What a ``dtype`` argument may be called, in any case, and the number recorded."""

LEGACY_PAD = {"notset": 0, "valid": 1, "same": 2, "caffe_legacy_pooling": 3}
