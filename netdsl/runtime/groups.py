"""``Group``: consecutive elementwise operators traced into one graph, to be executed as one by any backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from netdsl.ir import BlobType, TensorType
from netdsl.ops.schema import Operator
from netdsl.runtime.trace import Graph, Node, Shape, Sym, Tracer
from netdsl.runtime.values import numpy_dtype

Call = tuple[Callable[..., object], tuple[object, ...]]
"""A function bound to the very values it is called with."""

MAX_OPERATORS, MAX_NODES = 4096, 32768
"""Where a group ends at the latest, which bounds the time to plan and to compile it."""

TINY = 1024
"""Below so many elements computing a value again is as cheap as copying it."""


class Group:
    """Operators whose full arrays share one shape; everything else in it is of size 1.

    Use: :meth:`try_add` operators in their order, then :meth:`finish` once. Afterwards ``buffers`` names the
    blobs whose memory it needs, and ``graph``, ``outputs``, ``shape`` and ``size`` are what backends compile;
    of the shape they may take for granted only which arrays are full, and the size class (TINY, half.LARGE).
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.steps: list[tuple[Operator, tuple[str, ...], tuple[str, ...]]] = []
        self.shape: Shape = ()
        self.types: dict[str, BlobType] = {}  # of every blob read or written
        self.outputs: dict[str, Node] = {}
        self._values: dict[str, Node] = {}  # what each blob holds by now
        self.known: dict[str, tuple[Any, Shape]] = {}  # the same, as NumPy's dtypes and shapes
        self._written: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def size(self) -> int:
        """Elements of a full array; 1 where all are of size 1."""
        return math.prod(self.shape)

    @property
    def reads(self) -> list[str]:
        """The blobs whose value from before the group is read."""
        return [n.value for n in self.graph.nodes if n.op == "input"]

    @property
    def stores(self) -> list[str]:
        """The blobs that the group writes to memory."""
        return list(self.outputs)

    @property
    def buffers(self) -> list[str]:
        """The blobs whose buffers it needs, each once."""
        return list(dict.fromkeys((*self.reads, *self.stores)))

    def try_add(
        self, op: Operator, inputs: Sequence[str], outputs: Sequence[str], types: Mapping[str, BlobType]
    ) -> bool:
        """Trace one more operator; return False, and change nothing, if it cannot join.

        ``inputs`` and ``outputs`` are the names as recorded; ``types`` knows them all. An operator that
        is not elementwise, whose types are not static, whose body the tracer refuses or whose shapes do
        not fit can not join; if the group is empty it must run plainly.
        """
        if not op.elementwise or len(self.steps) >= MAX_OPERATORS or self.graph.mark() >= MAX_NODES:
            return False
        known = {name: static(types.get(name)) for name in (*inputs, *outputs)}
        if None in known.values() or any(self.known.get(k, t) != t for k, t in known.items()):
            return False
        shapes = {shape for _, shape in known.values() if math.prod(shape) != 1}  # type: ignore[misc]
        if len(shapes | ({self.shape} if self.shape else set())) > 1:
            return False
        mark = self.graph.mark()
        written = self._trace(op, inputs, outputs, known)  # type: ignore[arg-type]
        if written is None:
            self.graph.rollback(mark)
            return False
        for node in self.graph.nodes[mark:]:
            if node.op == "input":
                self._values[node.value] = node
        self._values |= written
        self.known |= known  # type: ignore[arg-type]
        self.types |= {name: types[name] for name in known}
        self._written |= dict.fromkeys(written)
        self.steps.append((op, tuple(inputs), tuple(outputs)))
        for shape in shapes:
            self.shape = shape
        return True

    def _trace(
        self,
        op: Operator,
        inputs: Sequence[str],
        outputs: Sequence[str],
        known: Mapping[str, tuple[Any, Shape]],
    ) -> dict[str, Node] | None:
        """Return the new values by blob, or None if the body is not a traceable formula of these types."""
        if self.size < TINY:
            self.graph.forget()
        symbols: list[Sym] = []
        for name in inputs:
            dtype, shape = known[name]
            node = self._values.get(name)
            symbols.append(Sym(self.graph, node or self.graph.node("input", (), dtype, name, shape)))
        try:
            result = op.compute(Tracer(self.graph), *op.formal_inputs.group(symbols))  # type: ignore[attr-defined]
            values = op.formal_outputs.results(result, len(outputs))
        except Exception:  # whatever is wrong with the body, running it plainly says so with its values at hand
            return None
        if len(values) != len(outputs) or len(set(outputs)) < len(outputs):
            return None
        nodes = [v.node if isinstance(v, Sym) else None for v in values]
        if any(n is None or (n.dtype, n.shape) != known[k] for k, n in zip(outputs, nodes, strict=True)):
            return None
        return dict(zip(outputs, nodes, strict=True))  # type: ignore[arg-type]

    def finish(self, stores: Container[str]) -> None:
        """Fix which written blobs reach their buffers: those in ``stores``; the others never exist in memory.

        A blob that the net reads before it writes it, in the next run that is, belongs to ``stores``.
        """
        for name in self._written:
            node = self._values[name]
            if name not in stores or (node.op == "input" and node.value == name):
                continue
            if node.root.op in ("input", "const"):  # a body may return its input: the blob still is its own
                node = self.graph.node("copy", (node,), node.dtype, name, node.shape)
            self.outputs[name] = node

    def shapes(self, full: Shape) -> dict[str, tuple[Any, Shape]]:
        """Return dtype and shape of every blob where full arrays are of shape ``full``."""
        return {k: (d, full if math.prod(shape) != 1 else shape) for k, (d, shape) in self.known.items()}


def static(type_: BlobType | None) -> tuple[Any, Shape] | None:
    """Return NumPy's dtype and the shape of a tensor type of numbers, None where it is not static."""
    if not isinstance(type_, TensorType) or not type_.is_static:
        return None
    dtype = numpy_dtype(type_.dtype)
    return (dtype, type_.shape) if dtype.kind in "biuf" else None  # type: ignore[return-value]
