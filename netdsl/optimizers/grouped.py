"""The updates of parameter groups: unscale, clip, decay, update, and round into the half copy."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from netdsl.dsl import Blob, Net, Parameter, SparseGradient
from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.optimizers.base import AnyGradient, Optimizer, Updates, masters, no_gradient, values, with_values
from netdsl.optimizers.clipping import Clip
from netdsl.optimizers.groups import ParamGroups, Settings
from netdsl.optimizers.master import LossScale


class NoGradient(UserWarning):
    """A parameter that is neither frozen nor reached by the gradient, and so is not trained."""


def build_groups(
    groups: ParamGroups,
    optimizer: Optimizer,
    *,
    clip: Clip | None = None,
    loss_scale: LossScale | None = None,
) -> None:
    """Append the updates of all parameters of ``groups``, each by its settings, else by ``optimizer``.

    Gradients are unscaled (with ``loss_scale``), then clipped, then decayed; parameters in half
    precision are updated in their single-precision master and rounded into the half blob. Rows of a sparse
    gradient that belong to one index are added first; only the rows it names decay and move. With
    ``loss_scale``, a step with a gradient that is not finite changes no parameter, state or average.

    Warns:
        NoGradient: for each trained parameter without a gradient.

    Raises:
        NetError: no parameter has a gradient, or one is trained already.
        SchemaError: a setting that a parameter's optimizer has not, or an optimizer that cannot take part.
    """
    _check_kinds(groups, clip, loss_scale)
    trained = _with_gradients(groups)
    step = _Step(groups, optimizer, loss_scale)
    for settings in trained:
        step.check(settings)
    with groups.model.net.all_or_nothing(), groups.model.init_net.all_or_nothing():
        grads = step.gradients(trained)
        if clip is not None:
            grads = clip.append(step.updates(optimizer), grads)
        for settings, grad in zip(trained, grads, strict=True):
            step.update(settings, grad)
        if loss_scale is not None:
            loss_scale.adapt(step.updates(optimizer))
    for note in step.notes:
        note()
    groups.model.save_tables()


def _check_kinds(groups: Any, clip: Any, loss_scale: Any) -> None:
    if not isinstance(groups, ParamGroups):
        raise SchemaError(
            "groups are what param_groups returns", expected="param_groups(model, rules)", got=type(groups).__name__
        )
    if not (clip is None or isinstance(clip, Clip)):
        raise SchemaError("'clip' is of the wrong kind", expected='Clip("full_model", 1.0)', got=repr(clip))
    if not (loss_scale is None or isinstance(loss_scale, LossScale)):
        raise SchemaError("'loss_scale' is of the wrong kind", expected="LossScale()", got=repr(loss_scale))


def _with_gradients(groups: ParamGroups) -> list[Settings]:
    trained = [s for s in groups.trained if s.parameter.grad is not None]
    if not trained:
        raise no_gradient(groups.model, [s.parameter for s in groups.trained])
    for settings in groups.trained:
        if settings.parameter.grad is None:
            warnings.warn(
                f"parameter {settings.parameter.name!r} gets no gradient, so it is not trained", NoGradient, 3
            )
    return trained


class _Step:
    """What the updates of one training step share."""

    def __init__(self, groups: ParamGroups, optimizer: Optimizer, loss_scale: LossScale | None) -> None:
        self.model, self.default, self.loss_scale = groups.model, optimizer, loss_scale
        self.nonfinite: Blob | None = None
        self.notes: list[Callable[[], None]] = []
        """What to write down for tables once all is appended."""
        self._updates: dict[str, Updates] = {}

    @property
    def net(self) -> Net:
        return self.model.net

    def updates(self, optimizer: Optimizer) -> Updates:
        """Where the updates of ``optimizer``'s kind are appended."""
        found = self._updates.setdefault(optimizer.prefix, Updates(self.model, optimizer.prefix))
        found.nonfinite = self.nonfinite
        return found

    def optimizer(self, settings: Settings) -> Optimizer:
        """The optimizer that a parameter was given, else the default."""
        return settings.optimizer or self.default

    # ------------------------------------------------------------------ settings

    def check(self, settings: Settings) -> None:
        """Raise before anything is appended if the parameter cannot be trained so."""
        optimizer, name = self.optimizer(settings), settings.parameter.name
        kind = type(optimizer)
        if not isinstance(optimizer, Optimizer):
            raise SchemaError("the optimizer of groups is an Optimizer", expected="SGD(), AdamW(), ...", got=optimizer)
        if (kind.begin, kind.end) != (Optimizer.begin, Optimizer.end):
            raise SchemaError(f"{kind.__name__} takes no part in groups", fix="give build_groups SGD and loss_scale=")
        if self.loss_scale is not None and not optimizer.skips:
            raise SchemaError(f"{kind.__name__} cannot skip a step, as loss scaling needs", expected="SGD, AdamW")
        if settings.momentum is not None and not hasattr(optimizer, "momentum"):
            raise SchemaError(f"{kind.__name__} has no momentum", parameter=name, got=settings.momentum)
        optimizer.check_new(settings.parameter)

    def chosen(self, settings: Settings) -> tuple[Optimizer, float]:
        """The parameter's optimizer with its settings put in, and the decay to append before it; tables are told."""
        optimizer, parameter = self.optimizer(settings), settings.parameter
        own = settings.weight_decay is None and settings.decoupled is None
        decay = optimizer.decay_of(parameter) if settings.weight_decay is None else float(settings.weight_decay)
        decouples = optimizer.decouples if settings.decoupled is None else settings.decoupled
        inside = own or (optimizer.decouples and decouples)
        changes: dict[str, Any] = {}
        if settings.momentum is not None:
            changes["momentum"] = settings.momentum
        if hasattr(optimizer, "weight_decay") and not own:
            changes["weight_decay"] = decay if inside else 0.0
        if isinstance(parameter.grad, SparseGradient):
            changes["sparse_dedup"] = None  # done before clipping
        optimizer = attrs.evolve(optimizer, **changes)
        told = {"decay": "decoupled" if decouples else "coupled"} if decay else {}
        if hasattr(optimizer, "momentum"):
            told["momentum"] = getattr(optimizer, "momentum")  # noqa: B009
        rate = optimizer.base_learning_rate * parameter.lr_multiplier * settings.lr_multiplier
        self.notes.append(functools.partial(optimizer.note, parameter, rate, weight_decay=decay, **told))
        return optimizer, 0.0 if inside else decay

    # ------------------------------------------------------------------ gradients

    def gradients(self, trained: Sequence[Settings]) -> list[AnyGradient]:
        """Append what makes the gradients ready: checked, unscaled, in single precision, one row an index."""
        to = self.updates(self.default)
        grads = [p.grad for p in to.own(s.parameter for s in trained) if p.grad is not None]
        if self.loss_scale is not None:
            self.nonfinite = self.loss_scale.check(to, [values(g) for g in grads])
        singles = [with_values(g, self._single(values(g))) for g in grads]
        return [self._one_a_row(s, g) for s, g in zip(trained, singles, strict=True)]

    def _single(self, grad: Blob) -> Blob:
        if self.loss_scale is not None:
            scale = Blob(self.loss_scale.blob, self.net)
            return self.net.add("UnscaleGradient", [grad, scale], Blob(f"{grad}_unscaled", self.net))
        type_ = self.net.type_of(grad)
        if isinstance(type_, TensorType) and type_.dtype is DType.FLOAT16:
            return self.net.add("HalfToFloat", grad, Blob(f"{grad}_fp32", self.net))
        return grad

    def _one_a_row(self, settings: Settings, grad: AnyGradient) -> AnyGradient:
        if not isinstance(grad, SparseGradient):
            return grad
        optimizer = self.optimizer(settings)
        return self.updates(optimizer).deduplicated(grad, optimizer.sparse_dedup or "sum", settings.parameter)

    # ------------------------------------------------------------------ updates

    def update(self, settings: Settings, grad: AnyGradient) -> None:
        """Append decay and update of one parameter, and the rounding into its half copy."""
        parameter = settings.parameter
        optimizer, decay = self.chosen(settings)
        master, half = masters(parameter)
        to = self.updates(optimizer)
        multiplier = parameter.lr_multiplier * settings.lr_multiplier
        view = attrs.evolve(parameter, blob=master, blob_copy={}, grad=grad, lr_multiplier=multiplier)
        if not multiplier * optimizer.base_learning_rate:
            return
        if decay and settings.decoupled:
            self._decay_weights(to, view, optimizer, decay)
        elif decay:
            view.grad = self._decayed(to, master, grad, decay)
        optimizer.update(to, view)
        if half is not None:
            self.net.add("FloatToHalf", master, half)

    def _decayed(self, to: Updates, w: Blob, grad: AnyGradient, decay: float) -> AnyGradient:
        """Append coupled decay: the weight's share is added to the gradient."""
        one, share = to.one(), to.constant(f"weight_decay_{decay!r}", decay)
        blob = values(grad)
        if isinstance(grad, SparseGradient):
            w = self.net.add("Gather", [w, grad.indices], Blob(f"{blob}_rows", self.net))
        made = self.net.add("WeightedSum", [blob, one, w, share], Blob(f"{blob}_decayed", self.net))
        return with_values(grad, made)

    @staticmethod
    def _decay_weights(to: Updates, view: Parameter, optimizer: Optimizer, decay: float) -> None:
        """Append decoupled decay for an optimizer that has none of its own."""
        rows = [view.grad.indices] if isinstance(view.grad, SparseGradient) else []
        skip = [] if to.nonfinite is None else [to.nonfinite]
        inputs = [view.blob, *rows, optimizer.rate(to, view, 1), *skip]
        to.net.add("SparseDecayWeights" if rows else "DecayWeights", inputs, view.blob, {"weight_decay": decay})
