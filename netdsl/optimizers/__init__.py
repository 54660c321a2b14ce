"""Optimizers append update operators to a model; they never touch an array."""

from netdsl.optimizers.adaptive import Adagrad, Adam
from netdsl.optimizers.base import Optimizer, Updates
from netdsl.optimizers.master import LossScale, MasterWeightSGD
from netdsl.optimizers.sgd import FP16SGD, SGD, MultiPrecisionSGD
from netdsl.optimizers.weight_decay import add_weight_decay

__all__ = [
    "FP16SGD",
    "SGD",
    "Adagrad",
    "Adam",
    "LossScale",
    "MasterWeightSGD",
    "MultiPrecisionSGD",
    "Optimizer",
    "Updates",
    "add_weight_decay",
]
