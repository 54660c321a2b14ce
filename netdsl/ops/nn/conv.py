"""Convolutions over any number of spatial axes, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import conflict
from netdsl.ops.dtypes import Float
from netdsl.ops.gradient import Gradients
from netdsl.ops.nn.window import Axis, Windowed, known, offsets, padded, padded_extents, shape_of, unpadded, wide
from netdsl.ops.schema import In, Out, arg, operator
from netdsl.ops.xp import Array, ArrayModule

_FILTER = "M x C/group x window (for NHWC: M x window x C/group)."


@attrs.frozen(kw_only=True, slots=False)
class Convolution(Windowed):
    """What convolutions and their gradients have in common."""

    no_gradient_to_input: bool = arg(False, doc="Compute no gradient of the input.")
    exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)
    deterministic: bool = arg(False, doc="A hint for cuDNN.", hint=True)
    ws_nbytes_limit: int = arg(0, doc="A hint for cuDNN: bytes of scratch memory.", hint=True)

    def __attrs_post_init__(self) -> None:
        if self.global_pooling:
            raise SchemaError(f"{type(self).__name__} does not pool: global_pooling makes no sense here")
        if self.group < 1:
            raise SchemaError(f"{type(self).__name__}: group must be positive", got=self.group)
        super().__attrs_post_init__()

    def check(self, X: TensorType, filter: TensorType) -> tuple[Axis, ...]:
        """Return the windows over X once filter and input are known to agree.

        Raises:
            InferenceError: ranks, channels, groups or windows that do not.
        """
        name, x, w = type(self).__name__, shape_of(X), shape_of(filter)
        axes = self.axes(x)
        if len(w) != len(x):
            raise InferenceError(
                f"{name}: the filter must have the rank of the input", expected=f"rank {len(x)}", got=filter
            )
        channels, per_group = x[self.channel_axis], w[self.channel_axis]
        if isinstance(per_group, int) and conflict(channels, per_group * self.group):
            raise InferenceError(
                f"{name}: the filter does not fit the channels of the input",
                expected=f"{channels} channels in {self.group} group{'s' * (self.group > 1)}",
                got=f"{per_group} a group in the filter",
            )
        if isinstance(w[0], int) and w[0] % self.group:
            raise InferenceError(
                f"{name}: the filters do not divide into groups", expected=f"a multiple of {self.group}", got=w[0]
            )
        kernel = tuple(a.kernel for a in axes)
        if any(map(conflict, self.spatial(w), kernel)):
            raise InferenceError(f"{name}: the filter has another window", expected=kernel, got=self.spatial(w))
        return axes

    def products(self, y: Sequence[Dim], w: Sequence[Dim]) -> int | None:
        """Floating-point operations of one pass over all windows."""
        outputs, weights = known(y), known(w[1:])
        return None if outputs is None or weights is None else 2 * outputs * weights


@operator
class Conv(Convolution):
    """Slide filters over the spatial axes: each output is the product of a filter and a window of the input.

    There may be one, two or any number of spatial axes; ``kernel``, ``stride``, ``pad`` and ``dilation``
    are for two, ``kernels``, ``strides``, ``pads`` and ``dilations`` for any.
    """

    inputs = (
        In("X", Float, doc="N x C x spatial axes, or channels last (order NHWC)."),
        In("filter", Float, doc=_FILTER),
        In("bias", Float, optional=True, doc="One number for each filter."),
    )
    outputs = (Out("Y", doc="N x M x windows, in the order of X."),)

    def infer(self, X: TensorType, filter: TensorType, bias: TensorType | None = None) -> TensorType:
        axes = self.check(X, filter)
        filters = shape_of(filter)[0]
        if bias is not None and (bias.rank != 1 or conflict(shape_of(bias)[0], filters)):
            raise InferenceError(
                f"{type(self).__name__}: the bias must have one element for each filter",
                expected=f"[{filters}]",
                got=bias,
            )
        return X.with_shape(self.shaped(shape_of(X)[0], filters, [a.out for a in axes]))

    def gradient(self, g: Gradients) -> None:
        kind, has_bias = f"{type(self).__name__}Gradient", g.blob.bias is not None
        to_input = None if self.no_gradient_to_input else g.grad.X
        args = None if has_bias else {**g.args, "no_bias": 1}
        g.add(kind, [g.blob.X, g.blob.filter, g.grad.Y], [g.grad.filter, g.grad.bias, to_input], args=args)

    def compute(self, xp: ArrayModule, X: Array, filter: Array, bias: Array | None = None) -> Array:
        x, w = self.first(wide(xp, X)), self.first(wide(xp, filter))
        axes = self.axes(X.shape)
        columns = unroll(xp, x, axes, self.group)
        y = xp.dot(by_group(w, self.group), columns).reshape(w.shape[0], x.shape[0], *(a.count for a in axes))
        if bias is not None:
            y = y + wide(xp, bias).reshape(-1, *(1,) * (y.ndim - 1))
        return xp.ascontiguousarray(self.last(y.swapaxes(0, 1)).astype(X.dtype))

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        return self.products(shape_of(outputs[0]), shape_of(inputs[1]))


@operator
class ConvGradient(Convolution):
    """Gradients of :class:`Conv` for its filters, its bias (unless ``no_bias``) and, where asked for, its input."""

    inputs = (In("X", Float), In("filter", Float, doc=_FILTER), In("dY", Float))
    outputs = (
        Out("dfilter"),
        Out("second", optional=True, doc="The gradient of the bias; with ``no_bias`` that of X."),
        Out("third", optional=True, doc="The gradient of X, where there is a bias."),
    )

    no_bias: bool = arg(False, doc="There is no bias, hence no gradient of one.")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.no_bias and self.wanted > 2:
            raise SchemaError(
                f"{type(self).__name__}: no_bias leaves two gradients, of filter and input", got=self.wanted
            )

    @property
    def wants_input(self) -> bool:
        """Whether the gradient of X is asked for."""
        return self.wants("second" if self.no_bias else "third")

    def infer(self, X: TensorType, filter: TensorType, dY: TensorType) -> tuple[TensorType | None, ...]:
        self.check(X, filter)
        return filter, X if self.no_bias else filter.with_shape(shape_of(filter)[:1]), None if self.no_bias else X

    def compute(self, xp: ArrayModule, X: Array, filter: Array, dY: Array) -> tuple[Array | None, ...]:
        x, w, dy = (self.first(wide(xp, a)) for a in (X, filter, dY))
        axes, group = self.axes(X.shape), self.group
        by_filter = dy.swapaxes(0, 1).reshape(group, w.shape[0] // group, math.prod(dy.shape) // max(w.shape[0], 1))
        columns = unroll(xp, x, axes, group)
        dw = xp.dot(by_filter, columns.swapaxes(1, 2)).reshape(w.shape)
        made = [xp.ascontiguousarray(self.last(dw).astype(filter.dtype))]
        if not self.no_bias:
            made.append(xp.sum(dy, axis=(0, *range(2, dy.ndim))).astype(dY.dtype))
        if self.wants_input:
            dx = roll_up(xp, xp.dot(by_group(w, group).swapaxes(1, 2), by_filter), axes, x.shape)
            made.append(xp.ascontiguousarray(self.last(dx).astype(X.dtype)))
        return (*made, *[None] * (3 - len(made)))

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        once = self.products(shape_of(inputs[2]), shape_of(inputs[1]))
        return None if once is None else once * (1 + self.wants_input)


def by_group(w: Array, group: int) -> Array:
    """View filters M x C/group x window as group x M/group x elements of a window."""
    return w.reshape(group, w.shape[0] // group, math.prod(w.shape[1:]))


def unroll(xp: ArrayModule, x: Array, axes: Sequence[Axis], group: int) -> Array:
    """The windows of x (N x C x spatial) as columns: group x (C/group x window) x (N x windows)."""
    kernel, rank = [a.kernel for a in axes], len(axes)
    view = xp.windows(padded(xp, x, axes), kernel, [a.stride for a in axes], [a.dilation for a in axes])
    view = view[(slice(None), slice(None), *(slice(a.count) for a in axes))]
    view = view.transpose(1, *range(2 + rank, 2 + 2 * rank), 0, *range(2, 2 + rank))
    rows, columns = x.shape[1] * math.prod(kernel), x.shape[0] * math.prod(a.count for a in axes)
    return view.reshape(group, rows // group, columns)


def roll_up(xp: ArrayModule, columns: Array, axes: Sequence[Axis], shape: Sequence[int]) -> Array:
    """The adjoint of :func:`unroll`: add every column to its window of an array of this shape."""
    parts = columns.reshape(shape[1], *(a.kernel for a in axes), shape[0], *(a.count for a in axes))
    total = xp.zeros((shape[1], shape[0], *padded_extents(axes, shape[2:])), dtype=columns.dtype)
    for place, covered in offsets(axes):
        total[(..., *covered)] += parts[(slice(None), *place)]
    return unpadded(xp, total, axes, shape[2:]).swapaxes(0, 1)


@operator
class Conv1D(Conv):
    """:class:`Conv` over one spatial axis."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class Conv1DGradient(ConvGradient):
    """Gradient of :class:`Conv1D`."""

    spatial_rank: ClassVar[int | None] = 1


@operator
class Conv2D(Conv):
    """:class:`Conv` over two spatial axes."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class Conv2DGradient(ConvGradient):
    """Gradient of :class:`Conv2D`."""

    spatial_rank: ClassVar[int | None] = 2


@operator
class Conv3D(Conv):
    """:class:`Conv` over three spatial axes."""

    spatial_rank: ClassVar[int | None] = 3


@operator
class Conv3DGradient(ConvGradient):
    """Gradient of :class:`Conv3D`."""

    spatial_rank: ClassVar[int | None] = 3
