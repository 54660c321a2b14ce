"""Signatures of the shape operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class ShapeCalls:
    def Concat(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int | None = ..., order: str = ..., add_axis: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """Y, split_info = Concat(Xs...)

        Join tensors along an axis, or stack them along a new one (``add_axis``).

        axis: The axis, negative ones from the end; by default the channels of ``order``.

        order: NCHW or NHWC: where the channels stand, for the default axis.

        add_axis: Put the inputs along a new axis."""

    def ExpandDims(self, inputs: _Ins = ..., outputs: _Outs = ..., *, dims: Sequence[int], name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """expanded = ExpandDims(data)

        Insert dims of extent 1, so that they stand at ``dims`` of the result.

        dims: Places of the new dims in the result; repeated ones count once."""

    def Flatten(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Flatten(X)

        Make a matrix: the dims before ``axis`` become the rows, the others the columns.

        axis: The first dim that counts as columns, from 0 to the rank."""

    def FlattenToVec(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = FlattenToVec(input)

        Make a vector of all elements."""

    def Reshape(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> tuple[Blob, Blob]:
        """reshaped, old_shape = Reshape(data, [new_shape])

        Give the elements another shape; 0 keeps the dim of the input, one -1 is inferred.

        shape: The shape: 0 keeps the dim at this place, one -1 is inferred."""

    def ResizeLike(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = ResizeLike(data, shape_tensor)

        Give the elements of X the shape of another tensor."""

    def Shape(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """shape = Shape(X)

        Tell the shape of a tensor, or its extents at ``axes``.

        axes: The dims to tell of; all by default."""

    def Slice(self, inputs: _Ins = ..., outputs: _Outs = ..., *, starts: Sequence[int] = ..., ends: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Slice(X, [starts], [ends])

        Cut out a range of one dim: ``Y = X[starts:ends]``; dims without start and end are kept whole.

        Ranges past the extent are cut off at it. As in Caffe2, only one dim may get smaller.

        starts: Where each dim begins; negative ones count from one past the end: -1 is the end.

        ends: Where each dim ends (exclusive); -1 is its full extent, -2 leaves the last out."""

    def SliceGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, starts: Sequence[int] = ..., ends: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = SliceGradient(X, [starts], [ends], dY)

        Gradient of :class:`Slice`: dY in its place, zeros elsewhere.

        starts: Where each dim begins; negative ones count from one past the end: -1 is the end.

        ends: Where each dim ends (exclusive); -1 is its full extent, -2 leaves the last out."""

    def Split(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int | None = ..., split: Sequence[int] = ..., order: str = ..., add_axis: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Ys... = Split(X, [lengths])

        Cut a tensor into pieces along an axis: equal ones, or of the extents given.

        axis: The axis, negative ones from the end; by default the channels of ``order``.

        split: The extent of each piece; equal ones by default.

        order: NCHW or NHWC: where the channels stand, for the default axis.

        add_axis: Remove the axis from every piece (undoes Concat's add_axis)."""

    def Squeeze(self, inputs: _Ins = ..., outputs: _Outs = ..., *, dims: Sequence[int], name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """squeezed = Squeeze(data)

        Remove dims of extent 1.

        dims: The dims to remove; repeated ones count once."""

    def Tile(self, inputs: _Ins = ..., outputs: _Outs = ..., *, tiles: int | None = ..., axis: int | None = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Tile(X, [tiles_input], [axis_input])

        Repeat a tensor ``tiles`` times along an axis. Inputs for both override the arguments.

        tiles: How often.

        axis: The axis; negative ones count from the end."""

    def TileGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, tiles: int | None = ..., axis: int | None = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = TileGradient(dY, [tiles_input], [axis_input])

        Gradient of :class:`Tile`: the sum over the repetitions.

        tiles: As in Tile.

        axis: As in Tile."""

    def Transpose(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axes: Sequence[int] = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = Transpose(X)

        Permute the dims: dim i of the result is dim ``axes[i]`` of X; reversed by default.

        axes: The permutation; by default the dims are reversed."""
