"""``Net``: records operators as its methods are called."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from netdsl.analysis.gradient import SparseGrad, gradient
from netdsl.analysis.infer import infer_writes
from netdsl.dsl import slips
from netdsl.dsl._calls import OpCalls
from netdsl.dsl.author import author_line
from netdsl.dsl.blob import Blob, GradientMap, SparseGradient
from netdsl.dsl.scopes import as_device, current_device, current_name_scope
from netdsl.dsl.types import as_dtype, as_shape, clash
from netdsl.errors import GradientError, NetdslError, NetError, SchemaError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, Device, NetDef, OperatorDef, SourceLine, TensorType
from netdsl.ir.args import NO_ARGS
from netdsl.ir.text import dump
from netdsl.ops.regions import all_reads
from netdsl.ops.schema import Operator, bound, is_known, lookup
from netdsl.ops.validate import check_formals
from netdsl.passes.edit import extract, rename

BlobLike = Blob | str


class Net(OpCalls):
    """A net under construction: ``net.FC([x, w, b], "y", axis=1)`` appends an FC operator and returns ``y``.

    Names given as text get the current name scope; inputs that nothing wrote before become inputs
    of the net, with a NearNameWarning where such a name misspells one that the net has. Outputs left
    out get deterministic names. Every mistake that can be seen is raised at the call that makes it.
    """

    def __init__(self, name: str) -> None:
        if not (isinstance(name, str) and name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise NetError("a net needs a name", got=repr(name))
        self.name = name
        self.metadata: dict[str, Any] = {}
        self._ops: list[OperatorDef] = []
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._declared: dict[str, BlobType] = {}
        self._types: dict[str, BlobType] = {}
        self._written: set[str] = set()
        self._external: set[str] = set()
        self._auto: dict[str, int] = {}
        self._extra: dict[str, Any] = {}
        self._gradients: dict[str, str] = {}
        self._definition: NetDef | None = None

    # ------------------------------------------------------------------ as data

    @property
    def definition(self) -> NetDef:
        """The immutable record of what was appended so far."""
        known = self._definition
        if known is None or known.name != self.name or known.metadata != self.metadata:
            self._definition = NetDef(
                self.name,
                self._ops,
                self._inputs,
                self._outputs,
                {n: t for n, t in self._declared.items() if n in self._external},
                metadata=dict(self.metadata),
                **self._extra,
            )
            return self._definition
        return known

    @classmethod
    def from_definition(cls, definition: NetDef, name: str | None = None) -> Net:
        """Return a net that continues ``definition``; unknown operators and arguments are kept as they are."""
        net = cls(name or definition.name or "net")
        net.metadata = dict(definition.metadata)
        net._extra = {k: getattr(definition, k) for k in ("args", "type", "num_workers", "device")}
        net._inputs, net._outputs = list(definition.inputs), list(definition.outputs)
        net._external.update(definition.inputs)
        net._declared.update(definition.types)
        net._types.update(definition.types)
        for op in definition.ops:
            net._take(op)
        return net

    def dump(self) -> str:
        """Return the text form; :func:`netdsl.parse` reads it back."""
        return dump(self.definition)

    __str__ = dump

    def __repr__(self) -> str:
        return f"<Net {self.name!r}: {len(self._ops)} operators>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.dump())}</pre>"

    def graph(self) -> Any:
        """Return a networkx DiGraph of operators and blob versions (see :mod:`netdsl.analysis.graph`)."""
        from netdsl.analysis.graph import graph

        return graph(self.definition)

    # ------------------------------------------------------------------ declaring

    def input(self, name: BlobLike, shape: Sequence[int | str | None] | None = None, dtype: Any = "float32") -> Blob:
        """Declare a blob that the workspace provides, with what is known of its type.

        Raises:
            SchemaError: no such dtype, or extents that are none.
            NetError: a blob that the net computes, or one declared otherwise before.
        """
        full = self._scoped(name)
        if full in self._written:
            raise NetError(
                f"net {self.name!r} computes blob {full!r}, so it cannot be an input", added_at=author_line()
            )
        if shape is not None:
            self._declare_type(full, TensorType(as_dtype(dtype), as_shape(shape)))
        self._declare(full)
        return Blob(full, self)

    def output(self, *blobs: BlobLike) -> None:
        """Declare blobs as outputs of the net."""
        for blob in blobs:
            full = self._scoped(blob)
            if full not in self._written and full not in self._external:
                what = f"net {self.name!r} has no blob {full!r} to declare as output"
                near = did_you_mean(full, self._written | self._external)
                raise NetError(what, added_at=author_line(), did_you_mean=near)
            if full not in self._outputs:
                self._outputs.append(full)
        self._definition = None

    def blob(self, name: BlobLike) -> Blob:
        """Return the blob called ``name`` (in the current scope) as a value of this net."""
        return Blob(self._scoped(name), self)

    def computes(self, blob: BlobLike) -> bool:
        """Whether an operator of this net writes ``blob``."""
        return str(blob) in self._written

    def type_of(self, blob: BlobLike) -> BlobType:
        """What is known of a blob's type after the operators appended so far."""
        return self._types.get(str(blob), UNKNOWN)

    def types(self) -> dict[str, BlobType]:
        """What is known of the type of every blob after the operators appended so far."""
        return {name: type_ for name, type_ in self._types.items() if type_ != UNKNOWN}

    def set_type(self, blob: BlobLike, type_: BlobType) -> None:
        """Say what is known of a blob that another net provides."""
        self._types[str(blob)] = self._declared[str(blob)] = type_
        self._definition = None

    def adopt(self, blob: BlobLike, maker: Net) -> Blob:
        """Return ``blob`` as one of this net, whose type is what is known in ``maker``, the net that makes it."""
        name, known = str(blob), maker.type_of(blob)
        if known != UNKNOWN and name not in self._written:
            self.set_type(name, known)
        return Blob(name, self)

    def annotate(self, key: str, value: Any) -> None:
        """Put ``value``, which JSON must be able to hold, into the metadata of the definition."""
        self.metadata[key] = value
        self._definition = None

    def _declare_type(self, name: str, type_: BlobType) -> None:
        known = self._declared.get(name)
        if known is not None and clash(known, type_):
            raise NetError(
                f"input {name!r} of net {self.name!r} is declared otherwise already",
                expected=known,
                got=type_,
                added_at=author_line(),
            )
        self._declared[name] = self._types[name] = type_

    def _declare(self, name: str) -> None:
        if name not in self._external:
            self._external.add(name)
            self._inputs.append(name)
            self._definition = None

    # ------------------------------------------------------------------ appending

    def add(
        self,
        type_: str | type[Operator],
        inputs: BlobLike | Sequence[BlobLike] = (),
        outputs: BlobLike | int | Sequence[BlobLike] | None = None,
        args: Mapping[str, Any] | None = None,
        *,
        name: str = "",
        engine: str = "",
        device: Device | str | None = None,
        control_inputs: BlobLike | Sequence[BlobLike] = (),
    ) -> Any:
        """Append an operator and return its output blobs: one, a tuple, or None.

        ``outputs`` are names, a number of unnamed ones, or None for as many unnamed ones as are required.

        Raises:
            UnknownOperatorError, SchemaError: a use that the declaration does not allow.
            InferenceError: known types that do not fit.
        """
        where = author_line()
        try:
            cls = lookup(type_) if isinstance(type_, str) else type_
            ins = self._names(inputs)
            outs = self._output_names(cls, outputs)
            given = {k: v for k, v in args.items() if v is not None} if args else {}
            made = cls.bind(given, len(outs))
            check_formals(cls, ins, outs)
        except NetdslError as error:
            raise _added_at(error, self.name, where) from None
        for new in ins:
            if new not in self._external and new not in self._written:
                self._warn_of_slip(new, inputs, where)
        record = OperatorDef(
            cls.__name__,
            ins,
            outs,
            {k: _as_declared(made, k, v) for k, v in given.items()} if given else NO_ARGS,
            as_device(device) if device is not None else current_device(),
            engine,
            name,
            self._names(control_inputs),
            where=where,
        )
        self._take(record, made)
        blobs = tuple([Blob(out, self) for out in outs])
        if len(blobs) == 1 and cls.formal_outputs.run is None:
            return blobs[0]
        return blobs or None

    def extend(self, ops: Iterable[OperatorDef]) -> None:
        """Append operator records as they are, all or (where one does not fit) none."""
        with self.all_or_nothing():
            for op in ops:
                self._take(op)

    @contextlib.contextmanager
    def all_or_nothing(self) -> Generator[None]:
        """Put the net back as it was if what is done inside fails."""
        parts = ("_ops", "_inputs", "_outputs", "_declared", "_types", "_written", "_external", "_definition")
        before = {part: copy.copy(getattr(self, part)) for part in parts}
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def _take(self, op: OperatorDef, made: Operator | None = None) -> None:
        """Append a record and infer what can be known of its outputs."""
        if made is None and is_known(op.type):
            made = bound(op)
        written = infer_writes(made, op, self._types, f"operator {len(self._ops)} of net {self.name!r}")
        for blob in all_reads(op) if op.args.has_nets else op.inputs:
            if blob not in self._written:
                self._declare(blob)
        self._ops.append(op)
        self._written.update(written)
        self._types.update(written)
        self._definition = None

    def _warn_of_slip(self, name: str, inputs: BlobLike | Sequence[BlobLike], where: SourceLine | None) -> None:
        """Warn if ``name``, which is new, was given as text and misspells a name that the net has."""
        if any(isinstance(blob, str) and self._scoped(blob) == name for blob in _listed(inputs)):
            near = slips.slip(name, self._written, self._external)
            if near is not None:
                slips.warn(name, near, self.name, where)

    def _scoped(self, blob: Any) -> str:
        if isinstance(blob, Blob):
            return blob.name
        if isinstance(blob, str) and blob:
            return current_name_scope() + blob
        raise SchemaError("a blob is named by a Blob or a text", got=f"{type(blob).__name__} {blob!r}"[:80])

    def _output_names(self, cls: type[Operator], outputs: BlobLike | int | Sequence[BlobLike] | None) -> list[str]:
        if outputs is None or isinstance(outputs, int):
            count = cls.formal_outputs.required if outputs is None else outputs
            return self._unnamed(cls.__name__, count)
        return self._names(outputs)

    def _names(self, blobs: BlobLike | Sequence[BlobLike]) -> list[str]:
        return [b.name if type(b) is Blob else self._scoped(b) for b in _listed(blobs)]

    def _unnamed(self, type_: str, count: int) -> list[str]:
        """Deterministic names: ``net/FC``, ``net/FC_2``, and ``net/Split:0`` of several."""
        prefix = f"{current_name_scope()}{self.name}/{type_}"
        while True:
            seen = self._auto[prefix] = self._auto.get(prefix, 0) + 1
            base = prefix if seen == 1 else f"{prefix}_{seen}"
            names = [base] if count == 1 else [f"{base}:{i}" for i in range(count)]
            if not any(n in self._written or n in self._external for n in names):
                return names

    def __getattr__(self, type_: str) -> Callable[..., Any]:
        if type_.startswith("_"):
            raise AttributeError(type_)
        cls = lookup(type_)

        def append(
            inputs: Any = (),
            outputs: Any = None,
            *,
            name: str = "",
            engine: str = "",
            device: Device | str | None = None,
            control_inputs: Any = (),
            **args: Any,
        ) -> Any:
            made = self.add(
                cls, inputs, outputs, args, name=name, engine=engine, device=device, control_inputs=control_inputs
            )
            if cls.authored is not None:
                cls.authored(args)
            return made

        append.__name__ = type_
        append.__doc__ = cls.__doc__
        return append

    # ------------------------------------------------------------------ derived nets

    def add_gradients(
        self,
        loss: BlobLike | Sequence[BlobLike] | Mapping[Any, BlobLike | None],
        *,
        wrt: BlobLike | Sequence[BlobLike] | None = None,
    ) -> GradientMap:
        """Append the backward operators of one or several losses; return the gradient of each blob.

        ``loss`` may map losses to blobs that hold their gradients. With ``wrt`` only what the gradients
        of these blobs need is appended.

        Raises:
            GradientError: see :func:`netdsl.analysis.gradient.gradient`; or gradients that an earlier call
                returned (those of its ``wrt``, if it had one) would be overwritten.
        """
        given: Mapping[Any, Any] = loss if isinstance(loss, Mapping) else dict.fromkeys(_listed(loss))
        losses = {self._scoped(k): None if v is None else self._scoped(v) for k, v in given.items()}
        wanted = None if wrt is None else [self._scoped(b) for b in _listed(wrt)]
        try:
            made = gradient(self.definition, losses, wanted, self._types)
            self._keep_gradients(out for op in made.ops for out in op.outputs)
        except NetdslError as error:
            raise _added_at(error, self.name, author_line()) from None
        self.extend(made.ops)
        found = GradientMap({name: self._gradient(grad) for name, grad in made.grads.items()})
        for name in found if wanted is None else [n for n in wanted if n in found]:
            grad = found[name]
            blobs = [grad] if isinstance(grad, Blob) else [grad.indices, grad.values]
            self._gradients.update(dict.fromkeys(map(str, blobs), name))
        return found

    def _keep_gradients(self, written: Iterable[str]) -> None:
        for name in written:
            if name in self._gradients:
                raise GradientError(
                    f"these operators would overwrite {name!r}, the gradient of {self._gradients[name]!r} so far",
                    fix="give all losses to one call, or name what each call is for with wrt=",
                )

    def _gradient(self, grad: str | SparseGrad) -> Blob | SparseGradient:
        if isinstance(grad, str):
            return Blob(grad, self)
        return SparseGradient(Blob(grad.indices, self), Blob(grad.values, self))

    def clone(self, name: str, renamed: Mapping[BlobLike, BlobLike] | None = None) -> Net:
        """Return an independent copy called ``name``, with blobs renamed by ``renamed``."""
        mapping = {str(old): str(new) for old, new in (renamed or {}).items()}
        return Net.from_definition(rename(self.definition, mapping), name)

    def append(self, other: Net | NetDef) -> None:
        """Append the operators of another net, and its inputs and outputs."""
        definition = other if isinstance(other, NetDef) else other.definition
        with self.all_or_nothing():
            for blob, type_ in definition.types.items():
                if blob in self._written:
                    self._types.setdefault(blob, type_)
                else:
                    self._declare_type(blob, type_)
            for blob in definition.inputs:
                if blob not in self._written:
                    self._declare(blob)
            self.extend(definition.ops)
        self._outputs.extend(b for b in definition.outputs if b not in self._outputs)
        self._definition = None

    def extract(self, outputs: BlobLike | Sequence[BlobLike], name: str | None = None) -> Net:
        """Return a net of the operators that compute ``outputs``."""
        part = extract(self.definition, [self._scoped(b) for b in _listed(outputs)])
        return Net.from_definition(part, name or self.name)


def _listed(blobs: Any) -> list[Any]:
    if isinstance(blobs, (Blob, str)):
        return [blobs]
    if not isinstance(blobs, Iterable):
        raise SchemaError("blobs are given as a Blob, a text or a list of these", got=f"{blobs!r}"[:80])
    return list(blobs)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _as_declared(made: Operator, name: str, value: Any) -> Any:
    """The value to record: as declared, so that 1 given for a float is 1.0 and a dtype's name its number.

    What an operator takes but does not declare (of composite learning rates) is recorded as given.
    """
    converted = getattr(made, name, None)
    return value if converted is None else converted


def _added_at(error: NetdslError, net: str, where: Any) -> NetdslError:
    """The same error with the net and the author's line among its details."""
    details = {k.replace(" ", "_"): v for k, v in error.details.items()}
    return type(error)(error.what, **{**details, "net": net, "added_at": details.get("added_at") or where})
