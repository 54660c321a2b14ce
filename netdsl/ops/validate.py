"""Checks of one use of an operator against its declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netdsl.errors import SchemaError
from netdsl.ir import OperatorDef
from netdsl.ops.schema import ANY_INPUT, Operator, bound, lookup

HINTS = frozenset({"order", "engine", "use_cudnn", "cudnn_exhaustive_search", "exhaustive_search", "ws_nbytes_limit"})
"""Arguments that Caffe2's helpers put on every operator; they change no result."""


def check_use(op: OperatorDef) -> None:
    """Check a record: arity, in-place rules, and the kinds of its arguments (unknown ones are let be).

    Raises:
        UnknownOperatorError, SchemaError: a use that the declaration does not allow.
    """
    check_formals(lookup(op.type), op.inputs, op.outputs)
    bound(op)


def unknown_arguments(op: OperatorDef) -> list[str]:
    """Return the arguments of a record that its declaration does not know and that are no mere hints."""
    declared = lookup(op.type).arguments()
    return [name for name in op.args if name not in declared and name not in HINTS]


def check_formals(cls: type[Operator], ins: Sequence[str], outs: Sequence[str]) -> None:
    """Check arity and the in-place rules.

    Raises:
        SchemaError: too many or few blobs, or an output over an input that the declaration does not allow.
    """
    try:
        cls.formal_inputs.layout(len(ins))
        cls.formal_outputs.layout(len(outs))
    except SchemaError as error:
        raise SchemaError(
            error.what, **error.details, got=", ".join(ins) or "nothing", outputs=", ".join(outs) or None
        ) from None
    if len(outs) > 1 and len(set(outs)) < len(outs):
        raise SchemaError(f"{cls.__name__} cannot write one blob twice", got=", ".join(outs))
    formals = cls.formal_outputs.aligned(len(outs))
    for out, formal in zip(outs, formals, strict=True):
        if formal.enforced is not None:
            at = cls.formal_inputs.first_index(formal.enforced, len(ins))
            if at is not None and ins[at] != out:
                what = f"{cls.__name__} must write {formal.name} over its input {formal.enforced}"
                raise SchemaError(what, expected=ins[at], got=out)
        if out in ins and ANY_INPUT not in formal.inplace:
            _check_inplace(cls, ins, out, formal)


def _check_inplace(cls: type[Operator], ins: Sequence[str], out: str, formal: Any) -> None:
    allowed = {*formal.inplace, formal.enforced, formal.alias} - {None}
    count = len(ins)
    if {i for i, name in enumerate(ins) if name == out} <= {cls.formal_inputs.first_index(n, count) for n in allowed}:
        return
    raise SchemaError(
        f"{cls.__name__} cannot write {formal.name} over its input {out!r}",
        expected=f"a fresh blob, or in place of {', '.join(sorted(allowed))}" if allowed else "a fresh blob",
        got=out,
    )
