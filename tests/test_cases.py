"""Behaviours with known right answers, by their case numbers; most numbers were computed on Caffe2."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.errors import BlobError, InferenceError, NetdslError, SchemaError, UnknownArgumentWarning
from netdsl.io import load_tensors, messages, save_tensors, tensors
from netdsl.viz import to_dot

ELSEWHERE = {
    "c02": "optimizers/test_training.py",
    "c07": "analysis/test_gradient.py",
    "c08": "analysis/test_gradient.py",
    "c14": "optimizers/test_training.py",
    "c30": "optimizers/test_training.py",
}
"""Cases that stand with the tests of what they are about."""


@pytest.mark.parametrize(("case", "file"), ELSEWHERE.items())
def test_the_other_cases_are_there(case: str, file: str) -> None:
    text = (Path(__file__).parent / file).read_text()
    assert f"def test_{case}_" in text or f'"""{case.upper()}:' in text


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def ran(net: nd.Net, *, seed: int = 0, **feeds: Any) -> nd.Workspace:
    ws = nd.Workspace(seed=seed)
    for name, value in feeds.items():
        ws.feed(name, value)
    ws.run(net)
    return ws


def compute(op: str, *inputs: np.ndarray, seed: int = 0, **args: Any) -> np.ndarray:
    """The first output of one operator."""
    net = nd.Net("n")
    feeds = {f"x{i}": value for i, value in enumerate(inputs)}
    net.add(op, list(feeds), "y", args)
    return ran(net, seed=seed, **feeds).fetch("y")


def test_c01_single_to_half_and_back() -> None:
    given = floats(1 / 3, 70000, 65504, 65519, 65520, 1e-8, 6e-8, -0.0, 2049, 2051, np.inf, np.nan)
    half = compute("FloatToHalf", given)
    back = compute("HalfToFloat", half)
    expected = floats(
        0.333251953125, np.inf, 65504, 65504, np.inf, 0, 5.960464477539063e-08, -0.0, 2048, 2052, np.inf, np.nan
    )
    assert (half.dtype, back.dtype) == (np.float16, np.float32)
    np.testing.assert_array_equal(back, expected)
    np.testing.assert_array_equal(np.signbit(back[:-1]), np.signbit(expected[:-1]))


@pytest.mark.parametrize(
    ("args", "values"),
    [
        ({"policy": "step", "stepsize": 10, "gamma": 0.5}, {0: 0.1, 9: 0.1, 10: 0.05, 25: 0.025}),
        ({"policy": "exp", "gamma": 0.9}, {5: 0.059049}),
        ({"policy": "inv", "gamma": 0.1, "power": 0.75}, {10: 0.05946035}),
        ({"policy": "poly", "max_iter": 100, "power": 2.0}, {25: 0.05625, 99: 1e-5}),
        ({"policy": "linearWarmup", "start_multiplier": 0.1, "num_iter": 10}, {0: 0.01, 5: 0.055, 10: 0.1}),
        ({"policy": "constantWarmup", "multiplier": 0.3, "num_iter": 10}, {9: 0.03, 10: 0.1}),
    ],
    ids=lambda value: value.get("policy", ""),
)
def test_c03_learning_rates(args: dict[str, Any], values: dict[int, float]) -> None:
    got = [compute("LearningRate", np.array([iteration], np.int64), base_lr=0.1, **args) for iteration in values]
    np.testing.assert_allclose(got, list(values.values()), rtol=2e-6)


def test_c04_halves_in_files(tmp_path: Path) -> None:
    proto = messages.TensorProto(dims=[3], data_type=messages.TensorProto.FLOAT16, int32_data=[15360, 16384, 48640])
    array = tensors.to_array(proto)
    assert (array.dtype, array.tolist()) == (np.float16, [1.0, 2.0, -1.5])
    assert tensors.from_array(array).int32_data == proto.int32_data
    save_tensors({"h": array}, tmp_path / "h.npz")
    assert load_tensors(tmp_path / "h.npz")["h"].tobytes() == array.tobytes()


def test_c04_fills_with_halves(tmp_path: Path) -> None:
    given = np.array([0.1, 2], np.float16)
    plain = compute("GivenTensorFill", shape=[2], values=given)
    assert (plain.dtype, plain.tolist()) == (np.float32, floats(0.099975586, 2).tolist())
    net = nd.Net("n")
    net.GivenTensorFp16Fill([], "y", shape=[2], values=given)
    nd.save(net, tmp_path / "n.pb")
    loaded = nd.load(tmp_path / "n.pb")
    assert loaded == net.definition
    ws = nd.Workspace()
    ws.run(loaded)
    assert ws.fetch("y").dtype == np.float16
    assert ws.fetch("y").tobytes() == given.tobytes()


def test_c05_labels() -> None:
    p, labels = floats([0.2, 0.8], [0.6, 0.4]), np.array([1, 0], np.int32)
    np.testing.assert_allclose(compute("LabelCrossEntropy", p, labels), [0.22314353, 0.51082557], rtol=1e-6)
    clipped = compute("LabelCrossEntropy", floats([0, 1]), np.array([0], np.int32))
    np.testing.assert_allclose(clipped, [46.0517], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_c05_labels_of_another_dtype(dtype: str) -> None:
    net = nd.Net("n")
    net.LabelCrossEntropy(["p", "label"], "y")
    with pytest.raises(InferenceError, match="blob 'label'") as caught:
        ran(net, p=floats([0.2, 0.8]), label=np.array([1], dtype))
    assert str(caught.value.details["expected"]) == "int32"
    assert str(caught.value.details["got"]) == f"{dtype}[1]"
    assert "bug" not in str(caught.value)


def test_c09_an_unfed_input() -> None:
    net = nd.Net("n")
    net.FC(["data", "w", "b"], "y")
    with pytest.raises(BlobError, match="blob 'data' does not exist") as caught:
        ran(net, w=floats([1, 2]), b=floats(0))
    assert "FC(data, w, b)" in str(caught.value)


C11_X = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
C11 = {"s": floats(1, 2), "b": floats(0, 1), "rm": floats(1, 5), "riv": floats(4, 0.25)}


def test_c11_spatial_bn_in_test() -> None:
    y = compute("SpatialBN", C11_X, *C11.values(), is_test=1, epsilon=1e-5)
    expected = [-0.4999994, 0, 0.4999994, 0.9999988, -2.9999199, 1, 4.9999199, 8.9998398]
    np.testing.assert_allclose(y.ravel(), expected, rtol=1e-6, atol=1e-7)


def spatial_bn_in_training() -> nd.Net:
    net = nd.Net("n")
    args = {"is_test": 0, "epsilon": 1e-5, "momentum": 0.9}
    net.SpatialBN(["x", "s", "b", "rm", "riv"], ["y", "rm", "riv", "sm", "siv"], **args)
    return net


def test_c11_spatial_bn_in_training() -> None:
    ws = ran(spatial_bn_in_training(), x=C11_X, **C11)
    for name, expected in {
        "y": [-1.3416355, -0.4472118, 0.4472119, 1.3416355, -1.6832709, 0.1055765, 1.8944235, 3.6832714],
        "rm": [1.05, 5.05],
        "riv": [3.7666667, 0.3916667],
        "sm": [1.5, 5.5],
        "siv": [0.89442366, 0.89442366],
    }.items():
        np.testing.assert_allclose(ws.fetch(name).ravel(), expected, rtol=1e-6, atol=1e-6, err_msg=name)


def test_c11_a_mean_that_does_not_fit_the_channels() -> None:
    with pytest.raises(InferenceError, match="mean must have one element for each channel"):
        ran(spatial_bn_in_training(), x=C11_X, **{**C11, "rm": floats(1)})


@pytest.mark.parametrize(
    ("args", "sizes"),
    [
        ({}, [2, 3, 3, 55]),
        ({"pad": 1}, [3, 4, 4, 56]),
        ({"legacy_pad": 3}, [3, 3, 4, 56]),
        ({"legacy_pad": 3, "pad": 1}, [4, 4, 5, 57]),
        ({"legacy_pad": 2}, [3, 4, 4, 56]),
    ],
    ids=str,
)
def test_c12_sizes_of_pools(args: dict[str, int], sizes: list[int]) -> None:
    images = [np.ones((1, 1, size, size), np.float32) for size in (6, 7, 8, 112)]
    assert [compute("MaxPool", x, kernel=3, stride=2, **args).shape[2] for x in images] == sizes


def test_c12_an_argument_of_another_framework(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="MaxPool has no argument 'ceil_mode'"):
        nd.Net("n").MaxPool("x", "y", kernel=3, stride=2, ceil_mode=1)
    args = "{ceil_mode = 1, kernel = 3, stride = 2}"
    net = nd.parse(f'net "n"\ninput x\ny = MaxPool(x) {args}\nz = MaxPool(y) {args}\n')
    nd.save(net, tmp_path / "n.pb")
    with pytest.warns(UnknownArgumentWarning, match="MaxPool has no argument 'ceil_mode'") as warned:
        loaded = nd.load(tmp_path / "n.pb")
    assert len(warned) == 1
    assert loaded == net
    ws = nd.Workspace()
    ws.feed("x", np.ones((1, 1, 112, 112), np.float32))
    ws.run(loaded)
    assert (ws.fetch("y").shape[2], ws.fetch("z").shape[2]) == (55, 27)


def test_c12_average_pool_leaves_padding_out() -> None:
    ones, args = np.ones((1, 1, 4, 4), np.float32), {"kernel": 3, "stride": 2, "pad": 1}
    assert compute("AveragePool", ones, **args).tolist() == [[[[1, 1], [1, 1]]]]
    counted = compute("AveragePool", ones, **args, count_include_pad=1)
    np.testing.assert_allclose(counted.ravel(), [4 / 9, 2 / 3, 2 / 3, 1], rtol=1e-6)


C21 = """
import netdsl as nd
args = {"kernel": 3, "pad": 1, "stride": 2, "group": 1}
net = nd.Net("n")
net.Conv(["x", "w"], "y", **{name: args[name] for name in %r})
with nd.name_scope("s"):
    net.Split("y", 2, axis=1)
print(net.dump())
"""


def test_c21_dumps_of_two_processes_are_equal(fresh_python: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = set()
    for seed, order in (("1", ["kernel", "pad", "stride", "group"]), ("2", ["stride", "group", "pad", "kernel"])):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        dumps.add(fresh_python(C21 % order))
    assert len(dumps) == 1
    assert "Conv(x, w)" in dumps.pop()


def test_c21_adding_an_operator_changes_its_own_lines_only() -> None:
    def dumped(extra: bool) -> list[str]:
        net = nd.Net("n")
        net.Conv(["x", "w"], "y", kernel=3)
        if extra:
            net.Sigmoid("y", "probe")
        net.Relu("y", "z")
        net.output("z")
        return net.dump().splitlines()

    assert [line for line in dumped(True) if line not in dumped(False)] == ["probe = Sigmoid(y)"]
    assert len(dumped(True)) == len(dumped(False)) + 1


def seconds_and_dot(count: int) -> tuple[float, str]:
    net = nd.Net("n")
    blobs = [f"b{i}" for i in range(count + 1)]
    for source, target in itertools.pairwise(blobs):
        net.Relu(source, target)
    start = time.process_time()
    dot = to_dot(net.definition)
    return time.process_time() - start, dot


def test_c23_a_big_graph() -> None:
    seconds, dot = seconds_and_dot(4000)
    assert seconds < 2
    assert len(dot) < 5_000_000
    assert dot.count("Relu") == 4000
    twice = min(seconds_and_dot(8000)[0] for _ in range(2))
    assert twice < 3.5 * seconds + 0.1


@pytest.mark.parametrize(
    ("shape", "bound"), [([64, 16, 3, 3], 0.1443376), ([10, 500], 0.0774597), ([64], 3**0.5)], ids=str
)
def test_c25_xavier_fill(shape: list[int], bound: float) -> None:
    values = compute("XavierFill", shape=shape)
    assert list(values.shape) == shape
    assert 0.9 * bound < np.abs(values).max() <= bound * (1 + 1e-6)
    assert abs(values.std() - bound / 3**0.5) < 0.1 * bound


@pytest.mark.parametrize(("shape", "std"), [([64, 16, 3, 3], 0.0589256), ([10, 500], 0.4472136)], ids=str)
def test_c25_msra_fill(shape: list[int], std: float) -> None:
    values = compute("MSRAFill", shape=shape)
    assert abs(values.std() - std) < 0.05 * std
    assert np.abs(values).max() > 2.5 * std, "normal, not uniform"


def test_c25_msra_fill_of_one_dim() -> None:
    with pytest.raises(NetdslError, match="MSRAFill"):
        compute("MSRAFill", shape=[64])


def test_c25_constant_fill() -> None:
    filled = compute("ConstantFill", shape=[2], value=3, dtype="int64")
    assert (filled.dtype, filled.tolist()) == (np.int64, [3, 3])
    assert compute("ConstantFill", value=1.0).shape == ()


@pytest.mark.parametrize("fill", ["XavierFill", "MSRAFill", "UniformFill", "GaussianFill"])
def test_c25_seeded_runs_repeat(fill: str) -> None:
    first, again, other = (compute(fill, seed=seed, shape=[4, 4]) for seed in (7, 7, 8))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_c26_a_clone_for_test() -> None:
    model = nd.Model("m")
    x = model.input("x", ("N", 3))
    y = layers.fc(model, x, "y", 3, 2)
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    optimizers.SGD(base_learning_rate=0.1).build(model)
    clone = model.for_inference(y)
    assert [op.type for op in clone.net.definition.ops] == ["FC"]
    assert {*clone.parameters} == {"y_w", "y_b"}
    assert (clone.net.definition.inputs, clone.net.definition.outputs) == (("x", "y_w", "y_b"), ("y",))
    ws = nd.Workspace()
    ws.run(clone.init_net)
    ws.feed("x", floats([1, 2, 3]))
    before = ws.fetch("y_w")
    ws.run(clone.net, times=3)
    assert ws.fetch("y_w").tobytes() == before.tobytes()


def test_c26_test_mode_in_the_clone() -> None:
    model = nd.Model("m")
    x = model.input("x", ("N", 3, 4, 4))
    y = layers.dropout(model, layers.spatial_bn(model, x, "bn", 3), "drop", ratio=0.5)
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    ops = model.for_inference(y).net.definition.ops
    assert [(op.type, op.args["is_test"]) for op in ops] == [("SpatialBN", 1), ("Dropout", 1)]
    assert [len(op.outputs) for op in ops] == [1, 1]
