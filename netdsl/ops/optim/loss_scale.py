"""Mixed precision with loss scaling: half gradients of a scaled loss, updates of single-precision masters.

Gradients that are too small for half precision become zero. So the loss is multiplied by a scale before it is
differentiated, and the gradients divided by it, in single precision, before they are applied to a master copy of
the parameter. A scale that is too large shows as an infinity or NaN in some gradient: then no parameter is updated
and the scale shrinks; after many updates in a row it grows. None of these operators exists in Caffe2.
"""

from __future__ import annotations

from netdsl.errors import SchemaError
from netdsl.ir import DType, TensorType
from netdsl.ops.dtypes import Boolean, Counter, Float, Half, Index, Int32, Single
from netdsl.ops.gradient import Gradients
from netdsl.ops.optim.iteration import infer_counter, next_count
from netdsl.ops.optim.momentum import MOMENTUM_DOC, NESTEROV_DOC, momentum_step
from netdsl.ops.optim.update import INDICES_DOC, LR_DOC, check_rows, check_update, update_rows
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_SOURCE = "https://arxiv.org/abs/1710.03740"
_SCALE = "What the loss was multiplied by, one positive number."
_FOUND = "Whether some gradient is not finite, one bool."
_DECAY = "Decay added to the unscaled gradient: weight_decay times the parameter."


@operator
class ScaleLoss(Operator):
    """Multiply the loss by the scale: ``scaled = loss * scale``. No gradient flows to the scale."""

    inputs = (In("loss", Single, doc="The loss, one number."), In("scale", Single, doc=_SCALE))
    outputs = (Out("scaled", doc="What is differentiated."),)
    ours = True
    source = _SOURCE

    def infer(self, loss: TensorType, scale: TensorType) -> TensorType:
        check_update(self, loss, scale=scale)
        return loss

    def gradient(self, g: Gradients) -> None:
        g.add(ScaleLoss, [g.grad.scaled, g.blob.scale], [g.grad.loss])

    def compute(self, xp: ArrayModule, loss: Array, scale: Array) -> Array:
        return loss * scale.reshape(())


@operator
class CheckFinite(Operator):
    """Whether any of the gradients holds an infinity or a NaN: ``found = any(not finite)``."""

    inputs = (In("grads", Float.untied(), many=1, doc="Gradients, of any precision; of sparse ones the values."),)
    outputs = (Out("found", doc="bool[1]: true if some element is not finite."),)
    ours = True
    source = _SOURCE

    def infer(self, grads: tuple[TensorType, ...]) -> TensorType:
        return TensorType(DType.BOOL, (1,))

    def compute(self, xp: ArrayModule, grads: tuple[Array, ...]) -> Array:
        finite = xp.ones((1,), dtype=xp.bool_)
        for grad in grads:
            finite = xp.logical_and(finite, xp.all(xp.isfinite(grad)))
        return xp.logical_not(finite)


@operator
class UnscaleGradient(Operator):
    """Undo the scaling of the loss, in single precision: ``unscaled = float32(grad) * (1 / scale)``."""

    inputs = (In("grad", Float.untied(), doc="Gradient of the scaled loss."), In("scale", Single, doc=_SCALE))
    outputs = (Out("unscaled", doc="float32: the gradient of the loss."),)
    elementwise = True
    ours = True
    source = _SOURCE

    def infer(self, grad: TensorType, scale: TensorType) -> TensorType:
        check_update(self, grad, scale=scale)
        return grad.with_dtype(DType.FLOAT)

    def compute(self, xp: ArrayModule, grad: Array, scale: Array) -> Array:
        return grad.astype(xp.float32) * (xp.float32(1) / scale)


@operator
class UpdateLossScale(Operator):
    """Adapt the loss scale to whether the gradients of this step were finite.

    Where ``found``: ``scale' = scale * backoff_factor`` and ``growth_tracker' = 0``. Else the tracker counts one
    more, and when it reaches ``growth_interval``: ``scale' = scale * growth_factor`` (if that is finite) and
    ``growth_tracker' = 0``.
    """

    inputs = (
        In("scale", Single, doc=_SCALE),
        In("growth_tracker", Int32, doc="Updates since the scale last changed, one int32."),
        In("found", Boolean, doc=_FOUND),
    )
    outputs = (
        Out("scale_out", inplace="scale", doc="The scale of the next step."),
        Out("growth_tracker_out", inplace="growth_tracker"),
    )
    elementwise = True
    role = "counter"
    ours = True
    source = _SOURCE

    growth_factor: float = arg(2.0, doc="What the scale grows by.")
    backoff_factor: float = arg(0.5, doc="What the scale shrinks by.")
    growth_interval: int = arg(2000, doc="Updates in a row after which it grows.")

    def __attrs_post_init__(self) -> None:
        rules = (
            ("growth_factor", self.growth_factor > 1, "more than 1"),
            ("backoff_factor", 0 < self.backoff_factor < 1, "between 0 and 1"),
            ("growth_interval", 0 < self.growth_interval < 2**31, "a positive int32"),
        )
        for name, holds, expected in rules:
            if not holds:
                raise SchemaError(
                    f"UpdateLossScale: {name!r} is out of range", expected=expected, got=getattr(self, name)
                )

    def infer(self, scale: TensorType, growth_tracker: TensorType, found: TensorType) -> tuple[TensorType, TensorType]:
        check_update(self, scale, scale=scale, growth_tracker=growth_tracker, found=found)
        return scale, growth_tracker

    def compute(self, xp: ArrayModule, scale: Array, growth_tracker: Array, found: Array) -> tuple[Array, Array]:
        grown = scale * xp.float32(self.growth_factor)
        shrunk = scale * xp.float32(self.backoff_factor)
        count = growth_tracker + 1
        due = count >= self.growth_interval
        kept = xp.where(xp.logical_and(due, grown < xp.inf), grown, scale)
        return xp.where(found, shrunk, kept), xp.where(xp.logical_or(found, due), 0, count)


@operator
class CountStep(Operator):
    """Count the steps that were not skipped: ``count' = count + 1``, and ``count`` where ``found``.

    Formulas that correct for how few gradients a mean has seen (AdamW) read this counter and not the iteration,
    which counts skipped steps too.
    """

    inputs = (
        In("count", Counter, doc="The counter, one int64; 0 before the first step."),
        In("found", Boolean, doc=_FOUND),
    )
    outputs = (Out("count_out", enforced="count", doc="The counter, one more than before unless found."),)
    role = "counter"
    on_host = True  # its readers want it there; so one bool a step crosses, and not a counter for each of them
    ours = True
    source = _SOURCE

    def infer(self, count: TensorType, found: TensorType) -> TensorType:
        check_update(self, count, found=found)
        return infer_counter("CountStep", count)

    def compute(self, xp: ArrayModule, count: Array, found: Array) -> Array:
        return count if int(found.reshape(-1)[0]) else next_count("CountStep", count)


@operator
class ScaledMomentumSGDUpdate(Operator):
    """One step of momentum SGD on the gradient of a scaled loss, skipped where ``found``.

    ``g = grad / scale + weight_decay * param``, ``momentum' = momentum * m + lr * g`` and ``param' = param - step``,
    where the step is the new momentum, or ``(1 + momentum) * momentum' - momentum * m`` with ``nesterov``; all in
    float32. Where ``found`` is true, momentum and parameter stay as they are.
    """

    inputs = (
        In("grad", Float.untied(), doc="Gradient of the scaled loss, of any precision."),
        In("momentum_in", Single, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("param", Single, doc="The parameter."),
        In("scale", Single, doc=_SCALE),
        In("found", Boolean, doc=_FOUND),
    )
    outputs = (Out("momentum_out", inplace="momentum_in"), Out("param_out", inplace="param"))
    elementwise = True
    role = "update"
    updates = (("param_out", "param"),)
    ours = True
    source = _SOURCE

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)
    weight_decay: float = arg(0.0, doc=_DECAY)

    def infer(
        self,
        grad: TensorType,
        momentum_in: TensorType,
        lr: TensorType,
        param: TensorType,
        scale: TensorType,
        found: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, gradient=grad, momentum=momentum_in, lr=lr, scale=scale, found=found)
        return momentum_in, param

    def compute(
        self,
        xp: ArrayModule,
        grad: Array,
        momentum_in: Array,
        lr: Array,
        param: Array,
        scale: Array,
        found: Array,
    ) -> tuple[Array, Array]:
        g = grad.astype(xp.float32) * (xp.float32(1) / scale) + xp.float32(self.weight_decay) * param
        step, new_m = momentum_step(g, momentum_in, lr, xp.float32(self.momentum), xp.float32(1), self.nesterov)
        return xp.where(found, momentum_in, new_m), xp.where(found, param, param - step)


@operator
class SparseScaledMomentumSGDUpdate(Operator):
    """As :class:`ScaledMomentumSGDUpdate`, for the rows of the parameter that ``indices`` names.

    The other rows and their momentum keep their bits. A row that occurs more than once is updated as often, one time
    after the other.
    """

    inputs = (
        In("grad", Float.untied(), doc="Rows of the gradient of the scaled loss, one for each index."),
        In("momentum_in", Single, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("param", Single, doc="The parameter."),
        In("indices", Index, doc=INDICES_DOC),
        In("scale", Single, doc=_SCALE),
        In("found", Boolean, doc=_FOUND),
    )
    outputs = (
        Out("momentum_out", inplace="momentum_in", enforced="momentum_in", rows="indices"),
        Out("param_out", inplace="param", enforced="param", rows="indices"),
    )
    role = "update"
    updates = (("param_out", "param"),)
    ours = True
    source = _SOURCE

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)

    def infer(
        self,
        grad: TensorType,
        momentum_in: TensorType,
        lr: TensorType,
        param: TensorType,
        indices: TensorType,
        scale: TensorType,
        found: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, param, momentum=momentum_in, lr=lr, scale=scale, found=found)
        check_rows(self, param, indices, grad)
        return momentum_in, param

    def compute(
        self,
        xp: ArrayModule,
        grad: Array,
        momentum_in: Array,
        lr: Array,
        param: Array,
        indices: Array,
        scale: Array,
        found: Array,
    ) -> tuple[Array, Array]:
        unscaled = grad.astype(xp.float32) * (xp.float32(1) / scale.reshape(()))
        mu, one, rate, skip = xp.float32(self.momentum), xp.float32(1), lr.reshape(()), found.reshape(())

        def step(p: Array, m: Array, g: Array) -> tuple[Array, ...]:
            taken, new_m = momentum_step(g, m, rate, mu, one, self.nesterov)
            return xp.where(skip, p, p - taken), xp.where(skip, m, new_m)

        update_rows(self, xp, indices, [param, momentum_in], unscaled, step)
        return momentum_in, param


@operator
class MasterMomentumSGDUpdate(Operator):
    """As :class:`ScaledMomentumSGDUpdate` on a single-precision master, of which ``param`` is the half copy.

    ``param' = float16(master')``; it too stays as it is where ``found`` is true.
    """

    inputs = (
        In("grad", Float.untied(), doc="Gradient of the scaled loss, of any precision."),
        In("momentum_in", Single, doc="The velocity, learning rate included."),
        In("lr", Single, doc=LR_DOC),
        In("master", Single, doc="The parameter in single precision."),
        In("param", Half, doc="Its copy in half precision."),
        In("scale", Single, doc=_SCALE),
        In("found", Boolean, doc=_FOUND),
    )
    outputs = (
        Out("momentum_out", inplace="momentum_in"),
        Out("master_out", inplace="master"),
        Out("param_out", inplace="param"),
    )
    elementwise = True
    role = "update"
    updates = (("master_out", "master"), ("param_out", "param"))
    ours = True
    source = _SOURCE

    momentum: float = arg(0.0, doc=MOMENTUM_DOC)
    nesterov: bool = arg(False, doc=NESTEROV_DOC)
    weight_decay: float = arg(0.0, doc=_DECAY)

    def infer(
        self,
        grad: TensorType,
        momentum_in: TensorType,
        lr: TensorType,
        master: TensorType,
        param: TensorType,
        scale: TensorType,
        found: TensorType,
    ) -> tuple[TensorType, ...]:
        check_update(self, master, gradient=grad, momentum=momentum_in, lr=lr, copy=param, scale=scale, found=found)
        return momentum_in, master, param

    def compute(
        self,
        xp: ArrayModule,
        grad: Array,
        momentum_in: Array,
        lr: Array,
        master: Array,
        param: Array,
        scale: Array,
        found: Array,
    ) -> tuple[Array, ...]:
        g = grad.astype(xp.float32) * (xp.float32(1) / scale) + xp.float32(self.weight_decay) * master
        step, new_m = momentum_step(g, momentum_in, lr, xp.float32(self.momentum), xp.float32(1), self.nesterov)
        new = master - step
        return (
            xp.where(found, momentum_in, new_m),
            xp.where(found, master, new),
            xp.where(found, param, new.astype(xp.float16)),
        )
