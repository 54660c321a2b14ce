"""``check``: what is wrong, or looks wrong, in a net or in an init net and the net that uses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from netdsl.analysis import rules
from netdsl.analysis.check_training import check_training
from netdsl.analysis.findings import Finding, about, placed
from netdsl.analysis.infer import infer_writes
from netdsl.analysis.roles import Role
from netdsl.analysis.training import Training
from netdsl.errors import InferenceError, NetdslError, SchemaError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, OperatorDef, TensorType
from netdsl.ops.functions import Allowed, Function, allowed
from netdsl.ops.regions import all_reads, all_writes, flow, reads, regions
from netdsl.ops.schema import Calls, Runs, all_types, bound, is_known, lookup
from netdsl.ops.validate import check_use, unknown_arguments

CONSTANT_ONE = "ONE_"
"""How the constants are called that optimizers make whether or not they need them."""


def check(init: NetDef | None, net: NetDef | None = None, *, python: Iterable[str | Function] = ()) -> list[Finding]:
    """Return the findings about a net, or about an init net and the net that runs after it.

    ``python`` are functions that they may call, as of a Workspace, beside those that this process allows.

    A single net is checked by itself: ``check(None, net)`` and ``check(net)`` are the same. Findings come
    in the order of the operators, those about the init net first; what only follows from another
    finding is left out.
    """
    if net is None:
        net, init = init, None
    if net is None:
        return []
    found = _without_echoes(_found(init, net)) + _foreign([init, net], Allowed(python))
    return sorted(found, key=lambda finding: _order(finding, init))


def _foreign(nets: Iterable[NetDef | None], own: Allowed) -> list[Finding]:
    """Calls of functions that nothing allows, in nested nets too."""
    found: list[Finding] = []
    for net in nets:
        for index, op in enumerate(net.ops if net is not None else ()):
            found += _foreign([nested for _, nested in op.nested], own)
            path, token = _called(op)
            if net is not None and path and path not in own and not allowed(path):
                found.append(about(rules.FOREIGN_FUNCTION, f"nothing allows to call {path!r}", net, index))
            elif net is not None and token and not path:
                message = f"function {token!r} existed only in the process that built the net"
                found.append(about(rules.FOREIGN_FUNCTION, message, net, index))
    return found


def _called(op: OperatorDef) -> tuple[str, str]:
    """The function that an operator calls, by its name or its token; of one used wrongly, none."""
    try:
        declared = bound(op) if is_known(op.type) else None
    except NetdslError:
        return "", ""
    return declared.calls() if isinstance(declared, Calls) else ("", "")


def _found(init: NetDef | None, net: NetDef) -> list[Finding]:
    types: dict[str, BlobType] = {}
    found: list[Finding] = []
    if init is not None:
        if swapped := _swapped(init, net):
            return swapped
        found += _flow(init, {}, types)
        found += _init_types(init, net, types)
        types.update(
            (name, type_) for name, type_ in net.types.items() if not _compatible(types.get(name, UNKNOWN), type_)
        )
    training = Training(net, init)
    flow = _flow(net, types, types)
    broken = any(f.rule in (rules.UNKNOWN_OPERATOR, rules.BAD_USE, rules.MISSING_INPUT) for f in flow)
    found += flow + _outputs(net)
    found += _dead(training, _meant(found)) + _lost(net)
    found += check_training(training, types, compare=not broken)
    return found + (_unused_fills(init, net, training.trains) if init is not None else [])


def _swapped(init: NetDef, net: NetDef) -> list[Finding]:
    """What shows that the net which runs first is no init net: everything else would only follow from it."""
    inside = flow(net)
    made = inside.writes.keys() - inside.reads.keys()
    for index in range(len(init.ops)) if not made.isdisjoint(flow(init).reads) else ():
        for name in all_reads(init.ops[index]):
            if name in made:
                message = f"net {init.name!r} runs first, but it reads {name!r}, which net {net.name!r} makes"
                return [about(rules.SWAPPED, message, init, index, name)]
    for name, index in Training(init).moved.items():
        message = f"net {init.name!r} runs first, but it trains {name!r}"
        return [about(rules.SWAPPED, message, init, index, name)]
    return []


def _flow(net: NetDef, made: Mapping[str, BlobType], types: dict[str, BlobType]) -> list[Finding]:
    """The findings about single operators and what they read; ``types`` gets what the net writes."""
    uses = _uses(net)
    found = uses + _reads(net, made)
    return found + _types(net, types, uses)


def _order(finding: Finding, init: NetDef | None) -> tuple[bool, float]:
    return finding.net is not init, float("inf") if finding.index is None else finding.index


def _without_echoes(found: list[Finding]) -> list[Finding]:
    """Leave out what follows from a misspelt name: that nothing reads the blob which was meant."""
    meant = _meant(found)
    return [f for f in found if not (f.rule in (rules.LOST_WRITE, rules.UNUSED_FILL) and f.blob in meant)]


def _meant(found: list[Finding]) -> set[str]:
    """The blobs that stand where a name is misspelt, perhaps."""
    return {n for f in found if f.rule in (rules.MISSING_INPUT, rules.MISSING_OUTPUT, rules.UNMADE) for n in f.near}


# ---------------------------------------------------------------------- single operators


def _uses(net: NetDef) -> list[Finding]:
    """Unknown operators and uses against the declaration, in nested nets too."""
    found: list[Finding] = []
    for index, op in enumerate(net.ops):
        for _, nested in op.nested:
            found += _uses(nested)
        if not is_known(op.type):
            near = did_you_mean(op.type, all_types())
            found.append(about(rules.UNKNOWN_OPERATOR, f"no operator is called {op.type!r}", net, index, near=near))
            continue
        try:
            check_use(op)
        except SchemaError as error:
            near = error.details.get("did you mean")
            notes = [(k, str(v)) for k, v in error.details.items() if k in ("expected", "got", "takes")]
            found.append(
                about(rules.BAD_USE, error.what, net, index, near=None if near is None else str(near), notes=notes)
            )
        found += _unknown_arguments(net, index, op)
    return found


def _unknown_arguments(net: NetDef, index: int, op: OperatorDef) -> list[Finding]:
    declared = lookup(op.type).arguments()
    message = "{} has no argument {!r}"
    return [
        about(rules.UNKNOWN_ARGUMENT, message.format(op.type, n), net, index, near=did_you_mean(n, declared))
        for n in unknown_arguments(op)
    ]


def _types(net: NetDef, types: dict[str, BlobType], uses: list[Finding]) -> list[Finding]:
    """Types that clash, in nested nets too; ``types`` holds what the run starts with, ``uses`` what is found so far."""
    found: list[Finding] = []
    clashing: set[str] = set()  # what operators with a finding read
    lost: set[str] = set()  # what is not known because of them
    bad = {finding.index for finding in uses if finding.net is net}
    for name, type_ in net.types.items():
        types.setdefault(name, type_)
    for index, op in enumerate(net.ops):
        reads = all_reads(op)
        follows = not lost.isdisjoint(reads)
        inside = _Inside(uses)
        try:
            declared = bound(op) if index not in bad else None
            outputs = infer_writes(declared, op, types, nested=inside)
        except InferenceError as error:
            outputs = dict.fromkeys(all_writes(op), UNKNOWN)
            known = {name for name in op.inputs if types.get(name, UNKNOWN) != UNKNOWN}
            if not (follows and known <= clashing):
                found.append(_clash(error, net, index, types))
            clashing |= known
            follows = True
        found += inside.findings
        follows = follows or bool(inside.findings)
        types.update(outputs)
        lost.difference_update(outputs)
        lost.update(name for name, type_ in outputs.items() if follows and type_ == UNKNOWN)
    return found


class _Inside:
    """Infers nested nets and keeps what is found; of a net that is inferred again, for wider types, the last."""

    def __init__(self, uses: list[Finding]) -> None:
        self._uses = uses
        self._found: dict[int, list[Finding]] = {}

    def __call__(self, net: NetDef, start: dict[str, BlobType]) -> Mapping[str, BlobType]:
        self._found[id(net)] = _types(net, start, self._uses)
        return start

    @property
    def findings(self) -> list[Finding]:
        return [finding for found in self._found.values() for finding in found]


def _clash(error: InferenceError, net: NetDef, index: int, types: Mapping[str, BlobType]) -> Finding:
    rule = rules.PRECISION if _mixes_precision(net.ops[index], types) else rules.TYPES
    notes = [(k, str(v)) for k, v in error.details.items() if k in ("expected", "got", "inputs")]
    return about(rule, error.what, net, index, notes=notes)


def _mixes_precision(op: OperatorDef, types: Mapping[str, BlobType]) -> bool:
    dtypes = {t.dtype for name in op.inputs if isinstance(t := types.get(name), TensorType)}
    return {DType.FLOAT, DType.FLOAT16} <= dtypes


# ---------------------------------------------------------------------- data flow


def _reads(net: NetDef, made: Mapping[str, BlobType]) -> list[Finding]:
    """Blobs that nothing provides. ``made`` is what an init net makes."""
    found: list[Finding] = []
    available = {*net.inputs, *made}
    known = {*available, *flow(net).writes}
    reported: set[str] = set()
    for index, op in enumerate(net.ops):
        for name, reader, at in _reads_of(net, index):
            if name in available or name in reported:
                continue
            reported.add(name)
            later = [f"{net.ops[i]}" for i in range(index + 1, len(net.ops)) if name in all_writes(net.ops[i])][:1]
            near = None if later else did_you_mean(name, available) or did_you_mean(name, known - {name})
            message = f"blob {name!r} is read, but " + ("it is written only later" if later else "nothing provides it")
            notes = [("written by", text) for text in later]
            found.append(about(rules.MISSING_INPUT, message, reader, at, name, near, notes))
        available.update(all_writes(op))
    return found


def _reads_of(net: NetDef, index: int) -> Iterator[tuple[str, NetDef, int]]:
    """What an operator reads, and the place: its inputs, and what its nested nets take from around them."""
    op = net.ops[index]
    for name in op.inputs:
        yield name, net, index
    needed = reads(op)
    for region in regions(op) if needed else ():
        outer = {name: there for name, there in region.outer().items() if there in needed}
        for at, inner in enumerate(region.net.ops):
            yield from ((outer[name], reader, i) for name, reader, i in _reads_of(region.net, at) if name in outer)
            for name in all_writes(inner):
                outer.pop(name, None)


def _init_types(init: NetDef, net: NetDef, made: Mapping[str, BlobType]) -> list[Finding]:
    """Blobs that the init net makes otherwise than the net declares; only the first of each chain."""
    found: list[Finding] = []
    clashing: set[str] = set()
    for index, op in enumerate(init.ops):
        for name in op.outputs:
            declared = net.types.get(name, UNKNOWN)
            if _compatible(made.get(name, UNKNOWN), declared):
                clashing.difference_update([name])
                clashing.update([name] if clashing.intersection(op.inputs) else [])
                continue
            echo = clashing.intersection(op.inputs)
            clashing.add(name)
            if not echo:
                message = f"the init net makes {name!r} as {made[name]}, but net {net.name!r} declares {declared}"
                reader = next((placed(o, i, net) for i, o in enumerate(net.ops) if name in o.inputs), None)
                notes = [("read by", reader)] if reader else []
                found.append(about(rules.INIT_TYPES, message, init, index, name, notes=notes))
    return found


def _compatible(a: BlobType, b: BlobType) -> bool:
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return a == b or UNKNOWN in (a, b)
    if a.dtype and b.dtype and a.dtype is not b.dtype:
        return False
    if a.shape is None or b.shape is None:
        return True
    return len(a.shape) == len(b.shape) and not any(
        isinstance(x, int) and isinstance(y, int) and x != y for x, y in zip(a.shape, b.shape, strict=True)
    )


def _outputs(net: NetDef) -> list[Finding]:
    written = flow(net).writes
    missing = [name for name in net.outputs if name not in written and name not in net.inputs]
    message = "output {!r} is declared, but no operator computes it"
    return [about(rules.MISSING_OUTPUT, message.format(n), net, blob=n, near=did_you_mean(n, written)) for n in missing]


def _has_effects(op: OperatorDef) -> bool:
    """Whether an operator matters beyond what it writes; what is unknown or used wrongly may."""
    if not is_known(op.type) or not op.outputs:
        return True
    try:
        return isinstance(bound(op), Runs)
    except NetdslError:
        return True


def _dead(training: Training, meant: set[str]) -> list[Finding]:
    """Operators whose results nothing reads; only for nets that declare outputs or train something."""
    net, roles = training.net, training.roles
    if not net.outputs and not training.trains:
        return []
    held = {*net.outputs, *training.held}
    found: list[Finding] = []
    needed = {*net.outputs, *meant}
    for index in range(len(net.ops) - 1, -1, -1):
        op = net.ops[index]
        alive = _has_effects(op) or any(n in needed or n in held for n in op.outputs)
        if alive or roles[index] is Role.GRADIENT:
            needed.update(all_reads(op))
        else:
            found.append(
                about(rules.DEAD, f"nothing reads {', '.join(map(repr, op.outputs))}", net, index, op.outputs[0])
            )
    return found[::-1]


def _lost(net: NetDef) -> list[Finding]:
    """Writes that are overwritten before anything reads them."""
    found: list[Finding] = []
    unread: dict[str, int] = {}
    for index, op in enumerate(net.ops):
        for name in all_reads(op):
            unread.pop(name, None)
        for name in op.outputs:
            before = unread.get(name)
            if before is not None and before != index and not _has_effects(net.ops[before]):
                message = f"blob {name!r} is written here, and overwritten before anything reads it"
                notes = [("overwritten", placed(op, index, net))]
                found.append(about(rules.LOST_WRITE, message, net, before, name, notes=notes))
            unread[name] = index
    return found


def _unused_fills(init: NetDef, net: NetDef, trains: bool) -> list[Finding]:
    """What the init net makes and nobody reads; the optimizers' constants are let be.

    A net that trains nothing needs no masters and no state of optimizers: one finding tells of all.
    """
    read = {*net.outputs, *init.outputs, *(name for each in (init, net) for op in each.ops for name in all_reads(op))}
    made = {name for op in init.ops for name in op.outputs}
    unmade = [name for name in net.inputs if name not in made]
    found: list[Finding] = []
    for index, op in enumerate(init.ops):
        unused = [name for name in op.outputs if name not in read and not name.startswith(CONSTANT_ONE)]
        if unused and len(unused) == len(op.outputs):
            message = f"neither net reads {', '.join(map(repr, unused))}"
            near = did_you_mean(unused[0], unmade)
            found.append(about(rules.UNUSED_FILL, message, init, index, unused[0], near))
    state = [finding for finding in found if not finding.near]
    if trains or len(state) < 2:
        return found
    message = f"{len(state)} operators make what net {net.name!r}, which trains nothing, does not read"
    first = ", ".join(repr(finding.blob) for finding in state[:3]) + (", ..." if len(state) > 3 else "")
    named = [finding for finding in found if finding.near]
    return [*named, about(rules.UNUSED_FILL, message, init, notes=[("not read", first)])]
