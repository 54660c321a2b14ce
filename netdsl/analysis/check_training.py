"""The findings about training: gradients of another forward pass, parameters left out, copies left behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from netdsl.analysis import rules
from netdsl.analysis.findings import Finding, about, placed
from netdsl.analysis.gradient import Backward, SparseGrad, gradient
from netdsl.analysis.pairing import other_arguments, pair, same_but_arguments
from netdsl.analysis.roles import SEED_SUFFIX, Role, declared_role
from netdsl.analysis.training import BackwardPass, Training
from netdsl.errors import GradientError, NetdslError, SchemaError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, NetDef, Opaque, OperatorDef, TensorType
from netdsl.ops.regions import all_reads, flow
from netdsl.ops.schema import lookup


def check_training(training: Training, types: Mapping[str, BlobType], *, compare: bool = True) -> list[Finding]:
    """Return the findings about one training step; ``compare`` holds its backward pass against its forward pass."""
    found: list[Finding] = []
    if compare:
        for each in training.passes:
            found += _backward(training, each)
    if training.trains and training.init is not None:
        found += _unmade(training, types)
        lost = _lost_updates(training)
        stale = _stale_copies(training, types)
        found += lost + stale + _without_update(training, {f.blob for f in (*lost, *stale)})
    return found + _updated_twice(training)


# ---------------------------------------------------------------------- the backward pass


def _backward(training: Training, each: BackwardPass) -> list[Finding]:
    if each.error is not None:
        return [_no_gradient(training.net, each, each.error)]
    if each.expected is None:
        return []
    wanted = [name for name in training.moved if name in each.expected.grads]
    candidates = [_compare(training, each, each.expected, missing=bool(wanted))]
    if candidates[0] and wanted:
        try:  # the author may have left out what no update needs
            pruned = gradient(each.forward, dict.fromkeys(each.losses), wanted)
        except NetdslError:
            return candidates[0]
        candidates.append(_compare(training, each, pruned, missing=True))
    return min(candidates, key=len)


def _no_gradient(net: NetDef, each: BackwardPass, error: GradientError) -> Finding:
    """A forward pass that has no gradient: the operator to look at, and why."""
    details = {key: str(value) for key, value in error.details.items()}
    overwritten = "overwritten by" in details
    culprit = details.get("overwritten by" if overwritten else "operator", "")
    index = next((i for i, op in enumerate(each.forward.ops) if culprit.startswith(f"{op}  ")), each.first)
    notes = [(key, value) for key, value in details.items() if key in ("needed by", "read by", "fix")]
    rule = rules.HAZARD if overwritten else rules.WRONG_GRADIENT
    near = details.get("did you mean")
    return about(rule, error.what, net, index, near=near, notes=notes)


def _compare(training: Training, each: BackwardPass, expected: Backward, *, missing: bool) -> list[Finding]:
    """Hold the operators of a backward pass against the expected ones."""
    net = training.net
    pairing = each.paired if expected is each.expected else pair(net, each.indices, each.forward, expected.ops)
    owners = {pairing.names.get(name, name): owner for name, owner in _owners(each, expected)}
    found: list[Finding] = []
    for wanted, index in pairing.pairs:
        if any(name.endswith(SEED_SUFFIX) for name in wanted.outputs) or (index is not None and index in each.seeds):
            continue  # an author may start from another value
        owner = next((owners[name] for name in wanted.inputs if name in owners), None)
        if index is None:
            if missing and owner is not None:
                found.append(_missing(net, wanted, owner))
        elif not same_but_arguments(net.ops[index], wanted):
            found.append(_other(net, index, wanted, owner))
        elif told := ", ".join(other_arguments(wanted, net.ops[index])):
            found.append(_other(net, index, wanted, owner, told))
    return found


def _owners(each: BackwardPass, expected: Backward) -> Iterator[tuple[str, int]]:
    """Which forward operator writes the blob that each gradient belongs to."""
    last = {name: index for index, op in enumerate(each.forward.ops) for name in op.outputs}
    for name, grad in expected.grads.items():
        if name in last:
            for part in (grad.values, grad.indices) if isinstance(grad, SparseGrad) else (grad,):
                yield part, last[name]


def _other(net: NetDef, index: int, wanted: OperatorDef, owner: int | None, told: str = "") -> Finding:
    actual = net.ops[index]
    of = f"`{net.ops[owner]}`" if owner is not None else "the forward pass"
    message = f"this is not the gradient of {of}: {told}" if told else f"{of} has the gradient `{wanted}`"
    notes = [("gradient of", placed(net.ops[owner], owner, net))] if owner is not None else []
    return about(rules.WRONG_GRADIENT, message, net, index, actual.outputs[0], notes=notes)


def _missing(net: NetDef, wanted: OperatorDef, owner: int) -> Finding:
    message = f"the backward pass lacks its gradient `{wanted}`"
    return about(rules.WRONG_GRADIENT, message, net, owner, wanted.outputs[0])


# ---------------------------------------------------------------------- parameters and their state


def _unmade(training: Training, types: Mapping[str, BlobType]) -> list[Finding]:
    """What must exist before the first step and cannot be fed: written by the net, read by updates only, opaque."""
    net, init = training.net, training.init
    provided = {*training.made, *(init.inputs if init else ())}
    written = flow(net).writes
    readers: dict[str, list[int]] = defaultdict(list)
    for index, op in enumerate(net.ops):
        for name in all_reads(op):
            readers[name].append(index)
    declared = set(net.inputs)
    found: list[Finding] = []
    for name in training.held:
        only_updates = all(training.roles[i] is Role.UPDATE for i in readers[name])
        state = name in written or only_updates or isinstance(types.get(name), Opaque)
        if state and name in declared and name not in provided:
            near = did_you_mean(name, [n for n in training.made if n not in training.held])
            message = f"nothing makes {name!r} before the first step"
            found.append(about(rules.UNMADE, message, net, readers[name][0], name, near))
    return found


def _updated_twice(training: Training) -> list[Finding]:
    net = training.net
    return [
        about(
            rules.UPDATED_TWICE,
            f"{name!r} is updated by {len(indices)} operators",
            net,
            indices[1],
            name,
            notes=[("and by", placed(net.ops[i], i, net)) for i in (indices[0], *indices[2:])],
        )
        for name, indices in training.updates.items()
        if len(indices) > 1
    ]


def _lost_updates(training: Training) -> list[Finding]:
    """Updates whose result stands under another name than what they read, where nothing finds it."""
    net = training.net
    read = {*net.outputs, *(name for op in net.ops for name in all_reads(op))}
    found: list[Finding] = []
    for index, op in enumerate(net.ops):
        if declared_role(op) != "update":
            continue
        for old, new in _meant_in_place(op):
            if new != old and old in training.held and new not in read:
                message = f"the update writes {new!r}, which nothing reads, and leaves {old!r} as it is"
                found.append(about(rules.LOST_UPDATE, message, net, index, old, old))
    return found


def _meant_in_place(op: OperatorDef) -> Iterator[tuple[str, str]]:
    """Each output that its declaration lets stand over one input, after that input."""
    declared = lookup(op.type)
    try:
        formals = declared.formal_outputs.aligned(len(op.outputs))
        for formal, new in zip(formals, op.outputs, strict=True):
            at = declared.formal_inputs.first_index(formal.inplace[0], len(op.inputs)) if formal.inplace else None
            if at is not None:
                yield op.inputs[at], new
    except SchemaError:
        return  # too many or few blobs: another finding


def _without_update(training: Training, reported: Collection[str | None]) -> list[Finding]:
    """Parameters whose gradient is computed and that no gradient changes; frozen ones and those of rate 0 aside."""
    rows = [r for r in training.net.metadata.get("parameters", ()) if r.get("frozen") or r.get("lr") == 0]
    frozen = {name for row in rows for name in (row.get("name"), *row.get("copies", {}).values())}
    found: list[Finding] = []
    for use in training.parameters():
        if use.name in training.moved or use.name in frozen or not {use.name, *use.copies}.isdisjoint(reported):
            continue
        index = next((i for i, op in enumerate(training.net.ops) if use.name in all_reads(op)), None)
        if index is None:
            continue  # nothing reads it either: another finding
        message = f"parameter {use.name!r} has the gradient {use.gradient!r}, but nothing updates it"
        found.append(about(rules.NOT_UPDATED, message, training.net, index, use.name))
    return found


def _stale_copies(training: Training, types: Mapping[str, BlobType]) -> list[Finding]:
    """Parameters in two precisions, made from each other by the init net, of which only one is trained."""
    net, init = training.net, training.init
    forward = {
        n for op, role in zip(net.ops, training.roles, strict=True) if role is Role.FORWARD for n in all_reads(op)
    }
    written = flow(net).writes
    found: list[Finding] = []
    for at, *blobs in training.copies():
        trained = [name for name in blobs if name in training.moved]
        is_parameter = any(name in training.gradients or name in forward for name in blobs)
        if init is None or len(trained) != 1 or not is_parameter:
            continue  # an optimizer's state may be kept in one precision
        (moving,) = trained
        (stale,) = (name for name in blobs if name != moving)
        if stale in written:
            continue  # rounded anew, though nothing reads it
        type_ = types.get(stale, UNKNOWN)
        precision = f" in {type_.dtype.value}" if isinstance(type_, TensorType) and type_.dtype else ""
        message = f"{moving!r} is trained, but its copy {stale!r}{precision} never changes"
        message += ", though the forward pass reads it" if stale in forward else ""
        notes = [("copied by", placed(init.ops[at], at, init))]
        found.append(about(rules.STALE_COPY, message, net, training.moved[moving], stale, notes=notes))
    return found
