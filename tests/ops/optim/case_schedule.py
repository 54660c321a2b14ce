"""Cases of schedules with warm-up: tables calculated by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case
from tests.ops.optim.case_adam import at

Table = tuple[dict[str, Any], list[float]]

FIXED: Table = (
    {"base_lr": 2.0, "policy": "fixed", "warmup_iters": 4, "warmup_factor": 0.5},
    [1, 1.25, 1.5, 1.75, 2, 2],
)
STEPS: Table = (
    {"base_lr": 0.1, "policy": "multistep", "steps": [6, 8], "warmup_iters": 4, "warmup_factor": 0.1},
    [0.01, 0.0325, 0.055, 0.0775, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001],
)
EARLY: Table = (
    {"base_lr": 1.0, "policy": "multistep", "steps": [2, 2, 3], "gamma": 0.5, "warmup_iters": 4, "warmup_factor": 0.2,
     "warmup": "constant"},
    [0.2, 0.2, 0.05, 0.025, 0.125],
)  # fmt: skip
COSINE: Table = (
    {"base_lr": 1.0, "policy": "cosine", "max_iter": 4, "warmup_iters": 0},
    [1, 0.8535533905932737, 0.5, 0.14644660940672624, 0, 0, 0],
)
RAISED: Table = (
    {"base_lr": -10.0, "policy": "cosine", "max_iter": 4, "end_lr": -2.0, "warmup_iters": 2, "warmup_factor": 0.25,
     "warmup": "constant"},
    [-2.5, -2.2071067811865475, -6, -3.1715728752538097, -2, -2],
)  # fmt: skip
POLY: Table = (
    {"base_lr": 1.0, "policy": "poly", "max_iter": 4, "power": 2.0, "warmup_iters": 0},
    [1, 0.5625, 0.25, 0.0625, 0, 0],
)
ENDING: Table = (
    {"base_lr": 1.0, "policy": "poly", "max_iter": 4, "power": 2.0, "end_lr": 0.1, "warmup_iters": 0},
    [1, 0.5625, 0.25, 0.1, 0.1, 0.1],
)
COLD: Table = (
    {"base_lr": 1.0, "policy": "poly", "max_iter": 5, "power": 1.0, "end_lr": 0.5, "warmup_iters": 4,
     "warmup_factor": 0.0},
    [0, 0.2, 0.3, 0.3, 0.5, 0.5],
)  # fmt: skip
TABLES = {
    "fixed": FIXED,
    "multistep": STEPS,
    "multistep while warming up": EARLY,
    "cosine": COSINE,
    "cosine with an end": RAISED,
    "poly": POLY,
    "poly with an end": ENDING,
    "poly while warming up": COLD,
}

wrong: list[tuple[dict[str, Any], str]] = [
    ({"policy": "fixed"}, "needs the argument 'base_lr'"),
    ({"base_lr": 1.0}, "needs the argument 'policy'"),
    ({"base_lr": 1.0, "policy": "cosin", "max_iter": 4}, "cosine"),
    ({"base_lr": 1.0, "policy": "fixed", "warmup": "lienar"}, "linear"),
    ({"base_lr": 1.0, "policy": "multistep"}, "policy 'multistep' needs the argument 'steps'"),
    ({"base_lr": 1.0, "policy": "poly"}, "policy 'poly' needs the argument 'max_iter'"),
    ({"base_lr": 1.0, "policy": "cosine", "max_iter": 4, "power": 2.0}, "policy 'cosine' takes no argument 'power'"),
    ({"base_lr": 1.0, "policy": "fixed", "warmup_iter": 3}, "warmup_iters"),
    ({"base_lr": float("inf"), "policy": "fixed"}, "'base_lr' is out of range"),
    ({"base_lr": 1.0, "policy": "cosine", "max_iter": 0}, "'max_iter' is out of range"),
    ({"base_lr": 1.0, "policy": "multistep", "steps": [8, 6]}, "'steps' is out of range"),
    ({"base_lr": 1.0, "policy": "multistep", "steps": [-1, 6]}, "'steps' is out of range"),
    ({"base_lr": 1.0, "policy": "multistep", "steps": [6], "gamma": float("nan")}, "'gamma' is out of range"),
    ({"base_lr": 1.0, "policy": "poly", "max_iter": 4, "power": -1.0}, "'power' is out of range"),
    ({"base_lr": 1.0, "policy": "poly", "max_iter": 4, "end_lr": 2.0}, "'end_lr' is out of range"),
    ({"base_lr": -1.0, "policy": "poly", "max_iter": 4, "end_lr": 0.5}, "'end_lr' is out of range"),
    ({"base_lr": 1.0, "policy": "fixed", "warmup_iters": -1}, "'warmup_iters' is out of range"),
    ({"base_lr": 1.0, "policy": "fixed", "warmup_factor": -0.5}, "'warmup_factor' is out of range"),
]

CASES = [
    *(Case("WarmupLearningRate", (at(1 + step),), args, np.float32(lr), label=f"{name} {step}")
      for name, (args, table) in TABLES.items() for step, lr in enumerate(table)),
    Case("WarmupLearningRate", (at(1),), {"base_lr": 0.5, "policy": "fixed"}, np.float32(0.5), label="warm by default"),
    Case("WarmupLearningRate", (at(1),), {"base_lr": 1.0, "policy": "fixed", "warmup_iters": 9}, np.float32(0.001),
         label="factor by default"),
    Case("WarmupLearningRate", (at(5),), {"base_lr": 0.0, "policy": "cosine", "max_iter": 9}, np.float32(0), label="0"),
    *(Case("WarmupLearningRate", (at(1),), args, refuses=words, label=f"{words} {i}")
      for i, (args, words) in enumerate(wrong)),
    Case("WarmupLearningRate", (at(0),), FIXED[0], refuses="comes before the first step", label="before the first"),
    Case("WarmupLearningRate", (np.ones(2, np.int64),), FIXED[0], refuses="must be one number", label="two"),
    Case("WarmupLearningRate", (np.ones(1, np.int32),), FIXED[0], refuses="of the wrong type", label="int32"),
]  # fmt: skip
