"""Permuting dims."""

from __future__ import annotations

from netdsl.errors import InferenceError
from netdsl.ir import TensorType
from netdsl.ops.dtypes import AnyTensor
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free
from netdsl.ops.xp import Array, ArrayModule


@operator
class Transpose(Operator):
    """Permute the dims: dim i of the result is dim ``axes[i]`` of X; reversed by default."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", view="X"),)

    axes: tuple[int, ...] = arg((), doc="The permutation; by default the dims are reversed.")

    cost = free

    def infer(self, X: TensorType) -> TensorType:
        dims = dims_of(X)
        if self.axes and sorted(self.axes) != list(range(len(dims))):
            raise InferenceError(
                "Transpose: the axes are no permutation",
                expected=f"each of 0 to {len(dims) - 1} once",
                got=list(self.axes),
            )
        return X.with_shape(tuple(dims[i] for i in self.axes) or dims[::-1])

    def gradient(self, g: Gradients) -> None:
        args = {"axes": tuple(self.axes.index(i) for i in range(len(self.axes)))} if self.axes else {}
        g.add(Transpose, [g.grad.Y], [g.grad.X], args=args)

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.transpose(X, self.axes or None)
