"""Whole runs against what PyTorch measured, through the runtime; and what single cases do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netdsl.ir import BlobType, DType, NetDef, OperatorDef, TensorType
from netdsl.ops import lookup
from netdsl.runtime import Workspace
from netdsl.runtime.groups import Group
from netdsl.testing import execute, normal
from tests.ops.optim.case_schedule import TABLES
from tests.ops.optim.golden_torch import ADAMW, TORCH

COUNT = (
    OperatorDef("CreateMutex", (), ("mutex",)),
    OperatorDef("ConstantFill", (), ("iteration",), {"shape": [1], "value": 0, "dtype": 10}),
)
TICK = OperatorDef("AtomicIter", ("mutex", "iteration"), ("iteration",))


def started(**blobs: Any) -> Workspace:
    """A workspace with these blobs and a counter at 0."""
    workspace = Workspace()
    for name, value in blobs.items():
        workspace.feed(name, value.copy())
    workspace.run(NetDef("init", COUNT))
    return workspace


def zeros() -> np.ndarray:
    return np.zeros((3, 4), np.float32)


@pytest.mark.parametrize("name", ADAMW)
def test_adamw_follows_pytorch_over_twenty_steps(name: str) -> None:
    rate, args = ADAMW[name]
    workspace = started(p=TORCH["start"], m1=zeros(), m2=zeros())
    schedule = {"base_lr": rate, "policy": "fixed", "warmup_iters": 0}
    step = [
        TICK,
        OperatorDef("WarmupLearningRate", ("iteration",), ("lr",), schedule),
        OperatorDef("AdamW", ("p", "m1", "m2", "g", "lr", "iteration"), ("p", "m1", "m2"), args),
    ]
    net = NetDef("step", step, inputs=("g",))
    for grad, after in zip(TORCH["grads"], TORCH[f"adamw_{name}"], strict=True):
        workspace.feed("g", grad)
        workspace.run(net)
        for blob, wanted in zip(("p", "m1", "m2"), after, strict=True):
            np.testing.assert_allclose(workspace.fetch(blob), wanted, rtol=2e-6, atol=1e-7)


def test_sparse_adamw_on_all_rows_is_adamw() -> None:
    rate, args = ADAMW["decayed"]
    feeds = {"p": TORCH["start"], "m1": zeros(), "m2": zeros(), "i": np.arange(3), "g": TORCH["grads"][0]}
    feeds |= {"lr": np.array([rate], np.float32), "t": np.array([1])}
    op = OperatorDef("SparseAdamW", tuple(feeds), ("p", "m1", "m2"), args)
    found = execute(NetDef("one", [op]), feeds)
    for blob, wanted in zip(("p", "m1", "m2"), TORCH["adamw_decayed"][0], strict=True):
        np.testing.assert_allclose(found[blob], wanted, rtol=2e-6, atol=1e-7)


def test_rows_that_are_not_named_do_not_decay() -> None:
    table = normal(3, 2)
    feeds = {"p": table, "m1": table, "m2": table**2, "i": np.array([1]), "g": normal(1, 2, seed=1)}
    feeds |= {"lr": np.array([0.1], np.float32), "t": np.array([1])}
    op = OperatorDef("SparseAdamW", tuple(feeds), ("p", "m1", "m2"), {"weight_decay": 0.5})
    found = execute(NetDef("one", [op]), feeds)
    for blob in ("p", "m1", "m2"):
        assert found[blob][[0, 2]].tobytes() == feeds[blob][[0, 2]].tobytes()
        assert not np.array_equal(found[blob][1], feeds[blob][1])


@pytest.mark.parametrize("limit", [0.5, 100.0])
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
def test_gradients_of_a_model_are_clipped_as_pytorch_clips_them(p: float, limit: float) -> None:
    names = ("a", "b", "c")
    ops = [
        OperatorDef("GlobalNorm", names, ("norm",), {"norm_type": p}),
        OperatorDef("ClipFactor", ("norm",), ("factor",), {"max_norm": limit}),
        *(OperatorDef("WeightedSum", (name, "factor"), (f"{name}_clipped",)) for name in names),
    ]
    grads: dict[str, Any] = dict(zip(names, TORCH["grads"][:3], strict=True))
    for how in ("plain", "numpy", "strict"):
        found = execute(NetDef("clip", ops), grads, how)
        for name, wanted in zip(names, TORCH[f"clip_{p:g}_{limit:g}"], strict=True):
            np.testing.assert_allclose(found[f"{name}_clipped"], wanted, rtol=1e-6)


def test_half_gradients_are_scaled_by_a_single_precision_factor() -> None:
    half = normal(3, 4).astype(np.float16)
    feeds = {"g": half, "factor": np.array([1 / 3], np.float32)}
    for how in ("plain", "numpy", "strict"):
        found = execute(NetDef("one", [OperatorDef("WeightedSum", ("g", "factor"), ("y",))]), feeds, how)["y"]
        np.testing.assert_array_equal(found, (half.astype(np.float32) * feeds["factor"]).astype(np.float16))


def test_averages_follow_pytorch() -> None:
    workspace = started(swa=TORCH["start"], n=np.zeros(1, np.int64), ema=TORCH["grads"][0])
    every = {"start": 5, "interval": 3}
    step = [
        TICK,
        OperatorDef("StochasticAverage", ("swa", "n", "p", "iteration"), ("swa", "n"), every),
        OperatorDef("MovingAverage", ("ema", "p"), ("ema",), {"decay": 0.9}),
    ]
    net = NetDef("step", step, inputs=("p",))
    for param, swa, ema in zip(TORCH["grads"], TORCH["swa"], TORCH["ema"], strict=True):
        workspace.feed("p", param)
        workspace.run(net)
        np.testing.assert_allclose(workspace.fetch("swa"), swa, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(workspace.fetch("ema"), ema, rtol=1e-5, atol=1e-6)
    assert workspace.fetch("n").tolist() == [6]


def test_a_schedule_is_not_rounded_before_its_end() -> None:
    args, table = TABLES["multistep"]
    schedule: Any = lookup("WarmupLearningRate").bind(args)
    assert [schedule.at(1 + step) for step in range(len(table))] == pytest.approx(table, rel=1e-14)


def test_files_may_hold_arguments_that_a_policy_ignores() -> None:
    args = {"base_lr": 0.5, "policy": "fixed", "warmup_iters": 0, "max_iter": 7}
    op = OperatorDef("WarmupLearningRate", ("i",), ("lr",), args)
    assert execute(NetDef("file", [op]), {"i": np.array([3])})["lr"] == 0.5


def test_a_whole_update_is_one_traced_group() -> None:
    one, full = TensorType(DType.FLOAT, (1,)), TensorType(DType.FLOAT, (300, 40))
    half = TensorType(DType.FLOAT16, (300, 40))
    count, found = TensorType(DType.INT64, (1,)), TensorType(DType.BOOL, (1,))
    small = {"norm": one, "factor": one, "lr": one, "scale": one, "t": count, "n": count, "found": found}
    types: dict[str, BlobType] = {"half": half, **small}
    types.update(dict.fromkeys(("p", "m1", "m2", "g", "clipped", "ema", "swa"), full))
    steps = [
        ("UnscaleGradient", ("half", "scale"), ("g",), {}),
        ("ClipFactor", ("norm",), ("factor",), {"max_norm": 1.0}),
        ("WeightedSum", ("g", "factor"), ("clipped",), {}),
        ("AdamW", ("p", "m1", "m2", "clipped", "lr", "t", "found"), ("p", "m1", "m2"), {"weight_decay": 0.05}),
        ("MovingAverage", ("ema", "p"), ("ema",), {"decay": 0.999}),
        ("StochasticAverage", ("swa", "n", "p", "t"), ("swa", "n"), {"start": 100, "interval": 10}),
    ]
    group = Group()
    for type_, inputs, outputs, args in steps:
        assert group.try_add(lookup(type_).bind(args), inputs, outputs, types), type_
