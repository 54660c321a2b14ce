"""Weight decay on its own."""

from __future__ import annotations

from netdsl.ir import TensorType
from netdsl.ops.dtypes import Boolean, Single
from netdsl.ops.optim.update import LR_DOC, check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class DecayWeights(Operator):
    """Decoupled weight decay before an update: ``param' = param - lr * weight_decay * param``.

    Where ``found`` is given and true the parameter stays as it is.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("lr", Single, doc=LR_DOC),
        In("found", Boolean, optional=True, doc="Whether to skip this step, one bool."),
    )
    outputs = (Out("param_out", inplace="param"),)
    elementwise = True
    role = "decay"
    ours = True
    source = "https://arxiv.org/abs/1711.05101"

    weight_decay: float = arg(doc="The share of the parameter that is taken off, times lr.")

    def infer(self, param: TensorType, lr: TensorType, found: TensorType | None = None) -> TensorType:
        check_update(self, param, lr=lr, found=found)
        return param

    def compute(self, xp: ArrayModule, param: Array, lr: Array, found: Array | None = None) -> Array:
        decayed = param * (xp.float32(1) - lr * xp.float32(self.weight_decay))
        return decayed if found is None else xp.where(found, param, decayed)
