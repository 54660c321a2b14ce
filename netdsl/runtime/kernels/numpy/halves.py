"""Running a kernel for singles on halves: inputs are widened to scratch memory first, results rounded last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netdsl.ir import DType, TensorType
from netdsl.ops.cast.cast import FloatToHalf, HalfToFloat
from netdsl.runtime.backends import Call
from netdsl.runtime.groups import Group
from netdsl.runtime.kernels import Make


def convert(source: np.ndarray, target: np.ndarray) -> list[Call]:
    """The calls that convert a contiguous array from half to single precision or back, as a traced group does."""
    shape, half = source.shape, source.dtype == np.float16
    types = {"x": TensorType(DType(source.dtype.name), shape), "y": TensorType(DType(target.dtype.name), shape)}
    group = Group()
    if not source.size or not group.try_add(HalfToFloat() if half else FloatToHalf(), ["x"], ["y"], types):
        return [(np.copyto, (target, source))]
    group.finish({"y"})
    return group.bind({"x": source, "y": target})


def through_singles(make: Make) -> Make:
    """Let a kernel that computes in single precision take and give halves, each value rounded once."""

    def wrapped(arrays: Sequence[np.ndarray | None], results: Sequence[np.ndarray]) -> list[Call]:
        before: list[Call] = []
        wide: dict[int, np.ndarray] = {}
        for a in arrays:
            if a is not None and a.dtype == np.float16 and id(a) not in wide:
                wide[id(a)] = np.empty(a.shape, np.float32)
                before += convert(a, wide[id(a)])
        singles = [np.empty(r.shape, np.float32) if r.dtype == np.float16 else r for r in results]
        calls = make([wide.get(id(a), a) for a in arrays], singles)
        after = [call for s, r in zip(singles, results, strict=True) if s is not r for call in convert(s, r)]
        return [*before, *calls, *after]

    return wrapped
