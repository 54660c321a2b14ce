"""Net: recording operators, names, scopes, declarations, derived nets, early errors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import (
    BlobError,
    GradientError,
    InferenceError,
    NetError,
    SchemaError,
    UnknownOperatorError,
)
from netdsl.ir import Device, DType, TensorType


def test_an_operator_is_a_method_and_returns_its_output() -> None:
    net = nd.Net("n")
    x = net.input("x", ("N", 4))
    y = net.FC([x, "w", "b"], "y", axis=1)
    assert isinstance(y, nd.Blob)
    assert (str(y), y.net) == ("y", net)
    assert net.definition.inputs == ("x", "w", "b")
    assert str(net.definition.ops[0]) == "y = FC(x, w, b)"


def test_unnamed_outputs_get_deterministic_names() -> None:
    net = nd.Net("auto")
    assert str(net.ConstantFill([], shape=[1])) == "auto/ConstantFill"
    assert str(net.ConstantFill([], shape=[1])) == "auto/ConstantFill_2"
    assert [str(b) for b in net.Split("x", 2, axis=1)] == ["auto/Split:0", "auto/Split:1"]


def test_unnamed_outputs_avoid_names_that_are_taken() -> None:
    net = nd.Net("n")
    net.Relu("x", "n/Relu")
    assert str(net.Relu("x")) == "n/Relu_2"


def test_name_scopes_prefix_names_given_as_text() -> None:
    net = nd.Net("in")
    outside = net.Relu("x", "y")
    with nd.name_scope("s1"):
        assert str(net.Relu("x", "y")) == "s1/y"
        assert str(net.Relu(outside)) == "s1/in/Relu"
        with nd.name_scope("s2"):
            assert str(net.Relu("x", "w")) == "s1/s2/w"
        with nd.name_scope("", reset=True):
            assert str(net.Relu("x", "top")) == "top"
    assert net.definition.ops[1].inputs == ("s1/x",)
    assert net.definition.ops[2].inputs == ("y",)


def test_scopes_of_two_threads_do_not_meet() -> None:
    seen: list[str] = []
    net = nd.Net("n")

    def other() -> None:
        seen.append(str(net.Relu("x", "other")))

    with nd.name_scope("mine"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["other"]


def test_device_scopes_and_options_of_one_call() -> None:
    net = nd.Net("n")
    with nd.device_scope("cuda:1"):
        net.Relu("x", "a")
        net.Relu("x", "b", device="cpu", name="r", engine="CUDNN")
    net.Relu("x", "c")
    a, b, c = net.definition.ops
    assert (a.device, b.device, c.device) == (Device("cuda", 1), Device("cpu"), None)
    assert (b.name, b.engine) == ("r", "CUDNN")


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(SchemaError, match="'cudda' is no device") as caught, nd.device_scope("cudda"):
        pass
    assert caught.value.details["did you mean"] == "cuda"


def test_types_are_inferred_while_appending() -> None:
    net = nd.Net("n")
    x = net.input("x", ("N", 3, 8, 8))
    w = net.input("w", (16, 3, 3, 3))
    b = net.input("b", (16,))
    y = net.Conv([x, w, b], "y", kernel=3, pad=1)
    assert y.type == TensorType(DType.FLOAT, ("N", 16, 8, 8))
    assert net.FloatToHalf(y, "h").type == TensorType(DType.FLOAT16, ("N", 16, 8, 8))


def test_arguments_are_recorded_as_given_and_as_declared() -> None:
    net = nd.Net("n")
    net.ConstantFill([], "a", shape=[2], value=0.0, dtype="int64")
    net.ConstantFill([], "b", shape=[2])
    a, b = net.definition.ops
    assert dict(a.args) == {"shape": (2,), "value": 0.0, "dtype": 10}
    assert dict(b.args) == {"shape": (2,)}


class TestErrors:
    """Everything that can be seen at the call is raised there, with the author's line."""

    def test_unknown_operator(self) -> None:
        with pytest.raises(UnknownOperatorError, match="no operator is called 'Reluu'") as caught:
            nd.Net("n").Reluu("x", "y")
        assert "Relu" in str(caught.value.details["did you mean"])

    def test_unknown_argument(self) -> None:
        with pytest.raises(SchemaError, match="FC has no argument 'axes'") as caught:
            nd.Net("n").FC(["x", "w", "b"], "y", axes=2)
        assert str(caught.value.details["did you mean"]).startswith("axis")
        assert "test_net.py" in str(caught.value.details["added at"])

    def test_missing_argument(self) -> None:
        with pytest.raises(SchemaError, match="Dropout needs the argument 'is_test'"):
            nd.Net("n").Dropout("x", ["y", "mask"])

    def test_ill_typed_argument(self) -> None:
        with pytest.raises(SchemaError, match="argument 'axis' is of the wrong kind"):
            nd.Net("n").FC(["x", "w", "b"], "y", axis="one")

    def test_wrong_arity(self) -> None:
        with pytest.raises(SchemaError, match="FC takes 3 inputs, got 2") as caught:
            nd.Net("n").FC(["x", "w"], "y")
        assert caught.value.details["expected"] == "X, W, b"

    def test_wrong_in_place(self) -> None:
        with pytest.raises(SchemaError, match="cannot write Y over its input 'x'"):
            nd.Net("n").FC(["x", "w", "b"], "x")

    def test_enforced_in_place(self) -> None:
        with pytest.raises(SchemaError, match="must write param_out over its input param"):
            nd.Net("n").SparseAdagrad(["w", "m", "i", "g", "lr"], ["w2", "m"])

    def test_one_blob_written_twice(self) -> None:
        with pytest.raises(SchemaError, match="cannot write one blob twice"):
            nd.Net("n").Split("x", ["a", "a"], axis=1)

    def test_shape_clash(self) -> None:
        net = nd.Net("n")
        net.input("x", ("N", 4))
        net.input("w", (2, 5))
        net.input("b", (2,))
        with pytest.raises(InferenceError, match="disagree on the number of features") as caught:
            net.FC(["x", "w", "b"], "y")
        assert {"expected", "got", "inputs", "added at"} <= set(caught.value.details)
        assert not net.definition.ops

    def test_precision_clash(self) -> None:
        net = nd.Net("n")
        net.input("x", ("N", 4), "float16")
        net.input("w", (2, 4))
        with pytest.raises(InferenceError, match="share one dtype") as caught:
            net.FC(["x", "w", "b"], "y")
        assert caught.value.details["got"] == "float32, blob 'w'"

    def test_wrong_dtype_names_blob_and_types(self) -> None:
        net = nd.Net("n")
        net.input("p", ("N", 4))
        net.input("label", ("N",), "float32")
        with pytest.raises(InferenceError, match="blob 'label', is of the wrong type") as caught:
            net.LabelCrossEntropy(["p", "label"], "loss")
        assert caught.value.details["got"] == TensorType(DType.FLOAT, ("N",))

    def test_input_that_the_net_computes(self) -> None:
        net = nd.Net("n")
        net.Relu("x", "y")
        with pytest.raises(NetError, match="computes blob 'y'"):
            net.input("y")

    def test_output_that_is_not_there(self) -> None:
        with pytest.raises(NetError, match="no blob 'y'"):
            nd.Net("n").output("y")

    def test_a_blob_that_is_no_name(self) -> None:
        with pytest.raises(SchemaError, match="named by a Blob or a text"):
            nd.Net("n").Relu([3], "y")

    def test_a_net_without_name(self) -> None:
        with pytest.raises(NetError, match="needs a name"):
            nd.Net("")


def two_layers() -> nd.Net:
    net = nd.Net("n")
    net.input("x", ("N", 4))
    net.FC(["x", "w1", "b1"], "h")
    net.Relu("h", "h")
    net.FC(["h", "w2", "b2"], "y")
    net.output("y")
    return net


def test_a_definition_is_immutable_and_made_once() -> None:
    net = two_layers()
    before = net.definition
    assert net.definition is before
    net.Relu("y", "z")
    assert len(before.ops) == 3
    assert len(net.definition.ops) == 4


def test_text_round_trip() -> None:
    net = two_layers()
    assert nd.parse(net.dump()) == net.definition
    assert nd.from_json(nd.to_json(net.definition)) == net.definition


def test_the_author_line_is_kept() -> None:
    where = two_layers().definition.ops[0].where
    assert where is not None
    assert where.file.endswith("test_net.py")


def test_clone_is_independent_and_renames() -> None:
    net = two_layers()
    copy = net.clone("copy", {"x": "data"})
    copy.Relu("y", "z")
    assert len(net.definition.ops) == 3
    assert copy.definition.ops[0].inputs == ("data", "w1", "b1")
    assert copy.definition.inputs[0] == "data"
    assert copy.definition.types["data"] == TensorType(DType.FLOAT, ("N", 4))
    with pytest.raises(BlobError, match="no blob 'xx' to rename"):
        net.clone("c", {"xx": "y"})


def test_append_another_net() -> None:
    net, other = two_layers(), nd.Net("other")
    other.Softmax("y", "p")
    other.output("p")
    net.append(other)
    assert net.definition.ops[-1].type == "Softmax"
    assert net.definition.outputs == ("y", "p")
    assert "y" not in net.definition.inputs


def test_extract_the_part_that_computes_given_outputs() -> None:
    part = two_layers().extract("h")
    assert [op.type for op in part.definition.ops] == ["FC", "Relu"]
    assert part.definition.inputs == ("x", "w1", "b1")
    assert part.definition.outputs == ("h",)
    with pytest.raises(BlobError, match="does not compute blob 'hh'") as caught:
        two_layers().extract("hh")
    assert caught.value.details["did you mean"] == "h"


def test_nested_nets_are_arguments() -> None:
    then = nd.Net("then")
    then.Relu("x", "y")
    net = nd.Net("n")
    net.If(["c", "x"], ["y"], then_net=then)
    assert net.definition.ops[0].args["then_net"] == then.definition
    assert nd.parse(net.dump()) == net.definition


def test_notebook_display_is_the_escaped_text() -> None:
    net = nd.Net("n")
    net.Relu("a<b", "y")
    assert "&quot;a&lt;b&quot;" in net._repr_html_()


def test_the_dump_does_not_depend_on_the_order_of_arguments() -> None:
    """C21: arguments are sorted."""
    one, two = nd.Net("n"), nd.Net("n")
    one.Conv(["x", "w"], "y", kernel=3, pad=1, stride=2)
    two.Conv(["x", "w"], "y", stride=2, pad=1, kernel=3)
    assert one.dump() == two.dump()
    assert one.definition == two.definition


def test_a_definition_tells_the_metadata_and_name_of_now() -> None:
    net = nd.Net("n")
    net.Relu("x", "y")
    assert net.definition is net.definition
    net.metadata["note"] = "later"
    net.name = "other"
    assert (net.definition.name, net.definition.metadata) == ("other", {"note": "later"})


def test_a_blob_needs_a_name() -> None:
    with pytest.raises(SchemaError, match="a blob is named by a Blob or a text"):
        nd.Net("n").Relu("", "y")


def test_records_that_do_not_fit_leave_the_net_as_it_was() -> None:
    net = nd.Net("n")
    net.input("x", (3,), "float32")
    before = net.definition
    other = nd.Net("other")
    other.Relu("z", "y")
    other.And(["x", "y"], "w")
    with pytest.raises(InferenceError, match="And"):
        net.append(other)
    assert net.definition == before
    assert not net.computes("y")


def test_a_second_call_does_not_overwrite_the_gradients_of_the_first() -> None:
    def losses() -> nd.Net:
        net = nd.Net("n")
        net.Mul(["x", "w"], "y")
        net.Mul(["y", "v"], "z")
        net.SumElements("y", "l1")
        net.SumElements("z", "l2")
        return net

    net = losses()
    net.add_gradients("l1")
    before = net.definition
    with pytest.raises(GradientError, match="would overwrite 'y_grad', the gradient of 'y' so far"):
        net.add_gradients("l2")
    assert net.definition == before
    apart = losses()
    assert list(apart.add_gradients("l1", wrt="w")) == ["l1", "y", "w"]
    assert "v" in apart.add_gradients("l2", wrt="v")


@pytest.mark.parametrize("shape", [(-1,), (1.5,), "abc", 3, ("",), (b"N",)])
def test_shapes_of_inputs_are_checked(shape: Any) -> None:
    with pytest.raises(SchemaError, match="this is no shape"):
        nd.Net("n").input("x", shape)


def test_extents_may_be_integers_of_any_kind() -> None:
    net = nd.Net("n")
    x = net.input("x", (np.int64(3), "N", None))
    assert x.type == TensorType(DType.FLOAT, (3, "N", None))
    assert type(net.definition.types["x"].shape[0]) is int  # type: ignore[union-attr, index]


@pytest.mark.parametrize("blobs", [None, 3])
def test_what_is_no_list_of_blobs(blobs: Any) -> None:
    with pytest.raises(SchemaError, match="blobs are given as a Blob, a text or a list"):
        nd.Net("n").Relu(blobs, "y")


@pytest.mark.parametrize("dtype", [np.float16, np.dtype("f2"), DType.FLOAT16, "float16", 12])
def test_dtype_arguments_may_be_given_in_many_ways(dtype: Any) -> None:
    net = nd.Net("n")
    assert net.ConstantFill([], "y", shape=[1], dtype=dtype).type == TensorType(DType.FLOAT16, (1,))


def test_a_class_is_no_argument() -> None:
    with pytest.raises(SchemaError, match="an argument cannot hold a class"):
        nd.Net("n").ConstantFill([], "y", shape=[1], value=np.float32)


def test_a_fill_has_no_negative_extent() -> None:
    with pytest.raises(InferenceError, match="an extent is never negative"):
        nd.Net("n").UniformFill([], "y", shape=[2, -1])


def test_an_input_is_not_declared_in_two_ways() -> None:
    net = nd.Net("n")
    net.input("x", ("N", 4))
    net.input("x", (None, 4))
    for shape, dtype in (((None, 5), "float32"), (("N", 4), "float16"), ((4,), "float32")):
        with pytest.raises(NetError, match="input 'x' of net 'n' is declared otherwise already"):
            net.input("x", shape, dtype)
    other = nd.Net("other")
    other.Relu(other.input("x", ("N", 5)), "y")
    with pytest.raises(NetError, match="declared otherwise"):
        net.append(other)
    assert net.definition.ops == ()


def test_an_output_is_declared_once() -> None:
    net = nd.Net("n")
    net.Relu("x", "y")
    net.output("y", "y")
    net.output("y")
    assert net.definition.outputs == ("y",)


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_net_needs_a_name(name: Any) -> None:
    with pytest.raises(NetError, match="a net needs a name"):
        nd.Net(name)


def test_misspelt_outputs_and_dtypes_come_with_the_near_names() -> None:
    net = nd.Net("n")
    net.Relu("x", "loss")
    with pytest.raises(NetError, match=r"no blob 'losss' to declare as output\n.*\n +did you mean : loss"):
        net.output("losss")
    with pytest.raises(SchemaError, match=r"'flaot32' is no dtype\n.*\n +did you mean : float32"):
        net.input("y", (3,), "flaot32")
