"""Averages of weights over the steps: exponential (EMA) and stochastic (SWA)."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import ClassVar

import attrs

from netdsl.dsl import Blob, Net, Parameter
from netdsl.errors import NetError, SchemaError
from netdsl.optimizers.base import Trainable, Updates, masters
from netdsl.optimizers.checks import ByKeyword, number, whole
from netdsl.optimizers.master import LossScale
from netdsl.passes.edit import rename


@attrs.frozen(kw_only=True)
class WeightAverage(ByKeyword, abc.ABC):
    """Base of the averages: each keeps a blob ``<parameter>_<suffix>`` beside every parameter it follows.

    It begins as a copy of what the init net made. Of a half parameter the single-precision master is
    averaged; a step that loss scaling skips changes no average. Running statistics, as of SpatialBN, are
    no parameters: with averages they stay those of the weights in training.
    """

    suffix: ClassVar[str]

    def build(self, model: Trainable, parameters: Iterable[Parameter] | None = None) -> None:
        """Append the averaging; default: of all parameters that are not frozen.

        Raises:
            NetError: a parameter that nothing updates, since ``build`` comes after the optimizer's, or that is
                averaged already.
        """
        to = Updates(model, self.suffix)
        to.nonfinite = Blob(LossScale.nonfinite, to.net) if to.net.computes(LossScale.nonfinite) else None
        chosen = model.params() if parameters is None else list(parameters)
        followed = [(p, masters(p)[0]) for p in chosen if not p.frozen]
        for parameter, weight in followed:
            if not to.net.computes(weight) and parameters is not None:
                fix = "build the average after the optimizer"
                raise NetError(f"nothing updates parameter {parameter.name!r}", fix=fix)
            if to.net.computes(self.of(weight)):
                raise NetError(f"parameter {parameter.name!r} is averaged already", by=self.of(weight))
        moved = [weight for _, weight in followed if to.net.computes(weight)]
        if not moved:
            fix = "build the optimizer first, one that updates single-precision blobs"
            raise NetError(f"no parameter of model {model.name!r} is updated", fix=fix)
        for weight in moved:
            self.follow(to, weight, to.once("Copy", self.of(weight), {}, Blob(weight.name, to.init)))

    def of(self, weight: Blob | str) -> str:
        """The name of the average of a single-precision blob."""
        return f"{weight}_{self.suffix}"

    @abc.abstractmethod
    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""

    def applied(self, model: Trainable, net: Net, name: str | None = None) -> Net:
        """Return a copy of ``net``, as of ``model.for_inference``, that reads the averages instead of the parameters.

        A half blob is rounded from its master's average, by operators at the beginning.

        Raises:
            NetError: the net computes or updates a parameter itself, or reads none that is averaged.
        """
        made, halves = self._replaced(model, net)
        if not made:
            raise NetError(f"net {net.name!r} reads no parameter that {type(self).__name__} averages")
        body = rename(net.definition, made)
        found = Net(name or f"{net.name}_{self.suffix}")
        for blob in (*body.inputs, *halves.values()):
            if blob not in halves:
                found.input(Blob(blob))
        for blob, average in halves.items():
            found.set_type(average, model.net.type_of(average))
            found.add("FloatToHalf", Blob(average, found), Blob(blob, found))
        found.append(attrs.evolve(body, inputs=[blob for blob in body.inputs if blob not in halves]))
        return found

    def _replaced(self, model: Trainable, net: Net) -> tuple[dict[str, str], dict[str, str]]:
        """What each blob is replaced by; and the half ones among these, with the average each is rounded from."""
        made: dict[str, str] = {}
        halves: dict[str, str] = {}
        for parameter in model.params():
            weight, half = masters(parameter)
            if not model.net.computes(self.of(weight)):
                continue
            for blob in parameter.blobs:
                if net.computes(blob):
                    fix = "apply averages to model.for_inference(...).net"
                    raise NetError(f"net {net.name!r} updates parameter {parameter.name!r}", fix=fix)
                if blob.name in net.definition.inputs:
                    made[blob.name] = self.of(blob)
                    if half is not None and blob.name == half.name:
                        halves[self.of(blob)] = self.of(weight)
        return made, halves


@attrs.frozen(kw_only=True)
class EMA(WeightAverage):
    """Exponential moving average: ``average = decay * average + (1 - decay) * weight`` each step."""

    suffix: ClassVar[str] = "ema"

    decay: float = attrs.field(default=0.999, validator=number())

    def __attrs_post_init__(self) -> None:
        if not self.decay < 1:
            raise SchemaError("EMA: 'decay' must lie in [0, 1)", got=self.decay)

    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""
        skip = [] if to.nonfinite is None else [to.nonfinite]
        to.net.add("MovingAverage", [average, weight, *skip], average, {"decay": self.decay})


@attrs.frozen(kw_only=True)
class SWA(WeightAverage):
    """Stochastic weight averaging (https://arxiv.org/abs/1803.05407): the mean over every ``interval``-th step.

    ``start`` is the first step that counts. Until then the average is what the init net made.
    """

    suffix: ClassVar[str] = "swa"

    start: int = attrs.field(default=1, validator=whole)
    interval: int = attrs.field(default=1, validator=whole)

    def follow(self, to: Updates, weight: Blob, average: Blob) -> None:
        """Append what moves one average."""
        args = {"shape": [1], "value": 0, "dtype": "int64"}
        count = to.once("ConstantFill", f"{average}_count", args)
        inputs = [average, count, weight, to.iteration(), *([] if to.nonfinite is None else [to.nonfinite])]
        options = {"start": self.start, "interval": self.interval}
        to.net.add("StochasticAverage", inputs, [average, count], options)
