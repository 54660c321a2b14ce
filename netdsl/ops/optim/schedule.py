"""Learning-rate schedules with a warm-up that multiplies them. Caffe2 has no such operator."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Self

from netdsl.errors import RunError, SchemaError, did_you_mean
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Counter
from netdsl.ops.optim.adamw import decimal
from netdsl.ops.optim.update import check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_COMMON = ("base_lr", "policy", "warmup", "warmup_iters", "warmup_factor")
_NEEDS = {"fixed": (), "multistep": ("steps",), "cosine": ("max_iter",), "poly": ("max_iter",)}
_TAKES = {"fixed": (), "multistep": ("gamma",), "cosine": ("end_lr",), "poly": ("power", "end_lr")}
"""The arguments that each policy needs, and those that it may get besides."""


@operator
class WarmupLearningRate(Operator):
    """The learning rate of a step: ``lr = base_lr * warm * schedule``, as detectron2 warms up its schedules.

    The iteration is the counter that AtomicIter has just increased, 1 in the first step; so ``i = iteration - 1``
    steps have been made before. While ``i < warmup_iters``, with ``a = i / warmup_iters``:

    - linear: ``warm = warmup_factor * (1 - a) + a``
    - constant: ``warm = warmup_factor``

    and then 1. The schedule goes on meanwhile:

    - fixed: 1
    - multistep: ``gamma ** n``, where n is how many of ``steps`` are at most i
    - cosine: ``end + (1 - end) * (1 + cos(pi * i / max_iter)) / 2``, where ``end = end_lr / base_lr``
    - poly: ``(1 - i / max_iter) ** power``, but once warm at least ``end``

    Past ``max_iter`` cosine and poly stay as they ended. Computed in float64 from the decimals that the arguments
    stand for (0.1, not its float32), and rounded to float32 once.

    The caller decides the sign: AdamW and the momentum family subtract (base_lr positive), Adam and WeightedSum add
    (base_lr negative, and end_lr too).
    """

    inputs = (In("iteration", Counter, host=True, doc="The iteration as AtomicIter leaves it, one int64."),)
    outputs = (Out("lr", doc="The learning rate, a float32 of shape []."),)
    ours = True
    source = "https://arxiv.org/abs/1706.02677"

    base_lr: float = arg(doc="The learning rate that warm-up and schedule multiply.")
    policy: str = arg(doc="How the learning rate changes.", choices=tuple(_NEEDS))
    max_iter: int = arg(0, doc="cosine, poly: the steps of the whole training.")
    steps: tuple[int, ...] = arg((), doc="multistep: the steps, in order, from which on it is smaller.")
    gamma: float = arg(0.1, doc="multistep: what each of them multiplies it by.")
    power: float = arg(0.9, doc="poly: the exponent.")
    end_lr: float = arg(0.0, doc="cosine: the last value; poly: the least.")
    warmup_iters: int = arg(0, doc="Steps before it is warm.")
    warmup_factor: float = arg(0.001, doc="What the first step is multiplied by.")
    warmup: str = arg("linear", doc="How it warms up.", choices=("linear", "constant"))

    @classmethod
    def bind(cls, args: Mapping[str, Any], wanted: int = -1, *, strict: bool = True) -> Self:
        """As :meth:`Operator.bind`.

        Raises:
            SchemaError: also an argument that is out of range, that the policy needs and, when ``strict``, that it
                does not take.
        """
        made = super().bind(args, wanted, strict=strict)
        needs = _NEEDS[made.policy]
        known = (*_COMMON, *needs, *_TAKES[made.policy])
        for missing in (name for name in needs if name not in args):
            raise SchemaError(
                f"WarmupLearningRate: policy {made.policy!r} needs the argument {missing!r}", takes=", ".join(known)
            )
        for extra in (name for name in args if strict and name not in known):
            raise SchemaError(
                f"WarmupLearningRate: policy {made.policy!r} takes no argument {extra!r}",
                takes=", ".join(known),
                did_you_mean=did_you_mean(extra, known),
            )
        for name, expected in made._broken():
            raise SchemaError(
                f"WarmupLearningRate: {name!r} is out of range", expected=expected, got=getattr(made, name)
            )
        return made

    def _broken(self) -> Iterator[tuple[str, str]]:
        """The arguments out of range, each with what is expected of it."""
        for name in ("base_lr", "gamma", "warmup_factor"):
            if not math.isfinite(getattr(self, name)):
                yield name, "a finite number"
        if self.max_iter < (self.policy in ("cosine", "poly")):
            yield "max_iter", "a positive number"
        if sorted(self.steps) != list(self.steps) or any(step < 0 for step in self.steps):
            yield "steps", "steps from 0 on, in order"
        if not 0 <= self.power < math.inf:
            yield "power", "0 <= x, finite"
        if not abs(self.end_lr) <= abs(self.base_lr) or self.end_lr * self.base_lr < 0:
            yield "end_lr", f"from 0 to base_lr = {self.base_lr:g}"
        if self.warmup_iters < 0:
            yield "warmup_iters", "0 <= x"
        if self.warmup_factor < 0:
            yield "warmup_factor", "0 <= x"

    def infer(self, iteration: TensorType) -> TensorType:
        check_update(self, iteration, iteration=iteration)
        return TensorType(DType.FLOAT, ())

    def compute(self, xp: ArrayModule, iteration: Array) -> Array:
        return xp.full((), self.at(int(iteration.reshape(-1)[0])), dtype=xp.float32)

    def at(self, iteration: int) -> float:
        """The learning rate of an iteration (the first is 1), before it is rounded to float32.

        Raises:
            RunError: an iteration before the first.
        """
        if iteration < 1:
            raise RunError(
                "WarmupLearningRate: the iteration comes before the first step", expected="1 or more", got=iteration
            )
        step = iteration - 1
        return decimal(self.base_lr) * self._warm(step) * self._schedule(step)

    def _warm(self, step: int) -> float:
        if step >= self.warmup_iters:
            return 1.0
        done = step / self.warmup_iters if self.warmup == "linear" else 0.0
        return decimal(self.warmup_factor) * (1 - done) + done

    def _schedule(self, step: int) -> float:
        if self.policy == "fixed":
            return 1.0
        if self.policy == "multistep":
            return decimal(self.gamma) ** bisect_right(self.steps, step)
        end = decimal(self.end_lr) / decimal(self.base_lr) if self.base_lr else 1.0
        done = min(step / self.max_iter, 1.0)
        if self.policy == "cosine":
            return end + (1 - end) * (1 + math.cos(math.pi * done)) / 2
        height = (1 - done) ** decimal(self.power)
        return height if step < self.warmup_iters else max(height, end)
