"""Optimizers append update operators to a model; they never touch an array."""

from netdsl.optimizers.adamw import AdamW
from netdsl.optimizers.adaptive import Adagrad, Adam
from netdsl.optimizers.averages import EMA, SWA
from netdsl.optimizers.base import Optimizer, Updates
from netdsl.optimizers.clipping import Clip
from netdsl.optimizers.grouped import NoGradient, build_groups
from netdsl.optimizers.groups import ParamGroups, UnmatchedRule, param_groups
from netdsl.optimizers.master import LossScale, MasterWeightSGD
from netdsl.optimizers.rules import Rule, layerwise_decay
from netdsl.optimizers.sgd import FP16SGD, SGD, MultiPrecisionSGD
from netdsl.optimizers.solver import BuiltOptimizer, build_optimizer
from netdsl.optimizers.weight_decay import add_weight_decay

__all__ = [
    "EMA",
    "FP16SGD",
    "SGD",
    "SWA",
    "Adagrad",
    "Adam",
    "AdamW",
    "BuiltOptimizer",
    "Clip",
    "LossScale",
    "MasterWeightSGD",
    "MultiPrecisionSGD",
    "NoGradient",
    "Optimizer",
    "ParamGroups",
    "Rule",
    "UnmatchedRule",
    "Updates",
    "add_weight_decay",
    "build_groups",
    "build_optimizer",
    "layerwise_decay",
    "param_groups",
]
