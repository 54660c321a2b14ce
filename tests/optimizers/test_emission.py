"""The operators that optimizers append equal those measured on Caffe2, one for one.

Names that carry Caffe2's process-wide counter (``SgdOptimizer_0_lr_cpu``) are ours without it (``sgd_lr``),
and constants that Caffe2 appends once a parameter (``ONE_0_0``) stand once.

Of what was measured, these are not offered and so not compared: Adagrad's effective rates, counters, masks,
pruning, SWA, EMA and weight scale; Adam's adaption of the rate; clipping by norm and injected rates of ``build_sgd``
(see ``Clip``). MultiPrecisionSGD with ``lars`` differs on purpose: Caffe2 does not heed it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import netdsl as nd
from netdsl import initializers, optimizers
from netdsl.dsl import Blob, Parameter, SparseGradient, Tag
from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType

DATA = json.loads((Path(__file__).parent.parent / "data" / "optimizers" / "emission.json").read_text())
OURS = {
    "SgdOptimizer": (optimizers.SGD, "sgd"),
    "MultiPrecisionSgdOptimizer": (optimizers.MultiPrecisionSGD, "multi_precision_sgd"),
    "FP16SgdOptimizer": (optimizers.FP16SGD, "fp16_sgd"),
    "AdagradOptimizer": (optimizers.Adagrad, "adagrad"),
    "AdamOptimizer": (optimizers.Adam, "adam"),
}
KEYWORDS = {
    "alpha": "base_learning_rate",
    "rowWise": "row_wise",
    "enableRAdam": "rectified",
    "sparse_dedup_aggregator": "sparse_dedup",
}
SCHEDULE = ("stepsize", "gamma")
DEFAULT_RATE = {"MultiPrecisionSgdOptimizer": 0.1, "AdamOptimizer": 0.001}


def renamed(name: str) -> str:
    """Caffe2's name as ours: without the optimizer's counter and device suffix."""
    for theirs, (_, ours) in OURS.items():
        name = re.sub(rf"^{theirs}_\d+_(.*)_cpu$", rf"{ours}_\1", name)
    return name


def expected(ops: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    found = []
    for op in ops:
        args = {k: v for k, v in op["args"].items() if v is not None}
        row = (op["type"], tuple(map(renamed, op["inputs"])), tuple(map(renamed, op["outputs"])), nd.ir.Args(args))
        repeated_constant = row in found and not row[1]
        if not repeated_constant:
            found.append(row)
    return found


def emitted(net: Any, start: int = 0) -> list[tuple[Any, ...]]:
    return [(op.type, op.inputs, op.outputs, op.args) for op in net.definition.ops[start:]]


def dense_model() -> nd.Model:
    model = nd.Model("m")
    for name, shape, tag in (("fc_w", (2, 3), Tag.WEIGHT), ("fc_b", (2,), Tag.BIAS)):
        model.parameters[name] = Parameter(Blob(name, model.net), shape, tag, grad=Blob(f"{name}_grad", model.net))
    return model


def sparse_model() -> nd.Model:
    model = nd.Model("m")
    grad = SparseGradient(Blob("ids", model.net), Blob("g_grad", model.net))
    model.parameters["emb"] = Parameter(Blob("emb", model.net), (5, 3), Tag.WEIGHT, grad=grad)
    return model


def made(name: str, kwargs: dict[str, Any]) -> optimizers.Optimizer:
    given = {KEYWORDS.get(k, k): v for k, v in kwargs.items() if k not in SCHEDULE}
    given.setdefault("base_learning_rate", DEFAULT_RATE.get(name, 0.01))
    return OURS[name][0](**given, schedule={k: kwargs[k] for k in SCHEDULE if k in kwargs})


def class_cases() -> list[Any]:
    return [
        pytest.param(name, case, id=f"{name}-{case['label']}-{case['gradient']}")
        for name, cases in DATA["classes"].items()
        for case in cases
    ]


OURS_REFUSES = {("AdamOptimizer", "RAdam", "dense")}
"""Caffe2 ignores enableRAdam on a dense gradient; ignoring an argument silently is not for us."""


@pytest.mark.parametrize(("name", "case"), class_cases())
def test_class(name: str, case: dict[str, Any]) -> None:
    model = sparse_model() if case["gradient"] == "sparse" else dense_model()
    refused = case.get("error") or (name, case["label"], case["gradient"]) in OURS_REFUSES
    if refused:
        with pytest.raises(SchemaError):
            made(name, case["kwargs"]).build(model)
        return
    made(name, case["kwargs"]).build(model)
    assert emitted(model.init_net) == expected(case["param_init_net"])
    assert emitted(model.net) == expected(case["net"])


def half_model(label: str) -> nd.Model:
    kind = (
        initializers.ReversePseudoFP16Initializer
        if "FLOAT16" in label
        else initializers.Initializer
        if "None" in label
        else initializers.PseudoFP16Initializer
    )
    base = "conv1_spatbn" if "spatbn" in label else "conv1"
    model = nd.Model("m")
    model.initializer_class = kind
    weight = model.parameter(f"{base}_w", [2, 3], "XavierFill")
    bias = model.parameter(f"{base}_b", [2], "ConstantFill", tag=Tag.BIAS)
    for p in (weight, bias):
        single = p.blob_copy == {} or "spatbn" in label
        dtype = DType.FLOAT if single else DType.FLOAT16
        p.grad = Blob(f"{p}_grad", model.net)
        model.net.set_type(p.grad, TensorType(dtype, p.shape))
        if "spatbn" in label:
            model.net.set_type(p.blob, TensorType(DType.FLOAT, p.shape))
            model.init_net.set_type(p.blob, TensorType(DType.FLOAT, p.shape))
    return model


FP16_KEYWORDS: dict[str, dict[str, Any]] = {
    "blob_copy FLOAT, momentum 0, nesterov False, wd 0.01": {"momentum": 0.0, "nesterov": False, "weight_decay": 0.01},
    "policy step": {"policy": "step", "schedule": {"stepsize": 10, "gamma": 0.1}},
}


@pytest.mark.parametrize("label", [k for k, v in DATA["fp16"].items() if isinstance(v, dict)])
def test_fp16(label: str) -> None:
    case = DATA["fp16"][label]
    model = half_model(label)
    start = len(model.init_net.definition.ops)
    assert emitted(model.init_net) == expected(case["param_creation"])
    if "add_weight_decay" in label:
        optimizers.add_weight_decay(model, 0.01)
    optimizers.FP16SGD(**{"momentum": 0.9, **FP16_KEYWORDS.get(label, {})}).build(model)
    assert emitted(model.init_net, start) == expected(case["param_init_net"])
    assert emitted(model.net) == expected(case["net"])


def test_fp16_refuses_a_copy_of_another_dtype() -> None:
    model = half_model("blob_copy FLOAT")
    for p in model.params():
        p.blob_copy = {DType.DOUBLE: p.blob}
    with pytest.raises(SchemaError, match="has no single-precision master") as caught:
        optimizers.FP16SGD().build(model)
    assert caught.value.details["got"] == "float64"


def test_fp32_update_updates_the_primary_blob_in_single_precision() -> None:
    model = half_model("blob_copy FLOAT16 (ReversePseudoFP16Initializer)")
    for p in model.params():
        model.net.set_type(p.grad, TensorType(DType.FLOAT, p.shape))
    optimizers.FP16SGD(momentum=0.9, fp32_update=True).build(model)
    updates = [op for op in model.net.definition.ops if op.type == "FP32MomentumSGDUpdate"]
    assert [op.outputs for op in updates] == [
        ("conv1_w_grad", "conv1_w_momentum_fp32", "conv1_w"),
        ("conv1_b_grad", "conv1_b_momentum_fp32", "conv1_b"),
    ]


def test_multi_precision_updates_the_master() -> None:
    model = nd.Model("m")
    model.initializer_class = initializers.PseudoFP16Initializer
    for name, shape in (("fc_w", [2, 3]), ("fc_b", [2])):
        p = model.parameter(name, shape)
        p.grad = Blob(f"{name}_grad", model.net)
        model.net.set_type(p.grad, TensorType(DType.FLOAT16, tuple(shape)))
    start = len(model.init_net.definition.ops)
    optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9).build(model)
    assert emitted(model.init_net, start) == expected(DATA["multi_precision"]["param_init_net"])
    assert emitted(model.net) == expected(DATA["multi_precision"]["net"])


def test_multi_precision_heeds_lars_on_the_master() -> None:
    model = half_model("blob_copy FLOAT")
    optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9, lars=0.5).build(model)
    (first, *_) = [op for op in model.net.definition.ops if op.type == "Lars"]
    assert first.inputs[:2] == ("conv1_w_fp32", "conv1_w_grad_fp32")
    (update, *_) = [op for op in model.net.definition.ops if op.type == "MomentumSGDUpdate"]
    assert update.inputs[2] == "multi_precision_sgd_local_scaled_lr"


def test_weight_decay_then_sgd() -> None:
    model = dense_model()
    optimizers.add_weight_decay(model, 0.01)
    assert emitted(model.init_net) == expected(DATA["model_level"]["add_weight_decay(0.01)"]["param_init_net"])
    assert emitted(model.net) == expected(DATA["model_level"]["add_weight_decay(0.01)"]["net"])
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(model)
    case = DATA["model_level"]["add_weight_decay then build_sgd momentum"]
    assert emitted(model.init_net) == expected(case["param_init_net"])
    assert emitted(model.net) == expected(case["net"])


def test_learning_rate_multipliers_get_rates_of_their_own() -> None:
    model = dense_model()
    model.parameters["fc_b"].lr_multiplier = 2.0
    optimizers.SGD(base_learning_rate=0.1, momentum=0.9).build(model)
    rates = {op.outputs[0]: op.args["base_lr"] for op in model.net.definition.ops if op.type == "LearningRate"}
    assert rates == {"sgd_lr": pytest.approx(0.1), "sgd_lr_2": pytest.approx(0.2)}
    assert [op.inputs[2] for op in model.net.definition.ops if op.type == "MomentumSGDUpdate"] == ["sgd_lr", "sgd_lr_2"]
    assert sum(op.type == "AtomicIter" for op in model.net.definition.ops) == 1


def test_a_multiplier_of_zero_appends_nothing() -> None:
    model = dense_model()
    model.parameters["fc_b"].lr_multiplier = 0.0
    optimizers.SGD(base_learning_rate=0.1).build(model)
    assert [op.outputs for op in model.net.definition.ops if op.type == "WeightedSum"] == [("fc_w",)]


def test_an_optimizer_without_gradients_says_so() -> None:
    model = dense_model()
    for p in model.params():
        p.grad = None
    with pytest.raises(nd.errors.NetError, match="no parameter of model 'm' has a gradient"):
        optimizers.SGD().build(model)
