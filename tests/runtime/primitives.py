"""Each primitive of the table as an operator of its own, with values on which it may go wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netdsl.ops.primitives import PRIMITIVES, Primitive
from netdsl.ops.schema import Operator
from netdsl.runtime.trace import Graph, Sym, TraceError, Tracer
from tests.runtime.formulas import Arrays, Step, formula, full

DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "i8", "f2", "f4", "f8")


def alone(primitive: Primitive) -> Operator:
    """The operator whose body calls a primitive and nothing else."""

    def body(xp, *arrays):
        return getattr(xp, primitive.name)(*arrays)

    body.__name__ = primitive.name
    return formula(primitive.arity)(body)


def traces(primitive: Primitive, *dtypes: str) -> bool:
    """Whether a call on arrays of these dtypes can be traced."""
    graph = Graph()
    symbols = [Sym(graph, graph.node("input", (), d, f"x{i}", (5,))) for i, d in enumerate(dtypes)]
    try:
        getattr(Tracer(graph), primitive.name)(*symbols)
    except (TraceError, TypeError):
        return False
    return True


def values(n: int, dtype: str, seed: int) -> np.ndarray:
    """Numbers of a dtype, zeros, ones, extremes and pairs of equal ones among them."""
    if dtype[0] == "f":
        mixed = full(n, seed, 2.0, dtype)
        mixed[n // 2 : n // 2 + n // 4] = full(n, 99, 2.0, dtype)[n // 2 : n // 2 + n // 4]
        return mixed
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.integers(0, 2, n).astype(bool)
    info = np.iinfo(dtype)
    found = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    found[: n // 2] = rng.choice(np.array([0, 1, 2, 3, 7, 31, info.min, info.max, info.max // 2], dtype), n // 2)
    if dtype[0] == "i":
        found[: n // 4] = -found[: n // 4]
    return found


def programs(n: int) -> Iterator[tuple[str, Step, Arrays]]:
    """Give each primitive in each dtype that can be traced: a name, the step, its arrays.

    Operands behind the first are full arrays once, and single values once.
    """
    for primitive in PRIMITIVES.values():
        operator = alone(primitive)
        names = tuple("abc"[: primitive.arity])
        for dtype in DTYPES:
            dtypes = ["?"] * primitive.chooses + [dtype] * (primitive.arity - primitive.chooses)
            if not traces(primitive, *dtypes):
                continue
            arrays = {k: values(n, d, i) for i, (k, d) in enumerate(zip(names, dtypes, strict=True))}
            label = f"{primitive.name}_{'bool' if dtype == '?' else dtype}"
            yield label, (operator, names, ("y",)), arrays
            if primitive.arity > 1:
                single = {k: np.array([1 if k == "b" else 2], d) for k, d in zip(names, dtypes, strict=True)}
                yield f"{label}_single", (operator, names, ("y",)), {**single, "a": arrays["a"]}
