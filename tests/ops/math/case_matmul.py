"""Cases of matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def matmul(
    A: Any, B: Any, like: Any = None, *, axis_a: int = 1, axis_b: int = 1, trans_a: int = 0, trans_b: int = 0
) -> Any:
    """One sum over products for each element."""
    a = A.astype(float).reshape(int(np.prod(A.shape[:axis_a])), -1) if A.size else np.zeros((A.shape[0], A.shape[1]))
    b = B.astype(float).reshape(int(np.prod(B.shape[:axis_b])), -1) if B.size else np.zeros((B.shape[0], B.shape[1]))
    y = np.einsum(f"{'ki' if trans_a else 'ik'},{'jk' if trans_b else 'kj'}->ij", a, b)
    return y if like is None else y.reshape(like.shape)


def batched(rule: str) -> Any:
    return lambda A, B, **_: np.einsum(rule, A.astype(float), B.astype(float))


def halved(*inputs: Any) -> tuple[Any, ...]:
    return tuple(x.astype(np.float16) for x in inputs)


TRANS = [(a, b) for a in (0, 1) for b in (0, 1)]

CASES = [
    *(Case("MatMul", (normal(*((4, 2) if a else (2, 4))), normal(*((3, 4) if b else (4, 3)), seed=1)),
           {"trans_a": a, "trans_b": b}, matmul) for a, b in TRANS),
    *(Case("MatMul", (normal(*((2, 2, 3) if a else (3, 2, 2))), normal(*((5, 2, 2) if b else (2, 2, 5)), seed=1)),
           {"trans_a": a, "trans_b": b, "axis_a": 2 if a else 1, "axis_b": 1 if b else 2}, matmul) for a, b in TRANS),
    Case("MatMul", (normal(2, 4), normal(4, 3)), {}, matmul, batch=(0,)),
    Case("MatMul", (normal(2, 3, 4), normal(4, 5)), {"axis_a": -1}, lambda A, B, axis_a: matmul(A, B, axis_a=2)),
    Case("MatMul", (normal(2, 3), normal(3, 4), normal(2, 2, 2)), {}, matmul, label="a shape given"),
    Case("MatMul", (np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)), {}, (np.zeros((2, 3)),), grad=False,
         label="nothing to sum"),
    Case("MatMul", halved(normal(3, 200), normal(200, 2)), {}, matmul, grad=False, label="half"),
    Case("MatMul", (normal(2, 4), normal(3, 3)), refuses="disagree on the inner dim"),
    Case("MatMul", (normal(4), normal(4)), refuses="axis 1 is out of range"),
    Case("MatMul", (normal(2, 3), normal(3, 4), normal(3)), refuses="does not fit the shape"),
    *(Case("BatchMatMul", (normal(*((2, 4, 3) if a else (2, 3, 4))), normal(*((2, 5, 4) if b else (2, 4, 5)), seed=1)),
           {"trans_a": a, "trans_b": b, "broadcast": wide},
           batched(f"b{'ki' if a else 'ik'},b{'jk' if b else 'kj'}->bij"), batch=(0, 1))
      for a, b in TRANS for wide in (0, 1)),
    Case("BatchMatMul", (normal(3, 4), normal(4, 5)), {}, batched("ik,kj->ij"), label="one matrix each"),
    Case("BatchMatMul", (normal(2, 2, 3, 4), normal(2, 2, 4, 5)), {}, batched("abik,abkj->abij"), label="two axes"),
    Case("BatchMatMul", (normal(2, 3, 4), normal(4, 5)), {"broadcast": 1}, batched("bik,kj->bij"), label="one B"),
    Case("BatchMatMul", (normal(4, 3), normal(2, 4, 5)), {"broadcast": 1, "trans_a": 1}, batched("ki,bkj->bij"),
         label="one A, transposed"),
    Case("BatchMatMul", (normal(2, 1, 3, 4), normal(2, 5, 4)), {"broadcast": 1, "trans_b": 1},
         batched("aoik,bjk->abij"), label="both ways"),
    Case("BatchMatMul", (normal(4), normal(2, 4, 5)), {"broadcast": 1}, batched("k,bkj->bj"), label="vector A"),
    Case("BatchMatMul", (normal(2, 3, 4), normal(4)), {"broadcast": 1}, batched("bik,k->bi"), label="vector B"),
    Case("BatchMatMul", (normal(2, 4, 3), normal(4)), {"broadcast": 1, "trans_a": 1}, batched("bki,k->bi"),
         label="transposed A, vector B"),
    Case("BatchMatMul", (normal(4), normal(2, 5, 4)), {"broadcast": 1, "trans_a": 1, "trans_b": 1},
         batched("k,bjk->bj"), label="vector A, transposed B"),
    Case("BatchMatMul", (normal(4), normal(4, seed=1)), {"broadcast": 1},
         lambda A, B, broadcast: np.array([np.vdot(A, B)]), label="two vectors"),
    Case("BatchMatMul", (normal(4), normal(4, seed=1)), {}, lambda A, B: np.array([np.vdot(A, B)]), grad=False,
         label="two vectors, plainly"),
    Case("BatchMatMul", (np.zeros((2, 3, 0), np.float32), np.zeros((2, 0, 2), np.float32)), {}, (np.zeros((2, 3, 2)),),
         grad=False, label="nothing to sum"),
    Case("BatchMatMul", halved(normal(2, 3, 100), normal(2, 100, 2)), {}, batched("bik,bkj->bij"), grad=False,
         label="half"),
    Case("BatchMatMul", (normal(2, 3, 4), normal(4, 5)), refuses="set broadcast=1"),
    Case("BatchMatMul", (normal(2, 3, 4), normal(3, 4, 5)), {"broadcast": 1}, refuses="do not broadcast"),
    Case("BatchMatMul", (normal(2, 3, 4), normal(2, 3, 5)), refuses="disagree on the inner dim"),
    Case("BatchMatMul", (np.float32(1), normal(4)), refuses="takes no scalars"),
]  # fmt: skip
