"""What some optimizers do besides updating: adapting the learning rate, scaling weights, counting updates."""

from __future__ import annotations

import math

from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Counter, DTypes, Index, Single
from netdsl.ops.optim.update import INDICES_DOC, LR_DOC, check_indices, check_row_state, check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_NEVER = 2**63 - 1
_DOUBLE = DTypes("Double", frozenset([DType.DOUBLE]), tied=False)
_ITERATION = "The iteration, one int64; the first is 0."


@operator
class LearningRateAdaption(Operator):
    """Adapt a learning rate by how the gradient agrees with the step that was taken.

    ``lr' = lr * (1 - lr_alpha * cos)``, where ``cos`` is the cosine of the angle between ``grad`` and ``effgrad``
    (0 where one of them is 0); not normalized, ``lr' = lr - lr_alpha * dot(grad, effgrad)``.
    """

    inputs = (
        In("lr", Single, doc=LR_DOC),
        In("grad", Single, doc="The gradient."),
        In("effgrad", Single, doc="The step, before it was multiplied by the learning rate."),
    )
    outputs = (Out("lr_out", inplace="lr"),)
    source = "https://arxiv.org/abs/1703.04782"

    lr_alpha: float = arg(0.01, doc="The learning rate of the learning rate.")
    normalized_lr_adaption: bool = arg(True, doc="Use the cosine instead of the product.")

    def infer(self, lr: TensorType, grad: TensorType, effgrad: TensorType) -> TensorType:
        check_update(self, grad, lr=lr, effgrad=effgrad)
        return lr

    def compute(self, xp: ArrayModule, lr: Array, grad: Array, effgrad: Array) -> Array:
        alpha, product = xp.float32(self.lr_alpha), xp.total(grad * effgrad)
        if not self.normalized_lr_adaption:
            return lr - alpha * product
        norms = xp.sqrt(xp.total(grad * grad)) * xp.sqrt(xp.total(effgrad * effgrad))
        return lr - lr * alpha * (product / xp.maximum(norms, xp.float32(1e-30)))


@operator
class WeightScale(Operator):
    """Multiply a parameter by ``scale`` every ``stepsize`` iterations: where ``t = iteration + 1`` is a multiple."""

    inputs = (In("w", Single, doc="The parameter."), In("iteration", Counter, host=True, doc=_ITERATION))
    outputs = (Out("scaled", inplace="w"),)
    updates = (("scaled", "w"),)

    stepsize: int = arg(_NEVER, doc="Iterations from one scaling to the next.")
    upper_bound_iter: int = arg(_NEVER, doc="Stop when t reaches it.")
    scale: float = arg(1.0, doc="What the parameter is multiplied by.")

    def __attrs_post_init__(self) -> None:
        if self.stepsize <= 0:
            raise SchemaError("WeightScale: 'stepsize' must be positive", got=self.stepsize)

    def infer(self, w: TensorType, iteration: TensorType) -> TensorType:
        check_update(self, w, iteration=iteration)
        return w

    def compute(self, xp: ArrayModule, w: Array, iteration: Array) -> Array:
        t = int(iteration.reshape(-1)[0]) + 1
        return w * xp.float32(self.scale) if t % self.stepsize == 0 and t < self.upper_bound_iter else w


@operator
class RowWiseCounter(Operator):
    """Count the updates of each row of a table, older ones counting less: half after ``counter_halflife`` iterations.

    For each index ``update_counter' = update_counter * 2**(-age / counter_halflife) + 1``, where ``age`` are the
    iterations since ``prev_iter``, which becomes the iteration. Nothing changes unless the half-life is positive.
    """

    inputs = (
        In("prev_iter", Counter, doc="When each row was updated last."),
        In("update_counter", _DOUBLE, doc="The counter of each row, float64."),
        In("indices", Index, doc=INDICES_DOC),
        In("iteration", Counter, host=True, doc=_ITERATION),
    )
    outputs = (
        Out("prev_iter_out", inplace="prev_iter", enforced="prev_iter", rows="indices"),
        Out("update_counter_out", inplace="update_counter", enforced="update_counter", rows="indices"),
    )

    counter_halflife: int = arg(-1, doc="Iterations after which an update counts half.")

    def infer(
        self, prev_iter: TensorType, update_counter: TensorType, indices: TensorType, iteration: TensorType
    ) -> tuple[TensorType, TensorType]:
        check_update(self, prev_iter, iteration=iteration)
        check_row_state(self, prev_iter, "update_counter", update_counter)
        return prev_iter, update_counter

    def compute(
        self, xp: ArrayModule, prev_iter: Array, update_counter: Array, indices: Array, iteration: Array
    ) -> tuple[Array, Array]:
        rows, now = indices.reshape(-1), int(iteration.reshape(-1)[0])
        check_indices(self, rows, prev_iter.shape[0])
        if self.counter_halflife > 0:
            last = prev_iter[rows]
            age = (now - xp.minimum(last, now)).astype(xp.float64)
            kept = xp.exp(age * (-math.log(2) / self.counter_halflife))
            update_counter[rows] = update_counter[rows] * kept
            xp.scatter_add(update_counter, rows, xp.ones(rows.shape, dtype=xp.float64))
            prev_iter[rows] = xp.maximum(last, now)
        return prev_iter, update_counter
