"""Adagrad and Adam, dense, sparse and row-wise."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from netdsl.dsl import Blob, Parameter, SparseGradient, Tag
from netdsl.errors import SchemaError
from netdsl.optimizers.base import Optimizer, Updates
from netdsl.optimizers.checks import flag, number, text


@attrs.frozen(kw_only=True)
class Adagrad(Optimizer):
    """Adagrad (https://jmlr.org/papers/v12/duchi11a.html).

    ``decay`` keeps that share of the squared sum (dense only); ``weight_decay`` acts on weights, not on
    biases; ``row_wise`` keeps one sum a row (sparse only).
    """

    prefix: ClassVar[str] = "adagrad"

    epsilon: float = attrs.field(default=1e-4, validator=number())
    decay: float = attrs.field(default=1.0, validator=number())
    weight_decay: float = attrs.field(default=0.0, validator=number())
    row_wise: bool = attrs.field(default=False, validator=flag)
    lars: float | None = attrs.field(default=None, validator=number())
    engine: str = attrs.field(default="", validator=text)

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter.

        Raises:
            SchemaError: ``row_wise`` with a dense gradient, or ``decay`` with a sparse one.
        """
        w, grad = parameter.blob, parameter.grad
        factor = None
        if self.lars is not None and isinstance(grad, Blob):
            factor = to.lars(w, grad, self.lars)
        rate = self.rate(to, parameter, -1)
        if factor is not None:
            rate = to.scaled(rate, factor)
        args: dict[str, Any] = {"epsilon": self.epsilon}
        if decay := self.decay_of(parameter):
            args["weight_decay"] = decay
        if isinstance(grad, SparseGradient):
            self._sparse(to, parameter, grad, rate, args)
            return
        if self.row_wise:
            raise SchemaError("row-wise Adagrad needs a sparse gradient", parameter=parameter.name)
        m = to.state(w, "squared_sum")
        inputs = [w, m, grad, rate]
        to.net.add("Adagrad", inputs, [w, m], {**args, "decay": self.decay}, engine=self.engine)

    def decay_of(self, parameter: Parameter) -> float:
        """The weight decay of a weight; a bias has none."""
        return 0.0 if parameter.tag is Tag.BIAS else self.weight_decay

    def _sparse(
        self, to: Updates, parameter: Parameter, found: SparseGradient, rate: Blob, args: dict[str, Any]
    ) -> None:
        if self.decay != 1.0:
            raise SchemaError("sparse Adagrad has no decay", parameter=parameter.name, got=self.decay)
        w = parameter.blob
        m = _row_state(to, parameter, "avg_squared_sum") if self.row_wise else to.state(w, "squared_sum")
        grad = to.deduplicated(found, self.sparse_dedup, parameter)
        type_ = "RowWiseSparseAdagrad" if self.row_wise else "SparseAdagrad"
        to.net.add(type_, [w, m, grad.indices, grad.values, rate], [w, m], args, engine=self.engine)


@attrs.frozen(kw_only=True)
class Adam(Optimizer):
    """Adam (https://arxiv.org/abs/1412.6980); epsilon stands outside the root.

    ``row_wise`` keeps one second moment a row, and ``rectified`` is RAdam
    (https://arxiv.org/abs/1908.03265); both are for sparse gradients only.
    """

    prefix: ClassVar[str] = "adam"

    base_learning_rate: float = attrs.field(default=0.001, validator=number())
    beta1: float = attrs.field(default=0.9, validator=number())
    beta2: float = attrs.field(default=0.999, validator=number())
    epsilon: float = attrs.field(default=1e-8, validator=number())
    row_wise: bool = attrs.field(default=False, validator=flag)
    rectified: bool = attrs.field(default=False, validator=flag)
    engine: str = attrs.field(default="", validator=text)

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter.

        Raises:
            SchemaError: ``row_wise`` or ``rectified`` with a dense gradient, or both.
        """
        w, grad = parameter.blob, parameter.grad
        if self.row_wise and self.rectified:
            raise SchemaError("row-wise Adam is not rectified", parameter=parameter.name)
        rate = self.rate(to, parameter, -1)
        m1 = to.state(w, "first_moment")
        sparse = isinstance(grad, SparseGradient)
        if not sparse and (self.row_wise or self.rectified):
            raise SchemaError("row-wise and rectified Adam need a sparse gradient", parameter=parameter.name)
        m2 = _row_state(to, parameter, "avg_second_moment") if self.row_wise else to.state(w, "second_moment")
        args: dict[str, Any] = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        outputs = [w, m1, m2]
        if isinstance(grad, Blob):
            to.net.add("Adam", [w, m1, m2, grad, rate, to.iteration()], outputs, args, engine=self.engine)
            return
        if not isinstance(grad, SparseGradient):
            return
        grad = to.deduplicated(grad, self.sparse_dedup, parameter)
        type_ = "RowWiseSparseAdam" if self.row_wise else "SparseAdam"
        if not self.row_wise:
            args["enableRAdam"] = int(self.rectified)
        inputs = [w, m1, m2, grad.indices, grad.values, rate, to.iteration()]
        to.net.add(type_, inputs, outputs, args, engine=self.engine)


def _row_state(to: Updates, parameter: Parameter, suffix: str) -> Blob:
    """A zeroed state blob with one element a row."""
    if not parameter.shape:
        raise SchemaError("row-wise state needs a parameter of known shape", parameter=parameter.name)
    args = {"shape": [parameter.shape[0]], "value": 0.0}
    return to.once("ConstantFill", f"{parameter.blob}_{suffix}", args)
