"""Writing to rows chosen by indices, and finding the different ones."""

from __future__ import annotations

from collections.abc import Sequence

from netdsl.errors import InferenceError
from netdsl.ir import DType, TensorType
from netdsl.ir.dims import conflict, product
from netdsl.ops.dtypes import AnyDType, Float, Index, Single
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.shape.common import dims_of, free, need_rank
from netdsl.ops.sparse.common import check_indices
from netdsl.ops.xp import Array, ArrayModule


@operator
class ScatterWeightedSum(Operator):
    """Scale rows of X_0 by Weight_0 and add weighted rows to them, in place.

    A row is scaled, and added to, once for each occurrence of its index: a repeated index scales by
    ``Weight_0 ** count`` before everything is added. Rows that no index names stay as they are.
    """

    inputs = (
        In("X_0", Float, doc="The tensor to change."),
        In("Weight_0", Single, doc="One number."),
        In("INDICES", Index, doc="Which rows."),
        In("Xs", Float.untied(), many=2, doc="Pairs: rows to add, one an index, and their weight, one number."),
    )
    outputs = (Out("Y", enforced="X_0", rows="INDICES"),)
    role = "update"
    updates = (("Y", "X_0"),)

    def infer(
        self,
        X_0: TensorType,
        Weight_0: TensorType,
        INDICES: TensorType,
        Xs: tuple[tuple[TensorType, TensorType], ...],
    ) -> TensorType:
        need_rank("ScatterWeightedSum", "X_0", X_0, 1, least=True)
        need = product((product(dims_of(INDICES)), *dims_of(X_0)[1:]))
        for x, _ in Xs:
            if conflict(product(dims_of(x)), need) or (x.dtype and X_0.dtype and x.dtype is not X_0.dtype):
                raise InferenceError(
                    "ScatterWeightedSum: one row for each index", expected=f"{need} elements as {X_0}", got=x
                )
        for weight in (Weight_0, *(w for _, w in Xs)):
            if conflict(product(dims_of(weight)), 1):
                raise InferenceError("ScatterWeightedSum: a weight is one number", expected="1 element", got=weight)
        return X_0

    def compute(
        self, xp: ArrayModule, X_0: Array, Weight_0: Array, INDICES: Array, Xs: tuple[tuple[Array, Array], ...]
    ) -> Array:
        wide = xp.float32 if X_0.dtype == xp.float16 else X_0.dtype
        indices = xp.reshape(INDICES, (INDICES.size,))
        check_indices("ScatterWeightedSum", xp, indices, X_0.shape[0])
        named, places = xp.unique(indices, return_inverse=True)  # each row once, for halves are rounded once
        counts = xp.zeros(named.shape, dtype=wide)
        xp.scatter_add(counts, places, xp.ones(indices.shape, dtype=wide))
        scale = xp.power(xp.reshape(Weight_0, (1,)).astype(wide), counts)
        rows = X_0[named].astype(wide) * xp.reshape(scale, (named.size, *(1 for _ in X_0.shape[1:])))
        for x, weight in Xs:
            added = xp.reshape(x, (indices.size, *X_0.shape[1:])).astype(wide)
            xp.scatter_add(rows, places, added * xp.reshape(weight, (1,) * X_0.ndim).astype(wide))
        X_0[named] = rows.astype(X_0.dtype)
        return X_0

    def cost(self, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> int | None:
        """A product and a sum for each element added, a product for each scaled."""
        added = product(dims_of(inputs[3]))
        return (len(inputs) - 2) * added if isinstance(added, int) else None


@operator
class ScatterAssign(Operator):
    """Overwrite rows of DATA in place; of a repeated index the last row counts."""

    inputs = (
        In("DATA", AnyDType, doc="The tensor to change."),
        In("INDICES", Index, doc="Which rows."),
        In("SLICES", AnyDType, doc="The new rows, one an index."),
    )
    outputs = (Out("Y", enforced="DATA", rows="INDICES"),)

    cost = free

    def infer(self, DATA: TensorType, INDICES: TensorType, SLICES: TensorType) -> TensorType:
        need_rank("ScatterAssign", "DATA", DATA, 1, least=True)
        need = product((product(dims_of(INDICES)), *dims_of(DATA)[1:]))
        if conflict(product(dims_of(SLICES)), need):
            raise InferenceError("ScatterAssign: one row for each index", expected=f"{need} elements", got=SLICES)
        return DATA

    def compute(self, xp: ArrayModule, DATA: Array, INDICES: Array, SLICES: Array) -> Array:
        indices = xp.reshape(INDICES, (INDICES.size,))
        check_indices("ScatterAssign", xp, indices, DATA.shape[0])
        if indices.size:
            # On a device the order of writes is not defined, so only the last of equal indices may be written.
            order = xp.argsort(indices, kind="stable")
            ordered = indices[order]
            last = xp.concatenate([ordered[1:] != ordered[:-1], xp.ones((1,), dtype=xp.bool_)])
            kept = order[last]
            DATA[indices[kept]] = xp.reshape(SLICES, (indices.size, *DATA.shape[1:]))[kept]
        return DATA


@operator
class Unique(Operator):
    """Find the different values, in ascending order, and where each element stands among them."""

    inputs = (In("indices", Index, doc="A vector."),)
    outputs = (
        Out("unique_indices", doc="Every value once."),
        Out("remapping", optional=True, doc="int32: ``unique_indices[remapping]`` is the input."),
    )

    def infer(self, indices: TensorType) -> tuple[TensorType, TensorType]:
        need_rank("Unique", "indices", indices, 1)
        return indices.with_shape((None,)), indices.with_dtype(DType.INT32)

    def compute(self, xp: ArrayModule, indices: Array) -> tuple[Array, Array | None]:
        if not self.wants("remapping"):
            return xp.unique(indices), None
        found, places = xp.unique(indices, return_inverse=True)
        return found, places.astype(xp.int32)
