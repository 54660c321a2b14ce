"""Softmax and cross entropy in one, the usual loss of classifiers."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import attrs

from netdsl.errors import InferenceError, RunError
from netdsl.ir import UNKNOWN, BlobType, DType, OperatorDef, TensorType
from netdsl.ir.dims import canonical_axis, conflict, product
from netdsl.ops.dtypes import DTypes, Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.softmax import SoftmaxGradient, row_dims, rows, shifted_exps
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

FLOOR = 1e-20
"""The least probability of which a logarithm is taken."""

_LABELS = DTypes("Labels", frozenset({DType.INT32, *Float.allowed}), tied=False)
_LABELS_DOC = "int32, one class a row; with ``label_prob`` a distribution a row, shaped as the scores."
_WEIGHTS = In("weight_tensor", Float.untied(), optional=True, doc="One weight a row.")


@attrs.frozen(kw_only=True, slots=False)
class _Loss(Operator):
    """The arguments that the operator and its gradient share."""

    label_prob: bool = arg(False, doc="The labels are distributions over the classes.")
    axis: int = arg(1, doc="First axis of the classes: what follows it is flattened.")
    scale: float = arg(1.0, doc="Factor of the loss.")
    order: str = arg("NCHW", doc="The only order there is.", choices=("NCHW",))
    average_by_batch_size: bool = arg(False, doc="Divide by the number of rows even where rows have weights.")
    only_loss: bool = arg(False, doc="Let Caffe2's gradient reuse the softmax's memory.", hint=True)

    def check(self, logits: TensorType, labels: TensorType, weights: TensorType | None) -> None:
        """Raise where labels or weights do not belong to the scores."""
        name = type(self).__name__
        if labels.dtype is not None and (labels.dtype is DType.INT32) == self.label_prob:
            expected = "a float dtype, as label_prob = 1" if self.label_prob else "int32"
            raise InferenceError(f"{name}: labels are of the wrong dtype", expected=expected, got=labels.dtype.value)
        n, d = row_dims(logits, self.axis)
        at, shape = canonical_axis(self.axis, len(logits.shape or ())), labels.shape or ()
        each = product(shape[at:])
        if conflict(product(shape[:at]), n) or conflict(each, d if self.label_prob else 1):
            what = f"{d} probabilities" if self.label_prob else "one label"
            raise InferenceError(f"{name}: labels must hold {what} for each of {n} rows", expected=logits, got=labels)
        if weights is not None and conflict(product(weights.shape or ()), n):
            raise InferenceError(f"{name}: weights must hold one number for each row", expected=f"[{n}]", got=weights)

    def divisor(self, xp: ArrayModule, weights: Array | None, n: int) -> Any:
        """What the sum of losses is divided by."""
        return n if weights is None or self.average_by_batch_size else xp.sum(weights)


@operator
class SoftmaxWithLoss(_Loss):
    """The softmax of the scores, and the mean cross entropy of the labels under it.

    The mean over rows is weighted by ``weight_tensor``: the sum of weighted losses over the sum of the weights
    (0 where that is 0, and for an empty batch). Halves are computed in float32: the softmax is rounded to
    float16, the loss stays float32. Where the softmax is itself used on the way to a differentiated loss, its
    gradient is added (Caffe2 loses it).
    """

    inputs = (In("logits", Float, doc="Scores of the classes."), In("labels", _LABELS, doc=_LABELS_DOC), _WEIGHTS)
    outputs = (
        Out("softmax", doc="Probabilities, shaped as the scores."),
        Out("loss", doc="A scalar."),
        Out("reserved", optional=True, doc="Never written; Caffe2 allows to name it."),
    )
    role = "loss"

    def infer(self, logits: TensorType, labels: TensorType, weight_tensor: TensorType | None) -> tuple[BlobType, ...]:
        self.check(logits, labels, weight_tensor)
        dtype = DType.FLOAT if logits.dtype is DType.FLOAT16 else logits.dtype
        return logits, TensorType(dtype, ()), UNKNOWN

    def gradient(self, g: Gradients) -> None:
        target, of_softmax, of_loss = g.grad.logits, g.grad.softmax, g.grad.loss
        parts = [g.temp("_loss"), g.temp("_softmax")] if of_softmax and of_loss else [target, target]
        if of_loss:
            g.add(
                SoftmaxWithLossGradient,
                [g.blob.logits, g.blob.labels, g.blob.weight_tensor, g.blob.softmax, of_loss],
                [parts[0]],
            )
        if of_softmax:
            g.add(SoftmaxGradient, [g.blob.softmax, of_softmax], [parts[1]], {"axis": self.axis})
        if of_softmax and of_loss:
            g.add("Sum", parts, [target], {})

    def trimmed(self, op: OperatorDef, read: Container[str]) -> OperatorDef:
        """A Softmax, where nobody reads the loss."""
        if any(name in read for name in op.outputs[1:]):
            return op
        args = {"axis": op.args["axis"]} if "axis" in op.args else {}
        return attrs.evolve(op, type="Softmax", inputs=op.inputs[:1], outputs=op.outputs[:1], args=args)

    def compute(
        self, xp: ArrayModule, logits: Array, labels: Array, weight_tensor: Array | None
    ) -> tuple[Array, Array, None]:
        x = rows(xp, logits, self.axis)
        if not x.size:
            return xp.zeros_like(logits), xp.zeros((), dtype=x.dtype), None
        shifted, exps, sums = shifted_exps(xp, x)
        softmax = exps / sums
        if self.label_prob:
            p = labels.astype(x.dtype).reshape(x.shape)
            check_distributions(xp, p, labels.dtype == xp.float16)
            losses = -xp.sum(p * xp.log(xp.maximum(softmax, FLOOR)), axis=1)
        else:
            index = labels.reshape(-1, 1)
            check_classes(xp, "SoftmaxWithLoss", index, x.shape[1])
            losses = (xp.log(sums) - xp.take_along_axis(shifted, index.astype(xp.int64), axis=1)).reshape(-1)
        weights = None if weight_tensor is None else weight_tensor.astype(x.dtype).reshape(-1)
        loss = xp.sum(losses if weights is None else losses * weights) * self.scale
        loss = _over(xp, loss, self.divisor(xp, weights, x.shape[0]))
        return softmax.astype(logits.dtype).reshape(logits.shape), loss.astype(x.dtype), None


@operator
class SoftmaxWithLossGradient(_Loss):
    """Gradient of :class:`SoftmaxWithLoss` for the scores, from the gradient of the loss."""

    inputs = (
        In("logits", Float),
        In("labels", _LABELS, doc=_LABELS_DOC),
        _WEIGHTS,
        In("softmax", Float),
        In("dloss", Float.untied(), doc="A scalar."),
    )
    outputs = (Out("dlogits"),)

    def infer(
        self,
        logits: TensorType,
        labels: TensorType,
        weight_tensor: TensorType | None,
        softmax: TensorType,
        dloss: TensorType,
    ) -> TensorType:
        self.check(logits, labels, weight_tensor)
        return logits

    def compute(
        self, xp: ArrayModule, logits: Array, labels: Array, weight_tensor: Array | None, softmax: Array, dloss: Array
    ) -> Array:
        p = rows(xp, softmax, self.axis)
        if not p.size:
            return xp.zeros_like(logits)
        if self.label_prob:
            target = labels.astype(p.dtype).reshape(p.shape)
        else:
            check_classes(xp, "SoftmaxWithLossGradient", labels, p.shape[1])
            target = (xp.arange(p.shape[1]) == labels.reshape(-1, 1)).astype(p.dtype)
        weights = None if weight_tensor is None else weight_tensor.astype(p.dtype).reshape(-1, 1)
        step = dloss.astype(p.dtype).reshape(-1)[:1] * self.scale
        step = _over(xp, step, self.divisor(xp, weights, p.shape[0]))
        d = p - target if weights is None else (p - target) * weights
        return (d * step).astype(logits.dtype).reshape(logits.shape)


def check_classes(xp: ArrayModule, operator: str, labels: Array, classes: int) -> None:
    """Raise RunError, naming the first label that is no class."""
    wrong = (labels < 0) | (labels >= classes)
    if bool(xp.any(wrong)):
        at = int(xp.argmax(wrong.reshape(-1)))
        raise RunError(
            f"{operator}: a label is no class", expected=f"0 to {classes - 1}", got=int(labels.reshape(-1)[at]), row=at
        )


def check_distributions(xp: ArrayModule, p: Array, half: bool) -> None:
    """Raise RunError where a row of ``p`` is no distribution: negative, NaN, or not of sum 1."""
    slack = 1e-3 if half else 1e-5
    error = xp.abs(xp.sum(p, axis=1, dtype=xp.float64) - 1)
    wrong = xp.logical_not((xp.min(p, axis=1) >= 0) & (error < slack))
    if bool(xp.any(wrong)):
        row = int(xp.argmax(wrong))
        raise RunError(
            "SoftmaxWithLoss: label_prob needs probabilities that sum to 1",
            expected=f"numbers >= 0 with a sum of 1 +- {slack}",
            got=f"a sum of {float(xp.sum(p[row])):g}, a least one of {float(xp.min(p[row])):g}",
            row=row,
        )


def _over(xp: ArrayModule, value: Array, divisor: Any) -> Array:
    """``value / divisor``, or 0 where the divisor is 0."""
    if isinstance(divisor, int):
        return value / divisor if divisor else value * 0
    return xp.where(divisor != 0, value / divisor, value * 0)


__all__ = ["FLOOR", "SoftmaxWithLoss", "SoftmaxWithLossGradient", "check_classes", "check_distributions"]
