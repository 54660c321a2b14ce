"""The measured cases of ``tests/data/golden``: loading, and comparing with the tolerances they deserve."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from netdsl.ir import OperatorDef

FOLDER = Path(__file__).parents[1] / "data" / "golden"


@attrs.frozen
class Golden:
    """One measured case: an operator, what it was fed, and what Caffe2 made of it."""

    name: str
    op: OperatorDef
    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    out_grads: Mapping[str, np.ndarray]
    in_grads: Mapping[str, np.ndarray | tuple[np.ndarray, np.ndarray]]
    facts: Mapping[str, Any]

    @property
    def pre(self) -> list[OperatorDef]:
        """Operators to run before."""
        return [OperatorDef(*record) for record in self.facts.get("pre", ())]

    @property
    def comparable(self) -> bool:
        """False where Caffe2 crashed or computed from memory it did not own."""
        return "undefined" not in self.facts and "crash" not in self.facts

    @property
    def has_strings(self) -> bool:
        return any(a.dtype == object for a in (*self.inputs.values(), *self.outputs.values()))

    def __str__(self) -> str:
        return self.name


@functools.cache
def cases() -> tuple[Golden, ...]:
    """Every case."""
    with np.load(FOLDER / "cases.npz") as file:
        flat = {kind: file[kind] for kind in file.files}
    return tuple(_golden(fact, flat) for fact in json.loads((FOLDER / "cases.json").read_text()))


def _golden(facts: dict[str, Any], flat: Mapping[str, np.ndarray]) -> Golden:
    parts = {part: _cut(flat, *place) for part, place in facts["arrays"].items()}
    ins, outs = facts["inputs"], facts["outputs"]
    grads: dict[str, Any] = {}
    for i, name in enumerate(ins):
        if f"gin{i}" in parts:
            grads[name] = parts[f"gin{i}"]
        elif f"gin{i}_indices" in parts:
            grads[name] = (parts[f"gin{i}_indices"], parts[f"gin{i}_values"])
    return Golden(
        facts["case"],
        OperatorDef(facts["op"], ins, outs, facts["args"]),
        {name: parts[f"in{i}"] for i, name in enumerate(ins) if f"in{i}" in parts},
        {name: parts[f"out{i}"] for i, name in enumerate(outs) if f"out{i}" in parts},
        {name: parts[f"gout{i}"] for i, name in enumerate(outs) if f"gout{i}" in parts},
        grads,
        facts,
    )


def _cut(flat: Mapping[str, np.ndarray], kind: str, offset: int, shape: list[int]) -> np.ndarray:
    size = int(np.prod(shape, dtype=int))
    array = flat[kind][offset : offset + size].reshape(shape)
    return array.astype(object) if kind.startswith("S") else array.copy()


def names_in(file: str) -> list[str]:
    """The first word of each line of a list, comments left out."""
    lines = (FOLDER / file).read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def assert_close(got: Any, expected: np.ndarray, what: str) -> None:
    """Compare dtype, shape and values: floats to rtol 1e-5 and atol 1e-6, halves to one unit in the last place."""
    got = np.asarray(got)
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype}, expected {expected.dtype}"
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    if expected.dtype == np.float16:
        a, b = _ordered(got), _ordered(expected)
        same = (np.isnan(got) & np.isnan(expected)) | (np.abs(a - b) <= 1)
        assert same.all(), f"{what}: halves differ by more than one unit:\n{got[~same]}\nexpected\n{expected[~same]}"
    elif expected.dtype.kind == "f":
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=what)
    else:
        np.testing.assert_array_equal(got, expected, err_msg=what)


def _ordered(halves: np.ndarray) -> np.ndarray:
    """Integers in the order of the halves, neighbours one apart."""
    bits = np.ascontiguousarray(halves).view(np.int16).astype(np.int32)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)
