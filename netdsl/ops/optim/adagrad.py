"""Adagrad: steps divided by the root of the sum of squared gradients."""

from __future__ import annotations

import math

from netdsl.errors import SchemaError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Index, Single
from netdsl.ops.optim.update import INDICES_DOC, LR_DOC, check_row_state, check_rows, check_update, update_rows
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_SOURCE = "https://jmlr.org/papers/v12/duchi11a.html"
_EPSILON = "Added to the root, so that no step divides by zero."
_DECAY = "Decay added to the gradient: weight_decay * param."


@operator
class Adagrad(Operator):
    """One step of Adagrad, which *adds* the step: the learning rate is negative.

    With ``g = grad + weight_decay * param``: ``moment' = decay * moment + g**2``,
    ``effective_lr = lr / (sqrt(moment') + epsilon)``, ``update = effective_lr * g`` and ``param' = param + update``.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment", Single, doc="The sum of squared gradients."),
        In("grad", Single, doc="Gradient of the parameter."),
        In("lr", Single, doc=LR_DOC),
    )
    outputs = (
        Out("param_out", inplace="param"),
        Out("moment_out", inplace="moment"),
        Out("effective_lr", optional=True, doc="The learning rate of each element."),
        Out("update", optional=True, doc="What was added."),
    )
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    epsilon: float = arg(1e-5, doc=_EPSILON)
    decay: float = arg(1.0, doc="How much of the sum is kept.")
    weight_decay: float = arg(0.0, doc=_DECAY)

    def infer(self, param: TensorType, moment: TensorType, grad: TensorType, lr: TensorType) -> tuple[TensorType, ...]:
        check_update(self, param, moment=moment, gradient=grad, lr=lr)
        return param, moment, param, param

    def compute(self, xp: ArrayModule, param: Array, moment: Array, grad: Array, lr: Array) -> tuple[Array, ...]:
        g = grad + xp.float32(self.weight_decay) * param
        new_moment = xp.float32(self.decay) * moment + g * g
        effective_lr = lr / (xp.sqrt(new_moment) + xp.float32(self.epsilon))
        update = effective_lr * g
        return param + update, new_moment, effective_lr, update


@operator
class SparseAdagrad(Operator):
    """As :class:`Adagrad`, for the rows of the parameter that ``indices`` names.

    A row that occurs more than once is updated as often, one time after the other.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment", Single, doc="The sum of squared gradients."),
        In("indices", Index, doc=INDICES_DOC),
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("lr", Single, doc=LR_DOC),
    )
    outputs = (
        Out("param_out", inplace="param", enforced="param", rows="indices"),
        Out("moment_out", inplace="moment", enforced="moment", rows="indices"),
    )
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    epsilon: float = arg(1e-5, doc=_EPSILON)
    decay: float = arg(1.0, doc="Must be 1: rows that are not named would have to decay too.")
    weight_decay: float = arg(0.0, doc=_DECAY)

    def __attrs_post_init__(self) -> None:
        if self.decay != 1:
            raise SchemaError("SparseAdagrad: 'decay' must be 1", expected=1.0, got=self.decay)

    def infer(
        self, param: TensorType, moment: TensorType, indices: TensorType, grad: TensorType, lr: TensorType
    ) -> tuple[TensorType, TensorType]:
        check_update(self, param, moment=moment, lr=lr)
        check_rows(self, param, indices, grad)
        return param, moment

    def compute(
        self, xp: ArrayModule, param: Array, moment: Array, indices: Array, grad: Array, lr: Array
    ) -> tuple[Array, Array]:
        dense = Adagrad(epsilon=self.epsilon, decay=1.0, weight_decay=self.weight_decay)

        def step(p: Array, h: Array, g: Array) -> tuple[Array, ...]:
            return dense.compute(xp, p, h, g, lr)[:2]

        update_rows(self, xp, indices, [param, moment], grad, step)
        return param, moment


@operator
class RowWiseSparseAdagrad(Operator):
    """As :class:`SparseAdagrad`, with one sum for each row: it grows by the mean of the row's ``g**2``."""

    inputs = (
        In("param", Single, doc="The parameter."),
        In("moment", Single, doc="The sum of mean squared gradients of each row."),
        In("indices", Index, doc=INDICES_DOC),
        In("grad", Single, doc="Gradient rows, one for each index."),
        In("lr", Single, doc=LR_DOC),
    )
    outputs = SparseAdagrad.outputs
    role = "update"
    updates = (("param_out", "param"),)
    source = _SOURCE

    epsilon: float = arg(1e-5, doc=_EPSILON)
    weight_decay: float = arg(0.0, doc=_DECAY)

    def infer(
        self, param: TensorType, moment: TensorType, indices: TensorType, grad: TensorType, lr: TensorType
    ) -> tuple[TensorType, TensorType]:
        check_update(self, param, lr=lr)
        check_rows(self, param, indices, grad)
        check_row_state(self, param, "moment", moment)
        return param, moment

    def compute(
        self, xp: ArrayModule, param: Array, moment: Array, indices: Array, grad: Array, lr: Array
    ) -> tuple[Array, Array]:
        width = math.prod(param.shape[1:])

        def step(p: Array, h: Array, grads: Array) -> tuple[Array, ...]:
            g = grads + xp.float32(self.weight_decay) * p
            new_h = h + (g * g).reshape(-1, width).mean(axis=1)
            rate = lr.reshape(()) / (xp.sqrt(new_h) + xp.float32(self.epsilon))
            return p + rate.reshape(-1, *(1,) * (p.ndim - 1)) * g, new_h

        update_rows(self, xp, indices, [param, moment], grad, step)
        return param, moment
