"""Signatures of the loss operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class LossCalls:
    def Accuracy(self, inputs: _Ins = ..., outputs: _Outs = ..., *, top_k: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """accuracy = Accuracy(predictions, labels)

        The share of rows whose label is among the ``top_k`` highest scores; NaN of no rows.

        Of equal scores the lower class ranks first. It has no gradient.

        top_k: How many of the highest scores count."""

    def AveragedLoss(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = AveragedLoss(input)

        The mean of all elements, 0 of none; halves are summed in float32."""

    def AveragedLossGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dinput = AveragedLossGradient(input, doutput)

        Gradient of :class:`AveragedLoss`: its output's, shared evenly among the elements."""

    def LabelCrossEntropy(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = LabelCrossEntropy(X, label)

        ``Y[i] = -log(max(X[i, label[i]], 1e-20))``."""

    def LabelCrossEntropyGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = LabelCrossEntropyGradient(X, label, dY)

        Gradient of :class:`LabelCrossEntropy`: ``-dY / max(X, 1e-20)`` at the label, else 0."""

    def SoftmaxWithLoss(self, inputs: _Ins = ..., outputs: _Outs = ..., *, label_prob: bool | int = ..., axis: int = ..., scale: float = ..., order: str = ..., average_by_batch_size: bool | int = ..., only_loss: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """softmax, loss, [reserved] = SoftmaxWithLoss(logits, labels, [weight_tensor])

        The softmax of the scores, and the mean cross entropy of the labels under it.

        The mean over rows is weighted by ``weight_tensor``: the sum of weighted losses over the sum of the weights
        (0 where that is 0, and for an empty batch). Halves are computed in float32: the softmax is rounded to
        float16, the loss stays float32. Where the softmax is itself used on the way to a differentiated loss, its
        gradient is added (Caffe2 loses it).

        label_prob: The labels are distributions over the classes.

        axis: First axis of the classes: what follows it is flattened.

        scale: Factor of the loss.

        order: The only order there is.

        average_by_batch_size: Divide by the number of rows even where rows have weights.

        only_loss: Let Caffe2's gradient reuse the softmax's memory."""

    def SoftmaxWithLossGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, label_prob: bool | int = ..., axis: int = ..., scale: float = ..., order: str = ..., average_by_batch_size: bool | int = ..., only_loss: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dlogits = SoftmaxWithLossGradient(logits, labels, [weight_tensor], softmax, dloss)

        Gradient of :class:`SoftmaxWithLoss` for the scores, from the gradient of the loss.

        label_prob: The labels are distributions over the classes.

        axis: First axis of the classes: what follows it is flattened.

        scale: Factor of the loss.

        order: The only order there is.

        average_by_batch_size: Divide by the number of rows even where rows have weights.

        only_loss: Let Caffe2's gradient reuse the softmax's memory."""

    def SquaredL2Distance(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Z = SquaredL2Distance(X, Y)

        Half of the squared distance of rows: ``Z[i] = sum((X[i] - Y[i])^2) / 2``."""

    def SquaredL2DistanceGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """dX, dY = SquaredL2DistanceGradient(X, Y, dZ)

        Gradients of :class:`SquaredL2Distance`: ``dX = (X - Y) * dZ`` and ``dY = -dX``."""
