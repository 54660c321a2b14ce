"""Master weights with loss scaling: half gradients, single-precision updates, and no gradient lost to underflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs

from netdsl.dsl import Blob, Parameter
from netdsl.errors import NetError
from netdsl.ir import DType
from netdsl.optimizers.base import Optimizer, Trainable, Updates, dense_gradient, masters
from netdsl.optimizers.checks import ByKeyword, flag, instance, number, whole


@attrs.frozen(kw_only=True)
class LossScale(ByKeyword):
    """What the loss is multiplied by, so that small half gradients do not vanish (https://arxiv.org/abs/1710.03740).

    A dynamic scale behaves as PyTorch's GradScaler does: where a gradient is not finite the step is
    skipped and the scale multiplied by ``backoff_factor``; after ``growth_interval`` steps in a row it is
    multiplied by ``growth_factor``. A static one never changes; such steps are skipped all the same. The
    iteration counter, and with it the learning-rate schedule, goes on during a skipped step; AdamW's bias
    correction does not.
    """

    initial: float = attrs.field(default=65536.0, validator=number(positive=True))
    dynamic: bool = attrs.field(default=True, validator=flag)
    growth_factor: float = attrs.field(default=2.0, validator=number())
    backoff_factor: float = attrs.field(default=0.5, validator=number())
    growth_interval: int = attrs.field(default=2000, validator=whole)
    blob: ClassVar[str] = "loss_scale"
    nonfinite: ClassVar[str] = "nonfinite"

    def scaled(self, model: Trainable, loss: Blob | str) -> Blob:
        """Append the scaled loss to ``model`` and return it: give it to ``model.add_gradients``."""
        to = Updates(model, "loss_scale")
        scale = to.once("ConstantFill", self.blob, {"shape": [1], "value": float(self.initial)})
        name = model.net.blob(f"scaled_{loss}").name
        return model.net.add("ScaleLoss", [loss, scale], to.helper("ScaleLoss", name))

    def check(self, to: Updates, grads: Sequence[Blob]) -> Blob:
        """Append the check of all gradients; return whether one is not finite.

        Raises:
            NetError: the loss was not scaled.
        """
        if not to.init.computes(self.blob):
            raise NetError(
                f"net {to.net.name!r} has no scaled loss",
                expected="model.add_gradients(loss_scale.scaled(model, loss)) before the optimizer",
            )
        return to.net.add("CheckFinite", grads, to.helper("CheckFinite", self.nonfinite))

    def adapt(self, to: Updates) -> None:
        """Append the adaptation of a dynamic scale."""
        if not self.dynamic:
            return
        zero = {"shape": [1], "value": 0, "dtype": DType.INT32}
        tracker = to.once("ConstantFill", f"{self.blob}_growth_tracker", zero)
        scale = Blob(self.blob, to.net)
        args = {
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
        }
        to.net.add("UpdateLossScale", [scale, tracker, Blob(self.nonfinite, to.net)], [scale, tracker], args)


@attrs.frozen(kw_only=True)
class MasterWeightSGD(Optimizer):
    """Momentum SGD on single-precision masters, from the gradients of a scaled loss.

    ``scale = LossScale()``, ``model.add_gradients(scale.scaled(model, loss))``, then
    ``MasterWeightSGD(loss_scale=scale).build(model)``. Each step checks that all gradients are finite,
    divides them by the scale in float32, adds ``weight_decay`` times the master, updates the master, and
    rounds it into the half blob. Parameters in single precision are updated alike, without a copy.
    """

    prefix: ClassVar[str] = "master_sgd"

    loss_scale: LossScale = attrs.field(factory=LossScale, validator=instance(LossScale, "LossScale()"))
    momentum: float = attrs.field(default=0.0, validator=number())
    nesterov: bool = attrs.field(default=True, validator=flag)
    weight_decay: float = attrs.field(default=0.0, validator=number())

    def begin(self, to: Updates, parameters: Sequence[Parameter]) -> None:
        """Append the check of all gradients.

        Raises:
            NetError: the loss was not scaled.
        """
        self.loss_scale.check(to, [dense_gradient(p, "MasterWeightSGD") for p in parameters])

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter.

        Raises:
            SchemaError: a copy that is neither float32 nor float16, or a sparse gradient.
        """
        master, half = masters(parameter)
        grad = dense_gradient(parameter, "MasterWeightSGD")
        rate = self.rate(to, parameter, 1)
        m = to.state(master, "momentum")
        scale, found = Blob(self.loss_scale.blob, to.net), Blob(LossScale.nonfinite, to.net)
        args = {"momentum": self.momentum, "nesterov": int(self.nesterov), "weight_decay": self.weight_decay}
        if half is None:
            to.net.add("ScaledMomentumSGDUpdate", [grad, m, rate, master, scale, found], [m, master], args)
        else:
            inputs = [grad, m, rate, master, half, scale, found]
            to.net.add("MasterMomentumSGDUpdate", inputs, [m, master, half], args)

    def end(self, to: Updates) -> None:
        """Append the adaptation of a dynamic scale."""
        self.loss_scale.adapt(to)
