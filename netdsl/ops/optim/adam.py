"""Adam: steps along the mean gradient, divided by the root of the mean squared gradient."""

from __future__ import annotations

import math
from typing import Any

from netdsl.errors import SchemaError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Counter, Index, Single
from netdsl.ops.optim.update import INDICES_DOC, LR_DOC, check_row_state, check_rows, check_update, update_rows
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_SOURCE = "https://arxiv.org/abs/1412.6980"
_BETA1 = "How much of the mean gradient is kept."
_BETA2 = "How much of the mean squared gradient is kept."
_EPSILON = "Added to the root, so that no step divides by zero."
_ITERATION = "The iteration, one int64; the first is 0."


def check_betas(operator: Any) -> None:
    """Raise unless both betas are in [0, 1): the correction divides by what is missing to 1."""
    for name in ("beta1", "beta2"):
        if not 0 <= getattr(operator, name) < 1:
            raise SchemaError(
                f"{type(operator).__name__}: {name!r} is out of range",
                expected="0 <= x < 1",
                got=getattr(operator, name),
            )


@operator
class Adam(Operator):
    """One step of Adam, which *adds* the step: the learning rate is negative.

    ``m1' = beta1 * m1 + (1 - beta1) * grad``, ``m2' = beta2 * m2 + (1 - beta2) * grad**2``, and with
    ``t = iteration + 1`` the step is ``c * m1' / (sqrt(m2') + epsilon)``, where
    ``c = sqrt(1 - beta2**t) / (1 - beta1**t)`` corrects for both starting at 0; ``param' = param + lr * step``.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment_1", Single, doc="The running mean of the gradient."),
        In("moment_2", Single, doc="The running mean of the squared gradient."),
        In("grad", Single, doc="Gradient of the parameter."),
        In("lr", Single, doc=LR_DOC),
        In("iteration", Counter, host=True, doc=_ITERATION),
    )
    outputs = (
        Out("param_out", inplace="param"),
        Out("moment_1_out", inplace="moment_1"),
        Out("moment_2_out", inplace="moment_2"),
        Out("step", optional=True, doc="What was added, before it was multiplied by lr."),
    )
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    beta1: float = arg(0.9, doc=_BETA1)
    beta2: float = arg(0.999, doc=_BETA2)
    epsilon: float = arg(1e-5, doc=_EPSILON)

    def __attrs_post_init__(self) -> None:
        check_betas(self)

    def infer(
        self,
        param: TensorType,
        moment_1: TensorType,
        moment_2: TensorType,
        grad: TensorType,
        lr: TensorType,
        iteration: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, moment_1=moment_1, moment_2=moment_2, gradient=grad, lr=lr, iteration=iteration)
        return param, moment_1, moment_2, param

    def compute(
        self,
        xp: ArrayModule,
        param: Array,
        moment_1: Array,
        moment_2: Array,
        grad: Array,
        lr: Array,
        iteration: Array,
    ) -> tuple[Array, ...]:
        b1, b2, one = xp.float32(self.beta1), xp.float32(self.beta2), xp.float32(1)
        t = (xp.from_host(iteration) + 1).astype(xp.float64)
        missing_1 = xp.float64(1) - xp.power(xp.float64(b1), t)
        missing_2 = xp.float64(1) - xp.power(xp.float64(b2), t)
        correction = (xp.sqrt(missing_2) / missing_1).astype(xp.float32)
        new_1 = grad * (one - b1) + moment_1 * b1
        new_2 = grad * grad * (one - b2) + moment_2 * b2
        step = correction * new_1 / (xp.sqrt(new_2) + xp.float32(self.epsilon))
        return param + lr * step, new_1, new_2, step


@operator
class SparseAdam(Operator):
    """As :class:`Adam`, for the rows of the parameter that ``indices`` names.

    A row that occurs more than once is updated as often, one time after the other. With ``enableRAdam`` the
    variance of the step is rectified (https://arxiv.org/abs/1908.03265): with ``r = 2 / (1 - beta2) - 1`` and
    ``s = r - 2 * t * beta2**t / (1 - beta2**t)`` the step is multiplied by
    ``sqrt((s - 4) * (s - 2) * r / ((r - 4) * (r - 2) * s))``; while ``s < 5`` it is ``m1' / (1 - beta1**t)`` instead.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment_1", Single, doc="The running mean of the gradient."),
        In("moment_2", Single, doc="The running mean of the squared gradient."),
        In("indices", Index, doc=INDICES_DOC),
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("lr", Single, doc=LR_DOC),
        In("iteration", Counter, host=True, doc=_ITERATION),
    )
    outputs = (
        Out("param_out", inplace="param", enforced="param", rows="indices"),
        Out("moment_1_out", inplace="moment_1", enforced="moment_1", rows="indices"),
        Out("moment_2_out", inplace="moment_2", enforced="moment_2", rows="indices"),
        Out("step", optional=True, doc="What was added for each index, before it was multiplied by lr."),
    )
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    beta1: float = arg(0.9, doc=_BETA1)
    beta2: float = arg(0.999, doc=_BETA2)
    epsilon: float = arg(1e-5, doc=_EPSILON)
    enableRAdam: bool = arg(False, doc="Rectify the variance of the step.")

    def __attrs_post_init__(self) -> None:
        check_betas(self)

    def infer(
        self,
        param: TensorType,
        moment_1: TensorType,
        moment_2: TensorType,
        indices: TensorType,
        grad: TensorType,
        lr: TensorType,
        iteration: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, moment_1=moment_1, moment_2=moment_2, lr=lr, iteration=iteration)
        check_rows(self, param, indices, grad)
        return param, moment_1, moment_2, grad

    def compute(
        self,
        xp: ArrayModule,
        param: Array,
        moment_1: Array,
        moment_2: Array,
        indices: Array,
        grad: Array,
        lr: Array,
        iteration: Array,
    ) -> tuple[Array, ...]:
        b1, b2, one = xp.float32(self.beta1), xp.float32(self.beta2), xp.float32(1)
        t = int(iteration.reshape(-1)[0]) + 1
        factor, adaptive = self.rectified(t) if self.enableRAdam else (correction(self.beta1, self.beta2, t), True)
        factor = xp.float32(factor)

        def step(p: Array, m1: Array, m2: Array, g: Array) -> tuple[Array, ...]:
            new_1 = g * (one - b1) + m1 * b1
            new_2 = g * g * (one - b2) + m2 * b2
            taken = factor * new_1
            taken = taken / (xp.sqrt(new_2) + xp.float32(self.epsilon)) if adaptive else taken
            return p + lr * taken, new_1, new_2, taken

        taken = xp.empty(grad.shape, dtype=grad.dtype) if self.wants("step") else None
        update_rows(self, xp, indices, [param, moment_1, moment_2], grad, step, taken)
        return param, moment_1, moment_2, taken

    def rectified(self, t: int) -> tuple[float, bool]:
        """The factor of iteration ``t`` (the first is 1), and whether the step is divided by the root."""
        kept = self.beta2**t
        longest = 2 / (1 - self.beta2) - 1
        length = longest - 2 * t * kept / (1 - kept)
        if length < 5:
            return 1 / (1 - self.beta1**t), False
        ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        return math.sqrt(ratio) * correction(self.beta1, self.beta2, t), True


@operator
class RowWiseSparseAdam(Operator):
    """As :class:`SparseAdam`, with one second moment for each row: the running mean of its mean ``grad**2``."""

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment_1", Single, doc="The running mean of the gradient."),
        In("moment_2", Single, doc="The running mean of the mean squared gradient of each row."),
        In("indices", Index, doc=INDICES_DOC),
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("lr", Single, doc=LR_DOC),
        In("iteration", Counter, host=True, doc=_ITERATION),
    )
    outputs = SparseAdam.outputs
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    beta1: float = arg(0.9, doc=_BETA1)
    beta2: float = arg(0.999, doc=_BETA2)
    epsilon: float = arg(1e-5, doc=_EPSILON)

    def __attrs_post_init__(self) -> None:
        check_betas(self)

    def infer(
        self,
        param: TensorType,
        moment_1: TensorType,
        moment_2: TensorType,
        indices: TensorType,
        grad: TensorType,
        lr: TensorType,
        iteration: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, moment_1=moment_1, lr=lr, iteration=iteration)
        check_rows(self, param, indices, grad)
        check_row_state(self, param, "moment_2", moment_2)
        return param, moment_1, moment_2, grad

    def compute(
        self,
        xp: ArrayModule,
        param: Array,
        moment_1: Array,
        moment_2: Array,
        indices: Array,
        grad: Array,
        lr: Array,
        iteration: Array,
    ) -> tuple[Array, ...]:
        b1, b2, one = xp.float32(self.beta1), xp.float32(self.beta2), xp.float32(1)
        factor = xp.float32(correction(self.beta1, self.beta2, int(iteration.reshape(-1)[0]) + 1))
        width, ones = math.prod(param.shape[1:]), (1,) * (param.ndim - 1)

        def step(p: Array, m1: Array, m2: Array, g: Array) -> tuple[Array, ...]:
            new_1 = g * (one - b1) + m1 * b1
            new_2 = (g * g).reshape(-1, width).mean(axis=1) * (one - b2) + m2 * b2
            root = xp.sqrt(new_2).reshape(-1, *ones) + xp.float32(self.epsilon)
            taken = factor * new_1 / root
            return p + lr * taken, new_1, new_2, taken

        taken = xp.empty(grad.shape, dtype=grad.dtype) if self.wants("step") else None
        update_rows(self, xp, indices, [param, moment_1, moment_2], grad, step, taken)
        return param, moment_1, moment_2, taken


def correction(beta1: float, beta2: float, t: int) -> float:
    """What undoes that both moments started at 0, in iteration ``t`` (the first is 1)."""
    return math.sqrt(1 - beta2**t) / (1 - beta1**t)
