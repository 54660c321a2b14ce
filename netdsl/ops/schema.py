"""How an operator is declared: ``In``, ``Out``, ``arg``, ``Operator`` and ``@operator``."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, dataclass_transform, runtime_checkable

import attrs

from netdsl.errors import SchemaError, UnknownOperatorError, did_you_mean
from netdsl.ir import Args, BlobType, OperatorDef
from netdsl.ir.args import NO_ARGS, PACKED_FROM, normalize
from netdsl.ops._index import MODULES
from netdsl.ops.argkinds import convert, kind_of
from netdsl.ops.dtypes import AnyDType, Anything, DTypes, Kind
from netdsl.ops.formals import Formals
from netdsl.ops.xp import Array

if TYPE_CHECKING:
    from netdsl.ops.gradient import Gradients


@attrs.frozen
class In:
    """A formal input.

    ``many=n`` makes it a run of groups of n blobs (at least ``least`` groups): bodies get a tuple of
    values for n = 1, else a tuple of n-tuples. ``host`` inputs are read on the CPU by every backend.
    ``lazy`` ones need not exist when the operator runs (bodies get None): what it reads is up to nested nets.
    """

    name: str
    dtypes: DTypes | Kind | Anything = AnyDType
    doc: str = attrs.field(default="", kw_only=True)
    optional: bool = attrs.field(default=False, kw_only=True)
    many: int = attrs.field(default=0, kw_only=True)
    least: int = attrs.field(default=1, kw_only=True)
    host: bool = attrs.field(default=False, kw_only=True)
    lazy: bool = attrs.field(default=False, kw_only=True)


def _names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if value is None else ((value,) if isinstance(value, str) else tuple(value))


@attrs.frozen
class Out:
    """A formal output.

    ``inplace`` names the inputs it may overwrite (of a run: its first blob), ``enforced`` the one it
    must. ``view`` names an input of which the result may be a view (reshaped, sliced); ``alias`` one
    whose memory it shares by definition. ``many`` is a run of any number of blobs. ``rows`` names the input
    that lists the rows which change of an enforced output: a body writes these into the array that it is
    given, through ``xp``, and returns that array. No other body may write to an input.
    """

    name: str
    doc: str = attrs.field(default="", kw_only=True)
    inplace: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=_names)
    enforced: str | None = attrs.field(default=None, kw_only=True)
    view: str | None = attrs.field(default=None, kw_only=True)
    alias: str | None = attrs.field(default=None, kw_only=True)
    rows: str | None = attrs.field(default=None, kw_only=True)
    optional: bool = attrs.field(default=False, kw_only=True)
    many: int = attrs.field(default=0, kw_only=True)
    least: int = attrs.field(default=1, kw_only=True)


ANY_INPUT = "*"
"""As ``inplace``: the output may overwrite any input."""


def arg(
    default: Any = attrs.NOTHING,
    *,
    doc: str,
    enum: Mapping[str, int] | None = None,
    choices: Sequence[str] = (),
    hint: bool = False,
    prepare: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare an operator argument: a field that carries its own documentation.

    ``enum`` names the values of an int argument (recorded as the number); ``choices`` are the only
    values of a str argument; a ``hint`` (cuDNN settings, engines) changes no result. ``prepare`` turns
    what an author may give into a value that a record can hold, before its kind is checked.
    """
    facts = {"doc": doc, "enum": enum, "choices": choices, "hint": hint, "prepare": prepare}
    return attrs.field(default=default, metadata=facts)


@runtime_checkable
class Infers(Protocol):
    """Tells its output types; ``infer`` takes one type per formal input (see :class:`In`), ranks known."""

    @property
    def infer(self) -> Callable[..., BlobType | tuple[BlobType, ...]]: ...


@runtime_checkable
class Differentiable(Protocol):
    """Has a gradient: ``gradient`` appends to the :class:`Gradients` it is given."""

    def gradient(self, g: Gradients) -> None: ...


@runtime_checkable
class Computes(Protocol):
    """Is pure: ``compute`` takes ``xp`` and one array per formal input."""

    @property
    def compute(self) -> Callable[..., Array | tuple[Array, ...]]: ...


@runtime_checkable
class Samples(Protocol):
    """Is random: ``sample`` takes ``xp``, a :class:`Stream` and one array per formal input."""

    @property
    def sample(self) -> Callable[..., Array | tuple[Array, ...]]: ...


@runtime_checkable
class Runs(Protocol):
    """Has effects: ``run`` takes a :class:`RunContext` and one value per formal input."""

    @property
    def run(self) -> Callable[..., Any]: ...


@runtime_checkable
class Trims(Protocol):
    """Has a lesser form: ``trimmed`` returns the record that computes only those of its outputs that are ``read``."""

    def trimmed(self, op: OperatorDef, read: Container[str]) -> OperatorDef: ...


@runtime_checkable
class Calls(Protocol):
    """Calls a function that its record names: ``calls`` tells ``module:name``, or else a token of the workspace's."""

    def calls(self) -> tuple[str, str]: ...


@attrs.frozen(kw_only=True, slots=False)
class Operator:
    """Base of every declaration; an instance is the operator with its arguments bound.

    What an operator can do is what it defines: ``infer``, ``gradient``, and one body out of ``compute``
    (pure), ``sample`` (random) and ``run`` (effects). Bodies return one value, or a tuple with one per
    formal output; values of optional outputs beyond ``self.wanted`` are dropped.

    Class attributes a declaration may set:
        elementwise: the body is a formula the runtime may trace (see docs/howto/add-an-operator.md).
        role: what it does in a training step, for pictures and checks: "fill", "update", "decay", "counter",
            "loss", "cast".
        updates: formals (as pairs output, input) through which a parameter is updated.
        on_host: runs on the CPU in every workspace.
        touches: what it reads or changes beside blobs: "output", "db", "comm", ... Operators that touch the same
            thing keep the net's order, in nets of every type.
        draws: its body ``run`` asks for random numbers (those of ``sample`` need not say so).
        waits: may wait for what another operator or thread does; see :meth:`RunContext.wait`.
        ours: Caffe2 has no such operator.
        test_arg: the argument that switches to inference behaviour.
        test_outputs: how many outputs are left then, where the others are not read.
        source: the paper or page that defines it.
        authored: called with the arguments where a program calls ``net.TYPE(...)``; for records it is not.
    """

    inputs: ClassVar[tuple[In, ...]] = ()
    outputs: ClassVar[tuple[Out, ...]] = ()
    elementwise: ClassVar[bool] = False
    role: ClassVar[str] = ""
    updates: ClassVar[tuple[tuple[str, str], ...]] = ()
    on_host: ClassVar[bool] = False
    touches: ClassVar[tuple[str, ...]] = ()
    waits: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    ours: ClassVar[bool] = False
    test_arg: ClassVar[str | None] = None
    test_outputs: ClassVar[int | None] = None
    source: ClassVar[str] = ""
    authored: ClassVar[Callable[[Mapping[str, Any]], None] | None] = None
    formal_inputs: ClassVar[Formals[In]]
    formal_outputs: ClassVar[Formals[Out]]
    takes_lists: ClassVar[bool] = False

    wanted: int = attrs.field(default=-1, metadata={"internal": True})
    """How many outputs the record names; -1 when bound without a record."""

    def wants(self, formal: str) -> bool:
        """Whether the record names the output ``formal``."""
        return self.wanted < 0 or self.formal_outputs.present(formal, self.wanted)

    def cost(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
        """Floating-point operations for these static types (flat, as recorded); None where unknown."""
        sizes = [_size(t) for t in outputs]
        return None if None in sizes else sum(s for s in sizes if s is not None)

    @classmethod
    def arguments(cls) -> dict[str, attrs.Attribute[Any]]:
        """The declared arguments by name."""
        return {f.name: f for f in attrs.fields(cls) if not f.metadata.get("internal")}

    @classmethod
    def bind(cls, args: Mapping[str, Any], wanted: int = -1, *, strict: bool = True) -> Self:
        """Return the operator with ``args`` checked against its declaration.

        Unknown arguments raise when ``strict``, else they are ignored (files keep them).

        Raises:
            SchemaError: an unknown, missing or ill-typed argument.
        """
        if strict and not args:
            return _bound(cls, NO_ARGS, wanted)  # type: ignore[return-value]
        declared = _declared(cls)
        values: dict[str, Any] = {}
        for name, value in args.items():
            field = declared.get(name)
            if field is None:
                if strict:
                    _refuse_argument(cls, name, declared)
                continue
            if field.metadata["prepare"] is not None:
                value = field.metadata["prepare"](value)
            if isinstance(value, type) and field.metadata["enum"]:
                value = value.__name__  # numpy.float16, float
            given = value if isinstance(value, str) or not strict else normalize(value)
            values[name] = convert(cls.__name__, field, given)
        for name, field in declared.items():
            if field.default is attrs.NOTHING and name not in values:
                raise SchemaError(f"{cls.__name__} needs the argument {name!r}", expected=f"{name}: {field.type}")
        return cls(wanted=wanted, **values)


def _size(type_: Any) -> int | None:
    if not getattr(type_, "is_static", False):
        return None
    size = 1
    for d in type_.shape:
        size *= d
    return size


@cache
def _declared(cls: type[Operator]) -> dict[str, attrs.Attribute[Any]]:
    return cls.arguments()


def _refuse_argument(cls: type[Operator], name: str, declared: Mapping[str, Any]) -> None:
    raise SchemaError(
        f"{cls.__name__} has no argument {name!r}",
        takes=", ".join(declared) or "no arguments",
        did_you_mean=did_you_mean(name, declared),
    )


OPERATORS: dict[str, type[Operator]] = {}
"""Every declaration imported so far, by type name."""

_STREAM = "What its random numbers go by, where that is not the first output's name (a renamed net draws as before)."

_C = TypeVar("_C", bound=type[Operator])
_LOADING = threading.RLock()


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(arg,))
def operator(cls: _C) -> _C:
    """Turn a class body into a registered, immutable operator declaration.

    Raises:
        TypeError: a declaration that contradicts itself or another one; found while importing it.
    """
    name = cls.__name__
    problems = list(_problems(cls))
    if hasattr(cls, "sample") or cls.draws or any("NetDef" in str(kind) for kind in cls.__annotations__.values()):
        cls.__annotations__ = {**cls.__annotations__, "stream": "str"}
        cls.stream = arg("", doc=_STREAM)  # type: ignore[attr-defined]
    if name in OPERATORS and OPERATORS[name].__module__ != cls.__module__:
        problems.append(f"is declared twice, first in {OPERATORS[name].__module__}")
    if problems:
        raise TypeError(f"operator {name}: {'; '.join(problems)}")
    made = attrs.frozen(cls, kw_only=True, slots=False, field_transformer=_annotated_by_text)
    for field in attrs.fields(made):
        if not field.metadata.get("internal"):
            kind_of(field)
    made.takes_lists = any("tuple" in str(field.type) for field in attrs.fields(made))
    made.formal_inputs = Formals(name, "input", made.inputs)
    made.formal_outputs = Formals(name, "output", made.outputs)
    OPERATORS[name] = made
    return made


def _annotated_by_text(_: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Annotations as text, as a module with ``from __future__ import annotations`` has them."""
    return [f.evolve(type=f.type.__name__ if isinstance(f.type, type) else str(f.type)) for f in fields]


def _problems(cls: type[Operator]) -> list[str]:
    found: list[str] = []
    if not cls.__doc__:
        found.append("needs a docstring")
    names = [i.name for i in cls.inputs]
    for side, formals in (("inputs", names), ("outputs", [o.name for o in cls.outputs])):
        if len(set(formals)) < len(formals):
            found.append(f"two {side} share a name")
    if shared := set(names) & {o.name for o in cls.outputs}:
        found.append(f"an input and an output are both called {', '.join(sorted(shared))}")
    for out in cls.outputs:
        asked = {*out.inplace, out.enforced, out.view, out.alias, out.rows} - {None, ANY_INPUT}
        if unknown := asked - set(names):
            found.append(f"{out.name} refers to unknown inputs {sorted(map(str, unknown))}")
        if out.rows is not None and out.enforced is None:
            found.append(f"{out.name} is written by rows, so it must be enforced in place")
    if sum(hasattr(cls, body) for body in ("compute", "sample", "run")) > 1:
        found.append("has more than one body")
    return found


def lookup(type_: str) -> type[Operator]:
    """Return the declaration of operator ``type_``, importing its module on first use.

    Raises:
        UnknownOperatorError: nothing declares it; names the near ones.
    """
    found = OPERATORS.get(type_)
    if found is not None:
        return found
    if type_ not in MODULES:
        near = did_you_mean(type_, {*MODULES, *OPERATORS})
        raise UnknownOperatorError(f"no operator is called {type_!r}", did_you_mean=near)
    with _LOADING:
        importlib.import_module(f"netdsl.ops.{MODULES[type_]}")
    return OPERATORS[type_]


def is_known(type_: str) -> bool:
    """Whether some declaration has this type name."""
    return type_ in OPERATORS or type_ in MODULES


def all_types() -> list[str]:
    """Every known operator type, sorted."""
    return sorted({*MODULES, *OPERATORS})


@lru_cache(maxsize=8192)
def _bound(cls: type[Operator], args: Args, wanted: int) -> Operator:
    return cls.bind(args, wanted, strict=False)


def bound(op: OperatorDef) -> Operator:
    """Return the declaration of a record with its arguments bound; unknown arguments are let be.

    Raises:
        UnknownOperatorError, SchemaError: as :func:`lookup` and :meth:`Operator.bind`.
    """
    cls, args = lookup(op.type), op.args
    if cls.takes_lists and args is not NO_ARGS and any(_is_long(value) for value in args.values()):
        return cls.bind(args, len(op.outputs), strict=False)  # weights: no cache may hold them
    return _bound(cls, args, len(op.outputs))


def _is_long(value: Any) -> bool:
    return hasattr(value, "__len__") and len(value) >= PACKED_FROM


def stream_of(op: OperatorDef) -> str:
    """What the random numbers of an operator go by: its first output's name as it was when it was built."""
    found = op.args.get("stream") if op.args else None
    return str(found) if found else op.outputs[0] if op.outputs else op.type


__all__ = [
    "ANY_INPUT",
    "Calls",
    "Computes",
    "Differentiable",
    "In",
    "Infers",
    "Operator",
    "Out",
    "Runs",
    "Samples",
    "Trims",
    "all_types",
    "arg",
    "bound",
    "is_known",
    "lookup",
    "operator",
    "stream_of",
]
