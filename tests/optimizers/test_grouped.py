"""The updates of groups: order, sparse gradients, masters in single precision, averages, schedules, and the check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.analysis.check import check
from netdsl.errors import NetdslError, NetError, SchemaError
from netdsl.initializers import PseudoFP16Initializer, ReversePseudoFP16Initializer
from netdsl.ir import DType
from netdsl.optimizers import EMA, SGD, SWA, Adagrad, AdamW, Clip, LossScale, Rule, build_groups, param_groups

IDS = np.array([[0, 1, 1], [3, 1, 0]], "i4")
LABEL = np.array([0, 2], "i4")


def findings(model: nd.Model) -> list[str]:
    return [f"{f.code} {f.message}" for f in check(model.init_net.definition, model.net.definition)]


def started(model: nd.Model, **feeds: Any) -> nd.Workspace:
    ws = nd.Workspace()
    ws.run(model.init_net)
    for name, value in feeds.items():
        ws.feed(name, value)
    return ws


def linear(loss: bool = True) -> nd.Model:
    """y = FC(x, w, b) with w = [[1, 1]], b = [1], and the mean of y as the loss."""
    model = nd.Model("m")
    y = layers.fc(model, model.input("x", ("N", 2)), "fc", 2, 1, weight_init=ONES, bias_init=ONES)
    if loss:
        model.add_gradients(model.net.AveragedLoss(y, "loss"))
    return model


ONES = ("ConstantFill", {"value": 1.0})
X = np.array([[1, 2]], "f4")


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_c14_decay_of_weights_by_a_rule(momentum: float) -> None:
    model = linear()
    groups = param_groups(model, [Rule(tag="weight", weight_decay=0.5)])
    build_groups(groups, SGD(base_learning_rate=0.1, momentum=momentum, nesterov=False))
    ws = started(model, x=X)
    ws.run(model.net)
    np.testing.assert_allclose(ws.fetch("fc_w"), [[0.85, 0.75]], rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("fc_b"), [0.9], rtol=1e-6)


def test_decoupled_decay_with_sgd() -> None:
    model = linear()
    groups = param_groups(model, [Rule(tag="weight", weight_decay=0.5, decoupled=True)])
    build_groups(groups, SGD(base_learning_rate=0.1, momentum=0.9, nesterov=False))
    ws = started(model, x=X)
    for w in (np.array([1, 1]) * 0.95 - [0.1, 0.2], None):
        ws.run(model.net)
        if w is None:
            w = np.array([0.85, 0.75]) * 0.95 - [0.19, 0.38]
        np.testing.assert_allclose(ws.fetch("fc_w")[0], w, rtol=1e-6)
    assert findings(model) == []


def test_coupled_decay_with_adamw_goes_through_the_moments() -> None:
    model = linear()
    build_groups(param_groups(model, [Rule(weight_decay=0.5, decoupled=False)]), AdamW(base_learning_rate=0.1))
    ws = started(model, x=X)
    ws.run(model.net)
    np.testing.assert_allclose(ws.fetch("fc_w_first_moment"), [[0.15, 0.25]], rtol=1e-5)
    assert all(op.args["weight_decay"] == 0 for op in model.net.definition.ops if op.type == "AdamW")


def test_an_optimizer_for_each_parameter_and_momentum_by_rule() -> None:
    model = linear()
    rules = [
        Rule(name="fc_b", optimizer=SGD(base_learning_rate=0.5, momentum=0.1), label="b"),
        Rule(tag="bias", momentum=0.7),
    ]
    build_groups(param_groups(model, rules), AdamW(base_learning_rate=0.01, weight_decay=0))
    types = {op.type: op for op in model.net.definition.ops}
    assert types["MomentumSGDUpdate"].inputs[-1] == "fc_b"
    assert types["MomentumSGDUpdate"].args["momentum"] == np.float32(0.7)
    assert types["AdamW"].inputs[0] == "fc_w"
    w, b = model.describe()
    assert (w["optimizer"], w["lr"], w["decided"]) == ("AdamW", 0.01, "default")
    assert (b["optimizer"], b["lr"], b["momentum"]) == ("SGD", 0.5, 0.7)
    assert b["decided"] == "momentum: tag=bias; optimizer: b"
    assert findings(model) == []
    started(model, x=X).run(model.net)


def test_what_no_rule_decides_is_the_optimizers() -> None:
    model = linear()
    build_groups(param_groups(model, []), Adagrad(weight_decay=0.25))
    decays = {op.inputs[0]: op.args.get("weight_decay") for op in model.net.definition.ops if op.type == "Adagrad"}
    assert decays == {"fc_w": 0.25, "fc_b": None}
    assert [row["weight_decay"] for row in model.describe()] == [0.25, 0.0]


def test_decays_that_differ_a_little_are_two() -> None:
    model = linear()
    rules = [Rule(weight_decay=0.12345678), Rule(tag="bias", weight_decay=0.12345679)]
    build_groups(param_groups(model, rules), SGD())
    assert len({op.inputs[3] for op in model.net.definition.ops if op.outputs[0].endswith("_decayed")}) == 2


@pytest.mark.parametrize("build", ["alone", "groups"])
def test_a_gradient_that_two_parameters_share_is_not_spent_by_the_first(build: str) -> None:
    model = nd.Model("m")
    a, b = (model.parameter(name, [3], "ConstantFill") for name in "ab")
    model.add_gradients(model.net.AveragedLoss(model.net.Sum([a.blob, b.blob], "y"), "loss"))
    assert a.grad == b.grad
    sgd = SGD(base_learning_rate=0.3, momentum=0.5, nesterov=False)
    sgd.build(model) if build == "alone" else build_groups(param_groups(model, []), sgd)
    ws = started(model)
    ws.run(model.net, times=2)
    for name in "ab":
        np.testing.assert_allclose(ws.fetch(name), [-0.25] * 3, rtol=1e-6)


def test_a_zero_rate_clips_with_the_others_and_moves_nothing() -> None:
    model = linear()
    groups = param_groups(model, [Rule(name="fc_w", lr_multiplier=0)])
    build_groups(groups, SGD(base_learning_rate=1.0), clip=Clip("full_model", 1.0))
    ws = started(model, x=X)
    ws.run(model.net)
    np.testing.assert_allclose(ws.fetch("gradient_norm"), np.sqrt(6), rtol=1e-6)
    np.testing.assert_array_equal(ws.fetch("fc_w"), [[1, 1]])
    np.testing.assert_allclose(ws.fetch("fc_b"), [1 - 1 / np.sqrt(6)], rtol=1e-5)
    assert findings(model) == []


def test_a_nan_gradient_without_loss_scaling_shows() -> None:
    model = linear()
    build_groups(param_groups(model, []), AdamW(), clip=Clip("full_model", 1e30))
    ws = started(model, x=X * np.float32(np.nan))
    ws.run(model.net)
    assert np.isnan(ws.fetch("fc_w")).all()


# ---------------------------------------------------------------------- sparse gradients


def lookups(dense: bool) -> tuple[nd.Model, Any]:
    """Two embeddings of the same ids [N, 3], of which some repeat, added and squared."""
    model = nd.Model("m")
    ids = model.input("ids", ("N", 3), "int32")
    made = [
        layers.embedding(model, ids, name, 5, 2, weight_init=("ConstantFill", {"value": v}), dense_gradient=dense)
        for name, v in (("one", 0.5), ("two", 0.25))
    ]
    y = model.net.Sum(made, "y")
    return model, model.net.AveragedLoss(model.net.Mul([y, y], "squares"), "loss")


CLIPS = [None, Clip("full_model", 0.1), Clip("norm", 0.1), Clip("norm", 0.1, 1.0), Clip("value", 0.01)]
SPARSE = {
    "sgd": (SGD(base_learning_rate=0.1), True),
    "sgd momentum": (SGD(base_learning_rate=0.1, momentum=0.9), False),
    "adamw": (AdamW(base_learning_rate=0.1), False),
}


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("decoupled", [False, True], ids=["coupled", "decoupled"])
@pytest.mark.parametrize("clip", CLIPS, ids=str)
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_gradients_equal_dense_ones(name: str, clip: Clip | None, decoupled: bool, scaled: bool) -> None:
    """In every used row; the rows that no id names keep their bits. States of other rows matter from step 2 on."""
    optimizer, stateless = SPARSE[name]
    tables = []
    for dense in (True, False):
        model, loss = lookups(dense)
        groups = param_groups(model, [Rule(weight_decay=0.2, decoupled=decoupled)])
        scale = LossScale(initial=1024.0) if scaled else None
        model.add_gradients(scale.scaled(model, loss) if scale else loss)
        build_groups(groups, optimizer, clip=clip, loss_scale=scale)
        assert findings(model) == []
        ws = started(model, ids=IDS)
        ws.run(model.net, times=3 if stateless else 1)
        tables.append([ws.fetch("one_w"), ws.fetch("two_w")])
    for all_rows, used in zip(*tables, strict=True):
        np.testing.assert_allclose(used[[0, 1, 3]], all_rows[[0, 1, 3]], rtol=1e-6)
        assert len(np.unique(used[[2, 4]])) == 1
        assert used[2, 0] in (0.5, 0.25)


def test_no_ids_move_nothing() -> None:
    model, loss = lookups(False)
    model.add_gradients(loss)
    build_groups(param_groups(model, [Rule(weight_decay=0.1)]), AdamW(), clip=Clip("full_model", 0.1))
    ws = started(model, ids=np.zeros((1, 3), "i4"))
    ws.run(model.net)
    before = ws.fetch("one_w")
    ws.feed("ids", IDS[:0])
    with np.errstate(all="ignore"):
        ws.run(model.net)
    np.testing.assert_array_equal(ws.fetch("one_w"), before)


def test_adamw_alone_adds_repeated_rows_too() -> None:
    found = []
    for dense in (True, False):
        model, loss = lookups(dense)
        model.add_gradients(loss)
        AdamW(base_learning_rate=0.1).build(model)
        ws = started(model, ids=IDS)
        ws.run(model.net)
        found.append(ws.fetch("one_w")[[0, 1, 3]])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


# ---------------------------------------------------------------------- half precision


def classifier(initializer: Any) -> tuple[nd.Model, Any]:
    model = nd.Model("m")
    model.initializer_class = initializer
    ids, label = model.input("ids", ("N", 3), "int32"), model.input("label", ("N",), "int32")
    x = layers.embedding(model, ids, "tokens", 7, 4)
    x, _ = model.net.Reshape(x, ["flat", "_shape"], shape=[-1, 12])
    h = layers.layer_norm(model, layers.relu(model, layers.fc(model, x, "fc1", 12, 6), "h"), "norm", 6)
    scores = layers.fc(model, h, "fc2", 6, 3)
    if initializer is PseudoFP16Initializer:
        scores = model.net.HalfToFloat(scores, "scores")
    return model, layers.softmax_with_loss(model, scores, label)


RULES = [
    Rule(weight_decay=0.1),
    Rule(kind="norm", weight_decay=0),
    Rule(name="fc1*", lr_multiplier=0.5),
    Rule(name="fc2_w", optimizer=SGD(base_learning_rate=0.1, momentum=0.5), decoupled=True),
    Rule(tag="bias", optimizer=SGD(base_learning_rate=0.1)),
    Rule(name="fc1_b", lr_multiplier=0),
]


def trained(initializer: Any, scaled: bool) -> tuple[nd.Model, nd.Workspace]:
    model, loss = classifier(initializer)
    groups = param_groups(model, RULES)
    scale = LossScale(initial=256.0) if scaled else None
    model.add_gradients(scale.scaled(model, loss) if scale else loss)
    build_groups(groups, AdamW(base_learning_rate=0.01), clip=Clip("full_model", 0.5), loss_scale=scale)
    EMA(decay=0.5).build(model)
    SWA(start=2).build(model)
    ws = nd.Workspace()
    random = np.random.RandomState(0)
    ws.run(model.init_net)
    for parameter in model.params():
        assert parameter.shape is not None
        value = random.randn(*parameter.shape).astype("f2")
        for blob in parameter.blobs:
            ws.feed(blob.name, value.astype(ws.fetch(blob.name).dtype))
    ws.feed("ids", IDS)
    ws.feed("label", LABEL)
    return model, ws


def master(parameter: nd.Parameter) -> str:
    return parameter.blob_copy.get(DType.FLOAT, parameter.blob).name


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
def test_half_parameters_follow_a_single_precision_run(scaled: bool) -> None:
    single, ws32 = trained(None, False)
    half, ws16 = trained(PseudoFP16Initializer, scaled)
    assert findings(half) == findings(single) == []
    ws32.run(single.net, times=5)
    ws16.run(half.net, times=5)
    for parameter in half.params():
        new, name = ws16.fetch(master(parameter)), parameter.name
        np.testing.assert_allclose(new, ws32.fetch(name), atol=2e-3, err_msg=name)
        np.testing.assert_array_equal(ws16.fetch(name), new.astype("f2"))
    moved = ws16.fetch("tokens_w_fp32")[[0, 1, 3]]
    np.testing.assert_allclose(
        ws16.fetch("tokens_w_fp32_swa")[[0, 1, 3]], ws32.fetch("tokens_w_swa")[[0, 1, 3]], atol=2e-3
    )
    assert (moved != ws16.fetch("tokens_w_fp32_swa")[[0, 1, 3]]).all()


def test_unscale_clip_decay_update_round_in_this_order() -> None:
    model, _ = trained(PseudoFP16Initializer, True)
    names = ("fc2_b_grad_unscaled", "fc2_b_grad_unscaled_clipped", "fc2_b_fp32", "fc2_b")
    steps = [op.type for op in model.net.definition.ops if {*names, f"{names[1]}_decayed"} & {*op.outputs}]
    assert steps == ["UnscaleGradient", "Mul", "WeightedSum", "ScaledMomentumSGDUpdate", "FloatToHalf"]
    types = [op.type for op in model.net.definition.ops]
    assert types.index("CheckFinite") < types.index("UnscaleGradient") < types.index("ClipFactor")


@pytest.mark.parametrize("initializer", [None, PseudoFP16Initializer], ids=["single", "half"])
def test_a_skipped_step_changes_nothing_but_counter_and_scale(initializer: Any) -> None:
    model, ws = trained(initializer, True)
    ws.run(model.net, times=2)
    ws.feed("loss_scale", np.array([np.inf], "f4"))
    held = set(model.net.definition.read_first()) - {"iteration_mutex"}
    held |= {blob.name for p in model.params() for blob in p.blobs}
    before = {name: ws.fetch(name) for name in held}
    ws.run(model.net)
    assert ws.fetch("nonfinite").all()
    changed = {name for name in held if before[name].tobytes() != ws.fetch(name).tobytes()}
    assert changed == {"optimizer_iteration", "loss_scale_growth_tracker"}


@pytest.mark.parametrize("initializer", [None, PseudoFP16Initializer], ids=["single", "half"])
@pytest.mark.parametrize("before", [0, 3])
def test_a_skipped_step_leaves_no_trace(initializer: Any, before: int) -> None:
    """Training goes on as if the step had not been: AdamW's bias correction does not count it."""
    runs = []
    for skipped in (False, True):
        model, ws = trained(initializer, True)
        ws.run(model.net, times=before)
        if skipped:
            ws.feed("loss_scale", np.array([np.inf], "f4"))
            ws.run(model.net)
            assert ws.fetch("nonfinite").all()
            ws.feed("loss_scale", np.array([256], "f4"))
        ws.run(model.net, times=2)
        assert int(ws.fetch("applied_steps")[0]) == before + 2
        assert int(ws.fetch("optimizer_iteration")[0]) == before + 2 + skipped
        names = [op.outputs[0] for op in model.net.definition.ops if op.type in ("AdamW", "SparseAdamW")]
        names += [f"{name}_{moment}_moment" for name in names for moment in ("first", "second")]
        names += [f"{master(p)}_ema" for p in model.params() if p.name != "fc1_b"]
        names += [blob.name for p in model.params() for blob in p.blobs]
        runs.append({name: ws.fetch(name) for name in names})
    for name, value in runs[0].items():
        assert value.tobytes() == runs[1][name].tobytes(), name


def reverse_model(scale: LossScale | None) -> tuple[nd.Model, Any]:
    """A net that computes with the half copies of single-precision parameters; one is frozen."""
    model = nd.Model("m")
    x = model.net.FloatToHalf(model.input("x", ("N", 2)), "x_half")
    for layer in ("fc1", "fc2"):
        w = model.parameter(f"{layer}_w", [2, 2], ReversePseudoFP16Initializer("ConstantFill", value=0.5))
        b = model.parameter(f"{layer}_b", [2], ReversePseudoFP16Initializer("ConstantFill"), tag=nd.Tag.BIAS)
        x = model.net.FC([x, w.blob_copy[DType.FLOAT16], b.blob_copy[DType.FLOAT16]], layer)
    y = model.net.HalfToFloat(x, "y")
    loss = model.net.AveragedLoss(model.net.Mul([y, y], "squares"), "loss")
    return model, scale.scaled(model, loss) if scale else loss


@pytest.mark.parametrize("scale", [None, LossScale(initial=512.0)], ids=["plain", "scaled"])
def test_half_copies_of_single_parameters_are_trained(scale: LossScale | None) -> None:
    model, loss = reverse_model(scale)
    groups = param_groups(model, [Rule(tag="weight", weight_decay=0.1), Rule(name="fc1_b", freeze=True)])
    model.add_gradients(loss)
    build_groups(groups, AdamW(base_learning_rate=0.01), clip=Clip("norm", 0.1), loss_scale=scale)
    ema = EMA(decay=0.5)
    ema.build(model)
    assert findings(model) == []
    ws = started(model, x=X)
    ws.run(model.net, times=4)
    for name in ("fc1_w", "fc2_w", "fc2_b"):
        assert (ws.fetch(name) != 0.5).all()
        np.testing.assert_array_equal(ws.fetch(name).astype("f2"), ws.fetch(f"{name}_fp16"))
    assert not ws.fetch("fc1_b").any()
    applied = ema.applied(model, model.for_inference("y").net)
    assert "fc2_w_fp16_ema = FloatToHalf(fc2_w_ema)" in applied.dump()
    ws.run(applied)


# ---------------------------------------------------------------------- averages


@pytest.mark.parametrize("initializer", [None, PseudoFP16Initializer], ids=["single", "half"])
def test_averages_predict(initializer: Any) -> None:
    model, ws = trained(initializer, False)
    ws.run(model.net, times=6)
    scores = "scores" if initializer else "fc2"
    predict = model.for_inference(scores)
    for average in (EMA(), SWA()):
        net = average.applied(model, predict.net)
        assert net.name == f"m_{average.suffix}"
        ws.run(net)
        found = ws.fetch(scores)
        for parameter in model.params():
            if parameter.name != "fc1_b":
                mean = ws.fetch(f"{master(parameter)}_{average.suffix}")
                ws.feed(f"{parameter.name}_kept", ws.fetch(parameter.name))
                ws.feed(parameter.name, mean.astype(ws.fetch(parameter.name).dtype))
        ws.run(predict.net)
        np.testing.assert_array_equal(ws.fetch(scores), found)
        for parameter in model.params():
            if parameter.name != "fc1_b":
                ws.feed(parameter.name, ws.fetch(f"{parameter.name}_kept"))


def test_averages_are_those_of_the_weights_after_each_step() -> None:
    model = linear()
    SGD(base_learning_rate=0.1).build(model)
    EMA(decay=0.75).build(model)
    SWA(start=2, interval=2).build(model)
    ws = started(model, x=X)
    moving, seen = np.array([[1.0, 1.0]]), []
    for _ in range(6):
        ws.run(model.net)
        seen.append(ws.fetch("fc_w"))
        moving = 0.75 * moving + 0.25 * seen[-1]
    np.testing.assert_allclose(ws.fetch("fc_w_ema"), moving, rtol=1e-6)
    np.testing.assert_allclose(ws.fetch("fc_w_swa"), np.mean([seen[1], seen[3], seen[5]], axis=0), rtol=1e-6)
    assert findings(model) == []


class TestBadAverages:
    """What averages refuse."""

    def test_before_the_optimizer(self) -> None:
        model = linear()
        with pytest.raises(NetError, match="no parameter of model 'm' is updated"):
            EMA().build(model)
        with pytest.raises(NetError, match="nothing updates parameter 'fc_w'"):
            EMA().build(model, model.params()[:1])

    def test_twice(self) -> None:
        model = linear()
        SGD().build(model)
        SWA().build(model)
        EMA().build(model)
        with pytest.raises(NetError, match="'fc_w' is averaged already"):
            EMA().build(model)

    def test_applied_to_what_trains_or_reads_none(self) -> None:
        model = linear()
        SGD().build(model)
        with pytest.raises(NetError, match="reads no parameter that EMA averages"):
            EMA().applied(model, model.for_inference("fc").net)
        EMA().build(model)
        with pytest.raises(NetError, match="updates parameter 'fc_w'"):
            EMA().applied(model, model.net)

    @pytest.mark.parametrize(
        "make", [lambda: EMA(decay=1.0), lambda: EMA(decay=-0.1), lambda: SWA(start=0), lambda: SWA(interval=1.5)]
    )  # type: ignore[arg-type]
    def test_values(self, make: Any) -> None:
        with pytest.raises(SchemaError, match=r"EMA: 'decay'|SWA: '(start|interval)'"):
            make()


# ---------------------------------------------------------------------- schedules


SCHEDULES = {
    "cosine": ({"max_iter": 10}, lambda i: (1 + np.cos(np.pi * min(i / 10, 1))) / 2),
    "poly": (
        {"max_iter": 10, "power": 0.5, "end_lr": 0.02},
        lambda i: max((1 - min(i / 10, 1)) ** 0.5, 0.2 if i > 3 else 0),
    ),
    "multistep": ({"steps": [5, 8], "gamma": 0.5}, lambda i: 0.5 ** ((i >= 5) + (i >= 8))),
}


@pytest.mark.parametrize("policy", SCHEDULES)
@pytest.mark.parametrize("optimizer", [SGD, AdamW])
@pytest.mark.parametrize("grouped", [False, True], ids=["alone", "grouped"])
def test_warm_up_with_schedules(policy: str, optimizer: Any, grouped: bool) -> None:
    """The multiplier of a group acts on the whole schedule, its end too."""
    options, formula = SCHEDULES[policy]
    schedule = {"warmup_iters": 4, "warmup_factor": 0.25, **options}
    made = optimizer(base_learning_rate=0.1, rate_operator="WarmupLearningRate", policy=policy, schedule=schedule)
    model = linear()
    if grouped:
        build_groups(param_groups(model, [Rule(lr_multiplier=0.1)]), made)
    else:
        made.build(model)
    rate = next(op.outputs[0] for op in model.net.definition.ops if op.type == "WarmupLearningRate")
    ws = started(model, x=X)
    for i in range(12):
        ws.run(model.net)
        warm = 1 if i >= 4 else 0.25 * (1 - i / 4) + i / 4
        expected = (0.01 if grouped else 0.1) * warm * formula(i)
        np.testing.assert_allclose(abs(float(ws.fetch(rate))), expected, rtol=1e-6, atol=1e-12)


def test_layerwise_decay() -> None:
    model = nd.Model("m")
    for name in ("embed_w", "block1/w", "block1/attn/w", "block2/w", "block10/w", "head_w"):
        model.parameter(name, [2], "ConstantFill")
    groups = param_groups(model, optimizers.layerwise_decay(["block1", "block2", "block10"], 0.5))
    assert {name: s.lr_multiplier for name, s in groups.items()} == {
        "embed_w": 1, "block1/w": 0.25, "block1/attn/w": 0.25, "block2/w": 0.5, "block10/w": 1, "head_w": 1,
    }  # fmt: skip
    assert groups["block2/w"].decided == {"lr_multiplier": "layer 2 of 3"}
    with pytest.raises(SchemaError, match="takes the scopes"):
        optimizers.layerwise_decay("block1", 0.5)
    with pytest.raises(SchemaError, match="'decay' is positive"):
        optimizers.layerwise_decay(["block1"], 0)


# ---------------------------------------------------------------------- mistakes


def test_building_twice_is_refused_and_changes_nothing() -> None:
    model = linear()
    groups = param_groups(model, [])
    build_groups(groups, AdamW())
    before = model.net.definition
    for again in (lambda: build_groups(groups, SGD()), lambda: SGD().build(model)):
        with pytest.raises(NetError, match="'fc_w' is trained already") as caught:
            again()
        assert caught.value.details["updated by"] == "AdamW"
    assert model.net.definition == before


@pytest.mark.parametrize(
    ("optimizer", "scale", "message"),
    [
        (AdamW, None, "is an Optimizer"),
        (optimizers.MasterWeightSGD(), None, "takes no part in groups"),
        (optimizers.Adam(), LossScale(), "cannot skip a step"),
        (AdamW(), LossScale(), "no scaled loss"),
    ],
)
def test_optimizers_that_cannot_take_part(optimizer: Any, scale: Any, message: str) -> None:
    model = linear()
    before = model.net.definition
    with pytest.raises((SchemaError, NetError), match=message):
        build_groups(param_groups(model, []), optimizer, loss_scale=scale)
    assert model.net.definition == before
    build_groups(param_groups(model, []), AdamW())


def test_models_without_anything_to_train() -> None:
    empty, frozen = nd.Model("empty"), linear(loss=False)
    groups = param_groups(frozen, [Rule(freeze=True)])
    for model, found in ((empty, param_groups(empty, [])), (frozen, groups)):
        assert found.trained == []
        with pytest.raises(NetError, match=f"no parameter of model {model.name!r} has a gradient"):
            build_groups(found, SGD())
    assert empty.describe_groups() == "no parameters"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Clip("norms"), "no clipping is called 'norms'"),
        (lambda: Clip("norm", 0), "'limit' is positive"),
        (lambda: Clip("norm", "1"), "'limit' is a number"),  # type: ignore[arg-type]
        (lambda: Clip("norm", 1.0, -1.0), "'norm_type' is positive"),
        (lambda: AdamW(weight_decay=-0.1), "'weight_decay' is zero or positive"),
        (lambda: SGD(base_learning_rate=float("inf")), "'base_learning_rate' is finite"),
        (lambda: SGD(schedule={"base_lr": 0.1}), "'schedule' takes no 'base_lr'"),
        (lambda: AdamW(schedule={"policy": "step"}), "'schedule' takes no 'policy'"),
    ],
)
def test_bad_values(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()


@pytest.mark.parametrize(
    "last",
    [SGD(policy="stp"), SGD(rate_operator="LearningRates"), AdamW(beta1=2.0)],
    ids=["policy", "operator", "beta1"],
)
def test_a_build_that_fails_at_the_last_parameter_leaves_the_model_as_it_was(last: optimizers.Optimizer) -> None:
    model = linear()
    before = (model.net.definition, model.init_net.definition)
    groups = param_groups(model, [Rule(name="fc_b", optimizer=last, label="last")])
    with pytest.raises(NetdslError):
        build_groups(groups, AdamW(), clip=Clip())
    assert (model.net.definition, model.init_net.definition) == before
    build_groups(param_groups(model, []), AdamW())
    assert [row["optimizer"] for row in model.describe()] == ["AdamW", "AdamW"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"clip": 1.0}, "'clip' is of the wrong kind"), ({"loss_scale": 1024}, "'loss_scale' is of the wrong kind")],
)
def test_what_is_given_to_groups_is_checked(wrong: dict[str, Any], message: str) -> None:
    model = linear()
    with pytest.raises(SchemaError, match=message):
        build_groups(param_groups(model, []), SGD(), **wrong)
    with pytest.raises(SchemaError, match="groups are what param_groups returns"):
        build_groups([], SGD())  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="takes the scopes of the layers"):
        optimizers.layerwise_decay(None, 0.5)  # type: ignore[arg-type]


def test_tables_tell_the_decay_of_an_optimizer_built_alone() -> None:
    model = linear()
    AdamW(weight_decay=0.25).build(model)
    assert {(row["weight_decay"], row["decay"]) for row in model.describe()} == {(0.25, "decoupled")}
    assert "0.25 decoupled" in model.describe_groups()


@pytest.mark.parametrize("name", ["gradient_norm", "gradient_clip_factor", "nonfinite"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_blob_of_the_author_is_not_overwritten(name: str, declared: bool) -> None:
    model = nd.Model("m")
    y = layers.fc(model, model.input("x", ("N", 3)), "fc", 3, 2)
    if declared:
        model.input(name, (1,))
    else:
        model.net.Relu(y, name)
    scale = optimizers.LossScale()
    model.add_gradients(scale.scaled(model, model.net.AveragedLoss(y, "loss")))
    before = model.net.dump()
    groups = optimizers.param_groups(model, [optimizers.Rule(weight_decay=0.1)])
    with pytest.raises(NetError, match=f"has a blob '{name}' already"):
        optimizers.build_groups(groups, optimizers.AdamW(), clip=optimizers.Clip(), loss_scale=scale)
    assert model.net.dump() == before


def test_a_learning_rate_takes_a_name_that_is_free() -> None:
    model = nd.Model("m")
    y = layers.fc(model, model.input("x", ("N", 3)), "fc", 3, 2)
    model.input("sgd_lr", (1,))
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    optimizers.SGD().build(model)
    assert [op.outputs for op in model.net.definition.ops if op.type == "LearningRate"] == [("sgd_lr_2",)]
