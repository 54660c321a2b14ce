"""Tracing: run an elementwise formula on symbols and record a typed expression graph.

NumPy itself resolves every dtype (``ufunc.resolve_dtypes``) and every conversion becomes an explicit
``cast`` node, so the promotion rules of whoever executes the graph never matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from netdsl.ops.primitives import PRIMITIVES, UFUNCS
from netdsl.runtime import special

Shape = tuple[int, ...]
DTypeOf = np.dtype[Any]
F2, F4 = np.dtype("f2"), np.dtype("f4")

DTYPES = {"bool_", "float16", "float32", "float64", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))}


class TraceError(TypeError):
    """A formula that is not elementwise, or not in the traceable subset; it runs plainly instead."""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One value of a graph: ``op`` is "input", "const", "cast", "view", "copy", "table" or a primitive.

    ``value`` is the blob of an input, the 0-d array of a const, else None.
    """

    op: str
    args: tuple[Node, ...]
    dtype: DTypeOf
    shape: Shape
    value: Any = None

    @property
    def uniform(self) -> bool:
        """Whether it is one value for all elements: computed once, outside every loop."""
        return math.prod(self.shape) == 1

    @property
    def root(self) -> Node:
        """The node whose memory this one looks at: itself unless it is a view."""
        node = self
        while node.op == "view":
            node = node.args[0]
        return node


class Graph:
    """Nodes in topological order; equal nodes are one node."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._keys: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], Node] = {}

    def node(self, op: str, args: tuple[Node, ...], dtype: Any, value: Any = None, shape: Shape | None = None) -> Node:
        """Return the node that says this, made if there is none yet."""
        dtype = np.dtype(dtype)
        key = (op, *map(id, args), dtype, value.tobytes() if op == "const" else value, shape)
        found = self._known.get(key)
        if found is None:
            if shape is None:
                first = args[0].shape
                same = all(a.shape == first for a in args)
                full = first if same else np.broadcast_shapes(*(a.shape for a in args))
            else:
                full = shape
            found = self._known[key] = Node(op, args, dtype, full, value)
            self.nodes.append(found)
            self._keys.append(key)
        return found

    def const(self, value: Any, dtype: Any) -> Node:
        """Return a constant; one that its dtype cannot hold is for NumPy to judge, not for a trace."""
        array = np.asarray(value)
        dtype = np.dtype(dtype)
        if dtype.kind in "iu" and type(value) is int and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise TraceError(f"{value} does not fit in {dtype}")
        if array.dtype.kind not in "biuf":
            raise TraceError(f"{value!r} is no number of a traceable dtype")
        with np.errstate(all="ignore"):
            return self.node("const", (), dtype, array.astype(dtype), ())

    def cast(self, x: Node, dtype: Any) -> Node:
        """Return ``x`` converted; half meets every other dtype by way of single."""
        dtype = np.dtype(dtype)
        if x.dtype == dtype:
            return x
        if dtype.kind not in "biuf":
            raise TraceError(f"no conversion to {dtype}")
        if x.op == "const":
            return self.const(x.value, dtype)
        if F2 in (x.dtype, dtype) and F4 not in (x.dtype, dtype):
            if x.dtype != F2 and x.dtype.itemsize >= 4:
                raise TraceError(f"no direct {x.dtype} -> float16: by way of float32 it would round twice")
            return self.cast(self.cast(x, F4), dtype)
        return self.node("cast", (x,), dtype)

    def lift(self, x: Any, dtype: DTypeOf) -> Node:
        """Return an operand as a node of ``dtype``."""
        return self.cast(x.node, dtype) if isinstance(x, Sym) else self.const(x, dtype)

    def apply(self, name: str, args: tuple[Any, ...]) -> Any:
        """Call a primitive on symbols and numbers; numbers alone are computed at once."""
        primitive = PRIMITIVES.get(name)
        if primitive is None:
            raise TraceError(f"xp.{name} is not elementwise, or not traceable")
        if len(args) != primitive.arity:
            raise TraceError(f"xp.{name} of {len(args)} operands: a formula gives it {primitive.operands}")
        kinds = tuple(map(_kind, args))
        if not any(isinstance(a, Sym) for a in args):
            return special.function(name)(*args)
        loop = _loop(name, kinds)
        nodes = [self.lift(a, d) for a, d in zip(args, loop, strict=False)]
        out = work = loop[-1]
        if F2 in loop and primitive.kind == "exact":
            # Half arithmetic is single arithmetic, rounded after each operation. What selects need not round,
            # and of what is inexact NumPy's own half loop decides the last bit.
            nodes = [self.cast(n, F4) if n.dtype == F2 else n for n in nodes]
            work = F4 if out == F2 else out
        return Sym(self, self.cast(self.node(name, tuple(nodes), work), out))

    def mark(self) -> int:
        """Return a point to :meth:`rollback` to."""
        return len(self.nodes)

    def rollback(self, mark: int) -> None:
        """Forget every node made since ``mark``."""
        for key in self._keys[mark:]:
            self._known.pop(key, None)
        del self.nodes[mark:], self._keys[mark:]

    def forget(self) -> None:
        """Make no later node equal to an earlier one: where computing again is cheaper than copying."""
        self._known.clear()


@lru_cache(maxsize=4096)
def _loop(name: str, kinds: tuple[Any, ...]) -> tuple[DTypeOf, ...]:
    """The dtypes of the loop that NumPy would run, inputs then output."""
    primitive, function = PRIMITIVES[name], getattr(np, name, None)
    if isinstance(function, np.ufunc):
        loop = tuple(function.resolve_dtypes((*kinds, None)))
    else:
        values = [np.empty(0, k) if isinstance(k, np.dtype) else k() for k in kinds[primitive.chooses :]]
        loop = (*[np.dtype(bool)] * primitive.chooses, *[np.result_type(*values)] * (len(values) + 1))
    if primitive.floats and loop[-1].kind != "f":
        raise TraceError(f"xp.{name} of integers is not traceable")
    return loop


def _kind(x: Any) -> Any:
    """The dtype of an operand; for a Python number its type, which NumPy treats as weak."""
    if isinstance(x, Sym):
        return x.dtype
    if type(x) in (int, float):
        return type(x)
    if isinstance(x, bool | np.generic):
        return np.asarray(x).dtype
    raise TraceError(f"a formula may mix arrays with numbers only, not with {type(x).__name__}")


class Sym(np.lib.mixins.NDArrayOperatorsMixin):
    """A symbolic array: what a formula sees while it is traced."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph, self.node = graph, node

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            raise TraceError(f"{ufunc.__name__}: only plain calls can be traced")
        return self.graph.apply(UFUNCS.get(ufunc.__name__, ufunc.__name__), args)

    @property
    def dtype(self) -> DTypeOf:
        return self.node.dtype

    @property
    def shape(self) -> Shape:
        """Known, as a trace is made for static types; a formula may choose by it but not change it."""
        return self.node.shape

    @property
    def ndim(self) -> int:
        return len(self.node.shape)

    def astype(self, dtype: Any) -> Sym:
        return Sym(self.graph, self.graph.cast(self.node, dtype))

    def view(self, dtype: Any) -> Sym:
        if np.dtype(dtype).itemsize != self.dtype.itemsize:
            raise TraceError("view() keeps the item size")
        return Sym(self.graph, self.graph.node("view", (self.node,), dtype))

    def __pow__(self, other: Any) -> Any:
        raise TraceError("write x * x, xp.sqrt(x) or xp.power(x, y): x ** y has special cases in NumPy")

    __rpow__ = __pow__

    def __bool__(self) -> bool:
        raise TraceError("a formula may not branch on values: use xp.where")

    def __getattr__(self, name: str) -> Any:
        raise TraceError(f"a formula may not use .{name} of an array")

    __iter__ = __len__ = __getitem__ = __float__ = __int__ = __index__ = __array__ = None


class Tracer:
    """The ``xp`` of a trace."""

    inf, nan = float("inf"), float("nan")

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def from_host(self, a: Any) -> Any:
        """What it is given: operators that read on the host are traced only where the host computes."""
        return a

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return getattr(np, name)
        if name not in PRIMITIVES:
            raise TraceError(f"xp.{name} is not elementwise, or not traceable")
        return lambda *args: self._graph.apply(name, args)


def live(graph: Graph, outputs: Mapping[str, Node]) -> list[Node]:
    """Return the nodes that the outputs need, in order."""
    need = set(outputs.values())
    for node in reversed(graph.nodes):
        if node in need:
            need.update(node.args)
    return [n for n in graph.nodes if n in need]
