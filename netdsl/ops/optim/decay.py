"""Decoupled weight decay on its own, for optimizers whose update has none. Caffe2 has no such operators."""

from __future__ import annotations

import attrs

from netdsl.errors import SchemaError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import Boolean, Index, Single
from netdsl.ops.optim.adamw import decimal
from netdsl.ops.optim.update import INDICES_DOC, check_indices, check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_LR = "The learning rate, one number; positive, for the decay is subtracted."
_FOUND = "Whether to skip this step, one bool: see CheckFinite."


@attrs.frozen(kw_only=True, slots=False)
class DecoupledDecay(Operator):
    """Base of the operators that decay: their argument and the one formula."""

    weight_decay: float = arg(doc="The share of the parameter that is taken off, times lr: zero or positive.")

    def __attrs_post_init__(self) -> None:
        if not self.weight_decay >= 0:
            name = type(self).__name__
            raise SchemaError(f"{name}: 'weight_decay' is out of range", expected="0 <= x", got=self.weight_decay)

    def decayed(self, xp: ArrayModule, param: Array, lr: Array, found: Array | None) -> Array:
        """Return the decayed parameter; what it is multiplied by is computed in float64 and rounded once."""
        kept = xp.float64(1) - lr.astype(xp.float64) * xp.float64(decimal(self.weight_decay))
        new = param * kept.astype(xp.float32)
        return new if found is None else xp.where(found, param, new)


@operator
class DecayWeights(DecoupledDecay):
    """Decoupled weight decay before an update: ``param' = param * (1 - lr * weight_decay)``.

    Where ``found`` is given and true the parameter stays as it is.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("lr", Single, doc=_LR),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (Out("param_out", inplace="param"),)
    elementwise = True
    role = "decay"
    ours = True
    source = "https://arxiv.org/abs/1711.05101"

    def infer(self, param: TensorType, lr: TensorType, found: TensorType | None = None) -> TensorType:
        check_update(self, param, lr=lr, found=found)
        return param

    def compute(self, xp: ArrayModule, param: Array, lr: Array, found: Array | None = None) -> Array:
        return self.decayed(xp, param, lr, found)


@operator
class SparseDecayWeights(DecoupledDecay):
    """As :class:`DecayWeights`, for the rows that ``indices`` names, each once however often it occurs.

    The other rows keep their bits, so a row decays as often as it is used.
    """

    inputs = (
        In("param", Single, doc="The parameter."),
        In("indices", Index, doc=INDICES_DOC),
        In("lr", Single, doc=_LR),
        In("found", Boolean, optional=True, doc=_FOUND),
    )
    outputs = (Out("param_out", inplace="param", enforced="param", rows="indices"),)
    role = "decay"
    ours = True
    source = "https://arxiv.org/abs/1711.05101"

    def infer(
        self, param: TensorType, indices: TensorType, lr: TensorType, found: TensorType | None = None
    ) -> TensorType:
        check_update(self, param, lr=lr, found=found)
        return param

    def compute(self, xp: ArrayModule, param: Array, indices: Array, lr: Array, found: Array | None = None) -> Array:
        flat = indices.reshape(-1)
        check_indices(self, flat, param.shape[0])
        param[flat] = self.decayed(xp, param[flat], lr.reshape(()), None if found is None else found.reshape(()))
        return param
