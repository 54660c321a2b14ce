"""Blobs, sparse gradients and the map of gradients."""

from __future__ import annotations

import pytest

import netdsl as nd
from netdsl.dsl import Blob, GradientMap, SparseGradient
from netdsl.errors import BlobError
from netdsl.ir import UNKNOWN


def grads() -> GradientMap:
    net = nd.Net("n")
    sparse = SparseGradient(Blob("i", net), Blob("v<", net))
    return GradientMap({"w": Blob("w_grad", net), "table": sparse})


def test_a_blob_is_its_name() -> None:
    one, other = nd.Net("a").blob("x"), nd.Net("b").blob("x")
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == "x"
    assert one.net is not other.net


def test_a_blob_without_net_has_no_known_type() -> None:
    assert Blob("x").type == UNKNOWN


def test_gradients_are_found_by_name_and_by_blob_in_order() -> None:
    found = grads()
    assert found["w"] == found[Blob("w")] == Blob("w_grad")
    assert list(found) == ["w", "table"]
    assert len(found) == 2
    assert Blob("w") in found
    assert "x" not in found
    assert found.get("x") is None
    assert found.get("x", 3) == 3
    assert found.get(Blob("w")) == Blob("w_grad")


def test_a_missing_gradient_names_the_near_ones() -> None:
    with pytest.raises(BlobError, match="blob 'tabel' has no gradient") as caught:
        grads()["tabel"]
    assert caught.value.details["did you mean"] == "table"


def test_text_and_display() -> None:
    assert repr(grads()) == "w -> w_grad\ntable -> rows i of v<"
    assert grads()._repr_html_() == (
        "<table><tr><th>blob</th><th>gradient</th></tr><tr><td>w</td><td>w_grad</td></tr>"
        "<tr><td>table</td><td>rows i of v&lt;</td></tr></table>"
    )
