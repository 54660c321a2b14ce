"""Signatures of the optim operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device, NetDef

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class OptimCalls:
    def AtomicIter(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """count = AtomicIter(mutex, count_in)

        Add one to an iteration counter while holding a mutex, for nets that run at the same time."""

    def FP16MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., weight_decay: float = ..., fp32_update: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP16MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate` on half-precision blobs, with weight decay fused in.

        Arithmetic is in float16, rounded after each operation, or in float32 with one rounding at the end
        (``fp32_update``). The learning rate stays float32.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param.

        fp32_update: Compute in single precision."""

    def FP32MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP32MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate`, with weight decay fused in.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def Iter(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """count = Iter([count_in])

        Add one to an iteration counter; without an input, a counter that does not exist yet starts at 0."""

    def LearningRate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, base_lr: float, policy: str, stepsize: int = ..., gamma: float = ..., power: float = ..., max_iter: int = ..., num_iter: int = ..., start_multiplier: float = ..., end_multiplier: float = ..., multiplier: float = ..., multiplier_1: float | None = ..., multiplier_2: float | None = ..., num_iter_1: int = ..., num_iter_2: int = ..., active_first: bool = ..., active_period: int = ..., inactive_period: int = ..., m1: float = ..., n1: int = ..., m2: float = ..., n2: int = ..., m3: float = ..., max_lr: float | None = ..., min_lr: float = ..., decay: float = ..., period: int = ..., t_mult: float = ..., lr_shrink: float = ..., start_warmup_multiplier: float = ..., constant_warmup_num_iter: int = ..., linear_warmup_num_iter: int = ..., cyclical_max_lr: float = ..., cyclical_step_size: int = ..., cyclical_decay: float = ..., cosine_max_lr: float = ..., cosine_min_lr: float = ..., cosine_period: int = ..., cosine_t_mult: float = ..., cosine_lr_shrink: float = ..., sub_policy_num_iters: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """lr = LearningRate(iteration)

        The learning rate of an iteration: ``base_lr`` times the multiplier of a policy.

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

        base_lr: The learning rate that the policy multiplies.

        policy: How the learning rate changes.

        stepsize: step: iterations between decays; cyclical: iterations of half a cycle.

        gamma: step, exp, inv, hill: the decay.

        power: inv, poly, hill: the exponent.

        max_iter: poly: the iteration that reaches 0.

        num_iter: linearWarmup, constantWarmup, gate, hill: iterations of the first part.

        start_multiplier: linearWarmup, hill: the multiplier of iteration 0.

        end_multiplier: hill: the least multiplier.

        multiplier: constantWarmup: the multiplier while warming up.

        multiplier_1: gate (by default 1), slope (by default 0): the first multiplier.

        multiplier_2: gate (by default 1), slope (by default 0): the last multiplier.

        num_iter_1: slope: where the line begins.

        num_iter_2: slope: where the line reaches multiplier_2.

        active_first: alter: begin with the active period.

        active_period: alter: iterations of the learning rate base_lr.

        inactive_period: alter: iterations of the learning rate 0.

        m1: pieceWarmup: the first multiplier.

        n1: pieceWarmup: where m2 begins.

        m2: pieceWarmup: the second multiplier.

        n2: pieceWarmup: where m3 begins, counted from iteration 0.

        m3: pieceWarmup: the last multiplier.

        max_lr: cyclical (by default 0.005), cosine (by default 0.5): the highest value.

        min_lr: cosine: the lowest value.

        decay: cyclical: what each cycle multiplies the height by.

        period: cosine: iterations of the first period.

        t_mult: cosine: how much longer each period is.

        lr_shrink: cosine: what each period multiplies the values by.

        start_warmup_multiplier: constantThenLinearWarmup and what begins with it: the multiplier.

        constant_warmup_num_iter: The same: iterations before it grows.

        linear_warmup_num_iter: The same: iterations in which it grows to 1.

        cyclical_max_lr: compositeCyclical: max_lr of cyclical.

        cyclical_step_size: compositeCyclical: stepsize of cyclical.

        cyclical_decay: compositeCyclical: decay of cyclical.

        cosine_max_lr: compositeCosine: max_lr of cosine.

        cosine_min_lr: compositeCosine: min_lr of cosine.

        cosine_period: compositeCosine: period of cosine.

        cosine_t_mult: compositeCosine: t_mult of cosine.

        cosine_lr_shrink: compositeCosine: lr_shrink of cosine.

        sub_policy_num_iters: composite: iterations of each policy."""

    def MomentumSGD(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """step, momentum_out = MomentumSGD(grad, momentum_in, lr)

        The step of momentum SGD and the new momentum; applying the step is left to another operator.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = MomentumSGDUpdate(grad, momentum_in, lr, param)

        One step of momentum SGD: writes the step over the gradient, the new momentum and the parameter.

        ``momentum' = momentum * m + lr * grad`` and ``param' = param - step``, where the step is the new momentum,
        or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""
