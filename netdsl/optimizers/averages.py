"""Averages of weights over the steps: exponential (EMA) and stochastic (SWA)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs

from netdsl.dsl import Blob, Net, Parameter
from netdsl.errors import SchemaError
from netdsl.optimizers.base import Trainable, Updates
from netdsl.optimizers.master import masters


@attrs.frozen(kw_only=True)
class WeightAverage:
    """Base of the averages: each keeps a blob ``<parameter>_<suffix>`` beside every parameter it follows."""

    suffix: ClassVar[str]

    def build(self, model: Trainable, parameters: Iterable[Parameter] | None = None) -> None:
        """Append the averaging after the updates; default: all parameters that are not frozen.

        Call it after the optimizer's ``build``. Of a half parameter the single-precision master is averaged.
        """
        to = Updates(model, self.suffix)
        for parameter in model.params() if parameters is None else parameters:
            if not parameter.frozen:
                weight, _ = masters(parameter)
                average = to.once("Copy", f"{weight}_{self.suffix}", {}, Blob(weight.name, to.init))
                self.follow(to, weight, average)

    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""
        raise SchemaError(f"{type(self).__name__} follows nothing", expected="a subclass that does")

    def applied(self, model: Trainable, net: Net, name: str | None = None) -> Net:
        """Return a copy of ``net`` that reads the averages instead of the parameters."""
        made: dict[Blob | str, Blob | str] = {}
        for parameter in model.params():
            weight, half = masters(parameter)
            average = f"{weight}_{self.suffix}"
            if half is None and model.init_net.computes(average) and parameter.name in net.definition.inputs:
                made[parameter.name] = average
        return net.clone(name or f"{net.name}_{self.suffix}", made)


@attrs.frozen(kw_only=True)
class EMA(WeightAverage):
    """Exponential moving average: ``average = decay * average + (1 - decay) * weight`` each step."""

    suffix: ClassVar[str] = "ema"

    decay: float = 0.999

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.decay < 1:
            raise SchemaError("EMA: 'decay' must lie in [0, 1)", got=self.decay)

    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""
        to.net.add("MovingAverage", [average, weight], average, {"decay": self.decay})


@attrs.frozen(kw_only=True)
class SWA(WeightAverage):
    """Stochastic weight averaging (https://arxiv.org/abs/1803.05407): the mean over every ``interval``-th step."""

    suffix: ClassVar[str] = "swa"

    start: int = 1
    interval: int = 1

    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""
        args = {"shape": [1], "value": 0, "dtype": "int64"}
        count = to.once("ConstantFill", f"{average}_count", args)
        inputs = [average, count, weight, to.iteration()]
        options = {"start": self.start, "interval": self.interval}
        to.net.add("StochasticAverage", inputs, [average, count], options)
