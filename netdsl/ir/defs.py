"""OperatorDef and NetDef, the immutable records that everything else passes around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import attrs

from netdsl.errors import printable
from netdsl.ir.args import NO_ARGS, Args, as_args
from netdsl.ir.types import UNKNOWN, BlobType


@attrs.frozen
class SourceLine:
    """Where the author added an operator."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@attrs.frozen
class Device:
    """Where an operator runs: ``kind`` is ``"cpu"``, ``"cuda"`` or another of Caffe2's device types in lower case."""

    kind: str = "cpu"
    index: int = 0
    random_seed: int | None = None
    node_name: str = ""
    numa_node: int | None = None
    extra_info: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" and not self.index else f"{self.kind}:{self.index}"


def _texts(names: Iterable[Any]) -> tuple[str, ...]:
    return tuple([name if type(name) is str else str(name) for name in names]) if names else ()


@attrs.frozen(cache_hash=True)
class OperatorDef:
    """One recorded operator: a type name, blob names and exactly the arguments given.

    ``is_gradient`` (Caffe2's ``is_gradient_op``) and ``where`` are metadata: not compared, not printed.
    """

    type: str
    inputs: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    outputs: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    args: Args = attrs.field(default=NO_ARGS, converter=as_args)
    device: Device | None = None
    engine: str = ""
    name: str = ""
    control_inputs: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    domain: str = ""
    debug_info: str = ""
    is_gradient: bool = attrs.field(default=False, eq=False, repr=False)
    where: SourceLine | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def nested(self) -> Iterator[tuple[str, NetDef]]:
        """Every net among the arguments, with the argument's name."""
        for name, value in self.args.items():
            nets = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
            for net in nets:
                if isinstance(net, NetDef):
                    yield name, net

    def __str__(self) -> str:
        """As one line that can be read, without arguments: ``y = FC(x, w, b)``; what does not print is escaped."""
        call = f"{self.type}({', '.join(self.inputs)})"
        return printable(f"{', '.join(self.outputs)} = {call}" if self.outputs else call, keep="")


def _types(types: Mapping[str, BlobType]) -> Mapping[str, BlobType]:
    return {name: type_ for name, type_ in types.items() if type_ != UNKNOWN}


def _ops(ops: Iterable[OperatorDef]) -> tuple[OperatorDef, ...]:
    return tuple(ops)


@attrs.frozen(hash=False)
class NetDef:
    """A named, ordered list of operators with its declared inputs and outputs.

    ``types`` says what is known of declared inputs. ``type`` and ``num_workers`` say how to run
    (Caffe2's "simple", "dag", ...). ``metadata`` (parameter tables and the like, JSON-able) is not compared.
    """

    name: str = ""
    ops: tuple[OperatorDef, ...] = attrs.field(default=(), converter=_ops)
    inputs: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    outputs: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    types: Mapping[str, BlobType] = attrs.field(factory=dict[str, BlobType], converter=_types)
    args: Args = attrs.field(default=NO_ARGS, converter=as_args)
    type: str = ""
    num_workers: int = 0
    device: Device | None = None
    metadata: Mapping[str, Any] = attrs.field(factory=dict[str, Any], eq=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.ops, self.inputs, self.outputs))

    def __str__(self) -> str:
        from netdsl.ir.text import dump

        return dump(self)

    def blobs(self) -> dict[str, None]:
        """Every blob named anywhere in this net, nested nets excepted, in order of first appearance."""
        names = dict.fromkeys(self.inputs)
        for op in self.ops:
            names.update(dict.fromkeys(op.inputs))
            names.update(dict.fromkeys(op.outputs))
        names.update(dict.fromkeys(self.outputs))
        return names

    def read_first(self) -> dict[str, None]:
        """Blobs that an operator reads before any wrote them: what the workspace must hold."""
        written: set[str] = set()
        needed: dict[str, None] = {}
        for op in self.ops:
            for name in op.inputs:
                if name not in written:
                    needed[name] = None
            written.update(op.outputs)
        return needed
