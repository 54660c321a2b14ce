"""Initializers: what they append, and the record that they return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.dsl import Blob
from netdsl.errors import BlobError, RunError, SchemaError, UnknownOperatorError
from netdsl.initializers import (
    ExternalInitializer,
    Initializer,
    PseudoFP16Initializer,
    ReversePseudoFP16Initializer,
    update_initializer,
)
from netdsl.ir import DType, TensorType


def text(net: nd.Net) -> list[str]:
    return net.dump().splitlines()[1:]


def test_one_fill() -> None:
    net = nd.Net("init")
    p = Initializer("GaussianFill", std=0.5).create_param("w", net, [2, 3])
    assert text(net) == ["w = GaussianFill() {shape = [2, 3], std = 0.5}"]
    assert (p.name, p.shape, p.blob_copy, p.blob.net) == ("w", (2, 3), {}, net)


def test_half_with_a_master() -> None:
    net = nd.Net("init")
    with nd.name_scope("s"):
        p = PseudoFP16Initializer("XavierFill").create_param("w", net, [2, 3])
    assert text(net) == ["s/w_fp32 = XavierFill() {shape = [2, 3]}", "s/w = FloatToHalf(s/w_fp32)"]
    assert p.blob.type == TensorType(DType.FLOAT16, (2, 3))
    assert p.blob_copy == {DType.FLOAT: Blob("s/w_fp32")}


def test_a_master_with_a_half_copy() -> None:
    net = nd.Net("init")
    p = ReversePseudoFP16Initializer("XavierFill").create_param(Blob("s/w", net), net, [2, 3])
    assert text(net) == ["s/w = XavierFill() {shape = [2, 3]}", "s/w_fp16 = FloatToHalf(s/w)"]
    assert p.blob.type == TensorType(DType.FLOAT, (2, 3))
    assert p.blob_copy == {DType.FLOAT16: Blob("s/w_fp16")}


@pytest.mark.parametrize("cls", [Initializer, PseudoFP16Initializer, ReversePseudoFP16Initializer])
def test_the_operator_is_given_once(cls: type[Initializer]) -> None:
    made = cls()
    with pytest.raises(SchemaError, match="has no operator yet"):
        made.create_param("w", nd.Net("init"), [2])
    made.update("ConstantFill", {"value": 1.0})
    assert (made.operator_name, made.operator_kwargs) == ("ConstantFill", {"value": 1.0})
    with pytest.raises(SchemaError, match="cannot be replaced") as caught:
        made.update("XavierFill", {})
    assert caught.value.details == {"expected": "ConstantFill", "got": "XavierFill"}
    assert repr(made) == f"{cls.__name__}('ConstantFill', value=1.0)"


def test_one_initializer_makes_many_parameters() -> None:
    net, ones = nd.Net("init"), Initializer("ConstantFill", value=1.0)
    assert [ones.create_param(name, net, [2]).name for name in "ab"] == ["a", "b"]


def test_an_operator_that_is_none() -> None:
    with pytest.raises(UnknownOperatorError, match="'XavierFil'") as caught:
        Initializer("XavierFil").create_param("w", nd.Net("init"), [2])
    assert "XavierFill" in str(caught.value.details["did you mean"])


@pytest.mark.parametrize(
    ("cls", "given", "expected"),
    [
        (None, None, "Initializer('ConstantFill', value=0.0)"),
        (None, ("XavierFill", {}), "Initializer('XavierFill')"),
        (PseudoFP16Initializer, None, "PseudoFP16Initializer('ConstantFill', value=0.0)"),
        (PseudoFP16Initializer, ("GaussianFill", {"std": 2.0}), "PseudoFP16Initializer('GaussianFill', std=2.0)"),
    ],
)
def test_update_initializer(cls: type[Initializer] | None, given: Any, expected: str) -> None:
    assert repr(update_initializer(cls, given, ("ConstantFill", {"value": 0.0}))) == expected


class TestExternal:
    """A parameter that the workspace must hold when the init net runs."""

    def net(self, dtype: Any = "float32") -> nd.Net:
        net = nd.Net("init")
        p = ExternalInitializer(dtype).create_param("w", net, [2, 3])
        assert p.shape == (2, 3)
        return net

    def run(self, value: Any, dtype: Any = "float32") -> None:
        workspace = nd.Workspace()
        if value is not None:
            workspace.feed("w", value)
        workspace.run(self.net(dtype))

    def test_it_is_an_input_of_known_type(self) -> None:
        assert text(self.net()) == ["input w: float32[2, 3]", "CheckTensor(w) {dtype = 1, shape = [2, 3]}"]

    def test_what_fits_passes_and_is_left_alone(self) -> None:
        workspace = nd.Workspace()
        value = np.arange(6, dtype=np.float32).reshape(2, 3)
        workspace.feed("w", value)
        workspace.run(self.net())
        np.testing.assert_array_equal(workspace.fetch("w"), value)
        self.run(value.astype(np.float16), "float16")
        self.run(value.astype(np.int64), None)

    def test_a_missing_one(self) -> None:
        with pytest.raises(BlobError, match="blob 'w' does not exist"):
            self.run(None)

    @pytest.mark.parametrize("value", [np.zeros((3, 2), np.float32), np.zeros((2, 3), np.float64)])
    def test_another_shape_or_dtype(self, value: np.ndarray) -> None:
        with pytest.raises((RunError, ValueError), match="w"):
            self.run(value)

    def test_the_shape_counts_where_any_dtype_may_come(self) -> None:
        with pytest.raises((RunError, ValueError), match="w"):
            self.run(np.zeros((2, 4), np.float16), None)

    def test_a_name_that_is_none(self) -> None:
        with pytest.raises(SchemaError, match="named by a Blob or a text"):
            ExternalInitializer().create_param(3, nd.Net("init"), [2])  # type: ignore[arg-type]

    def test_a_dtype_that_is_none(self) -> None:
        with pytest.raises(SchemaError, match="is no dtype"):
            ExternalInitializer("float33")
