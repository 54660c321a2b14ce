"""AdamW: Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from netdsl.dsl import Parameter, SparseGradient
from netdsl.errors import NetError
from netdsl.optimizers.base import Optimizer, Updates, is_aggregator
from netdsl.optimizers.checks import number


@attrs.frozen(kw_only=True)
class AdamW(Optimizer):
    """AdamW (https://arxiv.org/abs/1711.05101), with PyTorch's numbers: the parameter itself decays.

    Of a sparse gradient, only the rows it names decay and move; rows of a repeated index are added first
    (``sparse_dedup`` None applies them one by one). Steps that loss scaling skips do not count in the bias
    correction.
    """

    prefix: ClassVar[str] = "adamw"
    decouples: ClassVar[bool] = True
    skips: ClassVar[bool] = True

    base_learning_rate: float = attrs.field(default=0.001, validator=number())
    beta1: float = attrs.field(default=0.9, validator=number())
    beta2: float = attrs.field(default=0.999, validator=number())
    epsilon: float = attrs.field(default=1e-8, validator=number())
    weight_decay: float = attrs.field(default=0.01, validator=number())
    sparse_dedup: str | None = attrs.field(default="sum", validator=is_aggregator)

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter."""
        w, grad = parameter.blob, parameter.grad
        if grad is None:
            raise NetError(f"parameter {parameter.name!r} has no gradient")
        rate = self.rate(to, parameter, 1)
        m1, m2 = to.state(w, "first_moment"), to.state(w, "second_moment")
        args: dict[str, Any] = {
            "beta1": self.beta1,
            "beta2": self.beta2,
            "epsilon": self.epsilon,
            "weight_decay": self.weight_decay,
        }
        tail = [rate, to.steps()] if to.nonfinite is None else [rate, to.steps(), to.nonfinite]
        if isinstance(grad, SparseGradient):
            grad = to.deduplicated(grad, self.sparse_dedup, parameter)
            to.net.add("SparseAdamW", [w, m1, m2, grad.indices, grad.values, *tail], [w, m1, m2], args)
        else:
            to.net.add("AdamW", [w, m1, m2, grad, *tail], [w, m1, m2], args)
