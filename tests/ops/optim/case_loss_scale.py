"""Cases of loss scaling; the expectations follow the documented behaviour of PyTorch's GradScaler."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal
from tests.ops.optim.case_momentum import updated


def one(value: Any, dtype: str = "f4") -> np.ndarray:
    return np.array([value], dtype)


def scaled(scale: float, tracker: int, found: bool) -> tuple[np.ndarray, ...]:
    return one(scale), one(tracker, "i4"), one(found, "?")


def mastered(grad: Any, m: Any, lr: Any, master: Any, *rest: Any, **args: Any) -> tuple[Any, ...]:
    *copy, scale, found = rest
    if found[0]:
        return m, master, *copy
    _, new_m, new = updated(np.asarray(grad, np.float64) / scale[0], m, lr, master, **args)
    return new_m, new, *(new.astype(np.float16) for _ in copy)


def rows(grad: Any, m: Any, lr: Any, p: Any, indices: Any, scale: Any, found: Any, **args: Any) -> tuple[Any, ...]:
    """One index after the other."""
    m, p = np.array(m, np.float64), np.array(p, np.float64)
    for at, row in enumerate(() if found[0] else indices):
        _, m[row], p[row] = updated(np.asarray(grad[at], np.float64) / scale[0], m[row], lr, p[row], **args)
    return m, p


half, single = normal(3, 4).astype(np.float16), normal(2, 3)
bad, worse = half.copy(), single.copy()
bad[1, 2], worse[0, 1] = np.inf, np.nan
LR = np.array([0.1], np.float32)
m, master = normal(3, 4, seed=1), normal(3, 4, seed=2)
update = (half, m, LR, master, master.astype(np.float16))
alone = (normal(3, 4, seed=3), m, LR, master)
args = {"momentum": 0.9, "nesterov": 1, "weight_decay": 0.01}
sparse = {"momentum": 0.9, "nesterov": 1}
twice, table = np.array([3, 1, 3, 3], np.int32), (normal(5, 3), LR, normal(5, 3, seed=1))
steps = normal(4, 3, seed=2)
grown, shrunk = np.float32(2**17), np.float32(2**15)

CASES = [
    Case("CheckFinite", (half,), {}, np.array([False]), batch=(0,), half=False),
    Case("CheckFinite", (half, single), {}, np.array([False]), half=False, label="mixed"),
    Case("CheckFinite", (half, bad, single), {}, np.array([True]), half=False, label="an infinity"),
    Case("CheckFinite", (worse, half), {}, np.array([True]), half=False, label="a NaN"),
    Case("CheckFinite", (np.array([65504, 6e-8], np.float16), one(3e38)), {}, np.array([False]), half=False,
         label="extremes"),
    Case("UnscaleGradient", (half, one(1024)), {}, half.astype(np.float32) / 1024, batch=(0,), label="half"),
    Case("UnscaleGradient", (single, one(3)), {}, single.astype(np.float64) / 3, half=False, label="single"),
    Case("UnscaleGradient", (np.full(2, 6e-8, np.float16), one(65536)), {}, np.full(2, 2.0**-40), atol=0,
         label="below the least half"),
    Case("UnscaleGradient", (half, normal(2)), refuses="scale must be one number"),
    Case("ScaleLoss", (one(1.5), one(1024)), {}, one(1536), grad=(0,)),
    Case("ScaleLoss", (np.float32(1.5), one(1024)), {}, np.float32(1536), grad=(0,), label="a scalar"),
    Case("ScaleLoss", (one(1.5), normal(2)), refuses="scale must be one number", label="scales"),
    Case("UpdateLossScale", scaled(65536, 7, False), {}, (one(65536), one(8, "i4")), outputs=2, label="counts"),
    Case("UpdateLossScale", scaled(65536, 1999, False), {}, (one(grown), one(0, "i4")), outputs=2, label="grows"),
    Case("UpdateLossScale", scaled(65536, 1999, True), {}, (one(shrunk), one(0, "i4")), outputs=2, label="shrinks"),
    Case("UpdateLossScale", scaled(3e38, 1999, False), {}, (one(3e38), one(0, "i4")), outputs=2, label="at the top"),
    Case("UpdateLossScale", scaled(8, 4, False), {"growth_factor": 1.5, "growth_interval": 5},
         (one(12), one(0, "i4")), outputs=2),
    Case("UpdateLossScale", scaled(8, 4, True), {"backoff_factor": 0.125}, (one(1), one(0, "i4")), outputs=2),
    *(Case("UpdateLossScale", scaled(8, 4, True), {name: value}, refuses=f"{name!r} is out of range", label=name)
      for name, value in (("growth_factor", 1.0), ("backoff_factor", 1.0), ("growth_interval", 0))),
    Case("CountStep", (one(41, "i8"), one(False, "?")), {}, one(42, "i8"), label="counts"),
    Case("CountStep", (one(41, "i8"), one(True, "?")), {}, one(41, "i8"), label="skips"),
    Case("CountStep", (one(-1, "i8"), one(False, "?")), refuses="not an iteration", label="negative"),
    Case("CountStep", (one(41, "i8"), np.zeros(2, bool)), refuses="found must be one number", label="founds"),
    Case("CountStep", (np.zeros(2, "i8"), one(False, "?")), refuses="must be one number", label="counters"),
    *(Case("MasterMomentumSGDUpdate", (*update, one(128), one(found, "?")), settings, mastered, outputs=3,
           batch=(0, 1, 3, 4), half=False, label=f"{'skips' if found else 'updates'} {len(settings)}")
      for found in (False, True) for settings in ({}, args)),
    *(Case("ScaledMomentumSGDUpdate", (*alone, one(128), one(found, "?")), settings, mastered, batch=(0, 1, 3),
           half=False, label=f"{'skips' if found else 'updates'} {len(settings)}")
      for found in (False, True) for settings in ({}, args)),
    Case("ScaledMomentumSGDUpdate", (half, *alone[1:], one(128), one(False, "?")), args, mastered, half=False,
         label="half gradient"),
    Case("ScaledMomentumSGDUpdate", (*alone, one(128), np.zeros(2, bool)), refuses="found must be one number"),
    *(Case("SparseScaledMomentumSGDUpdate", (steps, *table, twice, one(128), one(found, "?")), settings, rows,
           half=False, label=f"{'skips' if found else 'updates'} {len(settings)}")
      for found in (False, True) for settings in ({}, sparse)),
    Case("SparseScaledMomentumSGDUpdate", (steps.astype(np.float16), *table, twice, one(128), one(False, "?")), sparse,
         rows, half=False, label="half gradient"),
    Case("SparseScaledMomentumSGDUpdate", (steps * np.float32(np.nan), *table, twice, one(128), one(True, "?")), sparse,
         (table[0], table[2]), half=False, label="skips a NaN"),
    Case(
        "SparseScaledMomentumSGDUpdate",
        (steps, *table, twice + 2, one(128), one(False, "?")),
        refuses="out of range",
    ),
    Case("SparseScaledMomentumSGDUpdate", (steps[:3], *table, twice, one(128), one(False, "?")),
         refuses="one row for each index"),
    Case("MasterMomentumSGDUpdate", (bad, *update[1:], one(128), one(True, "?")), args,
         (m, master, update[4]), outputs=3, half=False, label="skips an infinity"),
    Case("MasterMomentumSGDUpdate", (*update, one(128), np.zeros(12, bool)), refuses="found must be one number"),
    Case("MasterMomentumSGDUpdate", (*update[:3], single, *update[4:], one(128), one(False, "?")),
         refuses="and the parameter differ in shape", label="shapes"),
]  # fmt: skip
