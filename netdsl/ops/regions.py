"""Regions: the nets nested in an operator's arguments, as the blobs around the operator see them.

A region shares the names around it, or has names of its own, of which some stand for blobs around it. What
reads, writes, renames or draws nets asks here which of a nested net's blobs are which; nobody else looks into
an operator's arguments for that.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs

from netdsl.errors import NetdslError, NetError
from netdsl.ir import NetDef, OperatorDef, Packed
from netdsl.ops.schema import bound as bind
from netdsl.ops.schema import is_known, lookup, stream_of


@attrs.frozen
class Flow:
    """Blobs that are read (before anything here writes them), may be written, and are named at all."""

    reads: dict[str, None] = attrs.field(factory=dict[str, None])
    writes: dict[str, None] = attrs.field(factory=dict[str, None])
    named: dict[str, None] = attrs.field(factory=dict[str, None])


NOTHING = Flow()


@attrs.frozen
class Region:
    """One nested net, with what is known of its names and of when it runs.

    ``bound`` maps blobs of the net to the blobs around it that they stand for, by the operator's own account; where
    it is None all names are shared. Beside what is bound, names ``same`` inside and outside are one blob, and with
    ``through`` so are names that the net reads and never writes, ``local`` ones excepted. All others are its own.

    ``perhaps``: the operator may leave it out and run no other in its place. ``again``: it may run more than once,
    or after another region of the operator.
    """

    argument: str
    net: NetDef
    bound: Mapping[str, str] | None = None
    same: Collection[str] = ()
    through: bool = False
    local: Collection[str] = ()
    perhaps: bool = False
    again: bool = False

    def outer(self, inside: Flow | None = None) -> dict[str, str]:
        """Return which blob around it each name of the net is; those missing are the net's own.

        ``inside`` is the flow of the net, where it is at hand.
        """
        inside = inside or flow(self.net)
        if self.bound is None:
            return {name: name for name in inside.named}
        found = {name: self.bound[name] for name in inside.named if name in self.bound}
        for name in inside.named:
            falls = self.through and name not in inside.writes and name not in self.local
            if name not in found and (falls or name in self.same):
                found[name] = name
        return found

    def own(self) -> list[str]:
        """Return the names that are no blobs around it: what a frame that it runs in has for itself."""
        inside = flow(self.net)
        outer = self.outer(inside)
        return [name for name in dict.fromkeys((*self.local, *inside.named)) if name not in outer]


@runtime_checkable
class HasRegions(Protocol):
    """Says how its nested nets see the blobs around it; see also :class:`NamesBlobs`."""

    def regions(self, op: OperatorDef) -> Sequence[Region]:
        """Return a region for every nested net that sees blobs around it, in the order of each argument's nets."""
        ...


@runtime_checkable
class NamesBlobs(Protocol):
    """Has arguments that name blobs around it, beside nested nets."""

    def renamed(self, op: OperatorDef, mapping: Mapping[str, str]) -> Mapping[str, Any]:
        """Return those arguments under the blobs' new names."""
        ...


def shared(op: OperatorDef, *, perhaps: bool = False, again: bool = False) -> list[Region]:
    """Return the regions of an operator whose nested nets all share the names around it."""
    return [Region(name, net, perhaps=perhaps, again=again) for name, net in op.nested]


def regions(op: OperatorDef) -> tuple[Region, ...]:
    """Return a region for every nested net, in the order of ``op.nested``.

    Where the operator declares none, its nets have names of their own: those that ``inner_blobs`` and
    ``outer_blobs_idx`` bind, else those that the operator lists as inputs or outputs, stand for blobs around it.
    """
    return _regions(op, _declared(op)) if op.args.has_nets else ()


def _regions(op: OperatorDef, declared: Sequence[Region] | None) -> tuple[Region, ...]:
    if declared is None:
        bound = _bound_by_index(op)
        same = frozenset((*op.inputs, *op.outputs)) if bound is None else ()
        return tuple([Region(name, net, bound or {}, same, perhaps=True, again=True) for name, net in op.nested])
    by_argument: dict[str, deque[Region]] = defaultdict(deque)
    for region in declared:
        by_argument[region.argument].append(region)
    found: list[Region] = []
    for name, net in op.nested:
        region = by_argument[name].popleft() if by_argument[name] else Region(name, net, {})
        found.append(region if region.net is net else attrs.evolve(region, net=net))
    return tuple(found)


def _declared(op: OperatorDef) -> Sequence[Region] | None:
    if not is_known(op.type):
        return None
    try:
        rule = getattr(bind(op), "regions", None)
    except NetdslError:  # used wrongly, which is another's finding
        return None
    return None if rule is None else rule(op)


def _bound_by_index(op: OperatorDef) -> dict[str, str] | None:
    """What Caffe2's Do binds: indices count inputs and outputs, without the workspace that ends both."""
    inner, indices = op.args.get("inner_blobs"), op.args.get("outer_blobs_idx")
    if not (isinstance(inner, tuple) and isinstance(indices, tuple | Packed)):
        return None
    ends = bool(op.inputs and op.outputs and op.inputs[-1] == op.outputs[-1])
    around = (*op.inputs[: len(op.inputs) - ends], *op.outputs[: len(op.outputs) - ends])
    return {name: around[at] for name, at in zip(inner, indices, strict=False) if 0 <= at < len(around)}


# ---------------------------------------------------------------------- what is read and written


def flow(net: NetDef) -> Flow:
    """Return what a net reads, writes and names, regions of its operators included."""
    found = Flow(named=dict.fromkeys((*net.inputs, *net.outputs)))
    for op in net.ops:
        inside = around(op)
        found.reads.update((name, None) for name in (*op.inputs, *inside.reads) if name not in found.writes)
        found.writes.update(dict.fromkeys((*op.outputs, *inside.writes)))
        found.named.update(dict.fromkeys((*op.inputs, *op.outputs, *op.control_inputs, *inside.named)))
    return found


def around(op: OperatorDef) -> Flow:
    """Return what the regions of an operator do to the blobs around it; nothing where it has none."""
    if not op.args.has_nets:
        return NOTHING
    declared = _declared(op)
    found = Flow()
    for region in _regions(op, declared):
        inside = flow(region.net)
        outer = region.outer(inside)
        for here, there in zip(attrs.astuple(found, recurse=False), attrs.astuple(inside, recurse=False), strict=True):
            here.update((outer[name], None) for name in there if name in outer)
    if declared is None:  # what it lists as an output only is not there before
        return attrs.evolve(found, reads={name: None for name in found.reads if name in op.inputs})
    return found


def named(op: OperatorDef) -> dict[str, None]:
    """Return the blobs around an operator that its regions name."""
    return around(op).named


def reads(op: OperatorDef) -> dict[str, None]:
    """Return the blobs around an operator that its regions may read before they write them."""
    return around(op).reads


def writes(op: OperatorDef) -> dict[str, None]:
    """Return the blobs around an operator that its regions may write."""
    return around(op).writes


def all_reads(op: OperatorDef) -> dict[str, None]:
    """Return every blob that an operator reads: its inputs, then what its regions read."""
    return dict.fromkeys((*op.inputs, *around(op).reads))


def all_writes(op: OperatorDef) -> dict[str, None]:
    """Return every blob that an operator may write: its outputs, then what its regions write."""
    return dict.fromkeys((*op.outputs, *around(op).writes))


# ---------------------------------------------------------------------- rewriting


def map_nets(op: OperatorDef, function: Callable[[Region], NetDef]) -> Mapping[str, Any]:
    """Return the arguments of an operator with each nested net replaced by ``function`` of its region."""
    found = regions(op)
    if not found:
        return op.args
    made: dict[str, list[NetDef]] = defaultdict(list)
    for region in found:
        made[region.argument].append(function(region))
    changed = {name: tuple(nets) if isinstance(op.args[name], tuple) else nets[0] for name, nets in made.items()}
    return {**op.args, **changed}


def rename_blobs(net: NetDef, mapping: Mapping[str, str], *, streams: bool = True) -> NetDef:
    """Return ``net`` with every mention of a blob renamed by ``mapping``, whether that merges blobs or not.

    Raises:
        NetError: as :func:`renamed`.
    """
    if not mapping:
        return net
    types = {mapping.get(name, name): type_ for name, type_ in net.types.items()}
    return attrs.evolve(
        net,
        ops=[renamed(op, mapping, streams=streams) for op in net.ops],
        inputs=_new(net.inputs, mapping),
        outputs=_new(net.outputs, mapping),
        types=types,
    )


def renamed(op: OperatorDef, mapping: Mapping[str, str], *, streams: bool = True) -> OperatorDef:
    """Return ``op`` for blobs that have other names, in its regions too.

    With ``streams`` it draws the random numbers that it drew: an argument says by which name where that is
    another than its first output's.

    Raises:
        NetError: a blob would get the name of one that a region has for itself.
    """
    if not mapping:
        return op
    args = map_nets(op, lambda region: _renamed_net(region, mapping, streams))
    if args is not op.args and isinstance(declared := _bound_or_none(op), NamesBlobs):
        args = {**args, **declared.renamed(op, mapping)}
    made = attrs.evolve(
        op,
        inputs=_new(op.inputs, mapping),
        outputs=_new(op.outputs, mapping),
        control_inputs=_new(op.control_inputs, mapping),
        args=args,
    )
    if args is not op.args:
        _require_same_blobs(op, made, mapping)
    return _keep_stream(op, made) if streams else made


def _new(names: Iterable[str], mapping: Mapping[str, str]) -> list[str]:
    return [mapping.get(name, name) for name in names]


def _renamed_net(region: Region, mapping: Mapping[str, str], streams: bool) -> NetDef:
    return rename_blobs(region.net, _inside(region, mapping), streams=streams)


def _inside(region: Region, mapping: Mapping[str, str]) -> Mapping[str, str]:
    """How names in a region change where blobs around it are renamed: those that are the same inside and outside."""
    if region.bound is None:
        return mapping
    return {name: mapping[name] for name in region.outer() if name not in region.bound and name in mapping}


def _require_same_blobs(op: OperatorDef, made: OperatorDef, mapping: Mapping[str, str]) -> None:
    """Raise if a name in a region of ``made`` is another blob than it was in that of ``op``."""
    for before, after in zip(regions(op), regions(made), strict=True):
        if before.bound is None:
            continue
        old, new, inside = before.outer(), after.outer(), _inside(before, mapping)
        for name in flow(before.net).named:
            blob, now = old.get(name), new.get(inside.get(name, name))
            wanted = blob if blob is None else mapping.get(blob, blob)
            if now != wanted:
                raise NetError(
                    f"a blob around {op.type} cannot be called {now or wanted!r}, "
                    f"which net {before.net.name!r} has for itself",
                    operator=op,
                    added_at=op.where,
                )


def _bound_or_none(op: OperatorDef) -> object:
    try:
        return bind(op) if is_known(op.type) else None
    except NetdslError:  # used wrongly, which is another's finding
        return None


# ---------------------------------------------------------------------- random numbers


def draws(op: OperatorDef) -> bool:
    """Whether an operator draws random numbers, itself or in nested nets at any depth."""
    if is_known(op.type) and (lookup(op.type).draws or hasattr(lookup(op.type), "sample")):
        return True
    return op.args.has_nets and any(draws(inner) for _, net in op.nested for inner in net.ops)


def _keep_stream(op: OperatorDef, made: OperatorDef) -> OperatorDef:
    """Let ``made``, which is ``op`` renamed, go by the same stream."""
    if op.outputs[:1] == made.outputs[:1] or not draws(op):
        return made
    if not (is_known(op.type) and "stream" in lookup(op.type).arguments()):
        return made
    stream = stream_of(op)
    args = {name: value for name, value in made.args.items() if name != "stream"}
    return attrs.evolve(made, args=args if stream == made.outputs[0] else {**args, "stream": stream})
