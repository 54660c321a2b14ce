"""Names that misspell others: which are warned of, and above all which are not."""

from __future__ import annotations

import inspect
import warnings

import pytest

import netdsl as nd
from netdsl.dsl.slips import slip
from netdsl.errors import NearNameWarning


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("lable", "label"),
        ("labbel", "label"),
        ("lael", "label"),
        ("losss", "loss"),
        ("tower/fc1_realu_w", "tower/fc1_relu_w"),
        ("fc1_wieght", "fc1_weight"),
    ],
)
def test_slips(name: str, known: str) -> None:
    assert slip(name, {"x", known}) == known
    assert slip(name, set(), [known]) == known


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("fc1_w", "fc2_w"),
        ("fc_w", "fc_b"),
        ("x1", "x2"),
        ("h", "h2"),
        ("data1", "data"),
        ("layer1_weight", "layer11_weight"),
        ("labels", "label"),
        ("label", "labels"),
        ("scaled", "scale"),
        ("mask", "task"),
        ("gate", "gaze"),
        ("conv", "cov"),
        ("wih", "whi"),
        ("unary", "nary"),
        ("q_proj", "k_proj"),
        ("a/label", "b/label"),
        ("aaaa", "aaab"),
    ],
)
def test_names_that_are_meant_to_differ(name: str, known: str) -> None:
    assert slip(name, {known}) is None
    assert slip(known, {name}) is None


def test_an_input_that_misspells_a_blob_is_warned_of_once_at_its_line() -> None:
    net = nd.Net("train")
    label = net.input("label", ("N",), "int32")
    with pytest.warns(NearNameWarning) as caught:
        net.LabelCrossEntropy(["scores", "lable"], "xent")
    net.LabelCrossEntropy(["scores", "lable"], "again")  # a second warning would be an error
    (warning,) = caught
    assert str(warning.message) == (
        "net 'train' has no blob 'lable' so far, so it becomes an input; did you mean 'label'?"
    )
    frame = inspect.currentframe()
    assert frame is not None
    assert (warning.filename, warning.lineno) == (__file__, frame.f_lineno - 8)
    assert net.definition.inputs == (str(label), "scores", "lable")


def test_as_an_error_the_warning_leaves_the_net_alone() -> None:
    net = nd.Net("train")
    net.Relu("scores", "positive")
    before = net.definition
    with warnings.catch_warnings():
        warnings.simplefilter("error", NearNameWarning)
        with pytest.raises(NearNameWarning):
            net.Relu("scroes", "y")
    assert net.definition is before


def test_blobs_are_meant_as_they_are_named() -> None:
    net = nd.Net("train")
    net.Relu("scores", "y")
    net.Relu(nd.Blob("scroes", net), "z")
    assert net.definition.inputs == ("scores", "scroes")


def test_inputs_may_come_from_a_generator() -> None:
    net = nd.Net("train")
    net.Sum((name for name in ("left", "right")), "y")  # type: ignore[arg-type]
    assert net.definition.inputs == ("left", "right")
