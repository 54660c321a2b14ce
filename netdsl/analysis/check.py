"""``check``: what is wrong, or looks wrong, in a net or in an init net and the net that uses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from netdsl.analysis import findings as rules
from netdsl.analysis.findings import Finding, about
from netdsl.analysis.gradient import gradient
from netdsl.analysis.infer import infer_op
from netdsl.analysis.roles import SEED_SUFFIX, Role, classify
from netdsl.errors import GradientError, InferenceError, NetdslError, SchemaError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, OperatorDef, TensorType
from netdsl.ops.schema import Runs, bound, is_known, lookup
from netdsl.ops.validate import check_use


def check(init: NetDef | None, net: NetDef | None = None) -> list[Finding]:
    """Return the findings about a net, or about an init net and the net that runs after it.

    A single net is checked by itself: ``check(None, net)`` and ``check(net)`` are the same.
    """
    if net is None:
        net, init = init, None
    if net is None:
        return []
    found: list[Finding] = []
    types: dict[str, BlobType] = {}
    if init is not None:
        found += _uses(init) + _reads(init, {}) + _types(init, types)
    made = dict(types) if init is not None else None
    found += _uses(net) + _reads(net, made) + _init_types(net, made or {}) + _types(net, types)
    found += _outputs(net) + _dead(net) + _lost(net) + _backward(net)
    if init is not None:
        found += _training(init, net) + _unused_fills(init, net)
    return found


# ---------------------------------------------------------------------- single operators


def _uses(net: NetDef) -> list[Finding]:
    """Unknown operators and uses against the declaration."""
    found: list[Finding] = []
    for index, op in enumerate(net.ops):
        if not is_known(op.type):
            from netdsl.ops.schema import all_types

            near = did_you_mean(op.type, all_types())
            found.append(about(rules.UNKNOWN_OPERATOR, f"no operator is called {op.type!r}", net, index, near=near))
            continue
        try:
            check_use(op)
        except SchemaError as error:
            near = error.details.get("did you mean")
            message = error.what + (f" (expected {error.details['expected']})" if "expected" in error.details else "")
            found.append(about(rules.SCHEMA, message, net, index, near=None if near is None else str(near)))
    return found


def _types(net: NetDef, types: dict[str, BlobType]) -> list[Finding]:
    """Types that clash; ``types`` holds what the run starts with, and gets what the net writes."""
    found: list[Finding] = []
    for name, type_ in net.types.items():
        types.setdefault(name, type_)
    for index, op in enumerate(net.ops):
        outputs: tuple[BlobType, ...] = (UNKNOWN,) * len(op.outputs)
        try:
            outputs = infer_op(op, types) if is_known(op.type) else outputs
        except InferenceError as error:
            rule = rules.PRECISION if _mixes_precision(op, types) else rules.TYPES
            details = [f"{k} {error.details[k]}" for k in ("expected", "got") if k in error.details]
            shown = ", ".join(f"{name}: {types.get(name, UNKNOWN)}" for name in op.inputs)
            found.append(about(rule, f"{error.what}{': ' if details else ''}{', '.join(details)} (inputs {shown})", net, index))
        except NetdslError:
            pass  # a bad use, found above
        types.update(zip(op.outputs, outputs, strict=True))
    return found


def _mixes_precision(op: OperatorDef, types: Mapping[str, BlobType]) -> bool:
    dtypes = {t.dtype for name in op.inputs if isinstance(t := types.get(name), TensorType)}
    return {DType.FLOAT, DType.FLOAT16} <= dtypes


# ---------------------------------------------------------------------- data flow


def _reads(net: NetDef, made: Mapping[str, BlobType] | None) -> list[Finding]:
    """Blobs that nothing provides. ``made`` is what an init net makes, None where there is none."""
    found: list[Finding] = []
    available = {*net.inputs, *(made or {})}
    known = {*available, *(name for op in net.ops for name in op.outputs)}
    reported: set[str] = set()
    for index, op in enumerate(net.ops):
        for name in op.inputs:
            if name not in available and name not in reported:
                reported.add(name)
                near = did_you_mean(name, known - {name})
                message = f"blob {name!r} is read, but nothing provides it"
                found.append(about(rules.MISSING_INPUT, message, net, index, name, near))
        available.update(op.outputs)
    return found


def _init_types(net: NetDef, made: Mapping[str, BlobType]) -> list[Finding]:
    found: list[Finding] = []
    for name, declared in net.types.items():
        type_ = made.get(name, UNKNOWN)
        if not _compatible(type_, declared):
            message = f"the init net makes {name!r} as {type_}, but the net declares {declared}"
            found.append(about(rules.INIT_TYPES, message, net, _first_reader(net, name), name))
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


def _first_reader(net: NetDef, name: str) -> int | None:
    return next((i for i, op in enumerate(net.ops) if name in op.inputs), None)


def _outputs(net: NetDef) -> list[Finding]:
    written = {name for op in net.ops for name in op.outputs}
    return [
        about(
            rules.MISSING_OUTPUT,
            f"output {name!r} is declared, but no operator computes it",
            net,
            blob=name,
            near=did_you_mean(name, written),
        )
        for name in net.outputs
        if name not in written and name not in net.inputs
    ]


def _has_effects(op: OperatorDef) -> bool:
    return not is_known(op.type) or not op.outputs or _runs(op)


def _runs(op: OperatorDef) -> bool:
    try:
        return isinstance(bound(op), Runs)
    except NetdslError:
        return True


def _dead(net: NetDef) -> list[Finding]:
    """Operators whose results nothing reads; only for nets that declare outputs or train something."""
    roles = classify(net)
    if not net.outputs and Role.UPDATE not in roles:
        return []
    held = {*net.outputs, *net.read_first()}
    found: list[Finding] = []
    needed = set(net.outputs)
    for index in range(len(net.ops) - 1, -1, -1):
        op = net.ops[index]
        alive = _has_effects(op) or any(n in needed or n in held for n in op.outputs)
        if alive or roles[index] is Role.GRADIENT:
            needed.update(op.inputs)
        else:
            found.append(about(rules.DEAD, f"nothing reads {', '.join(op.outputs)}", net, index, op.outputs[0]))
    return found[::-1]


def _lost(net: NetDef) -> list[Finding]:
    """Writes that are overwritten before anything reads them."""
    found: list[Finding] = []
    unread: dict[str, int] = {}
    for index, op in enumerate(net.ops):
        for name in op.inputs:
            unread.pop(name, None)
        for name in op.outputs:
            before = unread.get(name)
            if before is not None and not _has_effects(net.ops[before]):
                message = f"blob {name!r} is written here, and again by {op} before anything reads it"
                found.append(about(rules.LOST_WRITE, message, net, before, name))
            unread[name] = index
        for _, nested in op.nested:
            for name in nested.read_first():
                unread.pop(name, None)
    return found


# ---------------------------------------------------------------------- training


def _backward(net: NetDef) -> list[Finding]:
    """Compare the backward pass with the one that the forward pass has now."""
    seeds = [i for i, op in enumerate(net.ops) if any(o.endswith(SEED_SUFFIX) for o in op.outputs)]
    if not seeds:
        return []
    forward = NetDef(net.name, net.ops[: seeds[0]], net.inputs, types=net.types)
    losses = [name.removesuffix(SEED_SUFFIX) for i in seeds for name in net.ops[i].outputs if name.endswith(SEED_SUFFIX)]
    roles = classify(net)
    actual = [(i, op) for i, op in enumerate(net.ops) if roles[i] is Role.GRADIENT and i >= seeds[0]]
    try:
        expected = gradient(forward, dict.fromkeys(losses)).ops
    except GradientError as error:
        rule = rules.HAZARD if "overwritten_by" in {k.replace(" ", "_") for k in error.details} else rules.WRONG_GRADIENT
        return [about(rule, error.what, net, seeds[0])]
    except NetdslError:
        return []  # an operator that cannot be bound, found above
    return _compare(net, actual, expected)


def _compare(net: NetDef, actual: list[tuple[int, OperatorDef]], expected: Iterable[OperatorDef]) -> list[Finding]:
    by_outputs = {op.outputs: op for op in expected}
    found: list[Finding] = []
    for index, op in actual:
        wanted = by_outputs.get(op.outputs)
        if wanted is None:
            wanted = next((w for outs, w in by_outputs.items() if outs[: len(op.outputs)] == op.outputs), None)
        if wanted is None or (op.type, op.inputs) == (wanted.type, wanted.inputs) and op.args == wanted.args:
            continue
        if (op.type, op.inputs) == (wanted.type, wanted.inputs):
            names = sorted(n for n in {*op.args, *wanted.args} if op.args.get(n) != wanted.args.get(n))
            message = f"the forward operator has other arguments than its gradient: {', '.join(names)}"
        else:
            message = f"the forward pass asks for `{wanted}` here"
        found.append(about(rules.WRONG_GRADIENT, message, net, index, op.outputs[0]))
    return found


def _training(init: NetDef, net: NetDef) -> list[Finding]:
    """Parameters without update, updated twice, not made, and copies left behind."""
    roles = classify(net)
    updates: dict[str, list[int]] = defaultdict(list)
    copied: dict[str, list[int]] = defaultdict(list)
    for index, op in enumerate(net.ops):
        if roles[index] is not Role.UPDATE:
            continue
        target = updates if _is_update(op) else copied
        for name in _updated(op):
            target[name].append(index)
    if not updates:
        return []
    made = {name for op in init.ops for name in op.outputs}
    found = [
        about(rules.UNFED_INPUT, f"nothing makes parameter {name!r} before the first step", net, indices[0], name)
        for name, indices in updates.items()
        if name not in made and name not in init.inputs
    ]
    found += [
        about(rules.UPDATED_TWICE, f"parameter {name!r} is updated by {len(indices)} operators", net, indices[1], name)
        for name, indices in updates.items()
        if len(indices) > 1
    ]
    changed = {*updates, *copied}
    found += _without_update(net, roles, made, changed)
    return found + _stale_copies(init, net, changed)


def _is_update(op: OperatorDef) -> bool:
    """Whether an operator of the update lane moves a parameter, rather than copying or counting."""
    declared = lookup(op.type) if is_known(op.type) else None
    return declared is None or declared.role not in ("cast", "counter", "copy")


def _updated(op: OperatorDef) -> list[str]:
    """The parameters that an update operator writes: as declared, else what it reads and writes first."""
    declared = lookup(op.type) if is_known(op.type) else None
    if declared is not None and declared.updates:
        formal = declared.formal_outputs.by_name(op.outputs)
        return [formal[out] for out, _ in declared.updates if formal.get(out)]
    return list(op.outputs)


def _without_update(net: NetDef, roles: list[Role], made: set[str], changed: set[str]) -> list[Finding]:
    """Blobs that the init net makes, whose gradient is computed, and that nothing updates."""
    forward_reads = {n: i for i, op in reversed(list(enumerate(net.ops))) if roles[i] is Role.FORWARD for n in op.inputs}
    graded = {n for i, op in enumerate(net.ops) if roles[i] is Role.GRADIENT for n in op.outputs}
    found: list[Finding] = []
    for name, index in forward_reads.items():
        if name in made and name not in changed and f"{name}_grad" in graded:
            message = f"parameter {name!r} has a gradient, but nothing updates it"
            found.append(about(rules.NOT_UPDATED, message, net, index, name))
    return found


def _stale_copies(init: NetDef, net: NetDef, changed: set[str]) -> list[Finding]:
    """Pairs of half and single blobs, made from each other by the init net, of which only one changes."""
    found: list[Finding] = []
    for op in init.ops:
        if not is_known(op.type) or lookup(op.type).role != "cast" or len(op.inputs) != 1:
            continue
        pair = (op.inputs[0], op.outputs[0])
        trained = [name for name in pair if name in changed]
        if len(trained) == 1 and not _is_state(net, trained[0]):
            stale = pair[0] if trained[0] == pair[1] else pair[1]
            index = next((i for i, o in enumerate(net.ops) if trained[0] in o.outputs), None)
            message = f"{trained[0]!r} is trained, but its copy {stale!r} in the other precision never changes"
            found.append(about(rules.STALE_COPY, message, net, index, stale))
    return found


def _is_state(net: NetDef, name: str) -> bool:
    """Whether only update operators touch a blob: momentum and the like, no parameter."""
    roles = classify(net)
    return not any(name in op.inputs and roles[i] is not Role.UPDATE for i, op in enumerate(net.ops))


def _unused_fills(init: NetDef, net: NetDef) -> list[Finding]:
    read = {*net.inputs, *net.read_first(), *net.outputs, *init.outputs}
    read.update(name for op in init.ops for name in op.inputs)
    for op in net.ops:
        read.update(op.inputs)
        for _, nested in op.nested:
            read.update(nested.read_first())
    found: list[Finding] = []
    for index, op in enumerate(init.ops):
        unused = [name for name in op.outputs if name not in read and not name.startswith("ONE_")]
        if unused and len(unused) == len(op.outputs):
            message = f"neither net reads {', '.join(map(repr, unused))}"
            found.append(about(rules.UNUSED_FILL, message, init, index, unused[0]))
    return found
