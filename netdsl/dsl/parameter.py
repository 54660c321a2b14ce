"""``Parameter``: the record of one trained (or computed) blob."""

from __future__ import annotations

import enum
from typing import Any

import attrs

from netdsl.dsl.blob import Blob, SparseGradient
from netdsl.errors import SchemaError
from netdsl.ir import DType, Shape


class Tag(enum.Enum):
    """What a parameter is: a weight, a bias, or computed (never trained: running statistics)."""

    WEIGHT = "weight"
    BIAS = "bias"
    COMPUTED = "computed"

    @classmethod
    def _missing_(cls, value: object) -> Tag:
        raise SchemaError("a parameter's tag is unknown", expected=", ".join(tag.value for tag in cls), got=repr(value))


@attrs.define(eq=False)
class Parameter:
    """One parameter: its primary blob, copies in other precisions, and its gradient once there is one.

    ``kind`` is the kind of layer that made it ("fc", "conv", "embedding", ...). ``settings`` holds
    learning rate, decay and the like with what decided them, for tables.
    """

    blob: Blob
    shape: Shape | None = None
    tag: Tag = Tag.WEIGHT
    kind: str = ""
    blob_copy: dict[DType, Blob] = attrs.field(factory=dict[DType, Blob])
    grad: Blob | SparseGradient | None = None
    frozen: bool = False
    lr_multiplier: float = 1.0
    settings: dict[str, Any] = attrs.field(factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name of the primary blob."""
        return self.blob.name

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """The primary blob and every copy."""
        return (self.blob, *self.blob_copy.values())

    def __str__(self) -> str:
        return self.name
