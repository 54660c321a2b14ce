"""Sliding windows: the arguments that convolutions and pools share, and their arithmetic on extents."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import ClassVar

import attrs

from netdsl.errors import InferenceError, SchemaError
from netdsl.ir import Dim, TensorType
from netdsl.ir.dims import total, windows
from netdsl.ops.dtypes import LEGACY_PAD
from netdsl.ops.schema import Operator, arg
from netdsl.ops.xp import Array, ArrayModule

NOTSET, VALID, SAME, CAFFE = range(4)
"""The values of ``legacy_pad``, see :data:`LEGACY_PAD`."""

LAYOUTS = 16
"""How many shapes of input an operator remembers the windows of."""


@attrs.frozen
class Axis:
    """One spatial axis: padding in front and behind (negative crops), and the number of windows."""

    kernel: int
    stride: int
    dilation: int
    head: int
    tail: int
    out: Dim

    def slice_of(self, offset: int) -> slice:
        """What element ``offset`` of every window covers along this axis, once padded."""
        start = offset * self.dilation
        return slice(start, start + (self.count - 1) * self.stride + 1, self.stride)

    @property
    def count(self) -> int:
        """The number of windows, where it is known."""
        assert isinstance(self.out, int)
        return self.out


def axis_of(size: Dim, kernel: int, stride: int, dilation: int, pads: tuple[int, int], legacy: int) -> Axis:
    """Lay windows over an axis of extent ``size``, which may have names; of an unknown one they may be as many.

    ``pads`` may be negative, which crops.

    Raises:
        InferenceError: the window is larger than the padded axis.
    """
    head, tail = (0, 0) if legacy in (VALID, SAME) else pads
    reach = dilation * (kernel - 1) + 1
    if not isinstance(size, int):
        if legacy == SAME and stride == 1:
            head, tail = (kernel - 1) // 2, kernel // 2
        return Axis(kernel, stride, dilation, head, tail, _count(size, kernel, reach, stride, (head, tail), legacy))
    if legacy == SAME:
        needed = (-(-size // stride) - 1) * stride + reach - size
        head = int(needed / 2)  # towards zero: a stride beyond the kernel crops
        tail = needed - head
    if size + head + (head if legacy == CAFFE else tail) < reach:
        raise InferenceError(
            "the window is larger than the padded input", expected=f"at most {size + head + tail}", got=reach
        )
    if legacy == CAFFE:
        return _caffe_axis(size, kernel, stride, dilation, head)
    return Axis(kernel, stride, dilation, head, tail, (size + head + tail - reach) // stride + 1)


def _count(size: Dim, kernel: int, reach: int, stride: int, pads: tuple[int, int], legacy: int) -> Dim:
    """How many windows there are over an axis whose extent is no number."""
    if legacy == SAME:
        return windows(size, 1, stride)
    if legacy == CAFFE:
        return None if pads[0] else windows(total((size, stride - 1)), kernel, stride)
    return windows(total((size, *pads)), reach, stride)


def _caffe_axis(size: int, kernel: int, stride: int, dilation: int, head: int) -> Axis:
    """Caffe's rule: round up, but no window may start in the padding behind, which is as wide as that takes."""
    room = size + 2 * head - kernel
    out = -(-room // stride) + 1
    if head and (out - 1) * stride >= size + head:
        out -= 1
    reach = (out - 1) * stride + dilation * (kernel - 1) + 1
    return Axis(kernel, stride, dilation, head, max(reach - size - head, 0), out)


@attrs.frozen(kw_only=True, slots=False)
class Windowed(Operator):
    """Base of the operators that slide a window over the spatial axes (one to any number of them)."""

    spatial_rank: ClassVar[int | None] = None
    """How many spatial axes the input must have; None for any number."""

    kernel: int = arg(
        0, doc="Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given."
    )
    kernel_h: int = arg(0, doc="Extent of the window along the first of two axes; 0 means kernel's.")
    kernel_w: int = arg(0, doc="Extent of the window along the second of two axes; 0 means kernel's.")
    kernels: tuple[int, ...] = arg((), doc="Extent of the window along each axis.")
    stride: int = arg(0, doc="Distance of windows, for two axes; 0 means 1.")
    stride_h: int = arg(0, doc="Distance of windows along the first of two axes; 0 means stride's.")
    stride_w: int = arg(0, doc="Distance of windows along the second of two axes; 0 means stride's.")
    strides: tuple[int, ...] = arg((), doc="Distance of windows along each axis.")
    dilation: int = arg(0, doc="Distance of elements within a window, for two axes; 0 means 1.")
    dilation_h: int = arg(0, doc="Distance of elements along the first of two axes; 0 means dilation's.")
    dilation_w: int = arg(0, doc="Distance of elements along the second of two axes; 0 means dilation's.")
    dilations: tuple[int, ...] = arg((), doc="Distance of elements along each axis.")
    pad: int = arg(0, doc="Padding on every side of two axes.")
    pad_t: int = arg(0, doc="Padding before the first of two axes.")
    pad_l: int = arg(0, doc="Padding before the second of two axes.")
    pad_b: int = arg(0, doc="Padding behind the first of two axes.")
    pad_r: int = arg(0, doc="Padding behind the second of two axes.")
    pads: tuple[int, ...] = arg((), doc="Padding before each axis, then behind each: t, l, b, r for two.")
    legacy_pad: int = arg(
        0,
        doc="Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.",
        enum=LEGACY_PAD,
    )
    global_pooling: bool = arg(False, doc="One window over everything; for pools.")
    group: int = arg(1, doc="Groups of channels that do not mix; for convolutions.")
    order: str = arg(
        "NCHW",
        doc="Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.",
        choices=("NCHW", "NHWC"),
    )
    shared_buffer: bool = arg(False, doc="A hint: share one buffer for unrolled windows.", hint=True)
    float16_compute: bool = arg(False, doc="A hint; halves always accumulate in float32.", hint=True)
    cudnn_exhaustive_search: bool = arg(False, doc="A hint for cuDNN.", hint=True)

    def __attrs_post_init__(self) -> None:
        name = type(self).__name__
        if not 0 <= self.legacy_pad <= CAFFE:
            raise SchemaError(f"{name}: unknown legacy_pad", expected=", ".join(LEGACY_PAD), got=self.legacy_pad)
        kernel, stride, dilation = self._per_axis("kernel"), self._per_axis("stride"), self._per_axis("dilation")
        pads = self._pads()
        if self.legacy_pad in (VALID, SAME) and any(pads):
            raise SchemaError(f"{name}: legacy_pad VALID and SAME leave no room for other padding", got=f"pads {pads}")
        if self.legacy_pad == SAME and any(d != 1 for d in dilation):
            raise SchemaError(f"{name}: legacy_pad SAME takes no dilation", got=dilation)
        if self.global_pooling:
            if any(pads) or any(n != 1 for n in (*stride, *dilation)):
                raise SchemaError(f"{name}: global_pooling leaves no room for pads, strides and dilations")
            return
        if not kernel:
            raise SchemaError(
                f"{name} needs the extent of its window", expected="kernel, kernel_h and kernel_w, or kernels"
            )
        for what, given in (("strides", len(stride)), ("dilations", len(dilation)), ("pads", len(pads) / 2)):
            if given and given != len(kernel):
                raise SchemaError(f"{name}: {what} do not fit a window of {len(kernel)} axes", got=f"for {given:g}")
        if min(*kernel, *(stride or (1,)), *(dilation or (1,))) < 1:
            raise SchemaError(f"{name}: extents, strides and dilations must be positive")

    def _per_axis(self, what: str) -> tuple[int, ...]:
        """The values of one setting by axis, from whichever arguments give them; empty where absent."""
        one, h, w = (getattr(self, what + side) for side in ("", "_h", "_w"))
        listed = tuple(getattr(self, what + "s"))
        if bool(h) != bool(w):
            raise SchemaError(f"{type(self).__name__}: {what}_h and {what}_w must come together")
        ways = [v for v in (listed, (one, one) if one else (), (h, w) if h else ()) if v]
        if any(v != ways[0] for v in ways):
            raise SchemaError(f"{type(self).__name__}: {what} is given twice, and differently", got=ways)
        return ways[0] if ways else ()

    def _pads(self) -> tuple[int, ...]:
        sides = (self.pad_t, self.pad_l, self.pad_b, self.pad_r)
        ways = [v for v in (tuple(self.pads), (self.pad,) * 4, sides) if any(v)]
        if any(v != ways[0] for v in ways):
            raise SchemaError(f"{type(self).__name__}: the padding is given twice, and differently", got=ways)
        return ways[0] if ways else tuple(self.pads)

    @property
    def channel_axis(self) -> int:
        """The axis of channels: 1, or -1 for NHWC."""
        return 1 if self.order == "NCHW" else -1

    def spatial(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        """The extents of the spatial axes of an input."""
        return tuple(shape[2:]) if self.order == "NCHW" else tuple(shape[1:-1])

    def shaped(self, batch: Dim, channels: Dim, spatial: Sequence[Dim]) -> tuple[Dim, ...]:
        """A shape in this operator's ``order``."""
        return (batch, channels, *spatial) if self.order == "NCHW" else (batch, *spatial, channels)

    def axes(self, X: Sequence[Dim]) -> tuple[Axis, ...]:
        """Lay the windows over an input of this shape.

        Raises:
            InferenceError: a rank that does not fit, or windows larger than the input.
        """
        return self._layouts(tuple(X))

    @cached_property
    def _layouts(self) -> Callable[[tuple[Dim, ...]], tuple[Axis, ...]]:
        """The last layouts: inference, the choice of a kernel and the kernel each ask for one and the same."""
        return lru_cache(maxsize=LAYOUTS)(self._lay)

    def _lay(self, X: tuple[Dim, ...]) -> tuple[Axis, ...]:
        name, extents = type(self).__name__, self.spatial(X)
        rank, kernel = len(X) - 2, self._per_axis("kernel")
        wanted = self.spatial_rank or (max(rank, 1) if self.global_pooling else len(kernel))
        if rank != wanted or (not self.global_pooling and len(kernel) != wanted):
            hint = "kernel, stride and pad are for two axes; give kernels, strides and pads" if self.kernel else None
            raise InferenceError(
                f"{name}: the window does not fit the rank of its input",
                expected=f"rank {wanted + 2}",
                got=len(X),
                hint=hint,
            )
        ones, pads = (1,) * rank, self._pads() or (0,) * (2 * rank)
        if self.global_pooling:
            if 0 in extents:
                raise InferenceError(
                    f"{name}: there is nothing to pool", expected="spatial extents above 0", got=extents
                )
            # A window as large as an unknown extent cannot be written down; its count is 1 all the same.
            return tuple(Axis(n if isinstance(n, int) else 0, 1, 1, 0, 0, 1) for n in extents)
        settings = zip(
            *(extents, kernel, self._per_axis("stride") or ones, self._per_axis("dilation") or ones),
            zip(pads[:rank], pads[rank:], strict=True),
            strict=True,
        )
        try:
            return tuple(axis_of(*setting, self.legacy_pad) for setting in settings)
        except InferenceError as error:
            raise InferenceError(f"{name}: {error.what}", **error.details) from None

    def first(self, x: Array) -> Array:
        """View with the channels before the spatial axes."""
        return x if self.order == "NCHW" else x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))

    def last(self, x: Array) -> Array:
        """Undo :meth:`first`."""
        return x if self.order == "NCHW" else x.transpose(0, *range(2, x.ndim), 1)


def padded(xp: ArrayModule, x: Array, axes: Sequence[Axis], value: float = 0.0) -> Array:
    """Pad (or crop) the trailing axes of ``x`` as ``axes`` say; ``x`` itself where nothing is to do."""
    if not any(a.head or a.tail for a in axes):
        return x
    x = x[
        (..., *(slice(max(-a.head, 0), n + min(a.tail, 0)) for a, n in zip(axes, x.shape[-len(axes) :], strict=True)))
    ]
    extents = [n + max(a.head, 0) + max(a.tail, 0) for a, n in zip(axes, x.shape[-len(axes) :], strict=True)]
    made = xp.full((*x.shape[: -len(axes)], *extents), value, dtype=x.dtype)
    made[_inner(axes, x.shape)] = x
    return made


def unpadded(xp: ArrayModule, x: Array, axes: Sequence[Axis], spatial: Sequence[int]) -> Array:
    """Undo :func:`padded`: what was padded is cut off, what was cropped comes back as zeros."""
    if any(a.head < 0 or a.tail < 0 for a in axes):
        made = xp.zeros((*x.shape[: -len(axes)], *spatial), dtype=x.dtype)
        inner = tuple(slice(max(-a.head, 0), n + min(a.tail, 0)) for a, n in zip(axes, spatial, strict=True))
        made[(..., *inner)] = x[_inner(axes, made[(..., *inner)].shape)]
        return made
    return x[_inner(axes, (*x.shape[: -len(axes)], *spatial))]


def _inner(axes: Sequence[Axis], shape: Sequence[int]) -> tuple[object, ...]:
    return (..., *(slice(max(a.head, 0), max(a.head, 0) + n) for a, n in zip(axes, shape[-len(axes) :], strict=True)))


def padded_extents(axes: Sequence[Axis], spatial: Sequence[int]) -> tuple[int, ...]:
    """The spatial extents that :func:`padded` leaves."""
    return tuple(n + a.head + a.tail for a, n in zip(axes, spatial, strict=True))


def offsets(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Every element of the window, with the slices of the padded input that it covers."""
    for place in itertools.product(*(range(a.kernel) for a in axes)):
        yield place, tuple(a.slice_of(i) for a, i in zip(axes, place, strict=True))


def wide(xp: ArrayModule, x: Array) -> Array:
    """Return ``x`` in the precision to compute in: halves as float32."""
    return x.astype(xp.float32) if x.dtype == xp.float16 else x


def known(dims: Sequence[Dim]) -> int | None:
    """The product of dims, or None where one is unknown."""
    size = 1
    for dim in dims:
        if not isinstance(dim, int):
            return None
        size *= dim
    return size


def shape_of(type_: TensorType) -> tuple[Dim, ...]:
    """The shape of a type whose rank is known."""
    assert type_.shape is not None
    return type_.shape
