"""The record of a parameter."""

from __future__ import annotations

import netdsl as nd
from netdsl.dsl import Blob, Parameter, Tag
from netdsl.ir import DType


def test_a_parameter_is_called_as_its_primary_blob() -> None:
    p = nd.Parameter(Blob("w"), (2, 3), blob_copy={DType.FLOAT: Blob("w_fp32")})
    assert p.name == str(p) == "w"
    assert p.blobs == (Blob("w"), Blob("w_fp32"))
    assert (p.tag, p.grad, p.frozen, p.lr_multiplier) == (Tag.WEIGHT, None, False, 1.0)


def test_parameters_are_themselves_and_share_nothing() -> None:
    one, other = Parameter(Blob("w")), Parameter(Blob("w"))
    assert one != other
    one.settings["lr"] = 1.0
    one.blob_copy[DType.FLOAT16] = Blob("w_fp16")
    assert not other.settings
    assert not other.blob_copy


def test_tags_are_found_by_their_text() -> None:
    assert [Tag(text) for text in ("weight", "bias", "computed")] == list(Tag)
