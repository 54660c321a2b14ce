"""The backward operators of one forward operator, whose blobs may still be renamed, and the gradients held so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs

from netdsl.analysis.versions import VersionedOp, Versions
from netdsl.errors import GradientError
from netdsl.ir import Device, NetDef, OperatorDef, SourceLine
from netdsl.ir.args import NO_ARGS, Args
from netdsl.ops.regions import flow, regions, renamed
from netdsl.ops.schema import Operator


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


Differentiate = Callable[[NetDef, Mapping[str, str | None]], Backward]
"""What gives the backward pass of a nested net from the gradients of its outputs."""


@attrs.define(eq=False)
class Pending:
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
class Place:
    """An output of a backward operator, and every mention of its blob by the operators of the same gradient.

    A gradient that is composed in several steps writes and reads its blob more than once; all of it is
    renamed together, so that no step touches what an earlier contribution left under the old name.
    """

    op: Pending
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
        old, op = self.name, self.op.finished()
        for region in regions(op):
            inside = flow(region.net)
            follows = region.bound is None or (old not in region.bound and old in region.outer(inside))
            if follows and (old in inside.reads or (region.bound is None and old not in inside.writes)):
                blob = old.removesuffix("_grad")
                raise GradientError(
                    f"{self.op.type} overwrites blob {blob!r}, which another operator has read",
                    added_at=self.op.where,
                    fix=f"let {self.op.type} write a fresh blob instead of {blob!r}",
                )
        self.op.args = renamed(op, {old: new}, streams=False).args


@attrs.define(eq=False)
class Part:
    """One contribution to a blob's gradient: where it is written, or the blob it is passed on from."""

    grad: Grad
    places: tuple[Place | None, ...]


class Held:
    """The gradient that each blob has at one point of the walk, and how many blobs have a given one."""

    def __init__(self) -> None:
        self.of: dict[str, Grad | None] = {}
        self.count: dict[Grad, int] = defaultdict(int)
        self.replaced: set[Grad] = set()
        """Gradients that a blob had before another reader of it, or what overwrote it, brought the next."""
        self.parts: dict[tuple[str, int], list[Part]] = defaultdict(list)
        """Contributions to the gradients of blobs (name and version) that more than one operator reads."""

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


class Input(str):
    """The name of a blob as the forward operator read it, though it may have overwritten it since."""


class Target(str):
    """The name that the gradient of input ``position`` must get."""

    __slots__ = ("position",)

    position: int

    def __new__(cls, name: str, position: int) -> Target:
        made = str.__new__(cls, name)
        made.position = position
        return made


class _ByFormal:
    """Attribute access by formal name, with a clear error for a misspelt one."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = values

    def __getattr__(self, formal: str) -> Any:
        raise AttributeError(f"no formal {formal!r} here; there are {', '.join(self.__dict__)}")


class Builder:
    """Implements :class:`netdsl.ops.gradient.Gradients` for one forward operator."""

    def __init__(
        self,
        step: VersionedOp,
        declared: Operator,
        out_grads: Sequence[Grad | None],
        versions: Versions,
        held: Held,
        differentiate: Differentiate,
    ) -> None:
        self._step, self._versions, self._held, self._differentiate = step, versions, held, differentiate
        self.found: dict[int, Part] = {}
        self.ops: list[Pending] = []
        self._mentions: dict[int, list[tuple[list[str], int]]] = defaultdict(list)
        op = step.op
        self._args = op.args
        if op.args is not NO_ARGS and "stream" in op.args:  # a backward pass draws nothing
            self._args = Args({name: value for name, value in op.args.items() if name != "stream"})
        targets = [Target(self._target(name), i) for i, name in enumerate(op.inputs)]
        ins, outs = declared.formal_inputs, declared.formal_outputs
        self.blob = _ByFormal(ins.by_name(list(map(Input, op.inputs))) | outs.by_name(op.outputs))
        self.grad = _ByFormal(ins.by_name(targets) | outs.by_name(out_grads))

    def _target(self, name: str) -> str:
        """The usual name of an input's gradient, unless it holds another gradient that is still needed."""
        usual, step, held = f"{name}_grad", self._step, self._held
        if not held.count.get(usual):
            return usual
        own = sum(held.of.get(n) == usual for n in {*step.op.outputs, name})
        parts = held.parts.get((name, step.reads[name]), ())
        passed = any(part.places == (None,) and part.grad == usual for part in parts)
        return f"_{usual}_apart" if passed or held.count[usual] > own else usual

    @property
    def args(self) -> Args:
        return self._args

    def add(
        self, type_: Any, inputs: Sequence[Any], outputs: Sequence[Any], args: Mapping[str, Any] | None = None
    ) -> None:
        op = self._step.op
        ins, outs = _flat(inputs), _flat(outputs)
        for name in ins:
            self._check(name)
        made = Pending(
            type_ if isinstance(type_, str) else type_.__name__,
            self._named(ins),
            self._named(outs),
            self._args if args is None else args,
            op.device,
            op.engine,
            is_gradient=True,
            where=op.where,
        )
        self.ops.append(made)
        for index, out in enumerate(outs):
            if isinstance(out, Target):
                self.found.pop(out.position, None)
                self.found[out.position] = Part(
                    made.outputs[index], (Place(made, index, self._mentions[out.position]),)
                )

    def _named(self, names: Sequence[Any]) -> list[str]:
        """Return plain names, and note where the gradients that this operator makes are mentioned."""
        listed: list[str] = []
        for name in names:
            if isinstance(name, Target):
                self._mentions[name.position].append((listed, len(listed)))
            listed.append(str(name))
        return listed

    def _check(self, name: Any) -> None:
        step, versions = self._step, self._versions
        if isinstance(name, SparseGrad):
            op = step.op
            raise GradientError(f"{op.type} takes no sparse gradient of its output", operator=op, added_at=op.where)
        version = step.reads.get(name)
        if not isinstance(name, Input):
            version = step.writes.get(name, version)
        if version is None or versions.last[name] == version or self._held.count.get(name):
            return
        if not any(name in made.outputs for made in self.ops):
            raise versions.overwritten(name, version, step)

    def same(self, source: Any, target: Any) -> None:
        if isinstance(source, SparseGrad):
            self.found[target.position] = Part(source, (None, None))
        elif source is not None:
            self.found[target.position] = Part(str(source), (None,))

    def sparse(self, target: Any, indices: Any, values: Any) -> None:
        self._check(indices)
        places = (self._place(indices), self._place(values))
        self.found[target.position] = Part(SparseGrad(str(indices), str(values)), places)

    def _place(self, name: str) -> Place | None:
        return next((Place(op, op.outputs.index(name), []) for op in self.ops if name in op.outputs), None)

    def is_shared(self, grad: Any) -> bool:
        held = self._held
        return held.count.get(grad, 0) > 1 or grad in held.replaced or grad in self._versions.names

    def zeros(self, like: str) -> str:
        name = f"{like}_zero_grad"
        self.add("ZerosLike", [like], [name], args={})
        return name

    def temp(self, suffix: str) -> str:
        return f"_{self._step.op.inputs[0]}_grad{suffix}"

    def nested(self, net: NetDef, grads: Mapping[str, str]) -> tuple[NetDef, Mapping[str, str]]:
        inside = flow(net)
        made = self._differentiate(net, {y: dy for y, dy in grads.items() if y in inside.writes})
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
