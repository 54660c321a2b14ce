"""The learning rate as a function of the iteration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Self

import attrs

from netdsl.errors import InferenceError, SchemaError, did_you_mean
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import Counter
from netdsl.ops.optim.policies import COMPOSITE, POLICIES
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_PART = re.compile(r"sub_policy_(\d+)_(\w+)")


@operator
class LearningRate(Operator):
    """The learning rate of an iteration: ``base_lr`` times the multiplier of a policy.

    With ``i`` the iteration, ``//`` rounding down and ``warm(a, n) = a + (1 - a) * i / n``:

    - fixed: 1
    - step: gamma ** (i // stepsize)
    - exp: gamma ** i
    - inv: (1 + gamma * i) ** -power
    - poly: (1 - i / max_iter) ** power, past max_iter too
    - gate: multiplier_1 while i < num_iter, then multiplier_2
    - alter: 1 for active_period iterations, 0 for inactive_period ones, again and again; 0 first
      unless active_first
    - linearWarmup: warm(start_multiplier, num_iter) while i < num_iter, then 1
    - constantWarmup: multiplier while i < num_iter, then 1
    - pieceWarmup: m1 while i < n1, m2 while i < n2, then m3
    - hill: warm(start_multiplier, num_iter) while i < num_iter, then as inv from there, at least end_multiplier
    - slope: multiplier_1 while i < num_iter_1, then a straight line that reaches multiplier_2 at num_iter_2;
      never less than multiplier_2
    - cyclical: a triangle wave of 2 * stepsize iterations from 1 up to max_lr / base_lr, its height times decay
      after each
    - cosine: falls from max_lr to min_lr along half a cosine, then restarts; each period is t_mult times as
      long and lr_shrink times as high (and all is multiplied by base_lr)
    - constantThenLinearWarmup: start_warmup_multiplier for constant_warmup_num_iter iterations, warms up in
      linear_warmup_num_iter, then 1
    - compositeCyclical, compositeCosine: constantThenLinearWarmup, then cyclical or cosine with the
      arguments ``cyclical_*`` or ``cosine_*``
    - composite: policy k for sub_policy_num_iters[k] iterations, the first from iteration 1 on, the last for
      ever; each sees ``i`` itself and is ``sub_policy_k_policy`` with arguments ``sub_policy_k_<argument>``,
      times ``sub_policy_k_lr_scale``

    The caller decides the sign: updates of the momentum family subtract (base_lr positive), those of the
    Adam family and WeightedSum add (base_lr negative).
    """

    inputs = (In("iteration", Counter, host=True, doc="The iteration, one int64."),)
    outputs = (Out("lr", doc="The learning rate, a float32 of shape []."),)

    base_lr: float = arg(doc="The learning rate that the policy multiplies.")
    policy: str = arg(doc="How the learning rate changes.", choices=tuple(POLICIES))
    stepsize: int = arg(0, doc="step: iterations between decays; cyclical: iterations of half a cycle.")
    gamma: float = arg(0.0, doc="step, exp, inv, hill: the decay.")
    power: float = arg(0.0, doc="inv, poly, hill: the exponent.")
    max_iter: int = arg(-1, doc="poly: the iteration that reaches 0.")
    num_iter: int = arg(0, doc="linearWarmup, constantWarmup, gate, hill: iterations of the first part.")
    start_multiplier: float = arg(0.0, doc="linearWarmup, hill: the multiplier of iteration 0.")
    end_multiplier: float = arg(0.0, doc="hill: the least multiplier.")
    multiplier: float = arg(0.5, doc="constantWarmup: the multiplier while warming up.")
    multiplier_1: float | None = arg(None, doc="gate (by default 1), slope (by default 0): the first multiplier.")
    multiplier_2: float | None = arg(None, doc="gate (by default 1), slope (by default 0): the last multiplier.")
    num_iter_1: int = arg(0, doc="slope: where the line begins.")
    num_iter_2: int = arg(0, doc="slope: where the line reaches multiplier_2.")
    active_first: bool = arg(True, doc="alter: begin with the active period.")
    active_period: int = arg(-1, doc="alter: iterations of the learning rate base_lr.")
    inactive_period: int = arg(-1, doc="alter: iterations of the learning rate 0.")
    m1: float = arg(0.5, doc="pieceWarmup: the first multiplier.")
    n1: int = arg(0, doc="pieceWarmup: where m2 begins.")
    m2: float = arg(0.5, doc="pieceWarmup: the second multiplier.")
    n2: int = arg(0, doc="pieceWarmup: where m3 begins, counted from iteration 0.")
    m3: float = arg(0.5, doc="pieceWarmup: the last multiplier.")
    max_lr: float | None = arg(None, doc="cyclical (by default 0.005), cosine (by default 0.5): the highest value.")
    min_lr: float = arg(0.1, doc="cosine: the lowest value.")
    decay: float = arg(1.0, doc="cyclical: what each cycle multiplies the height by.")
    period: int = arg(50, doc="cosine: iterations of the first period.")
    t_mult: float = arg(1.0, doc="cosine: how much longer each period is.")
    lr_shrink: float = arg(0.99, doc="cosine: what each period multiplies the values by.")
    start_warmup_multiplier: float = arg(0.1, doc="constantThenLinearWarmup and what begins with it: the multiplier.")
    constant_warmup_num_iter: int = arg(10_000_000, doc="The same: iterations before it grows.")
    linear_warmup_num_iter: int = arg(10_000_000, doc="The same: iterations in which it grows to 1.")
    cyclical_max_lr: float = arg(0.05, doc="compositeCyclical: max_lr of cyclical.")
    cyclical_step_size: int = arg(1_000_000, doc="compositeCyclical: stepsize of cyclical.")
    cyclical_decay: float = arg(1.0, doc="compositeCyclical: decay of cyclical.")
    cosine_max_lr: float = arg(0.5, doc="compositeCosine: max_lr of cosine.")
    cosine_min_lr: float = arg(0.1, doc="compositeCosine: min_lr of cosine.")
    cosine_period: int = arg(50, doc="compositeCosine: period of cosine.")
    cosine_t_mult: float = arg(1.0, doc="compositeCosine: t_mult of cosine.")
    cosine_lr_shrink: float = arg(0.99, doc="compositeCosine: lr_shrink of cosine.")
    sub_policy_num_iters: tuple[int, ...] = arg((), doc="composite: iterations of each policy.")

    parts: tuple[LearningRate, ...] = attrs.field(default=(), metadata={"internal": True})
    """The policies of composite."""
    scales: tuple[float, ...] = attrs.field(default=(), metadata={"internal": True})
    """Their ``lr_scale``."""

    @classmethod
    def bind(cls, args: Mapping[str, Any], wanted: int = -1, *, strict: bool = True) -> Self:
        """As :meth:`Operator.bind`; also binds the policies of composite and checks what the policy needs.

        Raises:
            SchemaError: an argument missing, out of range or, when ``strict``, of another policy.
        """
        nested = {name: _PART.fullmatch(name) for name in args} if args.get("policy") == COMPOSITE else {}
        own = {name: value for name, value in args.items() if not nested.get(name)}
        made = super().bind(own, wanted, strict=strict)
        POLICIES[made.policy].check(made, own, strict)
        if made.policy != COMPOSITE:
            return made
        given: dict[int, dict[str, Any]] = {}
        for name, match in nested.items():
            if match:
                given.setdefault(int(match[1]), {})[match[2]] = args[name]
        return made._with_parts(given, strict)

    def _with_parts(self, given: Mapping[int, Mapping[str, Any]], strict: bool) -> Self:
        counts = self.sub_policy_num_iters
        if not counts or min(counts) <= 0:
            raise SchemaError("LearningRate: 'sub_policy_num_iters' needs positive numbers", got=list(counts))
        if strict and (extra := sorted(set(given) - set(range(len(counts))))):
            raise SchemaError(
                f"LearningRate: there is no policy {extra[0]}",
                expected=f"0 to {len(counts) - 1}, as sub_policy_num_iters",
            )
        parts: list[LearningRate] = []
        for k in range(len(counts)):
            args = {"base_lr": self.base_lr} | {n: v for n, v in given.get(k, {}).items() if n != "lr_scale"}
            known = [name for name in POLICIES if name != COMPOSITE]
            if args.get("policy") not in known:
                raise SchemaError(
                    f"LearningRate: 'sub_policy_{k}_policy' cannot be {args.get('policy')!r}",
                    expected=", ".join(known),
                    did_you_mean=did_you_mean(str(args.get("policy")), known),
                )
            parts.append(LearningRate.bind(args, strict=strict))
        scales = tuple(float(given.get(k, {}).get("lr_scale", 1.0)) for k in range(len(counts)))
        return attrs.evolve(self, parts=tuple(parts), scales=scales)

    def infer(self, iteration: TensorType) -> TensorType:
        if conflict(product(iteration.shape or ()), 1):
            raise InferenceError("LearningRate: the iteration must be one number", expected="int64[1]", got=iteration)
        return TensorType(DType.FLOAT, ())

    def compute(self, xp: ArrayModule, iteration: Array) -> Array:
        return xp.full((), self.at(int(iteration.reshape(-1)[0])), dtype=xp.float32)

    def at(self, iteration: int) -> float:
        """The learning rate of an iteration, before it is rounded to float32."""
        return self.base_lr * self.multiplier_at(iteration)

    def multiplier_at(self, iteration: int) -> float:
        """What the policy multiplies ``base_lr`` by."""
        return POLICIES[self.policy].multiplier(self, iteration)
