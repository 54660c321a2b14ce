"""Copy the measured cases of the operators we have into ``tests/data/golden``.

    python tools/golden_subset.py SOURCE

SOURCE is a folder with ``golden.json`` + ``golden.npz`` (also ``golden_a``, ``golden_b``) and
``learning_rate.json``. Operators are those of ``expected_operators.txt``, those in the index, their gradients and
``ALSO``: run it again when operators are added.
The layout of what is written is described in ``tests/data/golden/README.md``.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netdsl.ops._index import MODULES

TARGET = Path(__file__).parents[1] / "tests" / "data" / "golden"
ALSO = (
    *("RowWiseSparseAdagrad", "RowWiseSparseAdam", "Max", "WeightScale", "RowWiseCounter", "LearningRateAdaption"),
    *("CopyFromCPUInput", "EnsureCPUOutput"),
)
FIELDS = (
    *("error", "grad_error", "grad_ops", "grad_nets", "grad_missing", "grad_none", "inplace_gradient_wrong"),
    *("pre", "post", "blob_inputs", "steps", "num_runs", "statistics", "string_out", "not_written", "unset_outputs"),
    *("undefined", "crash"),
)
UNFED = {
    "add_axis_without_flag": [(2, 3, 4), (3,)],
    "add_broadcast_smaller_left": [(4,), (2, 4)],
    "slice_two_dims": [(4, 3)],
}
"""Shapes for the cases that were recorded for their error only, without arrays."""


class Packer:
    """Joins arrays into one flat array for each dtype; a place is ``[dtype, offset, shape]``."""

    def __init__(self) -> None:
        self.parts: dict[str, list[np.ndarray]] = {}
        self.sizes: dict[str, int] = {}

    def add(self, array: np.ndarray) -> list[Any]:
        kind = array.dtype.name if array.dtype.kind != "S" else array.dtype.str[1:]
        offset = self.sizes.get(kind, 0)
        self.parts.setdefault(kind, []).append(array.reshape(-1))
        self.sizes[kind] = offset + array.size
        return [kind, offset, list(array.shape)]

    def save(self, path: Path) -> None:
        joined: dict[str, Any] = {kind: np.concatenate(parts) for kind, parts in sorted(self.parts.items())}
        np.savez_compressed(path, **joined)


def wanted_operators() -> set[str]:
    """The operators whose cases are copied."""
    lines = (TARGET / "expected_operators.txt").read_text().splitlines()
    named = {line for line in lines if line and not line.startswith("#")} | set(ALSO) | set(MODULES)
    return named | {f"{name}Gradient" for name in named}


def read(source: Path) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Every case of the source with its arrays (``in0``, ``out0``, ``gout0``, ``gin0``, ``gin0_indices``...)."""
    for name in ("golden", "golden_a", "golden_b"):
        cases = json.loads((source / f"{name}.json").read_text())
        arrays: dict[str, dict[str, np.ndarray]] = {}
        with np.load(source / f"{name}.npz") as file:
            for key in file.files:
                case, _, part = key.rpartition("/")
                arrays.setdefault(case, {})[part] = file[key]
        for case in cases["cases"]:
            yield case, arrays.get(case["case"], {})
        for label, found in cases.get("filler_statistics", {}).items():
            op, bracket, shape = label.partition("[")
            if bracket:
                dims = [int(n) for n in shape.rstrip("]").split(",")]
                statistics = {"Y": {"shape": dims, "dtype": "float32", "distinct": 1000, **found}}
                case = {"op": op, "args": {"shape": dims}, "inputs": [], "outputs": ["Y"], "statistics": statistics}
                yield {"case": f"{op}_stats_{len(dims)}d_{dims[0]}", **case}, {}


def condensed(case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], packer: Packer) -> dict[str, Any]:
    """The record of one case as it is written."""
    found: dict[str, Any] = {key: case[key] for key in ("case", "op", "args", "inputs", "outputs")}
    found |= {key: case[key] for key in FIELDS if key in case}
    found["inputs"] += [name for name in case.get("blob_inputs", ()) if name not in case["inputs"]]
    if "pre_ops" in case:
        found["pre"] = [[op["op"], op["inputs"], op["outputs"], op["args"]] for op in case["pre_ops"]]
    if "emulated" in case.get("provenance", ""):
        found["emulated"] = True
    if case["case"] in UNFED:
        arrays = {f"in{i}": np.zeros(shape, np.float32) for i, shape in enumerate(UNFED[case["case"]])}
    found["arrays"] = {part: packer.add(array) for part, array in sorted(arrays.items())}
    return found


def main(source: Path) -> None:
    """Write the subset."""
    wanted, packer = wanted_operators(), Packer()
    cases = [condensed(case, arrays, packer) for case, arrays in read(source) if case["op"] in wanted]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (TARGET / "cases.json").write_text(f"[\n{lines}\n]\n")
    packer.save(TARGET / "cases.npz")
    shutil.copyfile(source / "learning_rate.json", TARGET / "learning_rate.json")
    print(f"{len(cases)} cases of {len({case['op'] for case in cases})} operators")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
