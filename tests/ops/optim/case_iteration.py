"""Cases of the iteration counters and the learning rate (whose policies are compared with measured numbers)."""

from __future__ import annotations

import numpy as np

from netdsl.ir import OperatorDef
from netdsl.testing import Case


def count(value: int) -> np.ndarray:
    return np.array([value], np.int64)


def rate(value: float) -> np.ndarray:
    return np.array(value, np.float32)


MADE = (
    OperatorDef("CreateMutex", (), ("mutex",)),
    OperatorDef("ConstantFill", (), ("i",), {"shape": [1], "value": 41, "dtype": 10}),
)
parts = {"sub_policy_num_iters": [4, 4], "sub_policy_0_policy": "fixed", "sub_policy_1_policy": "exp"}
composite = {"base_lr": 8.0, "policy": "composite", **parts, "sub_policy_1_gamma": 0.5, "sub_policy_1_lr_scale": 4.0}
wrong = [
    ({"policy": "fixed"}, "needs the argument 'base_lr'"),
    ({"base_lr": 1.0}, "needs the argument 'policy'"),
    ({"base_lr": 1.0, "policy": "stepp"}, "step"),
    ({"base_lr": 1.0, "policy": "step", "gamma": 0.5}, "policy 'step' needs the argument 'stepsize'"),
    ({"base_lr": 1.0, "policy": "step", "gamma": 0.5, "stepsize": 0}, "policy 'step' needs stepsize > 0"),
    ({"base_lr": 1.0, "policy": "fixed", "gamma": 0.5}, "policy 'fixed' takes no argument 'gamma'"),
    ({"base_lr": 1.0, "policy": "slope", "num_iter_1": 3, "num_iter_2": 3}, "num_iter_1 = 3"),
    ({"base_lr": 1.0, "policy": "alter", "active_period": 0, "inactive_period": 0}, "inactive_period > 0"),
    ({"base_lr": 0.0, "policy": "cyclical", "stepsize": 3}, "a base_lr that is not 0"),
    ({"base_lr": 1.0, "policy": "composite"}, "needs the argument 'sub_policy_num_iters'"),
    ({"base_lr": 1.0, "policy": "composite", "sub_policy_num_iters": [1, 0]}, "needs positive numbers"),
    ({**composite, "sub_policy_1_policy": "composite"}, "'sub_policy_1_policy' cannot be 'composite'"),
    ({**composite, "sub_policy_1_policy": "expp"}, "exp"),
    ({**composite, "sub_policy_0_gamma": 0.5}, "takes no argument 'gamma'"),
    ({**composite, "sub_policy_2_policy": "fixed"}, "there is no policy 2"),
]

CASES = [
    Case("Iter", (count(41),), {}, count(42)),
    Case("Iter", (), {}, count(1), label="new"),
    Case("Iter", (count(-1),), refuses="not an iteration", label="negative"),
    Case("Iter", (count(2**63 - 1),), refuses="not an iteration", label="the last"),
    Case("Iter", (np.zeros(2, np.int64),), refuses="must be one number", label="two"),
    Case("AtomicIter", ("mutex", "i"), {}, count(42), before=MADE),
    Case("LearningRate", (count(6),), {"base_lr": 8.0, "policy": "step", "stepsize": 3, "gamma": 0.5}, rate(2)),
    Case("LearningRate", (count(6),), {"base_lr": -8.0, "policy": "poly", "max_iter": 4, "power": 2.0}, rate(-2)),
    Case("LearningRate", (count(6),), {"base_lr": 8.0, "policy": "poly", "max_iter": 4, "power": 0.5}, rate(np.nan)),
    Case("LearningRate", (count(2000),), {"base_lr": 8.0, "policy": "exp", "gamma": 2.0}, rate(np.inf)),
    Case("LearningRate", (count(4),), composite, rate(8), label="first part"),
    Case("LearningRate", (count(5),), composite, rate(1), label="second part"),
    Case("LearningRate", (count(9),), composite, rate(0.0625), label="past the parts"),
    Case("LearningRate", (count(7),), {"base_lr": 1.0, "policy": "cosine", "period": 4, "t_mult": 0.5},
         rate(0.99**3 * 0.5), label="shorter periods"),
    Case("LearningRate", (count(8),), {"base_lr": 1.0, "policy": "cosine", "period": 4, "t_mult": 0.5},
         refuses="less than iteration 8", label="no more periods"),
    Case("LearningRate", (np.zeros(1, np.int32),), {"base_lr": 1.0, "policy": "fixed"}, refuses="of the wrong type"),
    *(Case("LearningRate", (count(0),), args, refuses=words, label=words) for args, words in wrong),
]  # fmt: skip
