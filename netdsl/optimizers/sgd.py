"""Stochastic gradient descent, in single precision and as Caffe2's two mixed-precision schemes."""

from __future__ import annotations

from typing import ClassVar

import attrs

from netdsl.dsl import Blob, Parameter, SparseGradient
from netdsl.errors import SchemaError
from netdsl.ir import DType
from netdsl.optimizers.base import Optimizer, Updates, dense_gradient, masters
from netdsl.optimizers.checks import flag, number


@attrs.frozen(kw_only=True)
class SGD(Optimizer):
    """SGD with momentum (with ``nesterov`` by default), LARS, and sparse gradients.

    ``lars`` is the offset of layer-wise adaptive rates (https://arxiv.org/abs/1708.03888). ``sparse_dedup``
    is "mean" or "sum" over the rows of a repeated index; by default each row is applied by itself.
    """

    prefix: ClassVar[str] = "sgd"
    skips: ClassVar[bool] = True
    spends: ClassVar[bool] = True

    momentum: float = attrs.field(default=0.0, validator=number())
    nesterov: bool = attrs.field(default=True, validator=flag)
    lars: float | None = attrs.field(default=None, validator=number())

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter."""
        grad = parameter.grad
        factor = None
        if self.lars is not None and isinstance(grad, Blob):
            factor = to.lars(parameter.blob, grad, self.lars)
        rate = self.rate(to, parameter, 1 if self.momentum or to.nonfinite is not None else -1)
        if factor is not None:
            rate = to.scaled(rate, factor)
        one = to.one()
        if isinstance(grad, SparseGradient):
            self._sparse(to, parameter, grad, rate, one)
        elif isinstance(grad, Blob):
            self._dense(to, parameter.blob, grad, rate, one)

    def _dense(self, to: Updates, w: Blob, grad: Blob, rate: Blob, one: Blob) -> None:
        if to.nonfinite is not None:
            m = to.state(w, "momentum")
            to.net.add("ScaledMomentumSGDUpdate", [grad, m, rate, w, one, to.nonfinite], [m, w], self._args())
            return
        if not self.momentum:
            to.net.add("WeightedSum", [w, one, grad, rate], w)
            return
        m = to.state(w, "momentum")
        to.net.add("MomentumSGDUpdate", [grad, m, rate, w], [grad, m, w], self._args())

    def _sparse(self, to: Updates, parameter: Parameter, found: SparseGradient, rate: Blob, one: Blob) -> None:
        w = parameter.blob
        m = to.state(w, "momentum") if self.momentum or to.nonfinite is not None else None
        grad = to.deduplicated(found, self.sparse_dedup, parameter)
        if m is not None and to.nonfinite is not None:
            inputs = [grad.values, m, rate, w, grad.indices, one, to.nonfinite]
            to.net.add("SparseScaledMomentumSGDUpdate", inputs, [m, w], self._args())
            return
        if m is None:
            to.net.add("ScatterWeightedSum", [w, one, grad.indices, grad.values, rate], w)
            return
        inputs = [grad.values, m, rate, w, grad.indices]
        to.net.add("SparseMomentumSGDUpdate", inputs, [grad.values, m, w], self._args())

    def _args(self) -> dict[str, float | int]:
        return {"momentum": self.momentum, "nesterov": int(self.nesterov)}


@attrs.frozen(kw_only=True)
class MultiPrecisionSGD(SGD):
    """SGD on the single-precision masters of half-precision parameters (see PseudoFP16Initializer).

    Each gradient is converted to float32, applied to the master, and the master rounded into the half
    blob. Parameters without copies are updated as by :class:`SGD`.
    """

    prefix: ClassVar[str] = "multi_precision_sgd"

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter.

        Raises:
            SchemaError: copies, but none in single precision; or a sparse gradient.
        """
        if not parameter.blob_copy:
            SGD.update(self, to, parameter)
            return
        master = self._master(parameter)
        grad = dense_gradient(parameter, "MultiPrecisionSGD")
        rate = self.rate(to, parameter, 1)
        state = {"value": 0.0}
        m = to.once("ConstantFill", f"{parameter.blob}_momentum", state, Blob(master.name, to.init))
        single = to.net.add("HalfToFloat", grad, Blob(f"{grad}_fp32", to.net))
        if self.lars is not None:
            rate = to.scaled(rate, to.lars(master, single, self.lars))
        to.net.add("MomentumSGDUpdate", [single, m, rate, master], [single, m, master], self._args())
        to.net.add("FloatToHalf", master, parameter.blob)

    @staticmethod
    def _master(parameter: Parameter) -> Blob:
        if DType.FLOAT not in parameter.blob_copy:
            raise SchemaError(
                f"parameter {parameter.name!r} has no single-precision master",
                expected="a parameter made by PseudoFP16Initializer",
                got=f"copies in {', '.join(dtype.value for dtype in parameter.blob_copy)}",
            )
        return parameter.blob_copy[DType.FLOAT]


@attrs.frozen(kw_only=True)
class FP16SGD(Optimizer):
    """Momentum SGD in half precision with weight decay fused in, exactly as Caffe2 emits it.

    The half blob of a parameter is updated (the primary one, or ``blob_copy[FLOAT16]``); a parameter
    without a copy, one with ``spatbn`` in its name, and all with ``fp32_update`` are updated in single
    precision. Mind that the single-precision master is then never updated: ``netdsl check`` says so, and
    :class:`MultiPrecisionSGD` and :class:`MasterWeightSGD` are the schemes that do update it.
    """

    prefix: ClassVar[str] = "fp16_sgd"
    spends: ClassVar[bool] = True

    base_learning_rate: float = attrs.field(default=0.1, validator=number())
    momentum: float = attrs.field(default=0.0, validator=number())
    nesterov: bool = attrs.field(default=True, validator=flag)
    weight_decay: float = attrs.field(default=0.0001, validator=number())
    fp32_update: bool = attrs.field(default=False, validator=flag)

    def update(self, to: Updates, parameter: Parameter) -> None:
        """Append the update of one parameter.

        Raises:
            SchemaError: a copy that is neither float32 nor float16, or a sparse gradient.
        """
        half, single = self._blobs(parameter)
        grad = dense_gradient(parameter, "FP16SGD")
        rate = self.rate(to, parameter, 1)
        like = Blob(single.name, to.init)
        m32 = to.once("ConstantFill", f"{half or single}_momentum_fp32", {"value": 0.0}, like)
        m16 = to.once("FloatToHalf", f"{half or single}_momentum", {}, Blob(m32.name, to.init))
        args = {"momentum": self.momentum, "nesterov": int(self.nesterov), "weight_decay": self.weight_decay}
        if half is None:
            to.net.add("FP32MomentumSGDUpdate", [grad, m32, rate, single], [grad, m32, single], args)
        else:
            to.net.add("FP16MomentumSGDUpdate", [grad, m16, rate, half], [grad, m16, half], args)

    def _blobs(self, parameter: Parameter) -> tuple[Blob | None, Blob]:
        """The half blob to update, or None for an update in single precision; and the single blob."""
        if self.fp32_update or "spatbn" in parameter.name:
            return None, parameter.blob
        single, half = masters(parameter)
        return half, single
