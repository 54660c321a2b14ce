"""Counting right answers."""

from __future__ import annotations

from netdsl.errors import InferenceError
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import Float, Int32
from netdsl.ops.loss.softmax_with_loss import check_classes
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class Accuracy(Operator):
    """The share of rows whose label is among the ``top_k`` highest scores; NaN of no rows.

    Of equal scores the lower class ranks first. It has no gradient.
    """

    inputs = (
        In("predictions", Float, doc="Scores, one row an example and one column a class."),
        In("labels", Int32, doc="The class of each row."),
    )
    outputs = (Out("accuracy", doc="A float32 scalar."),)

    top_k: int = arg(1, doc="How many of the highest scores count.")

    def infer(self, predictions: TensorType, labels: TensorType) -> TensorType:
        if predictions.rank != 2:
            raise InferenceError("Accuracy: predictions must be a matrix", expected="two dims", got=predictions)
        rows = product((predictions.shape or ())[:1])
        if labels.rank != 1 or conflict(product(labels.shape or ()), rows):
            raise InferenceError("Accuracy: labels must hold one class a row", expected=f"[{rows}]", got=labels)
        return TensorType(DType.FLOAT, ())

    def compute(self, xp: ArrayModule, predictions: Array, labels: Array) -> Array:
        n, classes = predictions.shape
        if not n:
            return xp.full((), xp.nan, dtype=xp.float32)
        check_classes(xp, "Accuracy", labels, classes)
        index = labels.reshape(n, 1).astype(xp.int64)
        score = xp.take_along_axis(predictions, index, axis=1)
        better = (predictions > score) | ((predictions == score) & (xp.arange(classes) < index))
        right = xp.sum(better, axis=1, dtype=xp.int64) < self.top_k
        return xp.mean(right, dtype=xp.float32)
