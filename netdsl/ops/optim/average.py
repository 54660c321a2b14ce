"""Averages of a parameter over the steps of training, which often predict better. Caffe2 has no such operators."""

from __future__ import annotations

from netdsl.errors import SchemaError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Boolean, Counter, Float, Single
from netdsl.ops.optim.adamw import decimal
from netdsl.ops.optim.update import check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_PARAM = "The parameter after its update, of any precision."
_FOUND = "Whether this step was skipped, one bool: see CheckFinite. Where it is true nothing changes."


@operator
class MovingAverage(Operator):
    """The exponential moving average of a parameter: ``average' = decay * average + (1 - decay) * param``.

    Computed as ``average + (1 - decay) * (param - average)`` in float32: so an average that has reached the parameter
    stays there, while two rounded weights whose sum is not quite 1 would pull it towards zero.
    """

    inputs = (
        In("average", Single, doc="The average; it begins as a copy of the parameter."),
        In("param", Float.untied(), doc=_PARAM),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (Out("average_out", inplace="average"),)
    elementwise = True
    role = "update"
    updates = (("average_out", "average"),)
    ours = True
    source = "https://doi.org/10.1137/0330046"

    decay: float = arg(doc="How much of the average is kept: at least 0, less than 1.")

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.decay < 1:
            raise SchemaError("MovingAverage: 'decay' is out of range", expected="0 <= x < 1", got=self.decay)

    def infer(self, average: TensorType, param: TensorType, found: TensorType | None = None) -> TensorType:
        check_update(self, param, average=average, found=found)
        return average

    def compute(self, xp: ArrayModule, average: Array, param: Array, found: Array | None = None) -> Array:
        new = average + (param.astype(xp.float32) - average) * xp.float32(1 - decimal(self.decay))
        return new if found is None else xp.where(found, average, new)


@operator
class StochasticAverage(Operator):
    """The plain mean of a parameter over some of the steps: stochastic weight averaging.

    In the iterations ``start``, ``start + interval``, ``start + 2 * interval``, ...:
    ``average' = average + (param - average) / (count + 1)`` and ``count' = count + 1``; in all others nothing changes.
    While ``count`` is 0 the average becomes the parameter, whatever it was. Computed in float32.
    """

    inputs = (
        In("average", Single, doc="The mean so far."),
        In("count", Counter, doc="How many values it is the mean of, one int64; 0 at first."),
        In("param", Float.untied(), doc=_PARAM),
        In(
            "iteration",
            Counter,
            host=True,
            doc="The iteration as AtomicIter leaves it, one int64: 1 in the first step.",
        ),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (Out("average_out", inplace="average"), Out("count_out", inplace="count"))
    elementwise = True
    role = "update"
    updates = (("average_out", "average"),)
    ours = True
    source = "https://arxiv.org/abs/1803.05407"

    start: int = arg(1, doc="The first iteration that counts; positive.")
    interval: int = arg(1, doc="Iterations from one that counts to the next; positive.")

    def __attrs_post_init__(self) -> None:
        for name in ("start", "interval"):
            if getattr(self, name) < 1:
                raise SchemaError(f"StochasticAverage: {name!r} must be positive", got=getattr(self, name))

    def infer(
        self,
        average: TensorType,
        count: TensorType,
        param: TensorType,
        iteration: TensorType,
        found: TensorType | None = None,
    ) -> tuple[TensorType, TensorType]:
        check_update(self, param, average=average, count=count, iteration=iteration, found=found)
        return average, count

    def compute(
        self,
        xp: ArrayModule,
        average: Array,
        count: Array,
        param: Array,
        iteration: Array,
        found: Array | None = None,
    ) -> tuple[Array, Array]:
        since = xp.from_host(iteration) - self.start
        # A formula has no remainder; the quotient is exact wherever it is whole.
        whole = (since.astype(xp.float64) / float(self.interval)).astype(xp.int64)
        due = xp.logical_and(since >= 0, whole * self.interval == since)
        if found is not None:
            due = xp.logical_and(due, xp.logical_not(found))
        more = count + 1
        share = xp.float32(1) / more.astype(xp.float32)
        new = xp.where(more == 1, param.astype(xp.float32), average + (param.astype(xp.float32) - average) * share)
        return xp.where(due, new, average), xp.where(due, more, count)
