"""``Group``: consecutive elementwise operators traced into one graph, executed as one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from netdsl.ir import BlobType, TensorType
from netdsl.ops.schema import Operator
from netdsl.runtime import backends
from netdsl.runtime.backends import Call
from netdsl.runtime.blocks import BLOCK, Blocks, Buffers
from netdsl.runtime.trace import Graph, Node, Shape, Sym, Tracer
from netdsl.runtime.values import numpy_dtype

MAX_OPERATORS, MAX_NODES = 4096, 32768
"""Where a group ends at the latest, which bounds the time to plan and to compile it."""

TINY = 1024
"""Below so many elements computing a value again is as cheap as copying it."""


class Group:
    """Operators whose full arrays share one shape; everything else in it is of size 1.

    Use: :meth:`try_add` operators in their order, :meth:`finish` once, then :meth:`bind`. Afterwards
    ``buffers`` names the blobs whose memory it needs, and ``graph``, ``outputs``, ``shape`` and ``size``
    are what other backends compile.
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
        self._blocks: Blocks | None = None

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

    def bind(self, buffers: Buffers, block: int = BLOCK) -> list[Call]:
        """Return the flat list of calls, ``function(*args)`` each, that runs the group on these very buffers.

        Buffers that are not contiguous, or that share memory, are computed plainly, operator by operator.
        """
        arrays = {name: buffers[name] for name in self.buffers}
        if not all(a.flags.c_contiguous and a.flags.aligned for a in arrays.values()) or _overlap(arrays.values()):
            return self._plain(arrays)
        if self._blocks is None:
            self._blocks = Blocks(self.graph, self.outputs, self.size)
        return self._blocks.bind(arrays, block)

    def _plain(self, arrays: Mapping[str, np.ndarray]) -> list[Call]:
        own = {k: np.empty(shape, dtype) for k, (dtype, shape) in self.known.items() if k not in arrays}
        at = {**own, **arrays}
        return [(_run_plainly, (op, [at[k] for k in ins], [at[k] for k in outs])) for op, ins, outs in self.steps]


def _run_plainly(op: Operator, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
    result = op.compute(backends.get("numpy").xp, *op.formal_inputs.group(inputs))  # type: ignore[attr-defined]
    values = [np.array(v) for v in op.formal_outputs.results(result, len(outputs))]
    for to, value in zip(outputs, values, strict=True):
        np.copyto(to, value)


def static(type_: BlobType | None) -> tuple[Any, Shape] | None:
    """Return NumPy's dtype and the shape of a tensor type of numbers, None where it is not static."""
    if not isinstance(type_, TensorType) or not type_.is_static:
        return None
    dtype = numpy_dtype(type_.dtype)
    return (dtype, type_.shape) if dtype.kind in "biuf" else None  # type: ignore[return-value]


def _overlap(arrays: Iterable[np.ndarray]) -> bool:
    """Whether any two share memory, by sorted address ranges: there may be thousands."""
    bounds = sorted(np.lib.array_utils.byte_bounds(a) for a in arrays if a.size)
    return any(low < high for (_, high), (low, _) in itertools.pairwise(bounds))
