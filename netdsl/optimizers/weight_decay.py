"""Weight decay as operators before the optimizer's own."""

from __future__ import annotations

from netdsl.dsl import Blob, Tag
from netdsl.errors import NetError
from netdsl.optimizers.base import Trainable, Updates


def add_weight_decay(model: Trainable, weight_decay: float) -> None:
    """Add ``weight_decay`` times the weight to the gradient of each weight (biases are left alone).

    Call it between ``model.add_gradients`` and the optimizer's ``build``. Sparse gradients are left alone.

    Raises:
        NetError: no weight has a gradient.
    """
    updates = Updates(model, "weight_decay")
    weights = [p for p in model.params(Tag.WEIGHT) if not p.frozen and p.grad is not None]
    if not weights:
        raise NetError(f"no weight of model {model.name!r} has a gradient", fix="call model.add_gradients(loss) first")
    for parameter in weights:
        grad = parameter.grad
        if isinstance(grad, Blob):
            one, decay = updates.one(), updates.constant("wd_0_0", weight_decay)
            model.net.add("WeightedSum", [grad, one, parameter.blob, decay], grad)
            parameter.settings["weight_decay"] = weight_decay
