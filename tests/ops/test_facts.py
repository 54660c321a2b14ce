"""What is easy to get wrong about operators, a fact a line; the facts were measured on Caffe2 unless said otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import GradientError, NetdslError, SchemaError
from netdsl.ir import NetDef, OperatorDef
from netdsl.testing import execute

NAN, INF = np.nan, np.inf
LEAST = float(np.finfo(np.float32).min)
ROWS = [[1.0, 2.0], [3.0, 4.0]]


def single(value: Any) -> np.ndarray:
    """Floats and lists of them in float32, arrays as they are."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 and not isinstance(value, np.ndarray) else array


def run(op: str, inputs: list[Any], outputs: int = 1, **args: Any) -> list[np.ndarray]:
    """The outputs of one operator, appended as an author does; those that were not written are left out."""
    net, feeds = nd.Net("n"), {f"x{i}": single(value) for i, value in enumerate(inputs)}
    names = [f"y{i}" for i in range(outputs)]
    net.add(op, list(feeds), names, args)
    blobs = execute(net.definition, feeds, "numpy")
    return [blobs[name] for name in names if name in blobs]


def gradients(op: str, inputs: list[Any], *, wrt: int = 0, given: Any = None, outputs: int = 1, **args: Any) -> Any:
    """The gradient of the sum of the first output (or of it times ``given``) for input ``wrt``."""
    net, feeds = nd.Net("n"), {f"x{i}": single(value) for i, value in enumerate(inputs)}
    net.add(op, list(feeds), [f"y{i}" for i in range(outputs)], args)
    if given is None:
        loss = net.SumElements("y0", "loss")
    else:
        feeds["given"] = single(given)
        loss = net.SumElements(net.Mul(["y0", "given"], "weighted"), "loss")
    made = net.add_gradients(loss)
    return execute(net.definition, feeds, "numpy")[str(made[f"x{wrt}"])]


I64, I32 = np.int64, np.int32
VALUES: dict[str, tuple[str, list[Any], dict[str, Any], Any]] = {
    "broadcast=1 aligns B with A's last axes": ("Add", [ROWS, [10.0, 20.0]], {"broadcast": 1}, [[11, 22], [13, 24]]),
    "or with those from `axis` on": ("Add", [ROWS, [10.0, 20.0]], {"broadcast": 1, "axis": 0}, [[11, 12], [23, 24]]),
    "without it `axis` is ignored": ("Add", [ROWS, [10.0, 20.0]], {"axis": 0}, [[11, 22], [13, 24]]),
    "without it either side is stretched": ("Add", [[10.0, 20.0], ROWS], {}, [[11, 22], [13, 24]]),
    "integers are divided towards zero": ("Div", [np.array([-7, 7]), np.array([2, -2])], {}, [-3, -3]),
    "end -1 of a slice is the full extent": ("Slice", [[1.0, 2, 3]], {"starts": [1], "ends": [-1]}, [2, 3]),
    "-2 leaves the last element out": ("Slice", [[1.0, 2, 3]], {"starts": [0], "ends": [-2]}, [1, 2]),
    "ends of slices are clamped": ("Slice", [[1.0, 2, 3]], {"starts": [1], "ends": [9]}, [2, 3]),
    "a start past the extent gives nothing": ("Slice", [[1.0, 2, 3]], {"starts": [5], "ends": [9]}, np.zeros(0)),
    "reductions keep dims": ("ReduceSum", [ROWS], {"axes": [1]}, [[3], [7]]),
    "unless told": ("ReduceSum", [ROWS], {"axes": [1], "keepdims": 0}, [3, 7]),
    "the maximum of nothing": ("ReduceMax", [np.zeros((2, 0), np.float32)], {"axes": [1]}, [[LEAST], [LEAST]]),
    "ArgMax takes the last axis and keeps it": ("ArgMax", [[[3.0, 9, 9], [7, 1, 2]]], {}, [[1], [0]]),
    "ArgMax ignores NaN": ("ArgMax", [[[1.0, NAN, 2]]], {}, [[2]]),
    "unless it is first": ("ArgMax", [[[NAN, 1.0, 2]]], {}, [[0]]),
    "LRN divides alpha by size": (
        "LRN",
        [np.full((1, 1, 1, 1), 2, np.float32)],
        {"size": 3, "alpha": 3.0, "beta": 1.0, "bias": 1.0},
        [[[[0.4]]]],
    ),
    "pads are top, left, bottom, right": (
        "MaxPool",
        [np.ones((1, 1, 2, 2), np.float32)],
        {"kernel": 2, "pads": [0, 0, 1, 0]},
        [[[[1], [1]]]],
    ),
    "empty segments give 0": ("LengthsSum", [[1.0, 2], np.array([0, 2, 0], I32)], {}, [0, 3, 0]),
    "LeakyRelu's alpha may be given as an int (ours)": ("LeakyRelu", [[-2.0, 3]], {"alpha": 1}, [-2, 3]),
    "Relu keeps NaN": ("Relu", [[NAN, -1.0]], {}, [NAN, 0]),
    "a weight of 0 leaves out NaN": ("WeightedSum", [[1.0, 2], [2.0], [NAN, INF], [0.0]], {}, [2, 4]),
    "SquaredL2Distance has the half": ("SquaredL2Distance", [[[1.0, 2]], [[3.0, 5]]], {}, [6.5]),
    "LabelCrossEntropy floors": ("LabelCrossEntropy", [[[0.0, 1]], np.array([0], I32)], {}, [46.0517]),
    "the accuracy of nothing": ("Accuracy", [np.zeros((0, 2), np.float32), np.zeros(0, I32)], {}, NAN),
    "equal scores favour the lowest class": ("Accuracy", [[[1.0, 1]], np.array([1], I32)], {}, 0),
    "top_k counts them in too": ("Accuracy", [[[1.0, 1]], np.array([1], I32)], {"top_k": 2}, 1),
    "Gather takes negative indices": ("Gather", [[1.0, 2, 3], np.array([-1, 0])], {}, [3, 1]),
    "ExpandDims takes a dim given twice once": ("ExpandDims", [[1.0]], {"dims": [0, 0]}, [[1]]),
    "Softmax's axis flattens what follows": (
        "Softmax",
        [np.zeros((1, 2, 2), np.float32)],
        {},
        np.full((1, 2, 2), 0.25),
    ),
    "without dtype an int fill is int64": ("ConstantFill", [], {"shape": [1], "value": 3}, np.array([3], I64)),
    "the value of a fill is typed by dtype": ("ConstantFill", [], {"shape": [1], "value": 3, "dtype": "bool"}, [True]),
    "legacy_pad 3 rounds sizes of Conv up": (
        "Conv",
        [np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 3, 3), np.float32)],
        {"kernel": 3, "stride": 2, "legacy_pad": 3},
        [[[[9, 6], [6, 4]]]],
    ),
    "weighted losses are divided by the weights": (
        "SoftmaxWithLoss",
        [[[0.0, 0], [0, 0]], np.array([0, 1], I32), [1.0, 3.0]],
        {},
        [[0.5, 0.5], [0.5, 0.5]],
    ),
    "halves are summed in single precision": (
        "SumElements",
        [np.array([2048, 1, 1], np.float16)],
        {},
        np.float16(2050),
    ),
    "poly is not clamped": (
        "LearningRate",
        [np.array([15])],
        {"base_lr": 1.0, "policy": "poly", "max_iter": 10, "power": 2.0},
        0.25,
    ),
    "slope takes the greater value even when rising": (
        "LearningRate",
        [np.array([5])],
        {
            "base_lr": 1.0,
            "policy": "slope",
            "num_iter_1": 0,
            "num_iter_2": 10,
            "multiplier_1": 0.1,
            "multiplier_2": 1.0,
        },
        1.0,
    ),
    "cosine is multiplied by base_lr": (
        "LearningRate",
        [np.array([0])],
        {"base_lr": 0.1, "policy": "cosine", "max_lr": 0.5, "min_lr": 0.0, "period": 10},
        0.05,
    ),
}


@pytest.mark.parametrize("fact", VALUES)
def test_values(fact: str) -> None:
    op, inputs, args, expected = VALUES[fact]
    got = run(op, inputs, 2 if op == "SoftmaxWithLoss" else 1, **args)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
    assert got.shape == np.shape(expected)
    if isinstance(expected, np.ndarray | np.generic) and expected.dtype in (np.float16, I64):
        assert got.dtype == expected.dtype


GRADIENTS: dict[str, tuple[str, list[Any], dict[str, Any], Any]] = {
    "none where Relu got NaN": ("Relu", [[NAN, -1.0, 2]], {}, [0, 0, 1]),
    "none at the bounds of Clip": ("Clip", [[0.0, 0.5, 1]], {"min": 0.0, "max": 1.0}, [0, 1, 0]),
    "none at the bounds of ReluN": ("ReluN", [[0.0, 3, 6]], {"n": 6.0}, [0, 1, 0]),
    "none at the bounds of HardSigmoid": ("HardSigmoid", [[-2.5, 0.0, 2.5]], {}, [0, 0.2, 0]),
    "to every tied position of MaxPool": (
        "MaxPool",
        [np.ones((1, 1, 1, 2), np.float32)],
        {"kernel_h": 1, "kernel_w": 2},
        [[[[1, 1]]]],
    ),
    "floored like the loss": ("LabelCrossEntropy", [[[0.0, 1]], np.array([0], I32)], {}, [[-1e20, 0]]),
    "of MatMul with an axis (ours)": (
        "MatMul",
        [np.ones((2, 1, 3), np.float32), np.ones((3, 2), np.float32)],
        {"axis_a": 2},
        np.full((2, 1, 3), 2.0),
    ),
    "of BatchMatMul with broadcast (ours)": (
        "BatchMatMul",
        [np.ones((2, 1, 2), np.float32), np.ones((2, 3), np.float32)],
        {"broadcast": 1},
        np.full((2, 1, 2), 3.0),
    ),
    "of Cast with from_type": ("Cast", [[1.0, 2]], {"to": "float32", "from_type": "float32"}, [1, 1]),
}


@pytest.mark.parametrize("fact", GRADIENTS)
def test_gradient(fact: str) -> None:
    op, inputs, args, expected = GRADIENTS[fact]
    np.testing.assert_allclose(gradients(op, inputs, **args), expected, rtol=1e-6)


REFUSED: dict[str, tuple[str, int, int, dict[str, Any], str]] = {
    "Dropout needs is_test": ("Dropout", 1, 2, {}, "is_test"),
    "SpatialBN needs is_test": ("SpatialBN", 5, 1, {}, "is_test"),
    "a given fill needs values": ("GivenTensorFill", 0, 1, {"shape": [1]}, "values"),
    "and so does one of ints": ("GivenTensorIntFill", 0, 1, {"shape": [1]}, "values"),
    "running statistics are updated in place": ("SpatialBN", 5, 5, {"is_test": 0}, "must write"),
    "pools have no dilation": ("MaxPool", 1, 1, {"kernel": 2, "dilation": 2}, "dilation"),
    "SparseAdagrad has no decay": ("SparseAdagrad", 5, 2, {"decay": 0.5}, "SparseAdagrad"),
}


@pytest.mark.parametrize("fact", REFUSED)
def test_refused_while_appending(fact: str) -> None:
    op, inputs, outputs, args, word = REFUSED[fact]
    net = nd.Net("n")
    with pytest.raises(SchemaError, match=word):
        net.add(op, [f"x{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)], args)


RAISING: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "a slice cuts one dim only": ("Slice", [ROWS], {"starts": [0, 0], "ends": [1, 1]}),
    "broadcast=1 never stretches A": ("Add", [[1.0, 2], ROWS], {"broadcast": 1}),
    "one kernel means two dims": ("Conv", [np.ones((1, 1, 4)), np.ones((1, 1, 3))], {"kernel": 3}),
    "Tile needs tiles": ("Tile", [ROWS], {"axis": 0}),
    "and axis": ("Tile", [ROWS], {"tiles": 2}),
    "NanCheck minds infinity": ("NanCheck", [[1.0, INF]], {}),
}


@pytest.mark.parametrize("fact", RAISING)
def test_refused_when_run(fact: str) -> None:
    op, inputs, args = RAISING[fact]
    with pytest.raises(NetdslError, match=op):
        run(op, inputs, **args)


def test_one_dim_needs_kernels() -> None:
    assert run("Conv", [np.ones((1, 1, 4), np.float32), np.ones((1, 1, 3), np.float32)], kernels=[3])[0].shape == (
        1,
        1,
        2,
    )


def test_nan_check_looks_at_its_first_input_only() -> None:
    assert run("NanCheck", [[1.0, 2], [NAN, NAN]])[0].tolist() == [1, 2]


def test_a_cast_that_does_not_say_from_what_has_no_gradient() -> None:
    with pytest.raises(GradientError, match="from_type"):
        gradients("Cast", [[1.0]], to="float32")


def test_float_to_half_may_saturate() -> None:
    assert run("FloatToHalf", [[1e6, -INF, NAN]], clip=1)[0].tolist() == [65504, -65504, 65504]


def test_the_third_output_of_layer_norm_is_the_deviation() -> None:
    mean, deviation = run("LayerNorm", [[[1.0, 5]]], 3, epsilon=0.0)[1:]
    assert (mean.tolist(), deviation.tolist()) == ([[3]], [[2]])


def test_layer_norm_scales_only_when_told() -> None:
    inputs = [[[1.0, 5]], [10.0, 10.0], [1.0, 1.0]]
    np.testing.assert_allclose(run("LayerNorm", inputs, 3, epsilon=0.0)[0], [[-1, 1]], rtol=1e-6)
    scaled = run("LayerNorm", inputs, 3, epsilon=0.0, elementwise_affine=1)[0]
    np.testing.assert_allclose(scaled, [[-9, 11]], rtol=1e-6)
    net = nd.Net("n")
    net.LayerNorm(["x", "gamma", "beta"], ["y", "mean", "std"])
    assert not {"gamma", "beta"} & set(net.add_gradients(net.SumElements("y", "loss")))


def test_uniform_integers_include_the_maximum() -> None:
    assert set(run("UniformIntFill", [], shape=[64], min=0, max=1)[0].tolist()) == {0, 1}


def test_scatter_weighted_sum_scales_a_row_once_an_occurrence() -> None:
    op = OperatorDef("ScatterWeightedSum", ["x", "w0", "i", "rows", "w1"], ["x"])
    feeds = {"x": single([1.0, 1.0]), "w0": single([0.5]), "i": np.array([0, 0]), "rows": single([1.0, 1.0])}
    blobs = execute(NetDef("n", [op]), {**feeds, "w1": single([1.0])}, "numpy")
    assert blobs["x"].tolist() == [1 * 0.5 * 0.5 + 1 + 1, 1]


def test_sparse_updates_take_equal_indices_one_after_the_other() -> None:
    op = OperatorDef("SparseAdagrad", ["w", "m", "i", "g", "lr"], ["w", "m"], {"epsilon": 0.0})
    feeds = {"w": single([[1.0]]), "m": single([[0.0]]), "i": np.array([0, 0]), "g": single([[3.0], [4.0]])}
    blobs = execute(NetDef("n", [op]), {**feeds, "lr": single([-1.0])}, "numpy")
    np.testing.assert_allclose(blobs["w"], [[1 - 3 / 3 - 4 / 5]], rtol=1e-6)
    np.testing.assert_allclose(blobs["m"], [[25]], rtol=1e-6)


def test_top_k() -> None:
    values, indices = run("TopK", [[[1.0, 5, 5]]], 2, k=2)
    assert (values.tolist(), indices.tolist()) == ([[5, 5]], [[1, 2]])
    values, indices = run("TopK", [[[1.0, 5]]], 2, k=3)
    assert (values.tolist(), indices.tolist()) == ([[5, 1, 0]], [[1, 0, -1]])


def test_unique_values_are_sorted() -> None:
    unique, places = run("Unique", [np.array([3, 1, 3, 2])], 2)
    assert (unique.tolist(), places.tolist()) == ([1, 2, 3], [2, 0, 2, 1])


@pytest.mark.parametrize(
    ("args", "divisor"), [({}, 4), ({"average_by_batch_size": 1}, 2)], ids=["by weights", "by batch size"]
)
def test_what_a_weighted_loss_is_divided_by(args: dict[str, int], divisor: float) -> None:
    loss = run("SoftmaxWithLoss", [[[0.0, 1], [0, 1]], np.array([0, 0], I32), [1.0, 3.0]], 2, **args)[1]
    np.testing.assert_allclose(loss, 4 * np.log(1 + np.e) / divisor, rtol=1e-6)


def spatial_bn(x: np.ndarray) -> dict[str, np.ndarray]:
    op = OperatorDef("SpatialBN", ["x", "s", "b", "m", "v"], ["y", "m", "v", "sm", "sv"], {"is_test": 0})
    return execute(NetDef("n", [op]), {"x": x, **{name: single([2.0]) for name in "sbmv"}}, "numpy")


def test_one_value_a_channel_has_no_variance() -> None:
    assert np.isnan(spatial_bn(np.ones((1, 1, 1, 1), np.float32))["v"]).all()


def test_an_empty_batch_leaves_running_statistics() -> None:
    blobs = spatial_bn(np.ones((0, 1, 2, 2), np.float32))
    assert (blobs["m"].tolist(), blobs["v"].tolist()) == ([2], [2])


def test_dropout_writes_no_mask_in_test() -> None:
    blobs = execute(
        NetDef("n", [OperatorDef("Dropout", ["x"], ["y", "mask"], {"is_test": 1})]), {"x": single(ROWS)}, "numpy"
    )
    assert "mask" not in blobs
    assert blobs["y"].tolist() == ROWS


def test_composite_rates_start_at_iteration_1_and_count_on() -> None:
    parts = {"sub_policy_0_policy": "fixed", "sub_policy_0_lr_scale": 0.5, "sub_policy_1_policy": "exp"}
    args = {"base_lr": 1.0, "policy": "composite", "sub_policy_num_iters": [2, 1], **parts, "sub_policy_1_gamma": 0.5}
    got = [float(run("LearningRate", [np.array([i])], **args)[0]) for i in (1, 2, 3)]
    assert got == [0.5, 0.5, 0.125]


def test_iterations_are_int64_and_rates_have_no_dims() -> None:
    assert run("Iter", [])[0].dtype == np.int64
    assert run("LearningRate", [np.array([1])], base_lr=1.0, policy="fixed")[0].shape == ()


@pytest.mark.parametrize(
    ("op", "args"),
    [("Reshape", {"shape": [4]}), ("Flatten", {}), ("ExpandDims", {"dims": [0]}), ("StopGradient", {}), ("Alias", {})],
    ids=["Reshape", "Flatten", "ExpandDims", "StopGradient", "Alias"],
)
def test_only_alias_shares_memory(op: str, args: dict[str, Any]) -> None:
    ws, net = nd.Workspace(), nd.Net("n")
    net.add(op, ["x"], ["y", "old"] if op == "Reshape" else ["y"], args)
    net.Scale("x", "x", scale=2.0)
    ws.feed("x", single(ROWS))
    ws.run(net)
    assert ws.fetch("y").ravel().tolist() == ([2, 4, 6, 8] if op == "Alias" else [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("op", "args", "emitted"),
    [
        ("Sum", {}, []),
        ("Alias", {}, []),
        ("Exp", {}, ["Mul"]),
        ("Sqr", {}, ["Scale", "Mul"]),
        ("Concat", {"axis": 0}, ["Split"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_gradients_that_are_composed(op: str, args: dict[str, Any], emitted: list[str]) -> None:
    net = nd.Net("n")
    net.add(op, ["x"], ["y", "info"] if op == "Concat" else ["y"], args)
    before = len(net.definition.ops)
    net.add_gradients({"y": "y_seed"})
    assert [made.type for made in net.definition.ops[before:]] == emitted


def test_arguments_as_recorded() -> None:
    net = nd.Net("n")
    net.Dropout("x", ["y", "mask"], is_test=True, ratio=0.1)
    net.Flatten("x", "z", axis=None)
    dropout, flatten = net.definition.ops
    assert (dropout.args["is_test"], dropout.args["ratio"]) == (1, float(np.float32(0.1)))
    assert not flatten.args


def test_outputs_before_a_failing_operator_stay() -> None:
    ws, net = nd.Workspace(), nd.Net("n")
    net.Relu("x", "y")
    net.NanCheck("y", "z")
    net.Relu("z", "w")
    ws.feed("x", single([1.0, INF]))
    with pytest.raises(NetdslError):
        ws.run(net)
    assert ws.fetch("y").tolist() == [1, INF]
    assert "w" not in ws


def test_two_runs_of_a_random_fill_differ() -> None:
    ws, net = nd.Workspace(), nd.Net("n")
    net.UniformFill([], "y", shape=[4])
    ws.run(net)
    first = ws.fetch("y")
    ws.run(net)
    assert (ws.fetch("y") != first).all()


def test_defaults_of_momentum() -> None:
    assert run_momentum() == [0.5]
    assert nd.optimizers.SGD().nesterov


def run_momentum() -> list[float]:
    op = OperatorDef("MomentumSGDUpdate", ["g", "m", "lr", "w"], ["g", "m", "w"])
    feeds = {name: single([value]) for name, value in {"g": 1.0, "m": 7.0, "lr": 0.5, "w": 1.0}.items()}
    return execute(NetDef("n", [op]), feeds, "numpy")["w"].tolist()
