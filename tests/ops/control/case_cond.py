"""Cases of If: its nets go by blob names, so the blobs are named."""

from __future__ import annotations

import numpy as np

from netdsl.ir import NetDef, OperatorDef
from netdsl.testing import Case, normal, spread

relu = NetDef("relu", [OperatorDef("Relu", ["x"], ["y"])], ["x"], ["y"])
fc = NetDef("fc", [OperatorDef("FC", ["x", "w", "b"], ["y"])], ["x", "w", "b"], ["y"])
both = {"then_net": relu, "else_net": fc}
x, w, b = spread(3, 4), normal(4, 4, seed=1), normal(4, seed=2)
yes, no = np.array([True]), np.array([False])

CASES = [
    Case("If", (yes, x), {"then_net": relu}, (np.clip(x, 0, None),), names=("c", "x"), outputs=["y"], label="true"),
    Case("If", (yes, x, w, b), both, (np.clip(x, 0, None),), names=("c", "x", "w", "b"), outputs=["y"], label="then"),
    Case("If", (no, x, w, b), both, (x @ w.T + b,), names=("c", "x", "w", "b"), outputs=["y"], label="else"),
    Case("If", (no, x), {"then_net": relu}, holds=lambda _, outputs: _unwritten(outputs), names=("c", "x"),
         outputs=["y"], grad=False, label="false"),
    Case("If", (yes,), refuses="needs the argument 'then_net'", names=("c",), outputs=[], label="no net"),
    Case("If", (np.array([1]), x), {"then_net": relu}, refuses="wrong type", names=("c", "x"), outputs=["y"]),
]  # fmt: skip


def _unwritten(outputs: tuple[object, ...]) -> None:
    assert outputs == (None,)
