"""Cross entropy of labels under given probabilities."""

from __future__ import annotations

from netdsl.errors import InferenceError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import Float, Int32
from netdsl.ops.gradient import Gradients
from netdsl.ops.loss.softmax_with_loss import FLOOR, check_classes
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.xp import Array, ArrayModule

_X = In("X", Float, doc="Probabilities, one row an example; what follows the first axis is flattened.")
_LABEL = In("label", Int32, doc="The class of each row, [N] or [N, 1].")


@operator
class LabelCrossEntropy(Operator):
    """``Y[i] = -log(max(X[i, label[i]], 1e-20))``."""

    inputs = (_X, _LABEL)
    outputs = (Out("Y", doc="One loss a row."),)
    role = "loss"

    def infer(self, X: TensorType, label: TensorType) -> TensorType:
        return X.with_shape((_batch("LabelCrossEntropy", X, label),))

    def gradient(self, g: Gradients) -> None:
        g.add(LabelCrossEntropyGradient, [g.blob.X, g.blob.label, g.grad.Y], [g.grad.X])

    def compute(self, xp: ArrayModule, X: Array, label: Array) -> Array:
        x, index = _matrix(xp, X), label.reshape(-1, 1)
        check_classes(xp, "LabelCrossEntropy", index, x.shape[1])
        picked = xp.take_along_axis(x, index.astype(xp.int64), axis=1).reshape(-1)
        return (-xp.log(xp.maximum(picked, FLOOR))).astype(X.dtype)


@operator
class LabelCrossEntropyGradient(Operator):
    """Gradient of :class:`LabelCrossEntropy`: ``-dY / max(X, 1e-20)`` at the label, else 0."""

    inputs = (_X, _LABEL, In("dY", Float))
    outputs = (Out("dX"),)

    def infer(self, X: TensorType, label: TensorType, dY: TensorType) -> TensorType:
        rows = _batch("LabelCrossEntropyGradient", X, label)
        if dY.rank != 1 or conflict(product(dY.shape or ()), rows):
            raise InferenceError(
                "LabelCrossEntropyGradient: dY must hold one number a row", expected=f"[{rows}]", got=dY
            )
        return X

    def compute(self, xp: ArrayModule, X: Array, label: Array, dY: Array) -> Array:
        x, index = _matrix(xp, X), label.reshape(-1, 1)
        check_classes(xp, "LabelCrossEntropyGradient", index, x.shape[1])
        step = -dY.reshape(-1, 1) / xp.maximum(x, FLOOR)
        return xp.where(xp.arange(x.shape[1]) == index, step, 0).astype(X.dtype).reshape(X.shape)


def _matrix(xp: ArrayModule, x: Array) -> Array:
    """One row an example (one alone where X is a vector); halves as float32, as float16 cannot hold the floor."""
    wide = x.astype(xp.float32) if x.dtype == xp.float16 else x
    n = x.shape[0] if x.ndim > 1 else 1
    return wide.reshape(n, x.size // n if n else 1)


def _batch(name: str, X: TensorType, label: TensorType) -> Dim:
    shape = X.shape or ()
    n: Dim = shape[0] if len(shape) > 1 else 1
    of_label = label.shape or ()
    if not of_label or conflict(of_label[0], n) or any(conflict(d, 1) for d in of_label[1:]) or len(of_label) > 2:
        raise InferenceError(
            f"{name}: label must hold one class for each row of X", expected=f"[{n}] or [{n}, 1]", got=label
        )
    return n
