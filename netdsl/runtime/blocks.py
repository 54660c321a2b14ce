"""A graph as a flat list of NumPy calls, whole or block by block: no author of an operator ever writes ``out=``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from netdsl.runtime import half, special
from netdsl.runtime.groups import Call
from netdsl.runtime.memory import Arena
from netdsl.runtime.trace import DTypeOf, Graph, Node, live

Buffers = Mapping[str, np.ndarray]
Slot = tuple[str, Any, int]
"""Where a value lies: ("buffer", blob, 0), ("register", kind, number) or ("one", uniform node, 0)."""

BLOCK = 32768
"""Elements computed at a time, so that the registers of a group stay in the cache."""

_STORED = ("input", "const", "view")  # nodes that compute nothing
_APART = ("cast", "copy", "where", "table")  # all others are called as ufuncs


def calls_of(node: Node, dst: np.ndarray, args: Sequence[Any]) -> list[Call]:
    """Return the NumPy calls that compute one node into ``dst``."""
    match node.op:
        case "cast" | "copy":
            return [(np.copyto, (dst, args[0], "unsafe"))]
        case "table":
            return [(half.singles().take, (args[0], None, dst, "clip"))]
        case "where":
            return _choose(dst, *args, zero=node.args[2].op == "const" and not any(node.args[2].value.tobytes()))
        case "maximum" | "minimum":  # NumPy 2.4 deprecates a positional out= here
            return [(partial(getattr(np, node.op), out=dst), tuple(args))]
        case _:
            return [(special.function(node.op), (*args, dst))]


def _choose(dst: np.ndarray, where: np.ndarray, a: np.ndarray, b: np.ndarray, *, zero: bool) -> list[Call]:
    """``a`` where true, else ``b``, by arithmetic on their bits: copying under a mask takes ten times as long."""
    kind = f"i{dst.itemsize}"
    bits, a_bits, b_bits = dst.view(kind), a.view(kind), b.view(kind)
    if zero:
        return [(np.copyto, (bits, where)), (np.multiply, (bits, a_bits, bits))]
    return [
        (np.bitwise_xor, (a_bits, b_bits, bits)),
        (np.multiply, (bits, where, bits)),
        (np.bitwise_xor, (bits, b_bits, bits)),
    ]


class Schedule:
    """Computing nodes in order, each with the slot it writes and the slots it reads.

    ``held`` are nodes whose values must survive the schedule. A value goes straight to its blob's buffer
    once nothing reads what it overwrites; others take registers, which are reused as soon as they are free.
    """

    def __init__(self, nodes: Sequence[Node], outputs: Mapping[str, Node], held: Iterable[Node] = ()) -> None:
        todo = [n for n in nodes if n.op not in _STORED]
        last = {a.root: i for i, n in enumerate(todo) for a in n.args}  # who reads each storage last
        last |= {n.root: len(todo) for n in (*outputs.values(), *held)}
        reads = {n.value: last.get(n, -1) for n in nodes if n.op == "input"}
        homes = {n.root: k for k, n in reversed(list(outputs.items()))}
        self._slots: dict[Node, Slot] = {n: ("buffer", n.value, 0) for n in nodes if n.op == "input"}
        self.steps: list[tuple[Node, Slot, list[Slot]]] = []
        free: dict[Any, list[Slot]] = {}
        count: Counter[Any] = Counter()
        for i, n in enumerate(todo):
            # A ufunc may write onto its operand; on one element NumPy does so three times slower than apart.
            onto = n.op not in _APART and not n.uniform
            sources = [self.slot(a) for a in n.args]
            dying = {s for s, a in zip(sources, n.args, strict=True) if s[0] == "register" and last[a.root] == i}
            kind = (n.dtype.itemsize, n.shape if n.uniform else None)  # None: the shape of the full arrays
            if onto:
                _release(free, dying)
            if n in homes and reads.get(homes[n], -1) < i + onto:
                to: Slot = ("buffer", homes[n], 0)
            elif free.get(kind):
                to = free[kind].pop()
            else:
                to = ("register", kind, count[kind])
                count[kind] += 1
            if not onto:
                _release(free, dying)
            self._slots[n] = to
            self.steps.append((n, to, sources))
        self.copies = [(n, k, s) for k, n in outputs.items() if (s := self.slot(n)) != ("buffer", k, 0)]

    def slot(self, node: Node) -> Slot:
        """Return where a value lies; values of no schedule of full arrays are told by node."""
        return self._slots.get(node.root) or ("one", node, 0)


def _release(free: dict[Any, list[Slot]], slots: Iterable[Slot]) -> None:
    for slot in slots:
        free.setdefault(slot[1], []).append(slot)


class Blocks:
    """A finished graph, ready to be bound to buffers: uniform values first, then one loop over blocks."""

    def __init__(self, graph: Graph, outputs: Mapping[str, Node], size: int) -> None:
        """Schedule a graph for full arrays of about ``size`` elements."""
        if size >= half.LARGE:
            graph, outputs = half.lower(graph, outputs)
        order = live(graph, outputs)
        full = [n for n in order if not n.uniform]
        held = [a for n in full for a in n.args if a.uniform]
        self.before = Schedule([n for n in order if n.uniform], {k: n for k, n in outputs.items() if n.uniform}, held)
        self.loop = Schedule(full, {k: n for k, n in outputs.items() if not n.uniform})

    def bind(self, buffers: Buffers, shape: tuple[int, ...], arena: Arena, block: int = BLOCK) -> list[Call]:
        """Return the calls on these very buffers, which must be contiguous and must not overlap.

        ``shape`` is that of the full arrays; registers come from ``arena``.
        """
        size = math.prod(shape)
        registers: dict[Slot, np.ndarray] = {}
        views: dict[tuple[Slot, DTypeOf], np.ndarray] = {}  # NumPy sees at once that one object is no overlap

        def at(slot: Slot, dtype: DTypeOf) -> Any:
            where, what, _ = slot
            if where == "one":
                return what.value if what.op == "const" else at(self.before.slot(what), dtype)
            if where == "buffer" and buffers[what].dtype == dtype:
                return buffers[what]
            if where == "register" and slot not in registers:
                registers[slot] = arena(shape if what[1] is None else what[1], f"u{what[0]}")
            if (slot, dtype) not in views:
                views[slot, dtype] = (buffers[what] if where == "buffer" else registers[slot]).view(dtype)
            return views[slot, dtype]

        calls = _calls(self.before.steps, at)
        if size and (size <= block * 2 or len(self.loop.steps) == 1):
            calls += _calls(self.loop.steps, at)
            calls += [(np.copyto, (buffers[k], at(s, n.dtype))) for n, k, s in self.loop.copies]
        elif size:
            calls += self._blocks(buffers, at, size, arena, block)
        return calls + [(np.copyto, (buffers[k], at(s, n.dtype))) for n, k, s in self.before.copies]

    def _blocks(
        self, buffers: Buffers, ones: Callable[[Slot, DTypeOf], Any], size: int, arena: Arena, block: int
    ) -> list[Call]:
        registers: dict[Slot, np.ndarray] = {}
        flat: dict[str, np.ndarray] = {}
        views: dict[tuple[Slot, DTypeOf], np.ndarray] = {}
        calls: list[Call] = []

        def piece(slot: Slot, dtype: DTypeOf) -> Any:
            if (slot, dtype) not in views:
                views[slot, dtype] = make(slot, dtype)
            return views[slot, dtype]

        def make(slot: Slot, dtype: DTypeOf) -> np.ndarray:
            where, what, _ = slot
            if where == "one":
                return ones(slot, dtype).reshape(())  # any shape of size 1 would add axes to a flat block
            if where == "register":
                if slot not in registers:
                    registers[slot] = arena((block,), f"u{what[0]}")
                return registers[slot][: high - low].view(dtype)
            if what not in flat:
                flat[what] = buffers[what].reshape(-1)
            return flat[what][low:high].view(dtype)

        for low in range(0, size, block):
            high = min(size, low + block)
            views.clear()
            calls += _calls(self.loop.steps, piece)
            for n, k, s in self.loop.copies:
                calls.append((np.copyto, (piece(("buffer", k, 0), n.dtype), piece(s, n.dtype))))
        return calls


def _calls(steps: Iterable[tuple[Node, Slot, list[Slot]]], at: Callable[[Slot, DTypeOf], Any]) -> list[Call]:
    calls: list[Call] = []
    for node, to, sources in steps:
        args = [at(s, a.dtype) for s, a in zip(sources, node.args, strict=True)]
        calls += calls_of(node, at(to, node.dtype), args)
    return calls
