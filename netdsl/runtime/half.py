"""Half conversions that NumPy runs fast: a table one way, integer arithmetic the other; both bit-exact.

NumPy converts single to half one element at a time, and twenty times slower still on subnormals.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from netdsl.runtime.trace import F2, F4, Graph, Node, Sym, Tracer

LARGE = 2048
"""From so many elements on, a dozen vector operations beat NumPy's scalar conversion."""


@lru_cache(maxsize=1)
def singles() -> np.ndarray:
    """Return the float32 value of each of the 65,536 halves, indexed by their bits."""
    return np.arange(1 << 16, dtype="u2").view("f2").astype("f4")


def half_bits(xp: Any, x: Any) -> Any:
    """Return the bits of the nearest half of each float32, ties to even; a formula like any other."""
    u = x.view(xp.uint32)
    # Scaling up and down again saturates what overflows to infinity and leaves the rest unchanged.
    base = abs(x) * xp.float32(2.0**112) * xp.float32(2.0**-110)
    # Adding a power of two 13 bits above the last one lets the adder round the significand.
    exponent = xp.maximum(u & 0x7F800000, 0x38800000) + 0x07800000
    b = (exponent.view(xp.float32) + base).view(xp.uint32)
    h = xp.minimum(((b >> 13) & 0x7E00) + (b & 0xFFF), 0x7E00)
    return (h | ((u >> 16) & 0x8000)).astype(xp.uint16)


def lower(graph: Graph, outputs: Mapping[str, Node]) -> tuple[Graph, dict[str, Node]]:
    """Return the graph with the half conversions of full arrays spelled out."""
    lowered = Graph()
    new: dict[Node, Node] = {}
    for n in graph.nodes:
        args = tuple(new[a] for a in n.args)
        if n.op == "cast" and not n.uniform and n.dtype == F2:
            new[n] = lowered.node("view", (half_bits(Tracer(lowered), Sym(lowered, args[0])).node,), F2)
        elif n.op == "cast" and not n.uniform and n.args[0].dtype == F2:
            index = lowered.node("cast", (lowered.node("view", args, "u2"),), "i8")
            new[n] = lowered.node("table", (index,), F4)
        else:
            new[n] = lowered.node(n.op, args, n.dtype, n.value, n.shape)
    return lowered, {k: new[n] for k, n in outputs.items()}
