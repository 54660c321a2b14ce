"""Type and shape inference: of one operator, and of a whole net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netdsl.errors import InferenceError, NetdslError
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, Opaque, OperatorDef
from netdsl.ops.schema import Operator, bound, is_known


def infer_op(op: OperatorDef, types: Mapping[str, BlobType], where: str | None = None) -> tuple[BlobType, ...]:
    """Return the types of the outputs of ``op``, one per recorded output; UNKNOWN where it cannot be told.

    Raises:
        InferenceError: known types that the operator cannot accept.
    """
    return infer_bound(bound(op), op, types, where)


def infer_bound(
    bound_op: Operator, op: OperatorDef, types: Mapping[str, BlobType], where: str | None = None
) -> tuple[BlobType, ...]:
    """As :func:`infer_op`, for a record whose declaration is at hand."""
    actual = [types.get(name, UNKNOWN) for name in op.inputs]
    try:
        check_dtypes(bound_op, op.inputs, actual)
        return _outputs(bound_op, op, actual)
    except (InferenceError, ValueError) as error:
        raise _located(error, op, actual, where) from None


def _outputs(bound_op: Operator, op: OperatorDef, actual: Sequence[BlobType]) -> tuple[BlobType, ...]:
    rule: Any = getattr(bound_op, "infer", None)
    if rule is None or None in [getattr(t, "shape", ()) for t in actual]:
        return (UNKNOWN,) * len(op.outputs)
    result: Any = rule(*bound_op.formal_inputs.group(actual))
    return tuple(bound_op.formal_outputs.results(result, len(op.outputs)))


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
        outputs = infer_op(op, known, where) if is_known(op.type) else (UNKNOWN,) * len(op.outputs)
        known.update(zip(op.outputs, outputs, strict=True))
    return known
