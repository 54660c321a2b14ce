"""Every layer trains, in single and in half precision; argument scopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.dsl import Blob, SparseGradient
from netdsl.errors import SchemaError
from netdsl.initializers import Initializer, PseudoFP16Initializer
from netdsl.ir import DType

Layer = Callable[[nd.Model, Blob], Blob]

LAYERS: dict[str, Layer] = {
    "fc": lambda m, x: layers.fc(m, x, "y", 4 * 6 * 6, 5),
    "conv": lambda m, x: layers.conv(m, x, "y", 4, 6, 3, pad=1, stride=2),
    "conv, grouped and without bias": lambda m, x: layers.conv(m, x, "y", 4, 6, [3, 1], group=2, no_bias=True),
    "conv, channels last": lambda m, x: layers.conv(
        m, m.net.Transpose(x, "last", axes=[0, 2, 3, 1]), "y", 4, 6, 3, order="NHWC"
    ),
    "spatial_bn": lambda m, x: layers.spatial_bn(m, x, "y", 4, epsilon=1e-3, momentum=0.5),
    "layer_norm": lambda m, x: layers.layer_norm(m, x, "y", [4, 6, 6]),
    "layer_norm, last axis": lambda m, x: layers.layer_norm(m, x, "y", 6, axis=3, epsilon=1e-3),
    "lrn": lambda m, x: layers.lrn(m, x, "y", size=3, alpha=0.1, beta=0.75, bias=2.0),
    "dropout": lambda m, x: layers.dropout(m, x, "y", ratio=0.3),
    "dropout, in place": lambda m, x: layers.dropout(m, x, x),
    "relu": lambda m, x: layers.relu(m, x, "y"),
    "relu, in place": lambda m, x: layers.relu(m, x, x),
    "leaky_relu": lambda m, x: layers.leaky_relu(m, x, "y", alpha=0.2),
    "sigmoid": lambda m, x: layers.sigmoid(m, x, "y"),
    "tanh": lambda m, x: layers.tanh(m, x, "y"),
    "gelu": lambda m, x: layers.gelu(m, x, "y"),
    "softmax": lambda m, x: layers.softmax(m, m.net.Flatten(x, "flat"), "y"),
    "max_pool": lambda m, x: layers.max_pool(m, x, "y", kernel=2, stride=2),
    "average_pool": lambda m, x: layers.average_pool(m, x, "y", kernel=3, pad=1),
    "concat": lambda m, x: layers.concat(m, [x, x], "y", axis=1),
    "concat, along a new axis": lambda m, x: layers.concat(m, [x, m.net.Tanh(x, "t")], "y", axis=0, add_axis=True),
}
"""Each layer applied to [N, 4, 6, 6]."""

ELSEWHERE = {"accuracy", "arg_scope", "embedding", "layer", "multi_head_attention", "softmax_with_loss"}


def test_every_layer_is_tried() -> None:
    assert set(layers.__all__) == {name.partition(",")[0] for name in LAYERS} | ELSEWHERE & set(layers.__all__)


@pytest.mark.parametrize("half", [False, True], ids=["single", "half"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_small_net_with_the_layer_trains(name: str, half: bool) -> None:
    model = nd.Model("m")
    model.initializer_class = PseudoFP16Initializer if half else None
    x = model.input("x", ("N", 1, 6, 6))
    if half:
        x = model.net.FloatToHalf(x, "x_half")
    y = LAYERS[name](model, layers.conv(model, x, "stem", 1, 4, 3, pad=1))
    if half:
        assert y.type.dtype is DType.FLOAT16
        y = model.net.HalfToFloat(y, "single")
    loss = model.net.AveragedLoss(model.net.Sqr(y, "squares"), "loss")
    model.add_gradients(loss)
    assert all(p.grad is not None for p in model.params())
    chosen = optimizers.MultiPrecisionSGD if half else optimizers.SGD
    chosen(base_learning_rate=0.05, momentum=0.9).build(model)
    workspace = nd.Workspace(seed=2)
    workspace.feed("x", np.random.default_rng(0).normal(size=(4, 1, 6, 6)).astype(np.float32))
    workspace.run(model.init_net)
    before = {p.name: workspace.fetch(p.name) for p in model.params()}
    workspace.run(model.net, times=2)
    assert np.isfinite(workspace.fetch("loss"))
    for parameter, value in before.items():
        after = workspace.fetch(parameter)
        assert after.dtype == value.dtype
        assert np.isfinite(after).all()
    changed = [name for name, value in before.items() if not np.array_equal(value, workspace.fetch(name))]
    assert "stem_w" in changed
    assert nd.parse(model.net.dump()) == model.net.definition


def test_batch_normalisation_is_single_in_a_half_model_and_layer_normalisation_half() -> None:
    model = nd.Model("m")
    model.initializer_class = PseudoFP16Initializer
    x = model.net.FloatToHalf(model.input("x", ("N", 4, 6, 6)), "h")
    layers.layer_norm(model, layers.spatial_bn(model, x, "bn", 4, scale_init="ConstantFill"), "ln", [4, 6, 6])
    dtypes = {p.name: p.blob.type.dtype for p in model.parameters.values()}
    assert {dtypes[f"bn_{part}"] for part in ("s", "b", "rm", "riv")} == {DType.FLOAT}
    assert {dtypes["ln_scale"], dtypes["ln_bias"]} == {DType.FLOAT16}


def test_the_scale_of_a_batch_normalisation_may_begin_at_zero() -> None:
    model = nd.Model("m")
    layers.spatial_bn(model, model.input("x", ("N", 2)), "bn", 2, scale_init=("ConstantFill", {"value": 0.0}))
    assert model.init_net.definition.ops[0].args["value"] == 0.0


@pytest.mark.parametrize("optimizer", [optimizers.SGD, optimizers.Adagrad, optimizers.Adam])
def test_an_embedding_trains_its_rows_from_a_sparse_gradient(optimizer: Any) -> None:
    model = nd.Model("m")
    ids = model.input("ids", ("N", 2), "int32")
    rows = layers.embedding(model, ids, "table", 6, 3)
    label = model.input("label", ("N",), "int32")
    loss = layers.softmax_with_loss(model, layers.fc(model, rows, "fc", 6, 2), label)
    model.add_gradients(loss)
    assert isinstance(model.parameters["table_w"].grad, SparseGradient)
    optimizer(base_learning_rate=0.1).build(model)
    workspace = nd.Workspace(seed=2)
    workspace.feed("ids", np.array([[0, 1], [3, 3], [0, 5]], np.int32))
    workspace.feed("label", np.array([0, 1, 1], np.int32))
    workspace.run(model.init_net)
    before = workspace.fetch("table_w")
    assert before.shape == (6, 3)
    workspace.run(model.net)
    first = float(workspace.fetch("loss"))
    workspace.run(model.net, times=5)
    assert float(workspace.fetch("loss")) < first
    changed = (workspace.fetch("table_w") != before).any(1)
    assert changed.tolist() == [True, True, False, True, False, True]


def test_accuracy_takes_the_arguments_of_its_operator() -> None:
    model = nd.Model("m")
    model.input("p", ("N", 3))
    layers.accuracy(model, "p", model.input("label", ("N",), "int32"), "best")
    layers.accuracy(model, "p", "label", "best two", top_k=2)
    workspace = nd.Workspace()
    workspace.feed("p", np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], np.float32))
    workspace.feed("label", np.array([2, 1], np.int32))
    workspace.run(model.net)
    assert (float(workspace.fetch("best")), float(workspace.fetch("best two"))) == (0.5, 1.0)


def test_only_given_arguments_are_recorded() -> None:
    model = nd.Model("m")
    x = model.input("x", ("N", 4, 6, 6))
    for build in (layers.max_pool, layers.average_pool):
        build(model, x, build.__name__, kernel=2)
    layers.dropout(model, x, "d")
    layers.concat(model, [x, x], "c")
    layers.softmax(model, x, "s")
    args = {op.type: dict(op.args) for op in model.net.definition.ops}
    assert args == {
        "MaxPool": {"kernel": 2}, "AveragePool": {"kernel": 2}, "Dropout": {"is_test": 0}, "Concat": {}, "Softmax": {},
    }  # fmt: skip


def test_helper_blobs_stand_beside_the_output() -> None:
    model = nd.Model("m")
    x = model.input("x", ("N", 4, 6, 6))
    with nd.name_scope("s"):
        y = layers.dropout(model, x, "d")
        layers.lrn(model, y, "l", size=3, alpha=0.1, beta=0.5)
        layers.concat(model, [x, y], "c")
        layers.dropout(model, y, y)
    assert [op.outputs for op in model.net.definition.ops] == [
        ("s/d", "s/_d_mask"), ("s/l", "s/_l_scale"), ("s/c", "s/_c_concat_dims"), ("s/d", "s/_d_mask"),
    ]  # fmt: skip


def test_groups_that_do_not_divide_the_channels() -> None:
    model = nd.Model("m")
    with pytest.raises(SchemaError, match="group 3 must divide"):
        layers.conv(model, "x", "y", 4, 6, 3, group=3)
    assert not model.parameters


class TestArgScope:
    """Defaults of layer functions inside a block."""

    def kernels(self, model: nd.Model) -> list[dict[str, Any]]:
        return [dict(op.args) for op in model.net.definition.ops]

    def test_scopes_give_defaults_and_calls_win(self) -> None:
        model = nd.Model("m")
        with layers.arg_scope([layers.conv, layers.max_pool], pad=1, stride=2):
            layers.conv(model, "x", "a", 1, 1, 3)
            layers.conv(model, "x", "b", 1, 1, 3, pad=0)
            layers.max_pool(model, "x", "c", kernel=2, stride=1)
        layers.max_pool(model, "x", "d", kernel=2)
        assert self.kernels(model) == [
            {"kernel": 3, "pad": 1, "stride": 2}, {"kernel": 3, "pad": 0, "stride": 2},
            {"kernel": 2, "pad": 1, "stride": 1}, {"kernel": 2},
        ]  # fmt: skip

    def test_positional_arguments_win_too(self) -> None:
        model = nd.Model("m")
        with layers.arg_scope(layers.conv, kernel=5):
            layers.conv(model, "x", "a", 1, 1, 3)
            layers.conv(model, "x", "b", 1, 1)  # type: ignore[call-arg]
        assert [args["kernel"] for args in self.kernels(model)] == [3, 5]

    def test_scopes_nest_and_the_inner_one_wins(self) -> None:
        model = nd.Model("m")
        with layers.arg_scope(layers.max_pool, kernel=2, stride=2):
            with layers.arg_scope(layers.max_pool, stride=1):
                layers.max_pool(model, "x", "a")
            layers.max_pool(model, "x", "b")
        assert self.kernels(model) == [{"kernel": 2, "stride": 1}, {"kernel": 2, "stride": 2}]

    def test_initializers_by_scope(self) -> None:
        model = nd.Model("m")
        bias = ("ConstantFill", {"value": 1.0})
        with layers.arg_scope(layers.fc, weight_init=Initializer("MSRAFill"), bias_init=bias):
            layers.fc(model, "x", "fc", 4, 3)
        assert [op.type for op in model.init_net.definition.ops] == ["MSRAFill", "ConstantFill"]

    def test_layers_of_ones_own(self) -> None:
        @layers.layer
        def conv(model: nd.Model, x: str, name: str, *, depth: int = 1) -> int:
            return depth

        model = nd.Model("m")
        with layers.arg_scope(conv, depth=3):
            assert conv(model, "x", "y") == 3
            assert conv(model, "x", "y", depth=2) == 2
            layers.conv(model, "x", "a", 1, 1, 3)
        assert conv(model, "x", "y") == 1

    def test_arguments_that_no_layer_takes(self) -> None:
        with pytest.raises(SchemaError, match="layer relu takes no 'nam'") as caught, layers.arg_scope(
            [layers.conv, layers.relu], nam="y"
        ):  # fmt: skip
            pass
        assert caught.value.details["did you mean"] == "name"

    def test_something_that_is_no_layer(self) -> None:
        with pytest.raises(SchemaError, match="print heeds no argument scope"), layers.arg_scope(print, sep=""):
            pass


def test_layers_have_the_names_of_this_library() -> None:
    with pytest.raises(AttributeError, match=r"^there is no layer 'dense'; it is layers\.fc here$"):
        _ = layers.dense  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"^there is no layer 'capsule'$"):
        _ = layers.capsule  # type: ignore[attr-defined]


def test_what_layers_are_called_elsewhere_leads_to_layers() -> None:
    assert {*layers._ELSEWHERE.values()} <= {*layers.__all__}
    assert not {*layers._ELSEWHERE} & {*layers.__all__}
