"""Operators that give the same elements another shape, and the one that tells a shape."""

from __future__ import annotations

from collections.abc import Sequence

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, DType, TensorType
from netdsl.ir import Shape as Dims
from netdsl.ir.dims import conflict, product, quotient
from netdsl.ops.dtypes import AnyTensor, Index
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.ops.shape.common import dims_of, free, need_rank
from netdsl.ops.xp import Array, ArrayModule


@operator
class Reshape(Operator):
    """Give the elements another shape; 0 keeps the dim of the input, one -1 is inferred."""

    inputs = (
        In("data", AnyTensor, doc="The tensor."),
        In("new_shape", Index, optional=True, host=True, doc="The shape, as an input (instead of the argument)."),
    )
    outputs = (
        Out("reshaped", inplace="data", view="data"),
        Out("old_shape", doc="The shape before, of the integer type of new_shape, else int64."),
    )

    shape: tuple[int, ...] | None = arg(None, doc="The shape: 0 keeps the dim at this place, one -1 is inferred.")

    cost = free

    def infer(self, data: TensorType, new_shape: TensorType | None = None) -> tuple[TensorType, TensorType]:
        dims = dims_of(data)
        self._check_given(new_shape is not None)
        if new_shape is None:
            assert self.shape is not None
            return data.with_shape(reshaped(dims, self.shape)), TensorType(DType.INT64, (len(dims),))
        need_rank("Reshape", "new_shape", new_shape, 1)
        rank = dims_of(new_shape)[0]
        shape = (None,) * rank if isinstance(rank, int) else None
        return data.with_shape(shape), TensorType(new_shape.dtype, (len(dims),))

    def gradient(self, g: Gradients) -> None:
        g.add(Reshape, [g.grad.reshaped, g.blob.old_shape], [g.grad.data, g.temp("_dims")], args={})

    def compute(self, xp: ArrayModule, data: Array, new_shape: Array | None = None) -> tuple[Array, Array]:
        self._check_given(new_shape is not None)
        wanted = self.shape if new_shape is None else [int(n) for n in new_shape]
        shape = reshaped(data.shape, wanted or ())
        old = xp.array_of(data.shape, xp.int64 if new_shape is None else new_shape.dtype)
        return xp.reshape(data, tuple(int(n) for n in shape if n is not None)), old

    def _check_given(self, by_input: bool) -> None:
        if by_input == (self.shape is not None):
            raise InferenceError(
                "Reshape: the shape is given twice" if by_input else "Reshape: no shape is given",
                expected="either the argument 'shape' or a second input",
            )


def reshaped(dims: Dims, wanted: Sequence[int]) -> Dims:
    """The shape that ``wanted`` means for a tensor of shape ``dims``.

    Raises:
        InferenceError: another number of elements, several -1, or another negative number.
    """
    if min(wanted, default=0) < -1 or sum(n == -1 for n in wanted) > 1:
        raise InferenceError(
            "Reshape: the shape makes no sense", expected="numbers >= 0 and at most one -1", got=list(wanted)
        )
    kept = [i for i, n in enumerate(wanted) if n == 0 and i < len(dims)]
    shape: list[Dim] = [dims[i] if i in kept else n for i, n in enumerate(wanted)]
    if -1 in wanted:  # kept dims cancel, so that an empty batch keeps its number of features
        rest = [d for i, d in enumerate(dims) if i not in kept]
        shape[list(wanted).index(-1)] = quotient(rest, [n for n in wanted if n > 0])
    if conflict(product(shape), product(dims)):
        raise InferenceError(
            "Reshape: the shape has another number of elements", expected=product(dims), got=list(wanted)
        )
    return tuple(shape)


@operator
class ResizeLike(Operator):
    """Give the elements of X the shape of another tensor."""

    inputs = (
        In("data", AnyTensor, doc="The tensor."),
        In("shape_tensor", AnyTensor, doc="A tensor of the shape wanted."),
    )
    outputs = (Out("output", view="data"),)

    cost = free

    def infer(self, data: TensorType, shape_tensor: TensorType) -> TensorType:
        dims = dims_of(shape_tensor)
        if conflict(product(dims_of(data)), product(dims)):
            raise InferenceError(
                "ResizeLike: the tensors differ in their number of elements", expected=shape_tensor, got=data
            )
        return data.with_shape(dims)

    def compute(self, xp: ArrayModule, data: Array, shape_tensor: Array) -> Array:
        return xp.reshape(data, shape_tensor.shape)


@operator
class Flatten(Operator):
    """Make a matrix: the dims before ``axis`` become the rows, the others the columns."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", view="X"),)

    axis: int = arg(1, doc="The first dim that counts as columns, from 0 to the rank.")

    cost = free

    def infer(self, X: TensorType) -> TensorType:
        dims = dims_of(X)
        if not 0 <= self.axis <= len(dims):
            raise InferenceError("Flatten: the axis is out of range", expected=f"0 to {len(dims)}", got=self.axis)
        return X.with_shape((product(dims[: self.axis]), product(dims[self.axis :])))

    def gradient(self, g: Gradients) -> None:
        g.add(ResizeLike, [g.grad.Y, g.blob.X], [g.grad.X], args={})

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.reshape(X, _known(self.infer(TensorType(None, X.shape))))


@operator
class FlattenToVec(Operator):
    """Make a vector of all elements."""

    inputs = (In("input", AnyTensor),)
    outputs = (Out("output", view="input"),)

    cost = free

    def infer(self, input: TensorType) -> TensorType:
        need_rank("FlattenToVec", "input", input, 1, least=True)
        return input.with_shape((product(dims_of(input)),))

    def gradient(self, g: Gradients) -> None:
        g.add(ResizeLike, [g.grad.output, g.blob.input], [g.grad.input])

    def compute(self, xp: ArrayModule, input: Array) -> Array:
        return xp.reshape(input, (-1,) if input.size else (0,))


@operator
class ExpandDims(Operator):
    """Insert dims of extent 1, so that they stand at ``dims`` of the result."""

    inputs = (In("data", AnyTensor),)
    outputs = (Out("expanded", inplace="data", view="data"),)

    dims: tuple[int, ...] = arg(doc="Places of the new dims in the result; repeated ones count once.")

    cost = free

    def __attrs_post_init__(self) -> None:
        _check_dims("ExpandDims", self.dims)

    def infer(self, data: TensorType) -> TensorType:
        shape, places = list(dims_of(data)), sorted(set(self.dims))
        if places[-1] >= len(shape) + len(places):
            raise InferenceError(
                "ExpandDims: a new dim is out of range", expected=f"0 to {len(shape) + len(places) - 1}", got=places[-1]
            )
        for place in places:
            shape.insert(place, 1)
        return data.with_shape(tuple(shape))

    def gradient(self, g: Gradients) -> None:
        g.add(Squeeze, [g.grad.expanded], [g.grad.data])

    def compute(self, xp: ArrayModule, data: Array) -> Array:
        return xp.reshape(data, _known(self.infer(TensorType(None, data.shape))))


@operator
class Squeeze(Operator):
    """Remove dims of extent 1."""

    inputs = (In("data", AnyTensor),)
    outputs = (Out("squeezed", inplace="data", view="data"),)

    dims: tuple[int, ...] = arg(doc="The dims to remove; repeated ones count once.")

    cost = free

    def __attrs_post_init__(self) -> None:
        _check_dims("Squeeze", self.dims)

    def infer(self, data: TensorType) -> TensorType:
        shape = dims_of(data)
        need_rank("Squeeze", "data", data, max(self.dims) + 1, least=True)
        if any(conflict(shape[i], 1) for i in self.dims):
            raise InferenceError(
                "Squeeze: only dims of extent 1 can be removed", expected=f"1 at {sorted(set(self.dims))}", got=data
            )
        return data.with_shape(tuple(d for i, d in enumerate(shape) if i not in self.dims))

    def gradient(self, g: Gradients) -> None:
        g.add(ExpandDims, [g.grad.squeezed], [g.grad.data])

    def compute(self, xp: ArrayModule, data: Array) -> Array:
        return xp.reshape(data, _known(self.infer(TensorType(None, data.shape))))


@operator
class Shape(Operator):
    """Tell the shape of a tensor, or its extents at ``axes``."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("shape", doc="int64, one element a dim."),)

    axes: tuple[int, ...] = arg((), doc="The dims to tell of; all by default.")

    cost = free

    def infer(self, X: TensorType) -> TensorType:
        rank = X.rank or 0
        if any(not 0 <= axis < rank for axis in self.axes):
            raise InferenceError("Shape: an axis is out of range", expected=f"0 to {rank - 1}", got=list(self.axes))
        return TensorType(DType.INT64, (len(self.axes) or rank,))

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.array_of([X.shape[i] for i in self.axes] or X.shape, xp.int64)


def _known(type_: TensorType) -> tuple[int, ...]:
    return tuple(int(n) for n in dims_of(type_) if n is not None)


def _check_dims(operator_name: str, dims: Sequence[int]) -> None:
    if not dims or min(dims) < 0:
        raise SchemaError(
            f"{operator_name}: dims count from the front", expected="one or more numbers >= 0", got=list(dims)
        )
