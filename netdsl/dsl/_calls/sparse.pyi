"""Signatures of the sparse operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class SparseCalls:
    def ArgMax(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Indices = ArgMax(X)

        Find where the largest element stands along an axis; the first of equal ones.

        axis: The axis, from the front; -1 is the last.

        keepdims: Keep the axis, with extent 1."""

    def ArgMin(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., keepdims: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Indices = ArgMin(X)

        Find where the smallest element stands along an axis; the first of equal ones.

        axis: The axis, from the front; -1 is the last.

        keepdims: Keep the axis, with extent 1."""

    def BatchGather(self, inputs: _Ins = ..., outputs: _Outs = ..., *, match_outer: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = BatchGather(DATA, INDICES)

        As :class:`Gather` along axis 1.

        match_outer: The dims of both inputs before the axis agree, and each index counts within its own part."""

    def BatchGatherGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., match_outer: bool | int = ..., wrap_indices: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dDATA = BatchGatherGradient(DATA, INDICES, dY)

        Dense gradient of :class:`Gather` along any axis, and of :class:`BatchGather`: dY summed by index.

        axis: As in Gather.

        match_outer: The dims of both inputs before the axis agree, and each index counts within its own part.

        wrap_indices: Let negative indices count from the end; along axis 0 they always do."""

    def BatchOneHot(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = BatchOneHot(data, lengths, values)

        Encode columns of integers: column i of data becomes ``lengths[i]`` columns, one for each of its values.

        An element is 1 where the data equals the value; ``values`` holds those of all columns, one after the other."""

    def Gather(self, inputs: _Ins = ..., outputs: _Outs = ..., *, axis: int = ..., match_outer: bool | int = ..., wrap_indices: bool | int = ..., dense_gradient: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = Gather(DATA, INDICES)

        Pick slices of DATA along an axis: ``OUTPUT = DATA[INDICES]`` for axis 0.

        Along axis 0 the gradient is sparse, the indices and the output's gradient, unless ``dense_gradient``.

        axis: The axis that is indexed; negative ones count from the end.

        match_outer: The dims of both inputs before the axis agree, and each index counts within its own part.

        wrap_indices: Let negative indices count from the end; along axis 0 they always do.

        dense_gradient: Make the gradient along axis 0 a dense tensor."""

    def LengthsIndicesInGradientSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dDATA = LengthsIndicesInGradientSumGradient(dY, LENGTHS, DATA)

        As :class:`LengthsSumGradient`, told the data, and so the number of rows."""

    def LengthsSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = LengthsSum(DATA, LENGTHS)

        Sum consecutive rows: the first ``LENGTHS[0]`` rows, the next ``LENGTHS[1]``, and so on."""

    def LengthsSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dDATA = LengthsSumGradient(dY, LENGTHS)

        Gradient of :class:`LengthsSum`: the row of each segment, once for each of its rows."""

    def LengthsToSegmentIds(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """segment_ids = LengthsToSegmentIds(lengths)

        Number each row by its segment: lengths [2, 0, 3] give [0, 0, 2, 2, 2]."""

    def OneHot(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """one_hots = OneHot(indices, index_size_tensor)

        Encode indices as rows that hold a single 1."""

    def ScatterAssign(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ScatterAssign(DATA, INDICES, SLICES)

        Overwrite rows of DATA in place; of a repeated index the last row counts."""

    def ScatterWeightedSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ScatterWeightedSum(X_0, Weight_0, INDICES, Xs...)

        Scale rows of X_0 by Weight_0 and add weighted rows to them, in place.

        A row is scaled, and added to, once for each occurrence of its index: a repeated index scales by
        ``Weight_0 ** count`` before everything is added. Rows that no index names stay as they are."""

    def SparseLengthsIndicesInGradientSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """values = SparseLengthsIndicesInGradientSumGradient(dY, LENGTHS, INDICES)

        As :class:`SparseLengthsSumGradient`, told the indices, and so the number of rows."""

    def SparseLengthsSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = SparseLengthsSum(DATA, INDICES, LENGTHS)

        Sum the rows of DATA that INDICES names, segment by segment: a Gather and a LengthsSum in one.

        Half data is summed, and returned, in float32. The gradient is sparse."""

    def SparseLengthsSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """values = SparseLengthsSumGradient(dY, LENGTHS)

        Values of the sparse gradient of :class:`SparseLengthsSum`."""

    def SparseToDense(self, inputs: _Ins = ..., outputs: _Outs = ..., *, output_first_dim: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = SparseToDense(indices, values, [data_to_infer_dim])

        Add rows into a tensor of zeros: row ``indices[i]`` of the output is the sum of its ``values[i]``.

        The number of rows is that of a third input, or ``output_first_dim``, or the largest index plus one.

        output_first_dim: The number of rows; 0 for as many as needed."""

    def TopK(self, inputs: _Ins = ..., outputs: _Outs = ..., *, k: int = ..., axis: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Values, Indices, [Flattened_indices] = TopK(X, [k_input])

        Find the k largest elements along an axis, largest first; of equal ones the first.

        Where there are fewer than k, values are filled up with 0 and indices with -1.

        k: How many.

        axis: The axis, from the front; -1 is the last."""

    def TopKGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, k: int = ..., axis: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dX = TopKGradient(dValues, Indices, X)

        Gradient of :class:`TopK`: dValues where the elements stood, zeros elsewhere.

        k: As in TopK; the indices tell.

        axis: The axis, from the front; -1 is the last."""

    def Unique(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """unique_indices, [remapping] = Unique(indices)

        Find the different values, in ascending order, and where each element stands among them."""

    def UnsortedSegmentMean(self, inputs: _Ins = ..., outputs: _Outs = ..., *, num_segments: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = UnsortedSegmentMean(DATA, SEGMENT_IDS)

        Average the rows that have the same segment id.

        num_segments: The number of segments; by default the largest id plus one."""

    def UnsortedSegmentMeanGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, num_segments: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dDATA = UnsortedSegmentMeanGradient(dY, SEGMENT_IDS)

        Gradient of :class:`UnsortedSegmentMean`: each row's share of its segment's row.

        num_segments: The number of segments; by default the largest id plus one."""

    def UnsortedSegmentSum(self, inputs: _Ins = ..., outputs: _Outs = ..., *, num_segments: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """OUTPUT = UnsortedSegmentSum(DATA, SEGMENT_IDS)

        Sum the rows that have the same segment id.

        num_segments: The number of segments; by default the largest id plus one."""

    def UnsortedSegmentSumGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, num_segments: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """dDATA = UnsortedSegmentSumGradient(dY, SEGMENT_IDS)

        Gradient of :class:`UnsortedSegmentSum`: the row of each row's segment.

        num_segments: The number of segments; by default the largest id plus one."""
