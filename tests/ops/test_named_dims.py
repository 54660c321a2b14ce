"""How far named dims get through the operators: what the cases' outputs are with extents named."""

from __future__ import annotations

from collections import Counter

import pytest

from netdsl.analysis.infer import infer_op
from netdsl.ir import BlobType, Dim, DType, OperatorDef, Shape, TensorType
from netdsl.ir.extents import extent, substitute
from netdsl.runtime.values import type_of
from tests.ops.collect import all_cases


def shape_of(type_: BlobType) -> Shape:
    return (type_.shape if isinstance(type_, TensorType) else None) or ()


def renamed(type_: BlobType, names: dict[int, str]) -> BlobType:
    if not isinstance(type_, TensorType) or type_.shape is None:
        return type_
    return type_.with_shape(tuple(names.get(d, d) if isinstance(d, int) else d for d in type_.shape))


def test_what_is_told_of_numbers_is_told_of_names_and_equal() -> None:
    unknown: Counter[str] = Counter()
    for case in all_cases():
        if case.refuses or len(case.feeds) < len(case.inputs):
            continue
        types = {name: type_of(value) for name, value in case.feeds.items()}
        known = infer_op(case.record, types)
        extents = {d for type_ in types.values() for d in shape_of(type_) if isinstance(d, int) and d > 1}
        for names in (*({size: "N"} for size in extents), {size: f"N{size}" for size in extents}):
            sizes: dict[str, Dim] = {name: size for size, name in names.items()}
            found = infer_op(case.record, {blob: renamed(type_, names) for blob, type_ in types.items()})
            for number, named in zip(map(shape_of, known), map(shape_of, found), strict=True):
                for one, other in zip(number, named, strict=bool(named)):  # a length may tell a rank
                    unknown[case.op] += other is None and one is not None
                    assert other is None or substitute(other, sizes) == one, f"{case}: {names}"
    assert set(+unknown) == {"Slice", "MaxPool", "AveragePool"}  # cut off at the end; Caffe's rule for padding
    assert unknown.total() <= 22


@pytest.mark.parametrize(
    ("op", "args", "inputs", "outputs"),
    [
        ("Concat", {"axis": 0}, ["N 3", "N 3"], ["2*N 3"]),
        ("Concat", {"axis": 0}, ["N 3", "1 3", "T 3"], ["N+T+1 3"]),
        ("Concat", {"axis": 0}, ["N 3", "? 3"], ["? 3"]),
        ("Split", {"axis": 0}, ["2*N 3"], ["N 3", "N 3"]),
        ("Split", {"axis": 0}, ["N 3"], ["N//2 3", "N//2 3"]),
        ("Reshape", {"shape": [-1, 4]}, ["N T 4"], ["N*T 4"]),
        ("Reshape", {"shape": [0, -1, 4]}, ["N T 8"], ["N 2*T 4"]),
        ("Flatten", {}, ["N T 4"], ["N 4*T"]),
        ("FlattenToVec", {}, ["N T 4"], ["4*N*T"]),
        ("Tile", {"axis": 1, "tiles": 3}, ["N T"], ["N 3*T"]),
        ("Slice", {"starts": [0, 1], "ends": [-1, -1]}, ["N T"], ["N T-1"]),
        ("Slice", {"starts": [0, 0], "ends": [-1, -2]}, ["N T"], ["N T-1"]),
        ("Slice", {"starts": [0, -2], "ends": [-1, -1]}, ["N T"], ["N 1"]),
        ("Slice", {"starts": [0, 0], "ends": [-1, 5]}, ["N T"], ["N ?"]),
        ("Conv", {"kernel": 3, "stride": 2, "pad": 1}, ["N 3 H W", "8 3 3 3"], ["N 8 (H+1)//2 (W+1)//2"]),
        ("Conv", {"kernel": 3, "dilation": 2}, ["N 3 H W", "8 3 3 3"], ["N 8 H-4 W-4"]),
        ("MaxPool", {"kernel": 2, "stride": 2}, ["N 3 H 2*W"], ["N 3 H//2 W"]),
        ("MaxPool", {"kernel": 3, "stride": 2, "legacy_pad": 3}, ["N 3 H W"], ["N 3 (H-2)//2+1 (W-2)//2+1"]),
        ("MaxPool", {"kernel": 3, "stride": 2, "legacy_pad": 3, "pad": 1}, ["N 3 H W"], ["N 3 ? ?"]),
        ("MaxPool", {"kernel": 3, "stride": 2, "legacy_pad": 2}, ["N 3 H W"], ["N 3 (H+1)//2 (W+1)//2"]),
        ("BatchMatMul", {}, ["N T 4", "N 4 2*T"], ["N T 2*T"]),
        ("MatMul", {"axis_a": 2}, ["N T 4", "4 5"], ["N*T 5"]),
        ("FC", {"axis": 2}, ["N T 4", "5 4", "5"], ["N T 5"]),
        ("Transpose", {}, ["N 2*T"], ["2*T N"]),
        ("Squeeze", {"dims": [1]}, ["2*N 1"], ["2*N"]),
    ],
)
def test_named_dims_survive(op: str, args: dict[str, object], inputs: list[str], outputs: list[str]) -> None:
    ins, outs = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(len(outputs))]
    outs += ["more"] if op in ("Concat", "Reshape") else []
    types = {name: TensorType(DType.FLOAT, map(dim, text.split())) for name, text in zip(ins, inputs, strict=True)}
    found = infer_op(OperatorDef(op, ins, outs, args), types)
    assert [" ".join("?" if d is None else str(d) for d in shape_of(t)) for t in found[: len(outputs)]] == [
        " ".join("?" if d is None else str(d) for d in map(dim, text.split())) for text in outputs
    ]


def dim(text: str) -> Dim:
    return None if text == "?" else extent(text)
