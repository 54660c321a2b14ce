"""Signatures of the optim operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class OptimCalls:
    def Adagrad(self, inputs: _Ins = ..., outputs: _Outs = ..., *, epsilon: float = ..., decay: float = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """param_out, moment_out, [effective_lr], [update] = Adagrad(param, moment, grad, lr)

        One step of Adagrad, which *adds* the step: the learning rate is negative.

        With ``g = grad + weight_decay * param``: ``moment' = decay * moment + g**2``,
        ``effective_lr = lr / (sqrt(moment') + epsilon)``, ``update = effective_lr * g`` and ``param' = param + update``.

        epsilon: Added to the root, so that no step divides by zero.

        decay: How much of the sum is kept.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def Adam(self, inputs: _Ins = ..., outputs: _Outs = ..., *, beta1: float = ..., beta2: float = ..., epsilon: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """param_out, moment_1_out, moment_2_out, [step] = Adam(param, moment_1, moment_2, grad, lr, iteration)

        One step of Adam, which *adds* the step: the learning rate is negative.

        ``m1' = beta1 * m1 + (1 - beta1) * grad``, ``m2' = beta2 * m2 + (1 - beta2) * grad**2``, and with
        ``t = iteration + 1`` the step is ``c * m1' / (sqrt(m2') + epsilon)``, where
        ``c = sqrt(1 - beta2**t) / (1 - beta1**t)`` corrects for both starting at 0; ``param' = param + lr * step``.

        beta1: How much of the mean gradient is kept.

        beta2: How much of the mean squared gradient is kept.

        epsilon: Added to the root, so that no step divides by zero."""

    def AdamW(self, inputs: _Ins = ..., outputs: _Outs = ..., *, beta1: float = ..., beta2: float = ..., epsilon: float = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """param_out, moment_1_out, moment_2_out = AdamW(param, moment_1, moment_2, grad, lr, iteration, [found])

        One step of AdamW, which *subtracts* the step: the learning rate is positive.

        ``p = param * (1 - lr * weight_decay)``, ``m1' = beta1 * m1 + (1 - beta1) * grad``,
        ``m2' = beta2 * m2 + (1 - beta2) * grad**2``, and with ``t = iteration``
        ``param' = p - lr * (m1' / (1 - beta1**t)) / (sqrt(m2' / (1 - beta2**t)) + epsilon)``.

        This is PyTorch's AdamW. It differs from :class:`Adam` in four ways besides the decay: the sign of lr, the place
        of epsilon, the first iteration, which is 1 (an iteration of 0 gives NaN: nothing is known yet of the means),
        and ``found``: where it is true, parameter and moments stay as they are, whatever the gradient holds.
        CountStep makes an iteration that leaves such steps out, as PyTorch's count of steps does.

        beta1: How much of the mean gradient is kept.

        beta2: How much of the mean squared gradient is kept.

        epsilon: Added to the root, so that no step divides by zero.

        weight_decay: The decay, which lr multiplies."""

    def AtomicIter(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """count = AtomicIter(mutex, count_in)

        Add one to an iteration counter while holding a mutex, for nets that run at the same time."""

    def CheckFinite(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """found = CheckFinite(grads...)

        Whether any of the gradients holds an infinity or a NaN: ``found = any(not finite)``."""

    def ClipByNorm(self, inputs: _Ins = ..., outputs: _Outs = ..., *, max_norm: float, norm_type: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """clipped = ClipByNorm(grad)

        Scale one gradient so that its norm is at most ``max_norm``: :class:`ClipFactor` of its own norm times it.

        ``clipped = grad * min(max_norm / (norm + 1e-6), 1)``, the factor in float32; halves are rounded once. Whatever is
        not finite gives what ClipFactor says.

        max_norm: The largest norm; positive.

        norm_type: The p of the norm: positive, and infinity for the largest absolute value."""

    def ClipFactor(self, inputs: _Ins = ..., outputs: _Outs = ..., *, max_norm: float, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """factor = ClipFactor(norm)

        What gradients of this norm are multiplied by so that it is at most ``max_norm``.

        ``factor = min(max_norm / (norm + 1e-6), 1)``, as PyTorch's ``clip_grad_norm_`` has it. A norm of infinity
        gives 0 (and the infinite elements NaN), one of NaN gives NaN: check gradients that may not be finite with
        CheckFinite, and skip the step.

        max_norm: The largest norm; positive."""

    def ClipTensorByScaling(self, inputs: _Ins = ..., outputs: _Outs = ..., *, threshold: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """clipped = ClipTensorByScaling(X, val, [additional_threshold])

        Scale a tensor by ``t / val`` where its norm ``val`` is above the threshold ``t``, else leave it.

        threshold: The largest norm; positive."""

    def CountStep(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """count_out = CountStep(count, found)

        Count the steps that were not skipped: ``count' = count + 1``, and ``count`` where ``found``.

        Formulas that correct for how few gradients a mean has seen (AdamW) read this counter and not the iteration,
        which counts skipped steps too."""

    def DecayWeights(self, inputs: _Ins = ..., outputs: _Outs = ..., *, weight_decay: float, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """param_out = DecayWeights(param, lr, [found])

        Decoupled weight decay before an update: ``param' = param * (1 - lr * weight_decay)``.

        Where ``found`` is given and true the parameter stays as it is.

        weight_decay: The share of the parameter that is taken off, times lr: zero or positive."""

    def FP16MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., weight_decay: float = ..., fp32_update: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP16MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate` on half-precision blobs, with weight decay fused in.

        Arithmetic is in float16, rounded after each operation, or in float32 with one rounding at the end
        (``fp32_update``). The learning rate stays float32.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param.

        fp32_update: Compute in single precision."""

    def FP32MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = FP32MomentumSGDUpdate(grad, momentum_in, lr, param)

        As :class:`MomentumSGDUpdate`, with weight decay fused in.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def GlobalNorm(self, inputs: _Ins = ..., outputs: _Outs = ..., *, norm_type: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """norm = GlobalNorm(grads...)

        The norm of all gradients together: ``norm = sum(abs(x)**p) ** (1 / p)`` over every element of each.

        Computed in float64, from gradients of any precision, so that no square overflows. A NaN in any gradient gives
        NaN, an infinity infinity. A sparse gradient counts with its values as they stand: where an index occurs twice,
        their sum may be smaller or larger than its parts.

        norm_type: The p of the norm: positive, and infinity for the largest absolute value."""

    def Iter(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """count = Iter([count_in])

        Add one to an iteration counter; without an input, a counter that does not exist yet starts at 0."""

    def Lars(self, inputs: _Ins = ..., outputs: _Outs = ..., *, offset: float = ..., lr_min: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """lr = Lars(X, dX, wd, trust, lr_max)

        The learning rate of one layer, by the ratio of the norms of its parameter and its gradient.

        ``trust / (|dX| / |X| + wd + offset)``, or 1 where ``|X|`` is 0, cut to [lr_min, lr_max].

        offset: Added to the denominator.

        lr_min: The smallest learning rate."""

    def LearningRate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, base_lr: float, policy: str, stepsize: int = ..., gamma: float = ..., power: float = ..., max_iter: int = ..., num_iter: int = ..., start_multiplier: float = ..., end_multiplier: float = ..., multiplier: float = ..., multiplier_1: float | None = ..., multiplier_2: float | None = ..., num_iter_1: int = ..., num_iter_2: int = ..., active_first: bool | int = ..., active_period: int = ..., inactive_period: int = ..., m1: float = ..., n1: int = ..., m2: float = ..., n2: int = ..., m3: float = ..., max_lr: float | None = ..., min_lr: float = ..., decay: float = ..., period: int = ..., t_mult: float = ..., lr_shrink: float = ..., start_warmup_multiplier: float = ..., constant_warmup_num_iter: int = ..., linear_warmup_num_iter: int = ..., cyclical_max_lr: float = ..., cyclical_step_size: int = ..., cyclical_decay: float = ..., cosine_max_lr: float = ..., cosine_min_lr: float = ..., cosine_period: int = ..., cosine_t_mult: float = ..., cosine_lr_shrink: float = ..., sub_policy_num_iters: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
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

    def LearningRateAdaption(self, inputs: _Ins = ..., outputs: _Outs = ..., *, lr_alpha: float = ..., normalized_lr_adaption: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """lr_out = LearningRateAdaption(lr, grad, effgrad)

        Adapt a learning rate by how the gradient agrees with the step that was taken.

        ``lr' = lr * (1 - lr_alpha * cos)``, where ``cos`` is the cosine of the angle between ``grad`` and ``effgrad``
        (0 where one of them is 0); not normalized, ``lr' = lr - lr_alpha * dot(grad, effgrad)``.

        lr_alpha: The learning rate of the learning rate.

        normalized_lr_adaption: Use the cosine instead of the product."""

    def MasterMomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """momentum_out, master_out, param_out = MasterMomentumSGDUpdate(grad, momentum_in, lr, master, param, scale, found)

        As :class:`ScaledMomentumSGDUpdate` on a single-precision master, of which ``param`` is the half copy.

        ``param' = float16(master')``; it too stays as it is where ``found`` is true.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the unscaled gradient: weight_decay times the parameter."""

    def MomentumSGD(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """step, momentum_out = MomentumSGD(grad, momentum_in, lr)

        The step of momentum SGD and the new momentum; applying the step is left to another operator.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def MomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = MomentumSGDUpdate(grad, momentum_in, lr, param)

        One step of momentum SGD: writes the step over the gradient, the new momentum and the parameter.

        ``momentum' = momentum * m + lr * grad`` and ``param' = param - step``, where the step is the new momentum,
        or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def MovingAverage(self, inputs: _Ins = ..., outputs: _Outs = ..., *, decay: float, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """average_out = MovingAverage(average, param, [found])

        The exponential moving average of a parameter: ``average' = decay * average + (1 - decay) * param``.

        Computed as ``average + (1 - decay) * (param - average)`` in float32: so an average that has reached the parameter
        stays there, while two rounded weights whose sum is not quite 1 would pull it towards zero.

        decay: How much of the average is kept: at least 0, less than 1."""

    def RowWiseCounter(self, inputs: _Ins = ..., outputs: _Outs = ..., *, counter_halflife: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """prev_iter_out, update_counter_out = RowWiseCounter(prev_iter, update_counter, indices, iteration)

        Count the updates of each row of a table, older ones counting less: half after ``counter_halflife`` iterations.

        For each index ``update_counter' = update_counter * 2**(-age / counter_halflife) + 1``, where ``age`` are the
        iterations since ``prev_iter``, which becomes the iteration. Nothing changes unless the half-life is positive.

        counter_halflife: Iterations after which an update counts half."""

    def RowWiseSparseAdagrad(self, inputs: _Ins = ..., outputs: _Outs = ..., *, epsilon: float = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """param_out, moment_out = RowWiseSparseAdagrad(param, moment, indices, grad, lr)

        As :class:`SparseAdagrad`, with one sum for each row: it grows by the mean of the row's ``g**2``.

        epsilon: Added to the root, so that no step divides by zero.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def RowWiseSparseAdam(self, inputs: _Ins = ..., outputs: _Outs = ..., *, beta1: float = ..., beta2: float = ..., epsilon: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """param_out, moment_1_out, moment_2_out, [step] = RowWiseSparseAdam(param, moment_1, moment_2, indices, grad, lr, iteration)

        As :class:`SparseAdam`, with one second moment for each row: the running mean of its mean ``grad**2``.

        beta1: How much of the mean gradient is kept.

        beta2: How much of the mean squared gradient is kept.

        epsilon: Added to the root, so that no step divides by zero."""

    def ScaleLoss(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """scaled = ScaleLoss(loss, scale)

        Multiply the loss by the scale: ``scaled = loss * scale``. No gradient flows to the scale."""

    def ScaledMomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """momentum_out, param_out = ScaledMomentumSGDUpdate(grad, momentum_in, lr, param, scale, found)

        One step of momentum SGD on the gradient of a scaled loss, skipped where ``found``.

        ``g = grad / scale + weight_decay * param``, ``momentum' = momentum * m + lr * g`` and ``param' = param - step``,
        where the step is the new momentum, or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``; all in
        float32. Where ``found`` is true, momentum and parameter stay as they are.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum.

        weight_decay: Decay added to the unscaled gradient: weight_decay times the parameter."""

    def SparseAdagrad(self, inputs: _Ins = ..., outputs: _Outs = ..., *, epsilon: float = ..., decay: float = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """param_out, moment_out = SparseAdagrad(param, moment, indices, grad, lr)

        As :class:`Adagrad`, for the rows of the parameter that ``indices`` names.

        A row that occurs more than once is updated as often, one time after the other.

        epsilon: Added to the root, so that no step divides by zero.

        decay: Must be 1: rows that are not named would have to decay too.

        weight_decay: Decay added to the gradient: weight_decay * param."""

    def SparseAdam(self, inputs: _Ins = ..., outputs: _Outs = ..., *, beta1: float = ..., beta2: float = ..., epsilon: float = ..., enableRAdam: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """param_out, moment_1_out, moment_2_out, [step] = SparseAdam(param, moment_1, moment_2, indices, grad, lr, iteration)

        As :class:`Adam`, for the rows of the parameter that ``indices`` names.

        A row that occurs more than once is updated as often, one time after the other. With ``enableRAdam`` the
        variance of the step is rectified (https://arxiv.org/abs/1908.03265): with ``r = 2 / (1 - beta2) - 1`` and
        ``s = r - 2 * t * beta2**t / (1 - beta2**t)`` the step is multiplied by
        ``sqrt((s - 4) * (s - 2) * r / ((r - 4) * (r - 2) * s))``; while ``s < 5`` it is ``m1' / (1 - beta1**t)`` instead.

        beta1: How much of the mean gradient is kept.

        beta2: How much of the mean squared gradient is kept.

        epsilon: Added to the root, so that no step divides by zero.

        enableRAdam: Rectify the variance of the step."""

    def SparseAdamW(self, inputs: _Ins = ..., outputs: _Outs = ..., *, beta1: float = ..., beta2: float = ..., epsilon: float = ..., weight_decay: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """param_out, moment_1_out, moment_2_out = SparseAdamW(param, moment_1, moment_2, indices, grad, lr, iteration, [found])

        As :class:`AdamW`, for the rows of the parameter that ``indices`` names: only these decay and move.

        The other rows and their moments keep their bits, so a row decays as often as it is used. A row that occurs more
        than once is updated as often, one time after the other, and decays each time.

        beta1: How much of the mean gradient is kept.

        beta2: How much of the mean squared gradient is kept.

        epsilon: Added to the root, so that no step divides by zero.

        weight_decay: The decay, which lr multiplies."""

    def SparseDecayWeights(self, inputs: _Ins = ..., outputs: _Outs = ..., *, weight_decay: float, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """param_out = SparseDecayWeights(param, indices, lr, [found])

        As :class:`DecayWeights`, for the rows that ``indices`` names, each once however often it occurs.

        The other rows keep their bits, so a row decays as often as it is used.

        weight_decay: The share of the parameter that is taken off, times lr: zero or positive."""

    def SparseMomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """step, momentum_out, param_out = SparseMomentumSGDUpdate(grad, momentum_in, lr, param, indices)

        As :class:`MomentumSGDUpdate`, for the rows of the parameter that ``indices`` names.

        A row that occurs more than once is updated as often, one time after the other.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def SparseScaledMomentumSGDUpdate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, momentum: float = ..., nesterov: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """momentum_out, param_out = SparseScaledMomentumSGDUpdate(grad, momentum_in, lr, param, indices, scale, found)

        As :class:`ScaledMomentumSGDUpdate`, for the rows of the parameter that ``indices`` names.

        The other rows and their momentum keep their bits. A row that occurs more than once is updated as often, one time
        after the other.

        momentum: How much of the last step is kept.

        nesterov: Look ahead along the new momentum."""

    def StochasticAverage(self, inputs: _Ins = ..., outputs: _Outs = ..., *, start: int = ..., interval: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """average_out, count_out = StochasticAverage(average, count, param, iteration, [found])

        The plain mean of a parameter over some of the steps: stochastic weight averaging.

        In the iterations ``start``, ``start + interval``, ``start + 2 * interval``, ...:
        ``average' = average + (param - average) / (count + 1)`` and ``count' = count + 1``; in all others nothing changes.
        While ``count`` is 0 the average becomes the parameter, whatever it was. Computed in float32.

        start: The first iteration that counts; positive.

        interval: Iterations from one that counts to the next; positive."""

    def UnscaleGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """unscaled = UnscaleGradient(grad, scale)

        Undo the scaling of the loss, in single precision: ``unscaled = float32(grad) * (1 / scale)``."""

    def UpdateLossScale(self, inputs: _Ins = ..., outputs: _Outs = ..., *, growth_factor: float = ..., backoff_factor: float = ..., growth_interval: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """scale_out, growth_tracker_out = UpdateLossScale(scale, growth_tracker, found)

        Adapt the loss scale to whether the gradients of this step were finite.

        Where ``found``: ``scale' = scale * backoff_factor`` and ``growth_tracker' = 0``. Else the tracker counts one
        more, and when it reaches ``growth_interval``: ``scale' = scale * growth_factor`` (if that is finite) and
        ``growth_tracker' = 0``.

        growth_factor: What the scale grows by.

        backoff_factor: What the scale shrinks by.

        growth_interval: Updates in a row after which it grows."""

    def WarmupLearningRate(self, inputs: _Ins = ..., outputs: _Outs = ..., *, base_lr: float, policy: str, max_iter: int = ..., steps: Sequence[int] = ..., gamma: float = ..., power: float = ..., end_lr: float = ..., warmup_iters: int = ..., warmup_factor: float = ..., warmup: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """lr = WarmupLearningRate(iteration)

        The learning rate of a step: ``lr = base_lr * warm * schedule``, as detectron2 warms up its schedules.

        The iteration is the counter that AtomicIter has just increased, 1 in the first step; so ``i = iteration - 1``
        steps have been made before. While ``i < warmup_iters``, with ``a = i / warmup_iters``:

        - linear: ``warm = warmup_factor * (1 - a) + a``
        - constant: ``warm = warmup_factor``

        and then 1. The schedule goes on meanwhile:

        - fixed: 1
        - multistep: ``gamma ** n``, where n is how many of ``steps`` are at most i
        - cosine: ``end + (1 - end) * (1 + cos(pi * i / max_iter)) / 2``, where ``end = end_lr / base_lr``
        - poly: ``(1 - i / max_iter) ** power``, but once warm at least ``end``

        Past ``max_iter`` cosine and poly stay as they ended. Computed in float64 from the decimals that the arguments
        stand for (0.1, not its float32), and rounded to float32 once.

        The caller decides the sign: AdamW and the momentum family subtract (base_lr positive), Adam and WeightedSum add
        (base_lr negative, and end_lr too).

        base_lr: The learning rate that warm-up and schedule multiply.

        policy: How the learning rate changes.

        max_iter: cosine, poly: the steps of the whole training.

        steps: multistep: the steps, in order, from which on it is smaller.

        gamma: multistep: what each of them multiplies it by.

        power: poly: the exponent.

        end_lr: cosine: the last value; poly: the least.

        warmup_iters: Steps before it is warm.

        warmup_factor: What the first step is multiplied by.

        warmup: How it warms up."""

    def WeightScale(self, inputs: _Ins = ..., outputs: _Outs = ..., *, stepsize: int = ..., upper_bound_iter: int = ..., scale: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """scaled = WeightScale(w, iteration)

        Multiply a parameter by ``scale`` every ``stepsize`` iterations: where ``t = iteration + 1`` is a multiple.

        stepsize: Iterations from one scaling to the next.

        upper_bound_iter: Stop when t reaches it.

        scale: What the parameter is multiplied by."""
