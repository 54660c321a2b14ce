"""Every operator that calls itself elementwise is traced, and its blocks compute what its body computes."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.ops.schema import bound, is_known, lookup
from netdsl.runtime.backends import get
from netdsl.runtime.groups import Group
from tests.ops.collect import all_cases
from tests.ops.golden import cases
from tests.runtime.formulas import Arrays, Step, check, cut, full, run_plain, types_of

XP = get("numpy").xp
LARGE = 3001


def steps() -> dict[str, list[tuple[Step, Arrays]]]:
    """Give, by operator type, the measured and written cases of elementwise operators, made large."""
    found: dict[str, list[tuple[Step, Arrays]]] = {}
    records = [(c.op, c.inputs) for c in cases() if c.comparable and is_known(c.op.type) and "error" not in c.facts]
    records += [(c.record, c.feeds) for c in all_cases() if not c.refuses]
    for record, feeds in records:
        if not lookup(record.type).elementwise or not set(record.inputs) <= set(feeds):
            continue
        shapes = {feeds[k].shape for k in record.inputs if feeds[k].size != 1}
        if len(shapes) != 1 or any(feeds[k].dtype.kind not in "biuf" for k in record.inputs):
            continue
        arrays = {k: feeds[k] if feeds[k].size == 1 else enlarged(feeds[k], i) for i, k in enumerate(record.inputs)}
        found.setdefault(record.type, []).append(((bound(record), record.inputs, record.outputs), arrays))
    return found


def enlarged(array: np.ndarray, seed: int) -> np.ndarray:
    if array.dtype.kind == "f":
        return full(LARGE, seed, 2.0, array.dtype.name)
    return np.resize(array, LARGE) if array.size else np.zeros(LARGE, array.dtype)


STEPS = steps()


def test_there_is_something_to_check():
    assert len(STEPS) > 40


@pytest.mark.parametrize("type_", ["Gelu", "GeluGradient", "DropoutGrad"])
def test_each_way_to_compute_it_is_traced(type_):
    for step, arrays in STEPS[type_]:
        check([step], arrays, groups=1)
        plain = dict(arrays)
        run_plain([step], plain, XP)
        assert isinstance(cut([step], types_of(plain))[0], Group), step


@pytest.mark.parametrize("type_", sorted(STEPS))
def test_formula(type_):
    traced = 0
    for step, arrays in STEPS[type_]:
        plain = {k: a.copy() for k, a in arrays.items()}
        run_plain([step], plain, XP)
        (part,) = cut([step], types_of(plain))
        if isinstance(part, Group):
            traced += 1
            check([step], arrays)
    assert traced, f"none of its {len(STEPS[type_])} cases is traced"
