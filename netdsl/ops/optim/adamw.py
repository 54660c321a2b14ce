"""AdamW: Adam whose weight decay acts on the parameter and not through the gradient. Caffe2 has no such operator."""

from __future__ import annotations

import attrs

from netdsl.ir import TensorType
from netdsl.ir.text import float_text
from netdsl.ops.dtypes import Boolean, Counter, Index, Single
from netdsl.ops.optim.adam import check_betas
from netdsl.ops.optim.update import INDICES_DOC, check_rows, check_update, update_rows
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_LR = "The learning rate, one number; positive, for the step is subtracted."
_ITERATION = "The step as AtomicIter or CountStep leaves it, one int64: 1 in the first."
_FOUND = "Whether to skip this step, one bool: see CheckFinite."


def decimal(value: float) -> float:
    """Return the number that the author wrote: the shortest decimal that a record's float32 stands for.

    A record holds 0.999 as 0.99900001287; what is missing to 1 would be wrong in the fifth digit.
    """
    return float(float_text(value))


@attrs.frozen(kw_only=True, slots=False)
class DecoupledAdam(Operator):
    """Base of the AdamW operators: their arguments and the one formula."""

    beta1: float = arg(0.9, doc="How much of the mean gradient is kept.")
    beta2: float = arg(0.999, doc="How much of the mean squared gradient is kept.")
    epsilon: float = arg(1e-8, doc="Added to the root, so that no step divides by zero.")
    weight_decay: float = arg(0.0, doc="The decay, which lr multiplies.")

    def __attrs_post_init__(self) -> None:
        check_betas(self)

    def stepped(
        self,
        xp: ArrayModule,
        param: Array,
        moment_1: Array,
        moment_2: Array,
        grad: Array,
        lr: Array,
        iteration: Array,
        found: Array | None,
    ) -> tuple[Array, Array, Array]:
        """Return the new parameter and moments; single numbers are computed in float64 and rounded once."""
        beta1, beta2, one = decimal(self.beta1), decimal(self.beta2), xp.float64(1)
        t, rate = xp.from_host(iteration).astype(xp.float64), lr.astype(xp.float64)
        kept = (one - rate * xp.float64(decimal(self.weight_decay))).astype(xp.float32)
        size = (rate / (one - xp.power(xp.float64(beta1), t))).astype(xp.float32)
        unbias = xp.sqrt(one - xp.power(xp.float64(beta2), t)).astype(xp.float32)
        new_1 = moment_1 * xp.float32(beta1) + grad * xp.float32(1 - beta1)
        new_2 = moment_2 * xp.float32(beta2) + grad * grad * xp.float32(1 - beta2)
        new = param * kept - size * (new_1 / (xp.sqrt(new_2) / unbias + xp.float32(self.epsilon)))
        if found is None:
            return new, new_1, new_2
        return xp.where(found, param, new), xp.where(found, moment_1, new_1), xp.where(found, moment_2, new_2)


@operator
class AdamW(DecoupledAdam):
    """One step of AdamW, which *subtracts* the step: the learning rate is positive.

    ``p = param * (1 - lr * weight_decay)``, ``m1' = beta1 * m1 + (1 - beta1) * grad``,
    ``m2' = beta2 * m2 + (1 - beta2) * grad**2``, and with ``t = iteration``
    ``param' = p - lr * (m1' / (1 - beta1**t)) / (sqrt(m2' / (1 - beta2**t)) + epsilon)``.

    This is PyTorch's AdamW. It differs from :class:`Adam` in four ways besides the decay: the sign of lr, the place
    of epsilon, the first iteration, which is 1 (an iteration of 0 gives NaN: nothing is known yet of the means),
    and ``found``: where it is true, parameter and moments stay as they are, whatever the gradient holds.
    CountStep makes an iteration that leaves such steps out, as PyTorch's count of steps does.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment_1", Single, doc="The running mean of the gradient."),
        In("moment_2", Single, doc="The running mean of the squared gradient."),
        In("grad", Single, doc="Gradient of the parameter."),
        In("lr", Single, doc=_LR),
        In("iteration", Counter, host=True, doc=_ITERATION),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (
        Out("param_out", inplace="param"),
        Out("moment_1_out", inplace="moment_1"),
        Out("moment_2_out", inplace="moment_2"),
    )
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)
    ours = True
    source = "https://arxiv.org/abs/1711.05101"

    def infer(
        self,
        param: TensorType,
        moment_1: TensorType,
        moment_2: TensorType,
        grad: TensorType,
        lr: TensorType,
        iteration: TensorType,
        found: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, moment_1=moment_1, moment_2=moment_2, gradient=grad)
        check_update(self, param, lr=lr, iteration=iteration, found=found)
        return param, moment_1, moment_2

    def compute(
        self,
        xp: ArrayModule,
        param: Array,
        moment_1: Array,
        moment_2: Array,
        grad: Array,
        lr: Array,
        iteration: Array,
        found: Array | None = None,
    ) -> tuple[Array, ...]:
        return self.stepped(xp, param, moment_1, moment_2, grad, lr, iteration, found)


@operator
class SparseAdamW(DecoupledAdam):
    """As :class:`AdamW`, for the rows of the parameter that ``indices`` names: only these decay and move.

    The other rows and their moments keep their bits, so a row decays as often as it is used. A row that occurs more
    than once is updated as often, one time after the other, and decays each time.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment_1", Single, doc="The running mean of the gradient."),
        In("moment_2", Single, doc="The running mean of the squared gradient."),
        In("indices", Index, doc=INDICES_DOC),
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("lr", Single, doc=_LR),
        In("iteration", Counter, host=True, doc=_ITERATION),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (
        Out("param_out", inplace="param", enforced="param", rows="indices"),
        Out("moment_1_out", inplace="moment_1", enforced="moment_1", rows="indices"),
        Out("moment_2_out", inplace="moment_2", enforced="moment_2", rows="indices"),
    )
    role = "update"
    updates = (("param_out", "param"),)
    ours = True
    source = "https://arxiv.org/abs/1711.05101"

    def infer(
        self,
        param: TensorType,
        moment_1: TensorType,
        moment_2: TensorType,
        indices: TensorType,
        grad: TensorType,
        lr: TensorType,
        iteration: TensorType,
        found: TensorType | None = None,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, moment_1=moment_1, moment_2=moment_2, lr=lr, iteration=iteration, found=found)
        check_rows(self, param, indices, grad)
        return param, moment_1, moment_2

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
        found: Array | None = None,
    ) -> tuple[Array, ...]:
        def step(p: Array, m1: Array, m2: Array, g: Array) -> tuple[Array, ...]:
            return self.stepped(xp, p, m1, m2, g, lr, iteration, found)

        update_rows(self, xp, indices, [param, moment_1, moment_2], grad, step)
        return param, moment_1, moment_2
