"""Type and shape inference: of one operator, and of a whole net."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netdsl.errors import InferenceError, NetdslError
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, Opaque, OperatorDef, TensorType
from netdsl.ir.dims import common
from netdsl.ops.regions import HasRegions, Region, flow, regions, writes
from netdsl.ops.schema import Infers, Operator, bound, is_known


def infer_op(op: OperatorDef, types: Mapping[str, BlobType], where: str | None = None) -> tuple[BlobType, ...]:
    """Return the types of the outputs of ``op``, one per recorded output; UNKNOWN where it cannot be told.

    Raises:
        InferenceError: known types that the operator cannot accept.
    """
    found = infer_writes(bound(op), op, types, where)
    return tuple([found[name] for name in op.outputs])


def infer_bound(
    bound_op: Operator, op: OperatorDef, actual: Sequence[BlobType], where: str | None = None
) -> tuple[BlobType, ...]:
    """As :func:`infer_op`, for a record whose declaration is at hand, and the types of its inputs in their order.

    Its nested nets are not looked into.
    """
    try:
        check_dtypes(bound_op, op.inputs, actual)
        rule: Any = getattr(bound_op, "infer", None)
        if rule is None or None in [getattr(t, "shape", ()) for t in actual]:
            return (UNKNOWN,) * len(op.outputs)
        result: Any = rule(*bound_op.formal_inputs.group(actual))
        return tuple(bound_op.formal_outputs.results(result, len(op.outputs)))
    except (InferenceError, ValueError) as error:
        raise _located(error, op, actual, where) from None


Nested = Callable[[NetDef, dict[str, BlobType]], Mapping[str, BlobType]]
"""What tells the types of a nested net's blobs after it ran, given those of what it reads."""


def infer_writes(
    bound_op: Operator | None,
    op: OperatorDef,
    types: Mapping[str, BlobType],
    where: str | None = None,
    nested: Nested | None = None,
) -> dict[str, BlobType]:
    """Return the types of everything that ``op`` writes, nested nets looked into; ``bound_op`` is None if undeclared.

    ``nested`` takes the place of :func:`infer` for nested nets.

    Raises:
        InferenceError: known types that the operator, or one in a nested net, cannot accept.
    """
    outputs = (UNKNOWN,) * len(op.outputs)
    if bound_op is not None:
        outputs = infer_bound(bound_op, op, [types.get(name, UNKNOWN) for name in op.inputs], where)
    found = dict(zip(op.outputs, outputs, strict=True))
    if not op.args.has_nets:
        return found
    if isinstance(bound_op, HasRegions):
        inside = _after_regions(regions(op), types, nested or infer)
        return inside | (
            found if isinstance(bound_op, Infers) else dict.fromkeys(found.keys() - inside.keys(), UNKNOWN)
        )
    return dict.fromkeys(writes(op), UNKNOWN) | found  # nobody says how often its nets run


def _after_regions(found: Sequence[Region], types: Mapping[str, BlobType], nested: Nested) -> dict[str, BlobType]:
    """The types of what regions write, as far as all that may have run, or nothing, agree on them."""
    around: Mapping[str, BlobType] = types
    while True:
        ends = [_after_region(region, around, nested) for region in found]
        written = dict.fromkeys(name for end in ends for name in end)
        ends += [{}] if any(region.perhaps for region in found) else []
        after = {name: _agreed([end.get(name, types.get(name, UNKNOWN)) for end in ends]) for name in written}
        if not any(region.again for region in found):
            return after
        # what runs again starts with what it left behind: with what that has in common with the first start
        wider = {name: _agreed([around[name], type_]) for name, type_ in after.items() if name in around}
        if all(around[name] == type_ for name, type_ in wider.items()):
            return after
        around = {**around, **wider}


def _after_region(region: Region, around: Mapping[str, BlobType], nested: Nested) -> dict[str, BlobType]:
    inside = flow(region.net)
    outer = region.outer(inside)
    start = {name: known for name, there in outer.items() if (known := around.get(there, UNKNOWN)) != UNKNOWN}
    end = nested(region.net, start)
    return {outer[name]: end.get(name, UNKNOWN) for name in inside.writes if name in outer}


def _agreed(types: Sequence[BlobType]) -> BlobType:
    """What types have in common: of equal rank and dtype, extents that differ are unknown."""
    first = types[0]
    for other in types[1:]:
        if first == other:
            continue
        if not (isinstance(first, TensorType) and isinstance(other, TensorType)) or first.dtype is not other.dtype:
            return UNKNOWN
        shape = None if first.shape is None or other.shape is None else common(first.shape, other.shape)
        first = UNKNOWN if shape is None else TensorType(first.dtype, shape)
    return first


def check_dtypes(bound_op: Operator, names: Sequence[str], actual: Sequence[BlobType]) -> None:
    """Check every input against its declared dtypes, and tied inputs against each other.

    Raises:
        InferenceError: naming the blob, the dtype got and those accepted.
    """
    formals = bound_op.formal_inputs.aligned(len(names))
    tied: dict[str, tuple[str, DType]] = {}
    for formal, name, type_ in zip(formals, names, actual, strict=True):
        dtypes = formal.dtypes
        if not dtypes.accepts(type_):
            raise InferenceError(
                f"{type(bound_op).__name__}: input {formal.name}, blob {name!r}, is of the wrong type",
                expected=dtypes,
                got=type_,
            )
        if not dtypes.tied or isinstance(type_, Opaque) or type_.dtype is None:
            continue
        first, dtype = tied.setdefault(dtypes.name, (name, type_.dtype))
        if dtype is not type_.dtype:
            raise InferenceError(
                f"{type(bound_op).__name__}: inputs must share one dtype",
                expected=f"{dtype.value}, as blob {first!r}",
                got=f"{type_.dtype.value}, blob {name!r}",
            )


def _located(error: Exception, op: OperatorDef, actual: Sequence[BlobType], where: str | None) -> InferenceError:
    shown = ", ".join(f"{name}: {type_}" for name, type_ in zip(op.inputs, actual, strict=True))
    known = isinstance(error, NetdslError)
    what = error.what if known else f"{op.type}: {error}"
    details = {k.replace(" ", "_"): v for k, v in error.details.items()} if known else {}
    return InferenceError(
        what, **{"operator": op, "inputs": shown or None, **details, "at": where, "added_at": op.where}
    )


def infer(net: NetDef, types: Mapping[str, BlobType] | None = None) -> dict[str, BlobType]:
    """Return the type of every blob of ``net`` after it ran, given those of what it reads.

    Declared input types are used where ``types`` says nothing; operators nothing declares, and
    those that cannot tell, leave their outputs unknown.

    Raises:
        InferenceError: an operator that cannot accept its inputs.
    """
    known: dict[str, BlobType] = {**net.types, **(types or {})}
    for index, op in enumerate(net.ops):
        where = f"operator {index} of net {net.name!r}"
        known.update(infer_writes(bound(op) if is_known(op.type) else None, op, known, where))
    return known
