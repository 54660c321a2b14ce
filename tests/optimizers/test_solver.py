"""build_optimizer: the seed's configuration, its two readings, and its errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.analysis.check import check
from netdsl.dsl import Blob
from netdsl.errors import FileFormatError, NetError, SchemaError
from netdsl.initializers import PseudoFP16Initializer
from netdsl.optimizers.solver import module_and_name

SOLVER = {
    "OPTIMIZER": "ADAMW",
    "BASE_LR": 0.1,
    "WEIGHT_DECAY": 0.05,
    "WEIGHT_DECAY_NORM": 0.0,
    "WEIGHT_DECAY_EMBED": 0.01,
    "BACKBONE_MULTIPLIER": 0.1,
}

KINDS = {
    "backbone.proj.weight": "fc",
    "backbone.proj.bias": "fc",
    "backbone.norm.weight": "layer_norm",
    "backbone.norm.bias": "layer_norm",
    "backbone.attn.relative_position_bias_table": "attention",
    "backbone.absolute_pos_embed": "position",
    "backbone.bias_gate.weight": "fc",
    "head.query.weight": "embedding",
    "head.fc.weight": "fc",
    "head.fc.bias": "fc",
}


def c27_model() -> nd.Model:
    model = nd.Model("m")
    for name, kind in KINDS.items():
        p = model.parameter(name, [2, 2], "ConstantFill", kind=kind)
        p.grad = Blob(f"{name}_grad", model.net)
    return model


def decided(built: optimizers.BuiltOptimizer) -> dict[str, tuple[float, float | None]]:
    return {s.parameter.name: (round(0.1 * s.lr_multiplier, 9), s.weight_decay) for s in built.groups.trained}


def test_c27_as_meant() -> None:
    built = optimizers.build_optimizer({"SOLVER": SOLVER}, c27_model())
    assert decided(built) == {
        "backbone.proj.weight": (0.01, 0.05),
        "backbone.proj.bias": (0.01, 0),
        "backbone.norm.weight": (0.01, 0),
        "backbone.norm.bias": (0.01, 0),
        "backbone.attn.relative_position_bias_table": (0.01, 0),
        "backbone.absolute_pos_embed": (0.01, 0),
        "backbone.bias_gate.weight": (0.01, 0.05),
        "head.query.weight": (0.1, 0.01),
        "head.fc.weight": (0.1, 0.05),
        "head.fc.bias": (0.1, 0),
    }


def test_as_written_biases_decay_and_a_bias_module_does_not() -> None:
    built = optimizers.build_optimizer({"SOLVER": SOLVER}, c27_model(), reading="as_written")
    found = decided(built)
    assert found["backbone.proj.bias"] == (0.01, 0.05)
    assert found["backbone.bias_gate.weight"] == (0.01, 0)
    assert found["head.fc.bias"] == (0.1, 0.05)


def test_the_report_says_where_the_readings_differ() -> None:
    report = optimizers.build_optimizer({"SOLVER": SOLVER}, c27_model()).report()
    assert "head.fc.bias: weight decay 0.05 as written, 0 as meant" in report
    assert "backbone.bias_gate.weight: weight decay 0 as written, 0.05 as meant" in report
    assert "backbone.norm.bias" not in report


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("backbone.fc1.weight", ("backbone.fc1", "weight")),
        ("backbone/fc1_w", ("backbone.fc1", "weight")),
        ("backbone/fc1_b", ("backbone.fc1", "bias")),
        ("norm_scale", ("norm", "weight")),
        ("absolute_pos_embed", ("", "absolute_pos_embed")),
    ],
)
def test_names_of_both_manners(name: str, expected: tuple[str, str]) -> None:
    assert module_and_name(nd.Parameter(Blob(name))) == expected


# ---------------------------------------------------------------------- the seed's loop, written out


class Module(NamedTuple):
    """A module of PyTorch: its dotted name, its class, and its parameters: name, requires_grad, what it is."""

    name: str
    kind: str
    parameters: list[tuple[str, bool, int]]


NORM_TYPES = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm", "InstanceNorm2d", "LayerNorm"]
OUR_KINDS = {
    "BatchNorm2d": "spatial_bn",
    "LayerNorm": "layer_norm",
    "GroupNorm": "group_norm",
    "InstanceNorm2d": "instance_norm",
    "Embedding": "embedding",
    "Linear": "fc",
    "Conv2d": "conv",
}
MODULES = [
    Module("", "Net", [("absolute_pos_embed", True, 0), ("bias", True, 1), ("weight", True, 2)]),
    Module("backbone", "Swin", [("absolute_pos_embed", True, 3)]),
    Module("backbone.patch_embed.proj", "Conv2d", [("weight", True, 4), ("bias", True, 5)]),
    Module("backbone.patch_embed.norm", "LayerNorm", [("weight", True, 6), ("bias", True, 7)]),
    Module(
        "backbone.layers.0.attn", "Attention", [("relative_position_bias_table", True, 8), ("logit_scale", True, 9)]
    ),
    Module("backbone.layers.0.attn.qkv", "Linear", [("weight", True, 10), ("bias", True, 11)]),
    Module("backbone.layers.0.bias_gate", "Linear", [("weight", True, 12), ("bias", True, 13)]),
    Module("backbone.layers.0.bias_norm", "GroupNorm", [("weight", True, 14), ("bias", True, 15)]),
    Module("backbone.frozen", "Linear", [("weight", False, 16), ("bias", False, 17)]),
    Module("sem_seg.query_embed", "Embedding", [("weight", True, 18)]),
    Module("sem_seg.bias_embed", "Embedding", [("weight", True, 19)]),
    Module("sem_seg.tied", "Linear", [("weight", True, 18), ("bias", True, 20)]),
    Module("sem_seg.norm", "BatchNorm2d", [("weight", True, 21), ("bias", True, 22)]),
    Module("sem_seg.norm.relative_position_bias_table", "InstanceNorm2d", [("weight", True, 23), ("biased", True, 24)]),
    Module("my_backbone_2.absolute_pos_embedding", "LayerNorm", [("absolute_pos_embed", True, 25)]),
]


def seed_groups(solver: dict[str, Any], reading: str) -> list[tuple[str, float, float]]:
    """The seed's loop; ``as_meant`` asks the parameter's own name where the seed asks the module's."""
    groups, memo = [], set()
    for module_name, module_type, parameters in MODULES:
        for param_name, requires_grad, identity in parameters:
            if not requires_grad or identity in memo:
                continue
            memo.add(identity)
            full = f"{module_name}.{param_name}"
            lr, weight_decay = solver["BASE_LR"], solver["WEIGHT_DECAY"]
            for key, factor in solver["LR_MULTIPLIER"].items():
                if key in full:
                    lr *= factor
            if "backbone" in module_name:
                lr *= solver["BACKBONE_MULTIPLIER"]
            if "relative_position_bias_table" in param_name or "absolute_pos_embed" in param_name:
                weight_decay = 0.0
            if module_type in NORM_TYPES:
                weight_decay = solver["WEIGHT_DECAY_NORM"]
            if module_type == "Embedding":
                weight_decay = solver["WEIGHT_DECAY_EMBED"]
            if "bias" in module_name if reading == "as_written" else param_name == "bias":
                weight_decay = solver["WEIGHT_DECAY_BIAS"]
            groups.append((full.lstrip("."), lr, weight_decay))
    return groups


def seed_model() -> nd.Model:
    model, memo = nd.Model("m"), set()
    for module in MODULES:
        for name, requires_grad, identity in module.parameters:
            if identity not in memo:
                memo.add(identity)
                full = f"{module.name}.{name}".lstrip(".")
                made = model.parameter(full, [2], "ConstantFill", kind=OUR_KINDS.get(module.kind, ""))
                made.frozen = not requires_grad
                made.grad = Blob(f"{full}_grad", model.net) if requires_grad else None
    return model


@pytest.mark.parametrize("name", ["ADAMW", "SGD"])
@pytest.mark.parametrize("reading", ["as_written", "as_meant"])
@pytest.mark.parametrize(
    "multipliers",
    [{}, {"backbone": 0.5, "attn": 0.25, ".weight": 3.0}, {"": 2.0, ".absolute_pos_embed": 7.0, "norm.b": 0.0}],
    ids=len,
)
def test_the_groups_are_exactly_the_seeds(multipliers: dict[str, float], reading: Any, name: str) -> None:
    solver = {
        "OPTIMIZER": name,
        "BASE_LR": 0.1,
        "WEIGHT_DECAY": 0.05,
        "WEIGHT_DECAY_NORM": 0.03,
        "WEIGHT_DECAY_EMBED": 0.02,
        "WEIGHT_DECAY_BIAS": 0.01,
        "LR_MULTIPLIER": multipliers,
        "BACKBONE_MULTIPLIER": 0.1,
    }
    model = seed_model()
    built = optimizers.build_optimizer({"SOLVER": solver}, model, reading=reading)
    expected = seed_groups(solver, reading)
    found = [(s.parameter.name, 0.1 * s.lr_multiplier, s.weight_decay) for s in built.groups.trained]
    assert [row[0] for row in found] == [row[0] for row in expected]
    np.testing.assert_allclose([row[1:] for row in found], [row[1:] for row in expected], rtol=1e-9)
    assert built.groups.unmatched == ()
    in_net = steps_of(model)
    assert in_net == {row[0]: pytest.approx(row[1:], rel=1e-6) for row in expected if row[1]}
    both = [{n: d for n, _, d in seed_groups(solver, r)} for r in ("as_written", "as_meant")]
    differ = {n: (both[0][n], both[1][n]) for n in both[0] if both[0][n] != both[1][n]}
    assert {d.parameter: (d.as_written, d.as_meant) for d in built.differences} == differ
    assert {"backbone.layers.0.bias_gate.weight", "bias", "sem_seg.norm.bias"} <= set(differ)


def steps_of(model: nd.Model) -> dict[str, tuple[float, float]]:
    """Learning rate and decay of each parameter, as the operators of the net have them."""
    writers = {name: op for op in model.net.definition.ops for name in op.outputs}
    fills = {op.outputs[0]: op.args.get("value") for op in model.init_net.definition.ops}
    found: dict[str, tuple[float, float]] = {}
    decays: dict[str, float] = {}
    for op in model.net.definition.ops:
        if op.type == "AdamW":
            found[op.inputs[0]] = (writers[op.inputs[4]].args["base_lr"], op.args["weight_decay"])
        elif op.type == "WeightedSum":
            decays[op.inputs[2]] = fills[op.inputs[3]]
        elif op.type == "MomentumSGDUpdate":
            found[op.inputs[3]] = (writers[op.inputs[2]].args["base_lr"], decays.get(op.inputs[3], 0.0))
    return found


def linear() -> nd.Model:
    model = nd.Model("m")
    y = layers.fc(model, model.input("x", ("N", 3)), "fc", 3, 2)
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    return model


def test_schedule_and_clipping_become_operators() -> None:
    solver = {
        "OPTIMIZER": "sgd",
        "BASE_LR": 0.5,
        "LR_SCHEDULER_NAME": "WarmupCosineLR",
        "MAX_ITER": 10,
        "WARMUP_ITERS": 2,
        "WARMUP_FACTOR": 0.5,
        "CLIP_GRADIENTS": {"ENABLED": True, "CLIP_TYPE": "full_model", "CLIP_VALUE": 0.1},
    }
    model = linear()
    optimizers.build_optimizer({"SOLVER": solver}, model)
    types = [op.type for op in model.net.definition.ops]
    assert types.count("WarmupLearningRate") == 1
    assert types.index("ClipFactor") < types.index("WeightedSum") < types.index("MomentumSGDUpdate")
    ws = nd.Workspace()
    ws.feed("x", np.ones((2, 3), "f4"))
    ws.run(model.init_net)
    rates = []
    for _ in range(4):
        ws.run(model.net)
        rates.append(float(ws.fetch("sgd_lr")))
    cosine = [0.5 * (1 + np.cos(np.pi * i / 10)) for i in range(4)]
    np.testing.assert_allclose(
        rates, [0.5 * 0.5 * cosine[0], 0.5 * 0.75 * cosine[1], 0.5 * cosine[2], 0.5 * cosine[3]], rtol=1e-6
    )


def test_a_yaml_file(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("SOLVER:\n  OPTIMIZER: ADAMW\n  BASE_LR: 0.01\n  STEPS: [5, 8]\n")
    model = linear()
    built = optimizers.build_optimizer(path, model)
    assert isinstance(built.optimizer, optimizers.AdamW)
    path.write_text("SOLVER: [")
    with pytest.raises(FileFormatError, match="no YAML file"):
        optimizers.build_optimizer(path, linear())


@pytest.mark.parametrize(
    ("solver", "message", "near"),
    [
        ({"OPTIMISER": "SGD"}, "SOLVER has no key 'OPTIMISER'", "OPTIMIZER"),
        ({"OPTIMIZER": "ADAMWW"}, "SOLVER.OPTIMIZER: 'ADAMWW' is unknown", "ADAMW"),
        ({"BASE_LR": -0.1}, "SOLVER.BASE_LR is zero or positive", None),
        ({"BASE_LR": "0.1"}, "SOLVER.BASE_LR is a number", None),
        (
            {"LR_SCHEDULER_NAME": "WarmupCosinLR"},
            "SOLVER.LR_SCHEDULER_NAME: 'WarmupCosinLR' is unknown",
            "WarmupCosineLR",
        ),
        ({"CLIP_GRADIENTS": {"ENABLE": True}}, "SOLVER.CLIP_GRADIENTS has no key 'ENABLE'", "ENABLED"),
        ({"CLIP_GRADIENTS": {"ENABLED": True, "CLIP_TYPE": "values"}}, "CLIP_TYPE: 'values' is unknown", "value"),
        ({"CLIP_GRADIENTS": {"ENABLED": True, "CLIP_VALUE": 0}}, "CLIP_GRADIENTS.CLIP_VALUE is positive", None),
        ({"CLIP_GRADIENTS": {"ENABLED": "yes"}}, "CLIP_GRADIENTS.ENABLED is true or false", None),
        ({"CLIP_GRADIENTS": None}, "SOLVER.CLIP_GRADIENTS is a mapping", None),
        ({"BASE_LR": float("nan")}, "SOLVER.BASE_LR is zero or positive", None),
        ({"BASE_LR": float("inf")}, "SOLVER.BASE_LR is finite", None),
        ({"WEIGHT_DECAY": None}, "SOLVER.WEIGHT_DECAY is a number", None),
        ({"BACKBONE_MULTIPLIER": -1.0}, "SOLVER.BACKBONE_MULTIPLIER is zero or positive", None),
        ({"STEPS": "abc"}, "SOLVER.STEPS is a list of whole numbers", None),
        ({"STEPS": 3000}, "SOLVER.STEPS is a list of whole numbers", None),
        ({"STEPS": [5, 3]}, "SOLVER.STEPS are in order", None),
        ({"MAX_ITER": "many"}, "SOLVER.MAX_ITER is a whole number", None),
        ({"MAX_ITER": 0, "LR_SCHEDULER_NAME": "WarmupPolyLR"}, "SOLVER.MAX_ITER is positive", None),
        ({"WARMUP_ITERS": -1}, "SOLVER.WARMUP_ITERS is a whole number", None),
        ({"WARMUP_ITERS": 5, "WARMUP_METHOD": "lineer"}, "SOLVER.WARMUP_METHOD: 'lineer' is unknown", "linear"),
        ({"WARMUP_METHOD": "lineer"}, "SOLVER.WARMUP_METHOD: 'lineer' is unknown", "linear"),
        ({"POLY_LR_CONSTANT_ENDING": 2.0, "LR_SCHEDULER_NAME": "WarmupPolyLR"}, "ENDING is at most 1", None),
        ({"NESTEROV": 1}, "SOLVER.NESTEROV is true or false", None),
        ({"OPTIMIZER": 3}, "SOLVER.OPTIMIZER is a text", None),
        ({"LR_MULTIPLIER": [1]}, "SOLVER.LR_MULTIPLIER is a mapping", None),
        ({"LR_MULTIPLIER": {3: 1.0}}, "a key is part of a parameter's name", None),
        ({3: 1}, "SOLVER has no key 3", None),
        ({"LR_MULTIPLIER": {"fc": -1}}, r"SOLVER.LR_MULTIPLIER\['fc'\] is zero or positive", None),
    ],
)
def test_errors_name_the_key(solver: dict[str, Any], message: str, near: str | None) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        optimizers.build_optimizer({"SOLVER": solver}, linear())
    if near is not None:
        assert near in str(caught.value.details["did you mean"])


def test_yaml_as_detectron_writes_it(tmp_path: Any) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "base.yaml").write_text("SOLVER: {OPTIMIZER: ADAMW, CLIP_GRADIENTS: {ENABLED: true, CLIP_VALUE: 0.5}}")
    path = tmp_path / "configs" / "coco.yaml"
    path.write_text("_BASE_: ../base.yaml\nSOLVER:\n  STEPS: (3, 5)\n  CLIP_GRADIENTS: {CLIP_VALUE: 0.01}\n")
    model = linear()
    optimizers.build_optimizer(path, model)
    ops = {op.type: op.args for op in model.net.definition.ops}
    assert list(ops["WarmupLearningRate"]["steps"]) == [3, 5]
    assert ops["ClipFactor"]["max_norm"] == np.float32(0.01)
    assert "AdamW" in ops


def test_bases_that_cannot_be_read(tmp_path: Any) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("_BASE_: two.yaml")
    two.write_text("_BASE_: one.yaml")
    with pytest.raises(SchemaError, match="leads back"):
        optimizers.build_optimizer(one, linear())
    two.write_text("_BASE_: 3")
    with pytest.raises(SchemaError, match="_BASE_ is the path of a YAML file"):
        optimizers.build_optimizer(one, linear())
    with pytest.raises(SchemaError, match="_BASE_ is read from YAML files only"):
        optimizers.build_optimizer({"_BASE_": "one.yaml", "SOLVER": {}}, linear())


def test_yaml_numbers_without_a_dot_are_explained(tmp_path: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("SOLVER: {BASE_LR: 1e-4}\n")
    with pytest.raises(SchemaError, match=r"SOLVER\.BASE_LR is a number") as caught:
        optimizers.build_optimizer(path, linear())
    assert "1.0e-4" in caught.value.details["fix"]


def test_a_configuration_of_the_seeds_project(tmp_path: Any) -> None:
    path = tmp_path / "maskformer.yaml"
    path.write_text(
        "MODEL: {WEIGHTS: x.pkl}\n"
        "SOLVER:\n"
        "  IMS_PER_BATCH: 16\n"
        "  OPTIMIZER: ADAMW\n"
        "  BASE_LR: 0.0001\n"
        "  MAX_ITER: 160000\n"
        "  WARMUP_FACTOR: 1.0\n"
        "  WARMUP_ITERS: 0\n"
        "  WEIGHT_DECAY: 0.0001\n"
        "  LR_SCHEDULER_NAME: WarmupPolyLR\n"
        "  POLY_LR_POWER: 0.9\n"
        "  POLY_LR_CONSTANT_ENDING: 0.01\n"
        "  CLIP_GRADIENTS: {ENABLED: True, CLIP_TYPE: full_model, CLIP_VALUE: 0.01, NORM_TYPE: 2.0}\n"
    )
    model = linear()
    built = optimizers.build_optimizer(path, model)
    assert "SOLVER.IMS_PER_BATCH is not used" in built.report()
    (rate,) = (op for op in model.net.definition.ops if op.type == "WarmupLearningRate")
    assert rate.args["end_lr"] == np.float32(1e-6)
    assert (rate.args["policy"], rate.args["max_iter"]) == ("poly", 160000)
    assert check(model.init_net.definition, model.net.definition) == []


def test_with_loss_scaling_and_masters() -> None:
    scale = optimizers.LossScale(initial=16.0)
    model = nd.Model("m")
    model.initializer_class = PseudoFP16Initializer
    y = layers.fc(model, model.input("x", ("N", 3), "float16"), "fc", 3, 2)
    model.add_gradients(scale.scaled(model, model.net.AveragedLoss(model.net.HalfToFloat(y, "y"), "loss")))
    optimizers.build_optimizer({"SOLVER": SOLVER | {"BACKBONE_MULTIPLIER": 1.0}}, model, loss_scale=scale)
    assert check(model.init_net.definition, model.net.definition) == []
    assert [op.inputs[0] for op in model.net.definition.ops if op.type == "AdamW"] == ["fc_w_fp32", "fc_b_fp32"]


def test_a_name_that_only_ends_in_bias_is_none_as_meant() -> None:
    model = nd.Model("m")
    for name in ("attn.position_bias", "attn/position_bias", "attn/bias"):
        model.parameter(name, [2], "ConstantFill").grad = Blob(f"{name}_grad", model.net)
    found = decided(optimizers.build_optimizer({"SOLVER": SOLVER | {"BACKBONE_MULTIPLIER": 1.0}}, model))
    assert {name: decay for name, (_, decay) in found.items()} == {
        "attn.position_bias": 0.05, "attn/position_bias": 0.05, "attn/bias": 0,
    }  # fmt: skip


def test_twice_is_refused() -> None:
    model = linear()
    optimizers.build_optimizer({"SOLVER": {}}, model)
    with pytest.raises(NetError, match="trained already"):
        optimizers.build_optimizer({"SOLVER": {}}, model)


@pytest.mark.parametrize("cfg", [0, None, 1.5], ids=str)
def test_what_is_no_configuration(cfg: Any) -> None:
    with pytest.raises(SchemaError, match="a configuration is a mapping or the path"):
        optimizers.build_optimizer(cfg, linear())


def test_other_errors() -> None:
    with pytest.raises(SchemaError, match="no SOLVER section"):
        optimizers.build_optimizer({"SOLVR": {}}, linear())
    with pytest.raises(SchemaError, match="no reading is called 'as_ment'"):
        optimizers.build_optimizer({"SOLVER": {}}, linear(), reading="as_ment")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="no reading is called"):
        optimizers.build_optimizer({"SOLVER": {}}, linear(), reading=["as_meant"])  # type: ignore[arg-type]
    model = nd.Model("m")
    model.parameter("w", [2])
    with pytest.raises(NetError, match="no parameter of model 'm' has a gradient"):
        optimizers.build_optimizer({"SOLVER": {}}, model)


def test_a_multiplier_that_matches_nothing_is_reported() -> None:
    with pytest.warns(optimizers.UnmatchedRule, match=r"LR_MULTIPLIER\[conv\]"):
        built = optimizers.build_optimizer({"SOLVER": {"LR_MULTIPLIER": {"conv": 2.0}}}, linear())
    assert "LR_MULTIPLIER[conv]" in built.report()


def test_a_multiplier_that_matches_nothing_names_the_near_ones() -> None:
    model = nd.Model("m")
    y = layers.fc(model, model.input("x", ("N", 3)), "encoder", 3, 2)
    model.add_gradients(model.net.AveragedLoss(y, "loss"))
    with pytest.warns(optimizers.UnmatchedRule, match="did you mean encoder"):
        optimizers.build_optimizer({"SOLVER": {"LR_MULTIPLIER": {"encodr": 2.0}}}, model)
