"""Reverse-mode gradients: walk a net backwards and let each operator append its gradient.

Names, order and accumulation are Caffe2's: the first gradient of a blob (from its last reader) keeps
``X_grad``, later ones become ``_X_grad_autosplit_k`` and a Sum joins them once the first reader is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import attrs

from netdsl.errors import GradientError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, Device, DType, NetDef, OperatorDef, SourceLine, TensorType
from netdsl.ir.args import NO_ARGS, Args
from netdsl.ir.rename import map_nets, rename_blobs
from netdsl.ops.schema import Operator, bound, is_known, lookup


@attrs.frozen
class SparseGrad:
    """A gradient that is zero but for the rows ``indices``; both are blob names."""

    indices: str
    values: str


Grad = str | SparseGrad


@attrs.frozen
class Backward:
    """The operators to append, and the gradient of each blob they compute."""

    ops: tuple[OperatorDef, ...]
    grads: Mapping[str, Grad]


@attrs.define(eq=False)
class _Op:
    """A backward operator whose blobs may still be renamed."""

    type: str
    inputs: list[str]
    outputs: list[str]
    args: Mapping[str, Any]
    device: Device | None
    engine: str = ""
    is_gradient: bool = False
    where: SourceLine | None = None

    def finished(self) -> OperatorDef:
        return OperatorDef(
            self.type,
            self.inputs,
            self.outputs,
            self.args,
            self.device,
            self.engine,
            is_gradient=self.is_gradient,
            where=self.where,
        )


@attrs.define(eq=False)
class _Place:
    """An output of a backward operator, and every mention of its blob by the operators of the same gradient.

    A gradient that is composed in several steps writes and reads its blob more than once; all of it is
    renamed together, so that no step touches what an earlier contribution left under the old name.
    """

    op: _Op
    index: int
    mentions: list[tuple[list[str], int]]

    @property
    def name(self) -> str:
        return self.op.outputs[self.index]

    def rename(self, name: str) -> None:
        if self.op.args:
            self._rename_nested(name)
        self.op.outputs[self.index] = name
        for names, index in self.mentions:
            names[index] = name

    def _rename_nested(self, new: str) -> None:
        """Rename the blob in the nested nets that write it.

        Raises:
            GradientError: the nets get the gradient of what they overwrite under the same name.
        """
        old = self.name

        def renamed(net: NetDef) -> NetDef:
            if old in net.read_first() or not any(old in op.outputs for op in net.ops):
                blob = old.removesuffix("_grad")
                raise GradientError(
                    f"{self.op.type} overwrites blob {blob!r}, which another operator has read",
                    added_at=self.op.where,
                    fix=f"let {self.op.type} write a fresh blob instead of {blob!r}",
                )
            return rename_blobs(net, {old: new})

        self.op.args = map_nets(self.op.args, renamed)


@attrs.define(eq=False)
class _Part:
    """One contribution to a blob's gradient: where it is written, or the blob it is passed on from."""

    grad: Grad
    places: tuple[_Place | None, ...]


class _Held:
    """The gradient that each blob has at one point of the walk, and how many blobs have a given one."""

    def __init__(self) -> None:
        self.of: dict[str, Grad | None] = {}
        self.count: dict[Grad, int] = defaultdict(int)
        self.replaced: set[Grad] = set()
        """Gradients that a blob had before another reader of it, or what overwrote it, brought the next."""

    def set(self, blob: str, grad: Grad | None) -> None:
        before = self.of.get(blob)
        if before == grad and before is not None:
            return
        if before is not None:
            self.count[before] -= 1
            self.replaced.add(before)
        if grad is not None:
            self.count[grad] += 1
        self.of[blob] = grad


class _Input(str):
    """The name of a blob as the forward operator read it, though it may have overwritten it since."""


class _Target(str):
    """The name that the gradient of input ``position`` must get."""

    __slots__ = ("position",)

    position: int

    def __new__(cls, name: str, position: int) -> _Target:
        made = str.__new__(cls, name)
        made.position = position
        return made


class _ByFormal:
    """Attribute access by formal name, with a clear error for a misspelt one."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = values

    def __getattr__(self, formal: str) -> Any:
        raise AttributeError(f"no formal {formal!r} here; there are {', '.join(self.__dict__)}")


@attrs.frozen
class _Step:
    """A forward operator with the versions of what it reads and writes; ``shared`` has the memory that it writes."""

    op: OperatorDef
    index: int
    reads: dict[str, int]
    writes: dict[str, int]
    shared: dict[str, int]


def gradient(
    net: NetDef,
    losses: Mapping[str, str | None],
    wrt: Iterable[str] | None = None,
    types: Mapping[str, BlobType] | None = None,
) -> Backward:
    """Return the backward pass of ``net`` from ``losses`` (blob to its gradient blob; None seeds ones).

    With ``wrt``, only what the gradients of these blobs need is computed. ``types`` tells what is known
    of the losses: seeds have their dtype, float32 where nothing is known.

    Raises:
        GradientError: a loss nobody computes, an operator without gradient on the path, an input
            overwritten before the backward pass needs it, sparse and dense gradients of one blob.
    """
    return _Pass(net, wrt).run(losses, types or {})


class _Pass:
    """One backward pass over one net."""

    def __init__(self, net: NetDef, wrt: Iterable[str] | None) -> None:
        self.net = net
        self.wrt = None if wrt is None else [str(w) for w in wrt]
        self.steps: list[_Step] = []
        self.version: dict[str, int] = defaultdict(int)
        self.writer: dict[tuple[str, int], int] = {}
        self.first_reader: dict[tuple[str, int], int] = {}
        self.readers: dict[tuple[str, int], int] = defaultdict(int)
        self.parts: dict[tuple[str, int], list[_Part]] = defaultdict(list)
        """Contributions to the gradients of blobs that more than one operator reads."""
        self.ops: list[_Op] = []
        self.grads = _Held()
        self.last: dict[str, Grad | None] = {}
        """The gradient of the last value of blobs that are written more than once."""
        self.names = set(net.blobs())
        self.aliases: dict[str, set[str]] = {}
        """The blobs that share one memory, by each of them."""
        for index, op in enumerate(net.ops):
            self._record(index, op)

    def _record(self, index: int, op: OperatorDef) -> None:
        reads = {name: self.version[name] for name in op.inputs}
        for name in op.inputs:
            key = (name, reads[name])
            self.first_reader.setdefault(key, index)
            self.readers[key] += 1
        shared = self._shared_memory(op)
        for name in (*op.outputs, *shared):
            self.version[name] += 1
            self.writer[name, self.version[name]] = index
        writes, also = ({name: self.version[name] for name in names} for names in (op.outputs, shared))
        self.steps.append(_Step(op, index, reads, writes, also))

    def _shared_memory(self, op: OperatorDef) -> set[str]:
        """The other names of the memory that ``op`` writes; an alias writes none, but gives one more name."""
        if not (is_known(op.type) and any(out.alias for out in lookup(op.type).outputs)):
            return {m for name in op.outputs for m in self.aliases.get(name, ())} - set(op.outputs)
        source, name = op.inputs[0], op.outputs[0]
        joined = {*self.aliases.get(source, {source}), name}
        self.aliases.update(dict.fromkeys(joined, joined))
        return set()

    def run(self, losses: Mapping[str, str | None], types: Mapping[str, BlobType]) -> Backward:
        for loss, grad in losses.items():
            self._seed(loss, grad, types.get(loss, UNKNOWN))
        active = self._active()
        for step in reversed(self.steps):
            if active is not None and not any((n, v) in active for n, v in step.reads.items()):
                self._forget(step, {})
                continue
            self._require_apart(step)
            self._differentiate(step)
            self._accumulate(step)
        found = {name: grad or self.last.get(name) for name, grad in self.grads.of.items()}
        grads = {name: grad for name, grad in found.items() if grad is not None}
        ops = [op.finished() for op in self.ops]
        if active is not None and self.wrt is not None:
            complete = {name for name, _ in active}  # others lack what flows through operators left out
            grads = {name: grad for name, grad in grads.items() if name in complete}
            ops, grads = _prune(ops, grads, self.wrt, self.net)
        return Backward(tuple(ops), grads)

    def _seed(self, loss: str, grad: str | None, type_: BlobType) -> None:
        if not self.version.get(loss):
            raise GradientError(
                f"no operator of net {self.net.name!r} computes the loss {loss!r}",
                did_you_mean=did_you_mean(loss, {n for op in self.net.ops for n in op.outputs}),
            )
        key, place = (loss, self.version[loss]), None
        if grad is None:
            grad = f"{loss}_autogen_grad"
            args: dict[str, Any] = {"value": 1.0}
            if isinstance(type_, TensorType) and type_.dtype in (DType.FLOAT16, DType.DOUBLE):
                args["dtype"] = type_.dtype.number
            self.ops.append(_Op("ConstantFill", [loss], [grad], args, self.net.ops[self.writer[key]].device))
            place = _Place(self.ops[-1], 0, [])
        self.grads.set(loss, grad)
        if self.readers[key]:  # what other losses make of this one adds to its seed
            self.readers[key] += 1
            self.parts[key].append(_Part(grad, (place,)))

    def _active(self) -> set[tuple[str, int]] | None:
        """The versions that depend on ``wrt``, or None for all."""
        if self.wrt is None:
            return None
        if unknown := [w for w in self.wrt if w not in self.names]:
            near = did_you_mean(unknown[0], self.names)
            raise GradientError(
                f"wrt names blob {unknown[0]!r}, which net {self.net.name!r} has not", did_you_mean=near
            )
        active = {(w, v) for w in self.wrt for v in range(self.version[w] + 1)}
        for step in self.steps:
            if any((n, v) in active for n, v in step.reads.items()):
                active.update((step.writes | step.shared).items())
        return active

    def _differentiate(self, step: _Step) -> None:
        out_grads = [self.grads.of.get(name) for name in step.op.outputs]
        if all(g is None for g in out_grads):
            self._forget(step, {})
            return
        declared = bound(step.op)
        rule: Any = getattr(declared, "gradient", None)
        if rule is None:
            raise GradientError(
                f"{step.op.type} has no gradient, but the loss depends on it",
                operator=f"{step.op}     (operator {step.index} of net {self.net.name!r})",
                added_at=step.op.where,
                fix="put StopGradient after it, or compute the loss without it",
            )
        builder = _Builder(self, step, declared, out_grads)
        rule(builder)
        new: dict[str, Grad] = {}
        for position, part in builder.found.items():
            name = step.op.inputs[position]
            new[name] = part.grad
            key = (name, step.reads[name])
            if self.readers[key] > 1:
                self.parts[key].append(part)
        self._forget(step, new)

    def _forget(self, step: _Step, new: Mapping[str, Grad]) -> None:
        """Take over new gradients; the value that this operator overwrites has no other."""
        for name, version in step.writes.items():
            if name not in step.reads and version > 1:
                self.last.setdefault(name, self.grads.of.get(name))
                self.grads.set(name, None)
        for name in step.op.inputs:
            if name in new:
                self.grads.set(name, new[name])
            elif name in step.writes:
                self.grads.set(name, None)

    def _accumulate(self, step: _Step) -> None:
        for key in step.reads.items():
            name, parts = key[0], self.parts.get(key, ())
            if len(parts) < 2 or self.first_reader[key] != step.index:
                continue
            if len({type(p.grad) for p in parts}) > 1:
                raise GradientError(
                    f"blob {name!r} gets a dense and a sparse gradient, which cannot be added",
                    read_by=", ".join(str(s.op) for s in self.steps if s.reads.get(name) == key[1]),
                    fix="make the sparse one dense (EnsureDense, or a dense Gather)",
                )
            base = self._base(name, parts)
            if self.grads.count.get(base, 0) > (self.grads.of.get(name) == base):
                base = f"_{base}_joined"  # another blob's gradient is passed on under this name
            join = self._join_sparse if isinstance(parts[0].grad, SparseGrad) else self._join_dense
            self.grads.set(name, join(parts, base, step.op))

    @staticmethod
    def _base(name: str, parts: Sequence[_Part]) -> str:
        for part in parts:
            for place, suffix in zip(
                part.places, ("_indices", "_values") if len(part.places) > 1 else ("",), strict=True
            ):
                if place is not None:
                    return place.name.removesuffix(suffix)
        return f"{name}_grad"

    def _join_dense(self, parts: Sequence[_Part], base: str, op: OperatorDef) -> str:
        terms = _split_names([(p.places[0], str(p.grad)) for p in parts])
        if base in terms[1:]:  # Sum may overwrite its first input only
            at = terms.index(base)
            terms[0], terms[at] = terms[at], terms[0]
        self.ops.append(_Op("Sum", terms, [base], NO_ARGS, _device(parts, op)))
        return base

    def _join_sparse(self, parts: Sequence[_Part], base: str, op: OperatorDef) -> SparseGrad:
        names: list[str] = []
        for index, kind in enumerate(("indices", "values")):
            terms = _split_names([(p.places[index], getattr(p.grad, kind)) for p in parts])
            joined = f"{base}_{kind}_concat"
            self.ops.append(_Op("Concat", terms, [joined, f"{joined}_split"], {"axis": 0}, _device(parts, op)))
            names.append(joined)
        return SparseGrad(*names)

    def _require_apart(self, step: _Step) -> None:
        """Raise if a gradient flows to what ``step`` writes under another name than its own."""
        for name in step.shared:
            if self.grads.of.get(name) is not None:
                raise GradientError(
                    f"the loss depends on blob {name!r} after its memory is written under another name",
                    written_by=f"{step.op}     (operator {step.index} of net {self.net.name!r})",
                    added_at=step.op.where,
                    fix=f"let {step.op.type} write a fresh blob, or use Copy in place of the alias",
                )

    def overwritten(self, name: str, version: int, step: _Step) -> GradientError:
        """The error that ``name`` will hold another value than ``step`` saw when the backward pass runs."""
        culprit = self.net.ops[self.writer[name, version + 1]]
        return GradientError(
            f"the gradient of {step.op.type} needs blob {name!r} as it was, but it is overwritten later",
            needed_by=f"{step.op}     (operator {step.index} of net {self.net.name!r}, version {version})",
            overwritten_by=f"{culprit}     (version {self.version[name]} at the end)",
            added_at=step.op.where,
            fix=f"let {culprit.type} write a fresh blob instead of {name!r}",
        )


def _device(parts: Sequence[_Part], op: OperatorDef) -> Any:
    placed = [place.op.device for p in parts for place in p.places if place is not None]
    return placed[0] if placed else op.device


def _split_names(terms: Sequence[tuple[_Place | None, str]]) -> list[str]:
    """Rename all but the first written term, so that every term has a blob of its own."""
    names: list[str] = []
    count = -1
    for place, passed in terms:
        if place is None:
            names.append(passed)
            continue
        if count >= 0:
            place.rename(f"_{place.name}_autosplit_{count}")
        count += 1
        names.append(place.name)
    return names


class _Builder:
    """Implements :class:`netdsl.ops.gradient.Gradients` for one forward operator."""

    def __init__(self, owner: _Pass, step: _Step, declared: Operator, out_grads: Sequence[Grad | None]) -> None:
        self._owner, self._step = owner, step
        self.found: dict[int, _Part] = {}
        self._added: list[_Op] = []
        self._mentions: dict[int, list[tuple[list[str], int]]] = defaultdict(list)
        op = step.op
        targets = [_Target(self._target(name), i) for i, name in enumerate(op.inputs)]
        ins, outs = declared.formal_inputs, declared.formal_outputs
        self.blob = _ByFormal(ins.by_name(list(map(_Input, op.inputs))) | outs.by_name(op.outputs))
        self.grad = _ByFormal(ins.by_name(targets) | outs.by_name(out_grads))

    def _target(self, name: str) -> str:
        """The usual name of an input's gradient, unless it holds another gradient that is still needed."""
        usual, step, held = f"{name}_grad", self._step, self._owner.grads
        if not held.count.get(usual):
            return usual
        own = sum(held.of.get(n) == usual for n in {*step.op.outputs, name})
        parts = self._owner.parts.get((name, step.reads[name]), ())
        passed = any(part.places == (None,) and part.grad == usual for part in parts)
        return f"_{usual}_apart" if passed or held.count[usual] > own else usual

    @property
    def args(self) -> Args:
        return self._step.op.args

    def add(
        self, type_: Any, inputs: Sequence[Any], outputs: Sequence[Any], args: Mapping[str, Any] | None = None
    ) -> None:
        op = self._step.op
        ins, outs = _flat(inputs), _flat(outputs)
        for name in ins:
            self._check(name)
        made = _Op(
            type_ if isinstance(type_, str) else type_.__name__,
            self._named(ins),
            self._named(outs),
            op.args if args is None else args,
            op.device,
            op.engine,
            is_gradient=True,
            where=op.where,
        )
        self._owner.ops.append(made)
        self._added.append(made)
        for index, out in enumerate(outs):
            if isinstance(out, _Target):
                self.found.pop(out.position, None)
                self.found[out.position] = _Part(
                    made.outputs[index], (_Place(made, index, self._mentions[out.position]),)
                )

    def _named(self, names: Sequence[Any]) -> list[str]:
        """Return plain names, and note where the gradients that this operator makes are mentioned."""
        listed: list[str] = []
        for name in names:
            if isinstance(name, _Target):
                self._mentions[name.position].append((listed, len(listed)))
            listed.append(str(name))
        return listed

    def _check(self, name: Any) -> None:
        step, owner = self._step, self._owner
        if isinstance(name, SparseGrad):
            op = step.op
            raise GradientError(f"{op.type} takes no sparse gradient of its output", operator=op, added_at=op.where)
        version = step.reads.get(name)
        if not isinstance(name, _Input):
            version = step.writes.get(name, version)
        if version is None or owner.version[name] == version or owner.grads.count.get(name):
            return
        if not any(name in made.outputs for made in self._added):
            raise owner.overwritten(name, version, step)

    def same(self, source: Any, target: Any) -> None:
        if isinstance(source, SparseGrad):
            self.found[target.position] = _Part(source, (None, None))
        elif source is not None:
            self.found[target.position] = _Part(str(source), (None,))

    def sparse(self, target: Any, indices: Any, values: Any) -> None:
        self._check(indices)
        places = (self._place(indices), self._place(values))
        self.found[target.position] = _Part(SparseGrad(str(indices), str(values)), places)

    def _place(self, name: str) -> _Place | None:
        return next((_Place(op, op.outputs.index(name), []) for op in self._added if name in op.outputs), None)

    def is_shared(self, grad: Any) -> bool:
        held = self._owner.grads
        return held.count.get(grad, 0) > 1 or grad in held.replaced or grad in self._owner.names

    def zeros(self, like: str) -> str:
        name = f"{like}_zero_grad"
        self.add("ZerosLike", [like], [name], args={})
        return name

    def temp(self, suffix: str) -> str:
        return f"_{self._step.op.inputs[0]}_grad{suffix}"

    def nested(self, net: NetDef, grads: Mapping[str, str]) -> tuple[NetDef, Mapping[str, str]]:
        written = {name for op in net.ops for name in op.outputs}
        made = gradient(net, {y: dy for y, dy in grads.items() if y in written})
        dense = {x: g for x, g in made.grads.items() if isinstance(g, str)}
        if len(dense) < len(made.grads):
            raise GradientError(f"a nested net of {self._step.op.type} has a sparse gradient", operator=self._step.op)
        return NetDef(f"{net.name}_grad", made.ops), dense


def _flat(names: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for name in names:
        if isinstance(name, (tuple, list)):
            flat.extend(_flat(cast("Sequence[Any]", name)))
        elif name is not None:
            flat.append(name)
    return flat


def _prune(
    ops: Sequence[OperatorDef], grads: Mapping[str, Grad], wrt: Sequence[str], net: NetDef
) -> tuple[list[OperatorDef], dict[str, Grad]]:
    """Leave out operators, and trailing optional outputs, that no gradient of ``wrt`` needs."""
    needed: set[str] = set()
    for name in wrt:
        grad = grads.get(name)
        needed.update((grad.indices, grad.values) if isinstance(grad, SparseGrad) else [grad] if grad else [])
    kept: list[OperatorDef] = []
    for op in reversed(ops):
        if not needed & set(op.outputs):
            continue
        outs = list(op.outputs)
        formals = bound(op).formal_outputs
        while outs[-1] not in needed and len(outs) > formals.required:
            outs.pop()
        needed.difference_update(outs)
        needed.update(op.inputs)
        kept.append(attrs.evolve(op, outputs=outs) if len(outs) < len(op.outputs) else op)
    written = {name for op in kept for name in op.outputs} | set(net.blobs())
    alive = {
        name: grad
        for name, grad in grads.items()
        if all(n in written for n in ((grad.indices, grad.values) if isinstance(grad, SparseGrad) else (grad,)))
    }
    return kept[::-1], alive
