"""Signatures of the nn operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class NnCalls:
    def AveragePool(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = AveragePool(X)

        The mean of each window, padding left out unless ``count_include_pad``.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool1D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = AveragePool1D(X)

        :class:`AveragePool` over one spatial axis.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool1DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = AveragePool1DGradient(X, Y, dY)

        Gradient of :class:`AveragePool1D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool2D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = AveragePool2D(X)

        :class:`AveragePool` over two spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool2DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = AveragePool2DGradient(X, Y, dY)

        Gradient of :class:`AveragePool2D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool3D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = AveragePool3D(X)

        :class:`AveragePool` over three spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePool3DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = AveragePool3DGradient(X, Y, dY)

        Gradient of :class:`AveragePool3D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def AveragePoolGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., count_include_pad: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = AveragePoolGradient(X, Y, dY)

        Gradient of :class:`AveragePool`: dY shared out among the elements of its window.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        count_include_pad: Divide by the size of the window even where it covers padding."""

    def Conv(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Conv(X, filter, [bias])

        Slide filters over the spatial axes: each output is the product of a filter and a window of the input.

        There may be one, two or any number of spatial axes; ``kernel``, ``stride``, ``pad`` and ``dilation``
        are for two, ``kernels``, ``strides``, ``pads`` and ``dilations`` for any.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory."""

    def Conv1D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Conv1D(X, filter, [bias])

        :class:`Conv` over one spatial axis.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory."""

    def Conv1DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., no_bias: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dfilter, [second], [third] = Conv1DGradient(X, filter, dY)

        Gradient of :class:`Conv1D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory.

        no_bias: There is no bias, hence no gradient of one."""

    def Conv2D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Conv2D(X, filter, [bias])

        :class:`Conv` over two spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory."""

    def Conv2DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., no_bias: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dfilter, [second], [third] = Conv2DGradient(X, filter, dY)

        Gradient of :class:`Conv2D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory.

        no_bias: There is no bias, hence no gradient of one."""

    def Conv3D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Conv3D(X, filter, [bias])

        :class:`Conv` over three spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory."""

    def Conv3DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., no_bias: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dfilter, [second], [third] = Conv3DGradient(X, filter, dY)

        Gradient of :class:`Conv3D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory.

        no_bias: There is no bias, hence no gradient of one."""

    def ConvGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., no_gradient_to_input: bool | int = ..., exhaustive_search: bool | int = ..., deterministic: bool | int = ..., ws_nbytes_limit: int = ..., no_bias: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dfilter, [second], [third] = ConvGradient(X, filter, dY)

        Gradients of :class:`Conv` for its filters, its bias (unless ``no_bias``) and, where asked for, its input.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN.

        no_gradient_to_input: Compute no gradient of the input.

        exhaustive_search: A hint for cuDNN.

        deterministic: A hint for cuDNN.

        ws_nbytes_limit: A hint for cuDNN: bytes of scratch memory.

        no_bias: There is no bias, hence no gradient of one."""

    def Dropout(self, inputs: _Ins = ..., outputs: _Outs = ..., *, is_test: bool | int, ratio: float = ..., stream: str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Y, [mask] = Dropout(X)

        Zero each element with probability ``ratio`` and scale the others by ``1 / (1 - ratio)``.

        In test mode Y is X, and a mask is neither drawn nor written.

        is_test: Pass the input on unchanged.

        ratio: Probability of zeroing an element.

        stream: What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."""

    def DropoutGrad(self, inputs: _Ins = ..., outputs: _Outs = ..., *, is_test: bool | int = ..., ratio: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = DropoutGrad(dY, [mask])

        Gradient of :class:`Dropout`: dY scaled where the mask kept the input; in test mode dY.

        is_test: As in Dropout.

        ratio: As in Dropout."""

    def Elu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Elu(X)

        ``Y = X`` where X is not negative, else ``alpha * (exp(X) - 1)``.

        alpha: How far below zero Y reaches."""

    def EluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = EluGradient(Y, dY)

        Gradient of :class:`Elu`, from its output: ``dY * (Y + alpha)`` where Y < 0, else dY.

        alpha: As in Elu."""

    def FC(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., axis_w: int = ..., float16_compute: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = FC(X, W, b)

        Multiply by a weight matrix and add a bias: ``Y = X @ W.T + b``.

        ``X`` and ``W`` are first coerced to matrices at ``axis`` and ``axis_w``; ``Y`` keeps the dims of X
        before ``axis``.

        axis: First axis of X that counts as features.

        axis_w: First axis of W that counts as features.

        float16_compute: Allow half accumulation; here it is always float32."""

    def FCGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., axis_w: int = ..., float16_compute: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dW, db, [dX] = FCGradient(X, W, dY)

        Gradients of :class:`FC` for its weights, its bias and, where asked for, its input.

        axis: As in FC.

        axis_w: As in FC.

        float16_compute: As in FC."""

    def Gelu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, fast_gelu: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Gelu(X)

        ``Y = X * Phi(X)``, where Phi is the distribution function of the standard normal distribution.

        With ``fast_gelu`` Phi is approximated by ``(1 + tanh(sqrt(2 / pi) * (X + 0.044715 * X^3))) / 2``.

        fast_gelu: Approximate by tanh."""

    def GeluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, fast_gelu: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = GeluGradient(dY, X)

        Gradient of :class:`Gelu`, from its input: ``dY * (Phi(X) + X * phi(X))``, or of the approximation.

        fast_gelu: As in Gelu."""

    def HardSigmoid(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., beta: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = HardSigmoid(X)

        ``Y = min(max(alpha * X + beta, 0), 1)``.

        alpha: Slope between the bounds.

        beta: Y where X is 0."""

    def HardSigmoidGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., beta: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = HardSigmoidGradient(Y, dY)

        Gradient of :class:`HardSigmoid`, from its output: ``alpha * dY`` where 0 < Y < 1, else 0.

        alpha: As in HardSigmoid.

        beta: Has no influence; copied from HardSigmoid."""

    def LRN(self, inputs: _Ins = ..., outputs: _Outs = ..., *, size: int = ..., alpha: float = ..., beta: float = ..., bias: float = ..., order: str = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Y, [Y_scale] = LRN(X)

        Divide each element by a power of the squares around it: ``Y = X * scale ** -beta``.

        ``scale = bias + alpha / size * sum of squares`` of ``size`` neighbouring channels.

        size: How many neighbouring channels are summed.

        alpha: Factor of their mean square.

        beta: Power of the sum that X is divided by.

        bias: Added to the sum.

        order: Where the channels stand.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def LRNGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, size: int = ..., alpha: float = ..., beta: float = ..., bias: float = ..., order: str = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = LRNGradient(X, Y, dY)

        Gradient of :class:`LRN`.

        size: How many neighbouring channels are summed.

        alpha: Factor of their mean square.

        beta: Power of the sum that X is divided by.

        bias: Added to the sum.

        order: Where the channels stand.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def LayerNorm(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., epsilon: float = ..., elementwise_affine: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """Y, mean, stddev = LayerNorm(X, [gamma], [beta])

        Normalise each example: subtract its mean and divide by its standard deviation, ``sqrt(var + epsilon)``.

        With ``elementwise_affine`` gamma and beta then scale and shift it; without, they are not read.

        axis: First of the axes normalised together; those before it stay apart.

        epsilon: Added to the variance.

        elementwise_affine: Scale by gamma and shift by beta."""

    def LayerNormGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., epsilon: float = ..., elementwise_affine: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dX, [dgamma], [dbeta] = LayerNormGradient(dY, Y, mean, stddev, X, [gamma])

        Gradients of :class:`LayerNorm`: of X, and with gamma given of gamma and beta too.

        axis: First of the axes normalised together; those before it stay apart.

        epsilon: Added to the variance.

        elementwise_affine: Scale by gamma and shift by beta."""

    def LeakyRelu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = LeakyRelu(X)

        ``Y = X`` where X is not negative, else ``alpha * X``.

        The gradient tells the two apart by the sign of Y, as Caffe2's does: with a negative ``alpha`` it is wrong.

        alpha: Slope where X is negative."""

    def LeakyReluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = LeakyReluGradient(Y, dY)

        Gradient of :class:`LeakyRelu`, from its output: dY where Y >= 0, else ``alpha * dY``.

        alpha: As in LeakyRelu."""

    def MaxPool(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MaxPool(X)

        The largest element of each window; padding never wins, NaN only as the first element.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool1D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MaxPool1D(X)

        :class:`MaxPool` over one spatial axis.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool1DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = MaxPool1DGradient(X, Y, dY)

        Gradient of :class:`MaxPool1D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool2D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MaxPool2D(X)

        :class:`MaxPool` over two spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool2DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = MaxPool2DGradient(X, Y, dY)

        Gradient of :class:`MaxPool2D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool3D(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = MaxPool3D(X)

        :class:`MaxPool` over three spatial axes.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPool3DGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = MaxPool3DGradient(X, Y, dY)

        Gradient of :class:`MaxPool3D`.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def MaxPoolGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, kernel: int = ..., kernel_h: int = ..., kernel_w: int = ..., kernels: Sequence[int] = ..., stride: int = ..., stride_h: int = ..., stride_w: int = ..., strides: Sequence[int] = ..., dilation: int = ..., dilation_h: int = ..., dilation_w: int = ..., dilations: Sequence[int] = ..., pad: int = ..., pad_t: int = ..., pad_l: int = ..., pad_b: int = ..., pad_r: int = ..., pads: Sequence[int] = ..., legacy_pad: int | str = ..., global_pooling: bool | int = ..., group: int = ..., order: str = ..., shared_buffer: bool | int = ..., float16_compute: bool | int = ..., cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = MaxPoolGradient(X, Y, dY)

        Gradient of :class:`MaxPool`: dY to every place of the window that equals its largest element.

        kernel: Extent of the window, for two axes. Required, unless kernels or kernel_h and kernel_w are given.

        kernel_h: Extent of the window along the first of two axes; 0 means kernel's.

        kernel_w: Extent of the window along the second of two axes; 0 means kernel's.

        kernels: Extent of the window along each axis.

        stride: Distance of windows, for two axes; 0 means 1.

        stride_h: Distance of windows along the first of two axes; 0 means stride's.

        stride_w: Distance of windows along the second of two axes; 0 means stride's.

        strides: Distance of windows along each axis.

        dilation: Distance of elements within a window, for two axes; 0 means 1.

        dilation_h: Distance of elements along the first of two axes; 0 means dilation's.

        dilation_w: Distance of elements along the second of two axes; 0 means dilation's.

        dilations: Distance of elements along each axis.

        pad: Padding on every side of two axes.

        pad_t: Padding before the first of two axes.

        pad_l: Padding before the second of two axes.

        pad_b: Padding behind the first of two axes.

        pad_r: Padding behind the second of two axes.

        pads: Padding before each axis, then behind each: t, l, b, r for two.

        legacy_pad: Another padding rule: VALID none, SAME by stride alone, CAFFE_LEGACY_POOLING rounds up.

        global_pooling: One window over everything; for pools.

        group: Groups of channels that do not mix; for convolutions.

        order: Where the channels stand: before (NCHW) or behind (NHWC) the spatial axes.

        shared_buffer: A hint: share one buffer for unrolled windows.

        float16_compute: A hint; halves always accumulate in float32.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def Relu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Relu(X)

        ``Y = max(X, 0)``; NaN stays NaN.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def ReluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, cudnn_exhaustive_search: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReluGradient(Y, dY)

        Gradient of :class:`Relu`, from its output: dY where Y > 0, else 0.

        cudnn_exhaustive_search: A hint for cuDNN."""

    def ReluN(self, inputs: _Ins = ..., outputs: _Outs = ..., *, n: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ReluN(X)

        ``Y = min(max(X, 0), n)``; NaN stays NaN.

        n: The greatest output, positive."""

    def ReluNGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, n: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = ReluNGradient(Y, dY)

        Gradient of :class:`ReluN`, from its output: dY where 0 < Y < n, else 0.

        n: As in ReluN."""

    def Selu(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., scale: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Selu(X)

        ``Y = scale * X`` where X is positive, else ``scale * alpha * (exp(X) - 1)``.

        alpha: How far below zero Y reaches, before scaling.

        scale: Slope where X is positive; above 1."""

    def SeluGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, alpha: float = ..., scale: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SeluGradient(Y, dY)

        Gradient of :class:`Selu`, from its output: ``dY * scale`` where Y > 0, else ``dY * (Y + alpha * scale)``.

        alpha: As in Selu.

        scale: As in Selu."""

    def Sigmoid(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Sigmoid(X)

        ``Y = 1 / (1 + exp(-X))``."""

    def SigmoidGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SigmoidGradient(Y, dY)

        Gradient of :class:`Sigmoid`, from its output: ``dY * Y * (1 - Y)``."""

    def Softmax(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Softmax(X)

        ``Y = exp(X) / sum(exp(X))`` over the axes from ``axis`` on, taken together as one axis of classes.

        Halves are computed in float32 and rounded once.

        axis: First axis of the classes: what follows it is flattened."""

    def SoftmaxGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SoftmaxGradient(Y, dY)

        Gradient of :class:`Softmax`, from its output: ``dX = Y * (dY - sum(Y * dY))``.

        axis: First axis of the classes: what follows it is flattened."""

    def Softplus(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Softplus(X)

        ``Y = log(exp(X) + 1)``; infinite where exp overflows."""

    def SoftplusGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SoftplusGradient(Y, dY)

        Gradient of :class:`Softplus`, from its output: ``dY * (1 - exp(-Y))``."""

    def Softsign(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Softsign(X)

        ``Y = X / (1 + |X|)``; its gradient needs X, which must not be overwritten."""

    def SoftsignGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SoftsignGradient(X, dY)

        Gradient of :class:`Softsign`, from its input: ``dY / (1 + |X|)^2``."""

    def SpatialBN(self, inputs: _Ins = ..., outputs: _Outs = ..., *, is_test: bool | int, epsilon: float = ..., order: str = ..., num_batches: int = ..., cudnn_exhaustive_search: bool | int = ..., momentum: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Y, [mean_out], [var_out], [saved_mean], [saved_inv_std] = SpatialBN(X, scale, bias, mean, var, [sums], [sumsq])

        Normalise every channel: ``Y = (X - mean) / sqrt(var + epsilon) * scale + bias``.

        In training, mean and (biased) variance are those of the batch, and the running ones are updated in place:
        ``running = momentum * running + (1 - momentum) * batch``, with the unbiased variance. An empty batch leaves
        them; a single element for each channel has no unbiased variance, which gives NaN. In test mode the running
        ones are used.

        epsilon: Added to the variance.

        order: Where the channels stand: axis 1 (NCHW) or the last (NHWC).

        num_batches: How many batches the sums given are of; above 1 they are used instead of own ones.

        cudnn_exhaustive_search: A hint for cuDNN.

        is_test: Use the running statistics.

        momentum: How much of the running statistics is kept."""

    def SpatialBNGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, epsilon: float = ..., order: str = ..., num_batches: int = ..., cudnn_exhaustive_search: bool | int = ..., is_test: bool | int = ..., momentum: float = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob, Blob]:
        """dX, dscale, dbias = SpatialBNGradient(X, scale, dY, saved_mean, saved_inv_std, [dscale_sums], [dbias_sums])

        Gradients of :class:`SpatialBN` for its input, scale and bias, from the statistics it saved.

        Like Caffe2 it takes any fourth and fifth input for a mean and an inverse standard deviation, through
        both of which it differentiates; after test mode those are the running mean and variance.
        With ``num_batches`` the gradients of scale and bias summed over these batches come in and leave as means.

        epsilon: Added to the variance.

        order: Where the channels stand: axis 1 (NCHW) or the last (NHWC).

        num_batches: How many batches the sums given are of; above 1 they are used instead of own ones.

        cudnn_exhaustive_search: A hint for cuDNN.

        is_test: As in SpatialBN.

        momentum: As in SpatialBN."""

    def Swish(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Swish(X)

        ``Y = X / (1 + exp(-X))``."""

    def SwishGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SwishGradient(X, Y, dY)

        Gradient of :class:`Swish`: ``dY * (Y + s * (1 - Y))``, where s is the sigmoid of X."""

    def Tanh(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Tanh(X)

        ``Y = tanh(X)``."""

    def TanhGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = TanhGradient(Y, dY)

        Gradient of :class:`Tanh`, from its output: ``dY * (1 - Y * Y)``."""
