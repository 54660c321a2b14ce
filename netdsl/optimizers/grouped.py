"""The updates of parameter groups: unscale, clip, decay, update, and round into the half copy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import attrs

from netdsl.dsl import Blob, Net, Parameter, SparseGradient
from netdsl.errors import NetError, SchemaError
from netdsl.ir import DType, TensorType
from netdsl.optimizers.base import Optimizer, Updates
from netdsl.optimizers.clipping import AnyGradient, Clip
from netdsl.optimizers.groups import ParamGroups, Settings
from netdsl.optimizers.master import LossScale, masters


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
    precision are updated in their single-precision master and rounded into the half blob.

    Warns:
        NoGradient: for each trained parameter without a gradient.

    Raises:
        NetError: no parameter has a gradient.
        SchemaError: a setting that a parameter's optimizer has not.
    """
    trained = _with_gradients(groups)
    step = _Step(groups, optimizer, loss_scale)
    grads = step.unscaled(trained)
    if clip is not None:
        grads = clip.append(step.updates(optimizer), grads)
    for settings, grad in zip(trained, grads, strict=True):
        step.update(settings, grad)
    if loss_scale is not None:
        loss_scale.adapt(step.updates(optimizer))
    groups.model.save_tables()


def _with_gradients(groups: ParamGroups) -> list[Settings]:
    trained = [s for s in groups.trained if s.parameter.grad is not None]
    if not trained:
        raise NetError(
            f"no parameter of model {groups.model.name!r} has a gradient", fix="call model.add_gradients(loss) first"
        )
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
        self._updates: dict[str, Updates] = {}

    def updates(self, optimizer: Optimizer) -> Updates:
        """Where the updates of ``optimizer``'s kind are appended."""
        if optimizer.prefix not in self._updates:
            self._updates[optimizer.prefix] = Updates(self.model, optimizer.prefix)
        found = self._updates[optimizer.prefix]
        found.nonfinite = self.nonfinite
        return found

    @property
    def net(self) -> Net:
        return self.model.net

    def unscaled(self, trained: Sequence[Settings]) -> list[AnyGradient]:
        """Append the check and the unscaling of all gradients; return them in single precision."""
        grads: list[AnyGradient] = [s.parameter.grad for s in trained if s.parameter.grad is not None]
        if self.loss_scale is not None:
            self.nonfinite = self.loss_scale.check(self.updates(self.default), [_values(g) for g in grads])
        return [self._single(g) for g in grads]

    def _single(self, grad: AnyGradient) -> AnyGradient:
        values = _values(grad)
        type_ = self.net.type_of(values)
        half = isinstance(type_, TensorType) and type_.dtype is DType.FLOAT16
        if self.loss_scale is not None:
            scale = Blob(self.loss_scale.blob, self.net)
            made = self.net.add("UnscaleGradient", [values, scale], Blob(f"{values}_unscaled", self.net))
        elif half:
            made = self.net.add("HalfToFloat", values, Blob(f"{values}_fp32", self.net))
        else:
            made = values
        return SparseGradient(grad.indices, made) if isinstance(grad, SparseGradient) else made

    def update(self, settings: Settings, grad: AnyGradient) -> None:
        """Append decay and update of one parameter, and the rounding into its half copy."""
        parameter = settings.parameter
        master, half = masters(parameter)
        optimizer, decay = self._optimizer(settings)
        to = self.updates(optimizer)
        view = attrs.evolve(
            parameter,
            blob=master,
            blob_copy={},
            grad=grad,
            lr_multiplier=parameter.lr_multiplier * settings.lr_multiplier,
        )
        rate = optimizer.base_learning_rate * view.lr_multiplier
        self._note(settings, optimizer, rate, decay)
        if not rate:
            return
        if decay and not _decouples(settings, optimizer):
            view.grad = self._decayed(to, master, grad, decay)
        elif decay and not optimizer.decouples:
            self._decay_weights(to, view, optimizer, decay)
        optimizer.update(to, view)
        if half is not None:
            self.net.add("FloatToHalf", master, half)

    def _optimizer(self, settings: Settings) -> tuple[Optimizer, float]:
        """The parameter's optimizer with its settings put in, and its weight decay."""
        optimizer = settings.optimizer or self.default
        if self.nonfinite is not None and not optimizer.skips:
            raise SchemaError(
                f"{type(optimizer).__name__} cannot skip a step, as loss scaling needs", expected="SGD, AdamW"
            )
        if settings.momentum is not None:
            if not hasattr(optimizer, "momentum"):
                name = settings.parameter.name
                raise SchemaError(f"{type(optimizer).__name__} has no momentum", parameter=name, got=settings.momentum)
            optimizer = attrs.evolve(optimizer, momentum=settings.momentum)
        own = getattr(optimizer, "weight_decay", 0.0)
        decay = own if settings.weight_decay is None else settings.weight_decay
        if hasattr(optimizer, "weight_decay"):
            inside = decay if optimizer.decouples and _decouples(settings, optimizer) else 0.0
            optimizer = attrs.evolve(optimizer, weight_decay=inside)
        return optimizer, decay

    def _decayed(self, to: Updates, w: Blob, grad: AnyGradient, decay: float) -> AnyGradient:
        """Append coupled decay: the weight's share is added to the gradient."""
        one, share = to.one(), to.constant(f"weight_decay_{decay:g}", decay)
        if isinstance(grad, SparseGradient):
            rows = self.net.add("Gather", [w, grad.indices], Blob(f"{grad.values}_rows", self.net))
            made = self.net.add(
                "WeightedSum", [grad.values, one, rows, share], Blob(f"{grad.values}_decayed", self.net)
            )
            return SparseGradient(grad.indices, made)
        return self.net.add("WeightedSum", [grad, one, w, share], Blob(f"{grad}_decayed", self.net))

    def _decay_weights(self, to: Updates, view: Parameter, optimizer: Optimizer, decay: float) -> None:
        """Append decoupled decay for an optimizer that has none of its own."""
        if isinstance(view.grad, SparseGradient):
            raise SchemaError(
                f"{type(optimizer).__name__} has no decoupled decay of a sparse gradient",
                parameter=view.name,
                expected="AdamW, or decoupled=False",
            )
        rate = optimizer.rate(to, view, 1)
        inputs = [view.blob, rate] if to.nonfinite is None else [view.blob, rate, to.nonfinite]
        to.net.add("DecayWeights", inputs, view.blob, {"weight_decay": decay})

    @staticmethod
    def _note(settings: Settings, optimizer: Optimizer, rate: float, decay: float) -> None:
        """Write down what was decided, for tables."""
        noted = settings.parameter.settings
        noted.update(optimizer=type(optimizer).__name__, lr=rate, weight_decay=decay)
        if decay:
            noted["decay"] = "decoupled" if _decouples(settings, optimizer) else "coupled"
        if hasattr(optimizer, "momentum"):
            noted["momentum"] = getattr(optimizer, "momentum")  # noqa: B009
        noted["decided"] = settings.decided


def _decouples(settings: Settings, optimizer: Optimizer) -> bool:
    return optimizer.decouples if settings.decoupled is None else settings.decoupled


def _values(grad: AnyGradient) -> Blob:
    return grad.values if isinstance(grad, SparseGradient) else grad
