"""What single cases do not show: counting in threads, the loss scale over many steps, tables that stay as they are."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from netdsl.ir import NetDef, OperatorDef
from netdsl.ops import lookup
from netdsl.ops.optim.update import rounds
from netdsl.runtime import backends
from netdsl.testing import execute, normal
from netdsl.testing.plain import Plain
from tests.ops.utility.test_mutex import Patient


def test_atomic_iter_loses_no_iteration() -> None:
    plain = Plain()
    plain.run(OperatorDef("CreateMutex", (), ("mutex",)))
    count, operator = np.zeros(1, np.int64), lookup("AtomicIter").bind({})
    operator.run(Patient(), plain.blobs["mutex"], count)  # type: ignore[attr-defined]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for _ in range(500):
            operator.run(Patient(), plain.blobs["mutex"], count)  # type: ignore[attr-defined]

    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert count[0] == 2001


def test_rounds_name_no_index_twice_and_keep_the_order_of_occurrences() -> None:
    indices = np.random.default_rng(0).integers(0, 7, 50)
    parts = list(rounds(backends.get("numpy").xp, indices))
    assert len(parts) == np.bincount(indices).max()
    assert sorted(np.concatenate(parts)) == list(range(50))
    for k, part in enumerate(parts):
        assert len(np.unique(indices[part])) == len(part)
        assert all(np.count_nonzero(indices[:at] == indices[at]) == k for at in part)


def test_rows_that_are_not_named_keep_their_bits() -> None:
    table = np.array([[np.nan, -0.0], [1.0, 2.0], [3.0, 4.0]], np.float32)
    feeds: dict[str, Any] = {"p": table, "h": np.full_like(table, np.nan), "i": np.array([1]), "g": normal(1, 2)}
    feeds["lr"] = np.array([-0.1], np.float32)
    feeds["h"][1] = 1
    op = OperatorDef("SparseAdagrad", ("p", "h", "i", "g", "lr"), ("p", "h"))
    found = execute(NetDef("one", [op]), feeds)
    assert found["p"][[0, 2]].tobytes() == table[[0, 2]].tobytes()
    assert not np.isnan(found["p"][1]).any()


def test_the_loss_scale_finds_where_gradients_are_finite() -> None:
    """A gradient that overflows above a scale of 1000: every overflow halves, every third success doubles."""
    ops = [
        OperatorDef("CheckFinite", ("g",), ("found",)),
        OperatorDef("UpdateLossScale", ("scale", "n", "found"), ("scale", "n"), {"growth_interval": 3}),
    ]
    plain = Plain({"scale": np.array([4096], np.float32), "n": np.zeros(1, np.int32)})
    scales = []
    for _ in range(9):
        scale = float(plain.blobs["scale"][0])
        scales.append(scale)
        plain.blobs["g"] = np.array([1.0, np.inf if scale > 1000 else 1.0], np.float16)
        plain.run(NetDef("step", ops))
    assert scales == [4096, 2048, 1024, 512, 512, 512, 1024, 512, 512]


def test_master_weights_learn_what_halves_cannot() -> None:
    """Steps of a thousandth of the parameter's spacing: the half copy moves only through its master."""
    ones = np.ones(3, np.float16)
    feeds = {
        "g": ones,
        "m": np.zeros(3, np.float32),
        "lr": np.array([1e-6], np.float32),
        "master": np.ones(3, np.float32),
        "p": ones,
        "scale": np.array([1.0], np.float32),
        "found": np.array([False]),
    }
    plain = Plain({**{k: v.copy() for k, v in feeds.items()}, "half_m": np.zeros(3, np.float16), "half_p": ones.copy()})
    ops = [
        OperatorDef("MasterMomentumSGDUpdate", tuple(feeds), ("m", "master", "p")),
        OperatorDef("FP16MomentumSGDUpdate", ("g", "half_m", "lr", "half_p"), ("unused", "half_m", "half_p")),
    ]
    for _ in range(2000):
        plain.run(NetDef("step", ops))
    np.testing.assert_allclose(plain.blobs["p"], 1 - 2000e-6, atol=5e-4)
    np.testing.assert_array_equal(plain.blobs["half_p"], 1)


def test_a_schedule_can_be_asked_without_running() -> None:
    schedule = lookup("LearningRate").bind({"base_lr": 1.0, "policy": "step", "stepsize": 2, "gamma": 0.5})
    assert [schedule.at(i) for i in range(5)] == [1.0, 1.0, 0.5, 0.5, 0.25]  # type: ignore[attr-defined]


def test_files_may_hold_arguments_that_a_policy_ignores() -> None:
    op = OperatorDef("LearningRate", ("i",), ("lr",), {"base_lr": 0.5, "policy": "exp", "stepsize": 7})
    assert execute(NetDef("file", [op]), {"i": np.array([3])})["lr"] == 0.0
