"""Model: parameters, sharing, freezing, gradients, inference, tables."""

from __future__ import annotations

import re

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.dsl import Blob, SparseGradient, Tag
from netdsl.errors import BlobError, NetError, SchemaError
from netdsl.initializers import ExternalInitializer, Initializer, PseudoFP16Initializer
from netdsl.ir import DType, TensorType


def types(net: nd.Net) -> list[str]:
    return [op.type for op in net.definition.ops]


def two_layers() -> tuple[nd.Model, Blob]:
    model = nd.Model("m")
    x = model.input("x", ("N", 4))
    label = model.input("label", ("N",), "int32")
    h = layers.relu(model, layers.fc(model, x, "fc1", 4, 3), "h")
    scores = layers.fc(model, h, "fc2", 3, 2)
    return model, layers.softmax_with_loss(model, scores, label)


def fed(seed: int = 0) -> nd.Workspace:
    workspace = nd.Workspace(seed=seed)
    workspace.feed("x", np.random.default_rng(seed).normal(size=(5, 4)).astype(np.float32))
    workspace.feed("label", np.array([0, 1, 0, 1, 1], np.int32))
    return workspace


class TestParameters:
    """Creating parameters, and finding them."""

    def test_the_emission_of_fc_and_spatial_bn_is_caffe2s(self) -> None:
        """As measured on ModelHelper, without the arguments that its default scope adds."""
        model = nd.Model("mh")
        layers.spatial_bn(model, layers.fc(model, model.input("x", ("N", 3)), "f", 3, 2), "bn", 2)
        assert [p.name for p in model.params()] == ["f_w", "f_b", "bn_s", "bn_b"]
        assert [p.name for p in model.params(Tag.COMPUTED)] == ["bn_rm", "bn_riv"]
        assert [p.name for p in model.params("weight")] == ["f_w", "bn_s"]
        assert [p.name for p in model.params("bias")] == ["f_b", "bn_b"]
        assert model.init_net.dump() == (
            'net "mh_init"\nf_w = XavierFill() {shape = [2, 3]}\nf_b = ConstantFill() {shape = [2]}\n'
            "bn_s = ConstantFill() {shape = [2], value = 1.0}\nbn_b = ConstantFill() {shape = [2], value = 0.0}\n"
            "bn_rm = ConstantFill() {shape = [2], value = 0.0}\nbn_riv = ConstantFill() {shape = [2], value = 1.0}\n"
        )
        assert [str(op) for op in model.net.definition.ops] == [
            "f = FC(x, f_w, f_b)",
            "bn, bn_rm, bn_riv, bn_sm, bn_siv = SpatialBN(f, bn_s, bn_b, bn_rm, bn_riv)",
        ]

    def test_name_scopes_name_blobs_and_parameters(self) -> None:
        model = nd.Model("m")
        x = model.input("x", ("N", 4))
        with nd.name_scope("block"), nd.name_scope("one"):
            y = layers.fc(model, x, "fc", 4, 3)
        assert y.name == "block/one/fc"
        assert list(model.parameters) == ["block/one/fc_w", "block/one/fc_b"]
        assert y.type == TensorType(DType.FLOAT, ("N", 3))

    def test_a_parameter_belongs_to_the_net_and_has_its_type_there(self) -> None:
        model = nd.Model("m")
        w = model.parameter("w", [2, 3], "XavierFill", kind="mine")
        assert (w.blob.net, w.kind) == (model.net, "mine")
        assert w.blob.type == TensorType(DType.FLOAT, (2, 3))
        assert model.init_net.blob("w").type == w.blob.type

    def test_initializers_in_every_form(self) -> None:
        model = nd.Model("m")
        model.initializer_class = PseudoFP16Initializer
        model.parameter("a", [2], "ConstantFill")
        model.parameter("b", [2], ("ConstantFill", {"value": 2.0}))
        model.parameter("c", [2], Initializer("ConstantFill", value=3.0))
        assert {p.name: [c.name for c in p.blobs] for p in model.params()} == {
            "a": ["a", "a_fp32"], "b": ["b", "b_fp32"], "c": ["c"],
        }  # fmt: skip
        half, single = model.parameters["a"].blob.type, model.parameters["a"].blob_copy[DType.FLOAT].type
        assert (half, single) == (TensorType(DType.FLOAT16, (2,)), TensorType(DType.FLOAT, (2,)))

    def test_names_are_used_once(self) -> None:
        model = nd.Model("m")
        model.parameter("w", [2])
        with pytest.raises(NetError, match="parameter 'w' exists already") as caught:
            model.parameter("w", [2])
        assert "model.sharing" in str(caught.value.details["fix"])
        model.net.Relu("w", "y")
        with pytest.raises(NetError, match="'y' would overwrite a blob"):
            model.parameter("y", [2])
        model.init_net.ConstantFill([], "z", shape=[1])
        with pytest.raises(NetError, match="'z' would overwrite a blob"):
            model.parameter("z", [2])

    def test_an_external_parameter_is_checked_by_the_init_net(self) -> None:
        model = nd.Model("m")
        layers.fc(model, model.input("x", ("N", 4)), "fc", 4, 3, weight_init=ExternalInitializer())
        workspace = fed()
        with pytest.raises(BlobError, match="blob 'fc_w' does not exist"):
            workspace.run(model.init_net)
        assert "fc_b" not in workspace
        workspace.feed("fc_w", np.zeros((4, 3), np.float32))
        with pytest.raises(ValueError, match="fc_w"):
            workspace.run(model.init_net)
        workspace.feed("fc_w", np.ones((3, 4), np.float32))
        workspace.run(model.init_net)
        workspace.run(model.net)
        np.testing.assert_allclose(workspace.fetch("fc")[:, 0], workspace.fetch("x").sum(1), rtol=1e-5)


class TestGradients:
    """Recording gradients, and freezing."""

    def test_every_parameter_knows_its_gradient(self) -> None:
        model, loss = two_layers()
        grads = model.add_gradients(loss)
        assert model.gradients is grads
        assert {p.name: str(p.grad) for p in model.params()} == {n: f"{n}_grad" for n in model.parameters}

    def test_a_frozen_layer_has_no_update_and_no_gradient_work(self) -> None:
        model, loss = two_layers()
        assert [p.name for p in model.freeze("fc1_*")] == ["fc1_w", "fc1_b"]
        model.add_gradients(loss)
        optimizers.SGD(base_learning_rate=0.1).build(model)
        written = {name for op in model.net.definition.ops for name in op.outputs}
        assert "fc2_w_grad" in written
        assert not [name for name in written if re.match("(fc1|h|x)(_[wb])?_grad|fc1_[wb]", name)]
        workspace = fed()
        workspace.run(model.init_net)
        before = {name: workspace.fetch(name) for name in model.parameters}
        workspace.run(model.net, times=3)
        changed = {name for name in before if not np.array_equal(before[name], workspace.fetch(name))}
        assert changed == {"fc2_w", "fc2_b"}

    def test_freezing_one_parameter_by_record(self) -> None:
        model, loss = two_layers()
        model.freeze(model.parameters["fc2_b"])
        model.add_gradients(loss)
        assert model.parameters["fc2_b"].grad is None
        assert model.parameters["fc1_w"].grad == Blob("fc1_w_grad")

    def test_freezing_what_is_not_there_or_too_late(self) -> None:
        model, loss = two_layers()
        with pytest.raises(NetError, match="no parameter matches 'fc1_v'") as caught:
            model.freeze("fc1_v")
        assert "fc1_w" in str(caught.value.details["did you mean"])
        model.add_gradients(loss)
        with pytest.raises(NetError, match="frozen before the gradients"):
            model.freeze("fc1_w")

    def test_wrt_is_passed_on(self) -> None:
        model, loss = two_layers()
        grads = model.add_gradients(loss, wrt=["fc2_w"])
        assert model.parameters["fc2_w"].grad == Blob("fc2_w_grad")
        assert model.parameters["fc1_w"].grad is None
        assert "x" not in grads

    def test_the_data_has_no_gradient_and_the_rest_is_what_a_net_appends(self) -> None:
        model, loss = two_layers()
        net = model.net.clone("all")
        grads = model.add_gradients(loss)
        backward, full = ([str(op) for op in n.definition.ops if op.is_gradient] for n in (model.net, net))
        assert full == []
        assert "x" in net.add_gradients(str(loss))
        full = [str(op) for op in net.definition.ops if op.is_gradient]
        assert full[-1].startswith("fc1_w_grad, fc1_b_grad, x_grad = FCGradient(")
        assert backward == [*full[:-1], full[-1].replace(", x_grad", "")]
        assert "x" not in grads
        assert {"fc1_w", "fc1", "h", "fc2", "loss"} - {*grads} == set()

    def test_wrt_asks_for_the_data_and_for_parameters(self) -> None:
        model, loss = two_layers()
        model.freeze("fc2_b")
        grads = model.add_gradients(loss, wrt=[*model.params(), "x"])
        assert grads["x"] == Blob("x_grad")
        assert {p.name: str(p.grad) for p in model.params()} == {
            **{n: f"{n}_grad" for n in ("fc1_w", "fc1_b", "fc2_w")},
            "fc2_b": "None",
        }

    def test_wrt_takes_one_blob_or_parameter(self) -> None:
        for one in ("fc1_w", Blob("fc1_w"), 0):
            model, loss = two_layers()
            grads = model.add_gradients(loss, wrt=one if one else model.parameters["fc1_w"])
            assert model.parameters["fc1_w"].grad == Blob("fc1_w_grad")
            assert "fc2_w" not in grads

    def test_a_parameter_stands_for_the_copy_that_the_net_reads(self) -> None:
        model = nd.Model("m")
        model.initializer_class = PseudoFP16Initializer
        x = model.net.FloatToHalf(model.input("x", ("N", 4)), "half")
        y = layers.fc(model, x, "fc", 4, 3)
        grads = model.add_gradients(
            model.net.SumElements(model.net.HalfToFloat(y, "single"), "loss"), wrt=model.params()
        )
        assert model.parameters["fc_w"].grad == Blob("fc_w_grad")
        assert not {"x", "half"} & {*grads}

    def test_a_model_without_parameters_gets_all_gradients(self) -> None:
        model = nd.Model("m")
        x, c = model.input("x", ("N", 4)), model.parameter("c", (4,), "ConstantFill", tag="computed")
        grads = model.add_gradients(model.net.SumElements(model.net.Mul([x, c.blob], "y"), "loss"))
        assert {"x", "c"} <= {*grads}
        assert c.grad is None

    def test_what_stands_before_the_parameters_need_not_have_a_gradient(self) -> None:
        model = nd.Model("m")
        places = model.net.ArgMax(model.input("x", ("N", 4)), "places", axis=1, keepdims=1)
        y = layers.fc(model, model.net.Cast(places, "scores", to="float32"), "fc", 1, 2)
        model.add_gradients(model.net.SumElements(y, "loss"))
        assert model.parameters["fc_w"].grad == Blob("fc_w_grad")

    def test_stop_gradient_leaves_what_is_behind_it_alone(self) -> None:
        """C08: only the parameters after StopGradient are updated."""
        model = nd.Model("m")
        h = layers.fc(model, model.input("x", ("N", 4)), "h", 4, 3)
        y = layers.fc(model, model.net.StopGradient(h, "h2"), "y", 3, 2)
        grads = model.add_gradients(model.net.AveragedLoss(y, "loss"))
        assert set(grads) == {"y_b", "loss", "y_w", "y"}
        optimizers.SGD().build(model)
        assert [op.outputs[0] for op in model.net.definition.ops if op.type == "WeightedSum"] == ["y_w", "y_b"]


class TestSharing:
    """Parameters shared across scopes."""

    def siamese(self, first: str = "a", second: str = "b") -> nd.Model:
        model = nd.Model("m")
        x, y = model.input("x", ("N", 4)), model.input("y", ("N", 4))
        with model.sharing({"b": "a"}):
            with nd.name_scope(first):
                one = layers.fc(model, x, "fc", 4, 3)
            with nd.name_scope(second):
                other = layers.fc(model, y, "fc", 4, 3)
        loss = model.net.SumElements(model.net.Mul([one, other], "product"), "loss")
        model.add_gradients(loss)
        return model

    @pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
    def test_one_parameter_one_summed_gradient_one_update(self, order: tuple[str, str]) -> None:
        model = self.siamese(*order)
        optimizers.SGD(base_learning_rate=0.5).build(model)
        assert list(model.parameters) == ["a/fc_w", "a/fc_b"]
        assert {"a/fc", "b/fc"} <= set(model.net.definition.blobs())
        assert types(model.net).count("WeightedSum") == 2
        workspace = fed()
        workspace.feed("y", 2 * workspace.fetch("x"))
        workspace.run(model.init_net)
        w = workspace.fetch("a/fc_w")
        workspace.run(model.net)
        x = workspace.fetch("x").astype(np.float64)
        expected = (2 * x @ w.T).T @ x + (x @ w.T).T @ (2 * x)
        np.testing.assert_allclose(w - workspace.fetch("a/fc_w"), 0.5 * expected, rtol=1e-4, atol=1e-5)

    def test_inner_scopes_go_along_and_inner_blocks_win(self) -> None:
        model = nd.Model("m")
        with model.sharing({"b": "a"}):
            with nd.name_scope("b"), nd.name_scope("deep"):
                model.parameter("w", [2])
            with model.sharing({"b": "c"}), nd.name_scope("b"):
                model.parameter("v", [2])
        assert list(model.parameters) == ["a/deep/w", "c/v"]

    def test_the_outermost_scope(self) -> None:
        model = nd.Model("m")
        with model.sharing({"again": ""}):
            first = model.parameter("w", [2])
            with nd.name_scope("again"):
                assert model.parameter("w", [2]) is first

    def test_only_what_is_shared_may_be_made_twice(self) -> None:
        model = nd.Model("m")
        with model.sharing({"b": "a"}):
            for scope in ("a", "c"):
                with nd.name_scope(scope):
                    model.parameter("w", [2])
                    with pytest.raises(NetError, match="exists already"):
                        model.parameter("w", [2])

    def test_outside_of_the_block_nothing_is_shared(self) -> None:
        model = nd.Model("m")
        with model.sharing({"b": "a"}), nd.name_scope("b"):
            model.parameter("w", [2])
        with nd.name_scope("a"), pytest.raises(NetError, match="exists already"):
            model.parameter("w", [2])

    def test_another_shape(self) -> None:
        model = nd.Model("m")
        with model.sharing({"b": "a"}):
            with nd.name_scope("a"):
                model.parameter("w", [2])
            with nd.name_scope("b"), pytest.raises(NetError, match="'a/w' has another shape") as caught:
                model.parameter("w", [3])
        assert caught.value.details == {"expected": (2,), "got": (3,)}

    def test_scopes_that_make_no_sense(self) -> None:
        model = nd.Model("m")
        with pytest.raises(SchemaError, match="at least one pair"), model.sharing({}):
            pass
        with pytest.raises(SchemaError, match="scope 'a' cannot share with itself"), model.sharing({"a": "a"}):
            pass


class TestInference:
    """``for_inference``."""

    def test_only_what_computes_the_output_is_left(self) -> None:
        """C26."""
        model = nd.Model("m")
        y = layers.fc(model, model.input("x", ("N", 4)), "y", 4, 3)
        model.add_gradients(model.net.SumElements(y, "loss"))
        optimizers.SGD(base_learning_rate=0.1).build(model)
        made = model.for_inference(y)
        assert types(made.net) == ["FC"]
        assert list(made.parameters) == ["y_w", "y_b"]
        assert made.net.definition.inputs == ("x", "y_w", "y_b")
        assert types(made.init_net) == ["XavierFill", "ConstantFill"]
        workspace = fed()
        workspace.run(made.init_net)
        w = workspace.fetch("y_w").tobytes()
        workspace.run(made.net, times=3)
        assert workspace.fetch("y_w").tobytes() == w

    def test_labels_are_no_longer_required(self) -> None:
        model, loss = two_layers()
        model.add_gradients(loss)
        for wanted, last in (("fc2", "FC"), ("softmax", "Softmax")):
            made = model.for_inference(wanted)
            assert types(made.net) == ["FC", "Relu", "FC", last][: 3 + (last == "Softmax")]
            assert "label" not in made.net.definition.blobs()

    def test_layers_that_behave_otherwise_in_training(self) -> None:
        model = nd.Model("m")
        x = model.input("x", ("N", 4))
        h = layers.spatial_bn(model, layers.fc(model, x, "fc", 4, 3), "bn", 3)
        y = layers.dropout(model, h, "drop")
        loss = model.net.SumElements(y, "loss")
        model.add_gradients(loss)
        optimizers.SGD(base_learning_rate=0.1).build(model)
        made = model.for_inference([y])
        bn, drop = made.net.definition.ops[1:]
        assert (bn.outputs, drop.outputs) == (("bn",), ("drop",))
        assert bn.args["is_test"] == drop.args["is_test"] == 1
        assert [p.name for p in made.params(Tag.COMPUTED)] == ["bn_rm", "bn_riv"]
        workspace = fed()
        workspace.run(model.init_net)
        workspace.run(model.net, times=2)
        before = {name: workspace.fetch(name).tobytes() for name in made.parameters}
        workspace.run(made.net)
        first = workspace.fetch("drop")
        workspace.run(made.net, times=2)
        np.testing.assert_array_equal(workspace.fetch("drop"), first)
        assert {name: workspace.fetch(name).tobytes() for name in made.parameters} == before
        with pytest.raises(NetError, match="'_drop_mask' exists in training only"):
            model.for_inference("_drop_mask")

    def test_half_parameters_keep_what_makes_them(self) -> None:
        model = nd.Model("m")
        model.initializer_class = PseudoFP16Initializer
        x = model.net.FloatToHalf(model.input("x", ("N", 4)), "half")
        y = layers.fc(model, x, "fc", 4, 3)
        model.add_gradients(model.net.SumElements(model.net.HalfToFloat(y, "single"), "loss"))
        optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9).build(model)
        made = model.for_inference(y)
        assert types(made.init_net) == ["XavierFill", "FloatToHalf", "ConstantFill", "FloatToHalf"]
        w = made.parameters["fc_w"]
        assert w.blob_copy == {DType.FLOAT: Blob("fc_w_fp32")}
        assert (w.grad, w.settings, w.blob.net) == (None, {}, made.net)
        assert model.parameters["fc_w"].grad == Blob("fc_w_grad")

    def test_external_parameters_are_still_checked(self) -> None:
        model = nd.Model("m")
        y = layers.fc(model, model.input("x", ("N", 4)), "y", 4, 3, weight_init=ExternalInitializer())
        layers.fc(model, y, "z", 3, 2, weight_init=ExternalInitializer())
        made = model.for_inference(y)
        assert made.init_net.definition.inputs == ("y_w",)
        assert [str(op) for op in made.init_net.definition.ops] == ["y_b = ConstantFill()", "CheckTensor(y_w)"]
        assert nd.parse(made.init_net.dump()) == made.init_net.definition

    def test_outputs_are_named_in_the_scope(self) -> None:
        model = nd.Model("m")
        with nd.name_scope("s"):
            y = layers.fc(model, model.input("x", ("N", 4)), "y", 4, 3)
            assert model.for_inference("y").net.definition.outputs == ("s/y",)
        assert model.for_inference(y).net.definition.outputs == ("s/y",)

    def test_an_output_that_is_not_there(self) -> None:
        model, _ = two_layers()
        with pytest.raises(BlobError, match="does not compute blob 'fc3'") as caught:
            model.for_inference("fc3")
        assert "fc2" in str(caught.value.details["did you mean"])


class TestTables:
    """``describe``, ``save_tables`` and the notebook display."""

    def model(self) -> nd.Model:
        model = nd.Model("m")
        model.initializer_class = PseudoFP16Initializer
        x = model.net.FloatToHalf(model.input("x", ("N", 4)), "half")
        y = model.net.HalfToFloat(layers.fc(model, x, "fc", 4, 3), "single")
        model.freeze("fc_b")
        model.add_gradients(model.net.SumElements(y, "loss"))
        optimizers.MultiPrecisionSGD(base_learning_rate=0.5).build(model)
        return model

    def test_describe(self) -> None:
        w, b = self.model().describe()
        assert w == {
            "name": "fc_w", "shape": [3, 4], "dtype": "float16", "tag": "weight", "kind": "fc",
            "copies": {"float32": "fc_w_fp32"}, "gradient": "fc_w_grad", "frozen": False,
            "optimizer": "MultiPrecisionSGD", "lr": 0.5,
        }  # fmt: skip
        assert (b["gradient"], b["frozen"], b["tag"]) == (None, True, "bias")

    def test_a_sparse_gradient(self) -> None:
        model = nd.Model("m")
        rows = layers.embedding(model, model.input("ids", ("N",), "int32"), "table", 9, 2)
        model.add_gradients(model.net.SumElements(rows, "loss"))
        assert model.parameters["table_w"].grad == SparseGradient(Blob("ids"), Blob("table_grad"))
        assert model.describe()[0]["gradient"] == "rows ids of table_grad"

    def test_saved_tables_are_in_the_definition_and_in_json(self) -> None:
        model = self.model()
        before = model.net.definition
        model.save_tables()
        assert model.net.definition.metadata["parameters"] == model.describe()
        assert nd.from_json(nd.to_json(model.net.definition)).metadata["parameters"] == model.describe()
        assert model.net.definition == before

    def test_displays(self) -> None:
        model = self.model()
        told = dict(model.net.metadata)
        picture = model._repr_html_()
        assert picture.lstrip().startswith("<svg")
        assert "FC" in picture
        assert model.net.metadata == told
        assert model.net._repr_html_().startswith("<pre>net &quot;m&quot;")
        assert "fc_w_grad" in model.gradients._repr_html_()
        assert repr(model) == f"<Model 'm': 2 parameters, {len(model.net.definition.ops)} operators>"


@pytest.mark.parametrize("frozen", [("norm_bias",), ("norm_scale", "norm_bias")])
def test_freezing_a_norm_above_a_trained_layer(frozen: tuple[str, ...]) -> None:
    """LayerNorm's gradient makes all three or none, so the ones nobody needs stay."""
    model = nd.Model("m")
    x = layers.fc(model, model.input("x", (4, 3)), "fc", 3, 5)
    loss = model.net.AveragedLoss(layers.layer_norm(model, x, "norm", 5), "loss")
    model.freeze(*frozen)
    model.add_gradients(loss)
    (gradient,) = [op for op in model.net.definition.ops if op.type == "LayerNormGradient"]
    assert len(gradient.outputs) == 3
    assert "fc_w" in model.gradients
    assert all(name not in model.gradients for name in frozen)


def test_a_tag_may_be_a_text() -> None:
    model = nd.Model("m")
    assert model.parameter("w", [2], "ConstantFill", tag="bias").tag is nd.Tag.BIAS
    with pytest.raises(nd.errors.SchemaError, match="tag is unknown"):
        model.parameter("v", [2], "ConstantFill", tag="wieght")
