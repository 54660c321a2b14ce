"""``Step``: one operator made ready for a target, and what follows for it from the types of its inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import attrs

from netdsl.analysis.infer import infer_bound
from netdsl.errors import RunError
from netdsl.ir import UNKNOWN, BlobType, NetDef, OperatorDef, TensorType
from netdsl.ops import regions
from netdsl.ops.schema import Operator, is_known, lookup, stream_of
from netdsl.runtime.backends import Backend, Make, best, engine_of
from netdsl.runtime.values import dtype_of, is_text, numpy_dtype, type_of

INFERRED = 1024
"""For how many input types the steps of one operator remember its output types."""


@attrs.frozen(eq=False)
class Target:
    """What a net is made ready for: backends that share their arrays, in the order in which their offers count.

    The last one holds the blobs, and runs what no other offers. ``host`` is where a device's blobs cross to.
    """

    backends: tuple[Backend, ...]
    host: Backend

    @cached_property
    def base(self) -> Backend:
        """The backend that holds the blobs."""
        return self.backends[-1]

    @cached_property
    def two_places(self) -> bool:
        """Whether blobs may lie on a device or on the host."""
        return not self.base.on_host


@attrs.frozen
class Facts:
    """What a class of operators declares, as the runtime asks for it."""

    alias: bool
    lazy: bool
    effects: bool
    samples: bool
    pure: bool
    rows: bool
    host_inputs: bool


@cache
def facts_of(cls: Any) -> Facts:
    """Return the facts of a class of operators."""
    return Facts(
        alias=any(out.alias for out in cls.outputs),
        lazy=any(i.lazy for i in cls.inputs),
        effects=hasattr(cls, "run"),
        samples=hasattr(cls, "sample"),
        pure=hasattr(cls, "compute"),
        rows=any(out.rows for out in cls.outputs),
        host_inputs=any(i.host for i in cls.inputs),
    )


class Typed:
    """What follows for a step from the types of its inputs: those of its outputs, and the best offer to run it.

    ``alone`` is, where it is known, how an elementwise step of large arrays runs as a group of its own, by which of
    its blobs are the same.
    """

    __slots__ = ("alone", "buffers", "cost", "make", "outputs", "static")

    def __init__(self, step: Step, inputs: Sequence[BlobType], outputs: tuple[BlobType, ...]) -> None:
        self.outputs = outputs
        self.static = all([is_static(t) for t in outputs])
        self.buffers = [(numpy_dtype(t.dtype), t.shape) for t in outputs] if self.static else []  # type: ignore[union-attr]
        self.make: Make | None = None
        self.cost = 1.0
        self.alone: dict[tuple[int, ...], Any] = {}
        if self.static and step.facts.pure and not step.shared and all([is_static(t) for t in inputs]):
            grouped = step.operator.formal_inputs.group(inputs)
            offers = [b.kernel(step.operator, grouped, outputs, inplace=step.inplace) for b in step.backends]  # type: ignore[arg-type]
            if (found := best(offers)) is not None:
                self.make, self.cost = found.make, found.cost

    @property
    def nbytes(self) -> int:
        """Bytes of all outputs, where their types are static."""
        return sum([math.prod(shape) * dtype.itemsize for dtype, shape in self.buffers])  # type: ignore[arg-type]


Inferred = dict[Any, dict[Any, Typed]]
"""What is known of types, shared by the steps of an executable that are the same operator with the same arguments."""


class Step:
    """One operator of an executable: its record, its declaration with arguments bound, and what follows from both.

    ``shared`` names for each output the input whose memory it shares by definition; ``named`` and ``writes``
    are the blobs around it that nets nested in it name and write. ``host`` ones run on the host of a device,
    ``plain`` ones have one output of their own. ``touches`` and ``waits`` are as declared, nested nets included.
    """

    __slots__ = (
        *("at", "backends", "facts", "host", "index", "inferred", "inplace", "named", "net", "op", "operator"),
        *("plain", "shared", "stream", "touches", "waits", "writes", "xp"),
    )

    def __init__(
        self, at: int, index: int, op: OperatorDef, operator: Operator, net: NetDef, target: Target, inferred: Inferred
    ) -> None:
        self.at, self.index, self.op, self.operator, self.net = at, index, op, operator, net
        self.facts = facts_of(type(operator))
        self.shared = shared_memory(op, operator) if self.facts.alias else ()
        self.named: frozenset[str] = frozenset()
        self.writes: tuple[str, ...] | None = None
        self.touches, self.waits = outside(op, type(operator)) if self.facts.effects else (frozenset[str](), False)
        if op.args.has_nets:
            flow = regions.around(op)
            self.named, self.writes = frozenset(flow.named), tuple(sorted(set(flow.writes).difference(op.outputs)))
        self.plain = len(op.outputs) == len(operator.outputs) == 1 and not (operator.outputs[0].many or self.shared)
        self.inplace = not set(op.outputs).isdisjoint(op.inputs)
        tagged = op.device is not None and op.device.kind == "cpu"
        self.host = target.two_places and (operator.on_host or tagged)
        self.backends = (target.host,) if self.host else engine_of(target.backends, op.engine)
        self.xp: Any = (target.host if self.host else target.base).xp
        self.stream = stream_of(op)
        self.inferred = inferred.setdefault((id(operator), self.inplace, self.backends), {})

    @property
    def place(self) -> str:
        """Where the operator stands, in words."""
        return f"operator {self.index} of net {self.net.name!r}"

    def needs(self, at: int) -> bool:
        """Whether the operator cannot run without its input ``at``."""
        return not (self.facts.lazy and self._formal(at).lazy)

    def reads_on_host(self, at: int) -> bool:
        """Whether the operator wants its input ``at`` on the host."""
        return self.host or (self.facts.host_inputs and self._formal(at).host)

    def _formal(self, at: int) -> Any:
        return self.operator.formal_inputs.formal_at(at, len(self.op.inputs))

    def typed(self, key: Any, types: Sequence[BlobType]) -> Typed:
        """Return what follows from inputs of these types; ``key`` is a cheap equal of them (see :attr:`Cell.key`)."""
        found = self.inferred.get(key)
        if found is None:
            if len(self.inferred) >= INFERRED:
                self.inferred.clear()
            outputs = infer_bound(self.operator, self.op, types, self.place)
            found = self.inferred[key] = Typed(self, types, outputs)
        return found


def outside(op: OperatorDef, cls: type[Operator]) -> tuple[frozenset[str], bool]:
    """What an operator touches beside blobs, and whether it may wait: it, or an operator of its nested nets."""
    touches, waits = frozenset(cls.touches), cls.waits
    if op.args.has_nets:
        for inner in (inner for _, net in op.nested for inner in net.ops if is_known(inner.type)):
            more, wait = outside(inner, lookup(inner.type))
            touches, waits = touches | more, waits or wait
    return touches, waits


def shared_memory(op: OperatorDef, operator: Operator) -> tuple[str | None, ...]:
    """For each output the input whose memory it shares by definition."""
    count = len(op.outputs)
    formals: list[Any] = [operator.formal_outputs.formal_at(i, count) for i in range(count)]
    places = [f.alias and operator.formal_inputs.first_index(f.alias, len(op.inputs)) for f in formals]
    return tuple(None if at is None else op.inputs[at] for at in places)


# what a body returned


def results_of(step: Step, result: Any) -> list[Any]:
    """Return what a body returned as one value per recorded output; None where it wrote nothing."""
    count = len(step.op.outputs)
    flat = step.operator.formal_outputs.results(result, count)
    if len(flat) != count:
        raise RunError(f"{step.op.type} returned {len(flat)} values", expected=count)
    return flat


def apart(value: Any, inputs: Sequence[Any]) -> Any:
    """Return a value that shares no memory with the inputs."""
    if not hasattr(value, "dtype") or (getattr(value, "base", None) is None and not any(value is i for i in inputs)):
        return value
    return value.copy()


def check_type(step: Step, at: int, value: Any, type_: Any) -> None:
    """Refuse a value of another type than the operator infers."""
    if (type_.shape != value.shape or type_.dtype is not dtype_of(value)) and is_static(type_):
        raise contradiction(step, at, type_, value)


def contradiction(step: Step, at: int, type_: BlobType, value: Any) -> RunError:
    what = f"{step.op.type} computed another type for {step.op.outputs[at]!r} than it infers"
    return RunError(what, expected=type_, got=type_of(value))


# types


def key_of(type_: BlobType, place: Backend | None) -> Any:
    """What :attr:`Cell.key` is of a blob of this type in this place."""
    if type_ is UNKNOWN:
        return None
    if not is_static(type_):
        return type_
    key = numpy_dtype(type_.dtype), type_.shape  # type: ignore[union-attr]
    return key if place is None else (*key, place)


def place_of(step: Step, type_: BlobType, target: Target) -> Backend | None:
    """Where an output of a step lies: None on the host, where strings always are."""
    return None if not target.two_places or step.host or is_text(type_) else target.base


def is_static(type_: BlobType) -> bool:
    """Whether a type is that of a tensor of known dtype and extents."""
    if type(type_) is not TensorType or type_.dtype is None or type_.shape is None:
        return False
    return {*map(type, type_.shape)} <= _EXTENT


_EXTENT = {int}
