"""Operators that pass a blob on: as a copy, as an alias, without gradient, to another device."""

from __future__ import annotations

import attrs

from netdsl.ir import TensorType
from netdsl.ops.dtypes import AnyTensor
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.shape.common import free
from netdsl.ops.xp import Array, ArrayModule


@attrs.frozen(kw_only=True, slots=False)
class _PassesOn(Operator):
    """Base of what passes a tensor on unchanged."""

    inputs = (In("input", AnyTensor),)
    outputs = (Out("output"),)

    cost = free

    def infer(self, input: TensorType) -> TensorType:
        return input

    def compute(self, xp: ArrayModule, input: Array) -> Array:
        return input


@operator
class Copy(_PassesOn):
    """Copy a tensor; its gradient is copied back."""

    elementwise = True

    def gradient(self, g: Gradients) -> None:
        g.add(CopyOnDeviceLike, [g.grad.output, g.blob.input], [g.grad.input])


@operator
class CopyOnDeviceLike(Operator):
    """Copy a tensor to where another one is. A workspace has one device, so this is a Copy."""

    inputs = (In("input", AnyTensor), In("like", AnyTensor, doc="Only where it is counts."))
    outputs = (Out("output"),)

    cost = free

    def infer(self, input: TensorType, like: TensorType) -> TensorType:
        return input

    def compute(self, xp: ArrayModule, input: Array, like: Array) -> Array:
        return input


@operator
class CopyCPUToGPU(_PassesOn):
    """Copy a tensor from the host to the device of the workspace; on NumPy they are one."""

    inputs = (In("input", AnyTensor, host=True),)

    def gradient(self, g: Gradients) -> None:
        g.add(CopyGPUToCPU, [g.grad.output], [g.grad.input])

    def compute(self, xp: ArrayModule, input: Array) -> Array:
        return xp.from_host(input)


@operator
class CopyGPUToCPU(_PassesOn):
    """Copy a tensor from the device of the workspace to the host; on NumPy they are one."""

    on_host = True

    def gradient(self, g: Gradients) -> None:
        g.add(CopyCPUToGPU, [g.grad.output], [g.grad.input])


@operator
class EnsureCPUOutput(_PassesOn):
    """Copy a tensor to the host, wherever it is; nothing flows back."""

    on_host = True

    def gradient(self, g: Gradients) -> None:
        """None, as in Caffe2."""


@operator
class Alias(_PassesOn):
    """Give a tensor a second name: both share their memory, and writing one writes the other."""

    outputs = (Out("output", alias="input"),)

    def gradient(self, g: Gradients) -> None:
        g.same(g.grad.output, g.grad.input)


@operator
class StopGradient(_PassesOn):
    """Pass a tensor on; no gradient flows back through it."""

    outputs = (Out("output", inplace="input"),)
    elementwise = True

    def gradient(self, g: Gradients) -> None:
        """None: that is its purpose."""


@operator
class EnsureDense(_PassesOn):
    """Pass a tensor on; a sparse gradient of it becomes a dense one."""

    outputs = (Out("output", inplace="input"),)
    elementwise = True

    def gradient(self, g: Gradients) -> None:
        grad = g.grad.output
        if isinstance(grad, str):
            g.same(grad, g.grad.input)
        else:  # a sparse one
            g.add("SparseToDense", [grad.indices, grad.values, g.blob.input], [g.grad.input], args={})
