"""build_optimizer: the seed's configuration, its two readings, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.dsl import Blob
from netdsl.errors import FileFormatError, NetError, SchemaError
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
        ({"LR_MULTIPLIER": {"fc": -1}}, r"SOLVER.LR_MULTIPLIER\['fc'\] is zero or positive", None),
    ],
)
def test_errors_name_the_key(solver: dict[str, Any], message: str, near: str | None) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        optimizers.build_optimizer({"SOLVER": solver}, linear())
    if near is not None:
        assert near in str(caught.value.details["did you mean"])


def test_other_errors() -> None:
    with pytest.raises(SchemaError, match="no SOLVER section"):
        optimizers.build_optimizer({"SOLVR": {}}, linear())
    with pytest.raises(SchemaError, match="no reading is called 'as_ment'"):
        optimizers.build_optimizer({"SOLVER": {}}, linear(), reading="as_ment")  # type: ignore[arg-type]
    model = nd.Model("m")
    model.parameter("w", [2])
    with pytest.raises(NetError, match="no parameter of model 'm' has a gradient"):
        optimizers.build_optimizer({"SOLVER": {}}, model)


def test_a_multiplier_that_matches_nothing_is_reported() -> None:
    with pytest.warns(optimizers.UnmatchedRule, match=r"LR_MULTIPLIER\[conv\]"):
        built = optimizers.build_optimizer({"SOLVER": {"LR_MULTIPLIER": {"conv": 2.0}}}, linear())
    assert "LR_MULTIPLIER[conv]" in built.report()
