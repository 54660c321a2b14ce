"""Clipping gradients by their norm: of the whole model, or of each alone. Caffe2 has no such operators.

For the whole model, GlobalNorm over all gradients gives one norm, ClipFactor one factor, and WeightedSum of a
gradient and that factor the clipped gradient. Each value alone is clipped by Clip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Float, Single
from netdsl.ops.optim.update import check_update
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_SOURCE = "https://arxiv.org/abs/1211.5063"
_MAX_NORM = "The largest norm; positive."
_NORM_TYPE = "The p of the norm: positive, and infinity for the largest absolute value."
_EPSILON = 1e-6
"""What PyTorch adds to the norm."""

_BLOCK = 2**18
"""Elements that are widened at a time; a double copy of a large gradient takes twenty times as long to read."""


@operator
class GlobalNorm(Operator):
    """The norm of all gradients together: ``norm = sum(abs(x)**p) ** (1 / p)`` over every element of each.

    Computed in float64, from gradients of any precision, so that no square overflows. A NaN in any gradient gives
    NaN, an infinity infinity. A sparse gradient counts with its values as they stand: where an index occurs twice,
    their sum may be smaller or larger than its parts.
    """

    inputs = (In("grads", Float.untied(), many=1, doc="Gradients, of any precision; of sparse ones the values."),)
    outputs = (Out("norm", doc="float32[1]: the norm."),)
    ours = True
    source = _SOURCE

    norm_type: float = arg(2.0, doc=_NORM_TYPE)

    def __attrs_post_init__(self) -> None:
        _check_positive(self, "norm_type")

    def infer(self, grads: tuple[TensorType, ...]) -> TensorType:
        return TensorType(DType.FLOAT, (1,))

    def compute(self, xp: ArrayModule, grads: tuple[Array, ...]) -> Array:
        return norm(xp, grads, self.norm_type)

    def cost(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
        each = super().cost(inputs, inputs)
        return None if each is None else 2 * each


@operator
class ClipFactor(Operator):
    """What gradients of this norm are multiplied by so that it is at most ``max_norm``.

    ``factor = min(max_norm / (norm + 1e-6), 1)``, as PyTorch's ``clip_grad_norm_`` has it. A norm of infinity
    gives 0 (and the infinite elements NaN), one of NaN gives NaN: check gradients that may not be finite with
    CheckFinite, and skip the step.
    """

    inputs = (In("norm", Single, doc="The norm, one number."),)
    outputs = (Out("factor", inplace="norm", doc="The factor, of the norm's shape."),)
    elementwise = True
    ours = True
    source = _SOURCE

    max_norm: float = arg(doc=_MAX_NORM)

    def __attrs_post_init__(self) -> None:
        _check_positive(self, "max_norm")

    def infer(self, norm: TensorType) -> TensorType:
        check_update(self, norm, norm=norm)
        return norm

    def compute(self, xp: ArrayModule, norm: Array) -> Array:
        return factor(xp, norm, self.max_norm)


@operator
class ClipByNorm(Operator):
    """Scale one gradient so that its norm is at most ``max_norm``: :class:`ClipFactor` of its own norm times it.

    ``clipped = grad * min(max_norm / (norm + 1e-6), 1)``, the factor in float32; halves are rounded once. Whatever is
    not finite gives what ClipFactor says.
    """

    inputs = (In("grad", Float, doc="The gradient, of any precision."),)
    outputs = (Out("clipped", inplace="grad", doc="Of the gradient's dtype."),)
    ours = True
    source = _SOURCE

    max_norm: float = arg(doc=_MAX_NORM)
    norm_type: float = arg(2.0, doc=_NORM_TYPE)

    def __attrs_post_init__(self) -> None:
        _check_positive(self, "max_norm")
        _check_positive(self, "norm_type")

    def infer(self, grad: TensorType) -> TensorType:
        return grad

    def compute(self, xp: ArrayModule, grad: Array) -> Array:
        by = factor(xp, norm(xp, (grad,), self.norm_type), self.max_norm).reshape(())
        return (grad * by).astype(grad.dtype)

    def cost(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
        each = super().cost(inputs, outputs)
        return None if each is None else 3 * each


def _check_positive(operator: Operator, name: str) -> None:
    if not getattr(operator, name) > 0:
        raise SchemaError(f"{type(operator).__name__}: {name!r} must be positive", got=getattr(operator, name))


def factor(xp: ArrayModule, norm: Array, max_norm: float) -> Array:
    """What ClipFactor computes; minimum keeps NaN."""
    return xp.minimum(xp.float32(max_norm) / (norm + xp.float32(_EPSILON)), xp.float32(1))


def norm(xp: ArrayModule, grads: Sequence[Array], p: float) -> Array:
    """The p-norm of all elements of all arrays, as float32[1]."""
    parts = _blocks(xp, grads)
    total = xp.zeros((), dtype=xp.float64)
    if p == math.inf:
        for part in parts:
            total = xp.maximum(total, xp.max(xp.abs(part)))
    elif p == 2:
        for part in parts:
            total = total + xp.dot(part, part)
        total = xp.sqrt(total)
    else:
        for part in parts:
            total = total + xp.total(xp.power(xp.abs(part), p))
        total = xp.power(total, 1 / p)
    return total.astype(xp.float32).reshape(1)


def _blocks(xp: ArrayModule, arrays: Sequence[Array]) -> Iterator[Array]:
    """All elements, in float64, block by block; no block is empty."""
    for array in arrays:
        flat = array.reshape(-1)
        for start in range(0, flat.shape[0], _BLOCK):
            yield flat[start : start + _BLOCK].astype(xp.float64)
