"""Reverse-mode gradients: walk a net backwards and let each operator append its gradient.

Names, order and accumulation are Caffe2's: the first gradient of a blob (from its last reader) keeps
``X_grad``, later ones become ``_X_grad_autosplit_k`` and a Sum joins them once the first reader is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from netdsl.analysis.backward import Backward, Builder, Grad, Held, Part, Pending, Place, SparseGrad
from netdsl.analysis.versions import VersionedOp, Versions
from netdsl.errors import GradientError, SchemaError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, OperatorDef, TensorType
from netdsl.ir.args import NO_ARGS
from netdsl.ops.regions import all_reads
from netdsl.ops.schema import bound
from netdsl.ops.validate import check_use

__all__ = ["Backward", "Grad", "SparseGrad", "gradient"]


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
        self.versions = Versions(net)
        self.terms = self.versions.readers.copy()
        """How many operators and seeds add to the gradient of each version of a blob."""
        self.ops: list[Pending] = []
        self.held = Held()
        self.final: dict[str, Grad | None] = {}
        """The gradient of the last value of blobs that are written more than once."""

    def run(self, losses: Mapping[str, str | None], types: Mapping[str, BlobType]) -> Backward:
        for loss, grad in losses.items():
            self._seed(loss, grad, types.get(loss, UNKNOWN))
        active = self._active()
        for step in reversed(self.versions.steps):
            if active is not None and active.isdisjoint((step.reads | step.hidden.reads).items()):
                self._forget(step, {})
                continue
            self._require_apart(step)
            self._differentiate(step)
            self._accumulate(step)
        found = {name: grad or self.final.get(name) for name, grad in self.held.of.items()}
        grads = {name: grad for name, grad in found.items() if grad is not None}
        ops = [op.finished() for op in self.ops]
        if active is not None and self.wrt is not None:
            complete = {name for name, _ in active}  # others lack what flows through operators left out
            grads = {name: grad for name, grad in grads.items() if name in complete}
            ops, grads = _prune(ops, grads, self.wrt, self.net)
        return Backward(tuple(ops), grads)

    def _seed(self, loss: str, grad: str | None, type_: BlobType) -> None:
        if not self.versions.last.get(loss):
            raise GradientError(
                f"no operator of net {self.net.name!r} computes the loss {loss!r}",
                did_you_mean=did_you_mean(loss, {n for op in self.net.ops for n in op.outputs}),
            )
        key, place = (loss, self.versions.last[loss]), None
        if grad is None:
            grad = f"{loss}_autogen_grad"
            args: dict[str, Any] = {"value": 1.0}
            if isinstance(type_, TensorType) and type_.dtype in (DType.FLOAT16, DType.DOUBLE):
                args["dtype"] = type_.dtype.number
            self.ops.append(
                Pending("ConstantFill", [loss], [grad], args, self.net.ops[self.versions.writer[key]].device)
            )
            place = Place(self.ops[-1], 0, [])
        self.held.set(loss, grad)
        if self.terms[key]:  # what other losses make of this one adds to its seed
            self.terms[key] += 1
            self.held.parts[key].append(Part(grad, (place,)))

    def _active(self) -> set[tuple[str, int]] | None:
        """The versions that depend on ``wrt``, or None for all."""
        if self.wrt is None:
            return None
        if unknown := [w for w in self.wrt if w not in self.versions.names]:
            near = did_you_mean(unknown[0], self.versions.names)
            raise GradientError(
                f"wrt names blob {unknown[0]!r}, which net {self.net.name!r} has not", did_you_mean=near
            )
        active = {(w, v) for w in self.wrt for v in range(self.versions.last[w] + 1)}
        for step in self.versions.steps:
            if any((n, v) in active for n, v in (step.reads | step.hidden.reads).items()):
                active.update((step.writes | step.shared | step.hidden.writes).items())
        return active

    def _differentiate(self, step: VersionedOp) -> None:
        out_grads = [self.held.of.get(name) for name in step.op.outputs]
        if all(g is None for g in out_grads):
            self._forget(step, {})
            return
        if step.hidden.reads:
            _require_listed(step, self.net)
        declared = bound(step.op)
        rule: Any = getattr(declared, "gradient", None)
        if rule is None:
            raise GradientError(
                f"{step.op.type} has no gradient, but the loss depends on it",
                operator=f"{step.op}     (operator {step.index} of net {self.net.name!r})",
                added_at=step.op.where,
                fix="put StopGradient after it, or compute the loss without it",
            )
        builder = Builder(step, declared, out_grads, self.versions, self.held, gradient)
        rule(builder)
        self.ops += builder.ops
        new: dict[str, Grad] = {}
        for position, part in builder.found.items():
            name = step.op.inputs[position]
            new[name] = part.grad
            key = (name, step.reads[name])
            if self.terms[key] > 1:
                self.held.parts[key].append(part)
        self._forget(step, new)

    def _forget(self, step: VersionedOp, new: Mapping[str, Grad]) -> None:
        """Take over new gradients; the value that this operator overwrites has no other."""
        for name, version in step.writes.items():
            if name not in step.reads and version > 1:
                self.final.setdefault(name, self.held.of.get(name))
                self.held.set(name, None)
        for name in step.op.inputs:
            if name in new:
                self.held.set(name, new[name])
            elif name in step.writes:
                self.held.set(name, None)

    def _accumulate(self, step: VersionedOp) -> None:
        for key in step.reads.items():
            name, parts = key[0], self.held.parts.get(key, ())
            if len(parts) < 2 or self.versions.first_reader[key] != step.index:
                continue
            if len({type(p.grad) for p in parts}) > 1:
                raise GradientError(
                    f"blob {name!r} gets a dense and a sparse gradient, which cannot be added",
                    read_by=", ".join(str(s.op) for s in self.versions.steps if s.reads.get(name) == key[1]),
                    fix="make the sparse one dense (EnsureDense, or a dense Gather)",
                )
            base = self._base(name, parts)
            if self.held.count.get(base, 0) > (self.held.of.get(name) == base):
                base = f"_{base}_joined"  # another blob's gradient is passed on under this name
            join = self._join_sparse if isinstance(parts[0].grad, SparseGrad) else self._join_dense
            self.held.set(name, join(parts, base, step.op))

    @staticmethod
    def _base(name: str, parts: Sequence[Part]) -> str:
        for part in parts:
            for place, suffix in zip(
                part.places, ("_indices", "_values") if len(part.places) > 1 else ("",), strict=True
            ):
                if place is not None:
                    return place.name.removesuffix(suffix)
        return f"{name}_grad"

    def _join_dense(self, parts: Sequence[Part], base: str, op: OperatorDef) -> str:
        terms = _split_names([(p.places[0], str(p.grad)) for p in parts])
        if base in terms[1:]:  # Sum may overwrite its first input only
            at = terms.index(base)
            terms[0], terms[at] = terms[at], terms[0]
        self.ops.append(Pending("Sum", terms, [base], NO_ARGS, _device(parts, op)))
        return base

    def _join_sparse(self, parts: Sequence[Part], base: str, op: OperatorDef) -> SparseGrad:
        names: list[str] = []
        for index, kind in enumerate(("indices", "values")):
            terms = _split_names([(p.places[index], getattr(p.grad, kind)) for p in parts])
            joined = f"{base}_{kind}_concat"
            self.ops.append(Pending("Concat", terms, [joined, f"{joined}_split"], {"axis": 0}, _device(parts, op)))
            names.append(joined)
        return SparseGrad(*names)

    def _require_apart(self, step: VersionedOp) -> None:
        """Raise if a gradient flows to what ``step`` writes under another name than its own."""
        for name in (*step.shared, *step.hidden.writes):
            if self.held.of.get(name) is None:
                continue
            if name in step.shared:
                how = " after its memory is written under another name"
                remedy = "write a fresh blob, or use Copy in place of the alias"
            else:
                how, remedy = ", which a nested net writes", f"list {name!r} among its outputs"
            raise GradientError(
                f"the loss depends on blob {name!r}{how}",
                written_by=f"{step.op}     (operator {step.index} of net {self.net.name!r})",
                added_at=step.op.where,
                fix=f"let {step.op.type} {remedy}",
            )


def _require_listed(step: VersionedOp, net: NetDef) -> None:
    """Raise if a gradient has no way to what a nested net reads."""
    for name in step.hidden.reads:
        raise GradientError(
            f"a nested net of {step.op.type} reads blob {name!r}, to which no gradient can flow",
            operator=f"{step.op}     (operator {step.index} of net {net.name!r})",
            added_at=step.op.where,
            fix=f"list {name!r} among the inputs of {step.op.type}",
        )


def _device(parts: Sequence[Part], op: OperatorDef) -> Any:
    placed = [place.op.device for p in parts for place in p.places if place is not None]
    return placed[0] if placed else op.device


def _split_names(terms: Sequence[tuple[Place | None, str]]) -> list[str]:
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
        trimmed = _trimmed(op, needed)
        needed.difference_update(trimmed.outputs)
        needed.update(all_reads(trimmed))
        kept.append(trimmed)
    written = {name for op in kept for name in op.outputs} | set(net.blobs())
    alive = {
        name: grad
        for name, grad in grads.items()
        if all(n in written for n in ((grad.indices, grad.values) if isinstance(grad, SparseGrad) else (grad,)))
    }
    return kept[::-1], alive


def _trimmed(op: OperatorDef, needed: set[str]) -> OperatorDef:
    """Return ``op`` with as few trailing outputs beyond those ``needed`` as it can do with."""
    least = 1 + max(at for at, name in enumerate(op.outputs) if name in needed)
    for count in range(least, len(op.outputs)):
        shorter = attrs.evolve(op, outputs=op.outputs[:count])
        try:
            check_use(shorter)
        except SchemaError:
            continue
        return shorter
    return op
