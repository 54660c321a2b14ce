"""What update operators share: checks of their shapes, and updates of some rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from netdsl.errors import InferenceError, RunError
from netdsl.ir import TensorType
from netdsl.ir.dims import conflict, product, same
from netdsl.ops.xp import Array, ArrayModule

LR_DOC = "The learning rate, one number."
INDICES_DOC = "The row of the parameter that each gradient belongs to; a row may occur more than once."


def check_update(operator: object, param: TensorType, **others: TensorType | None) -> None:
    """Raise unless ``others`` have the shape of the parameter and those whose name is in ``ONE`` one element."""
    name = type(operator).__name__
    for what, type_ in others.items():
        if type_ is None:
            continue
        if what in ONE:
            if conflict(product(type_.shape or ()), 1):
                raise InferenceError(f"{name}: {what} must be one number", expected="[1]", got=type_)
        elif not same(param.shape, type_.shape):
            raise InferenceError(f"{name}: {what} and the parameter differ in shape", expected=param, got=type_)


ONE = frozenset(
    (
        *("lr", "iteration", "scale", "found", "wd", "trust", "lr_max"),
        *("val", "norm", "additional_threshold", "growth_tracker", "count"),
    )
)
"""Inputs of which there is one number for the whole parameter."""


def check_rows(operator: object, param: TensorType, indices: TensorType, grad: TensorType) -> None:
    """Raise unless there is one gradient row for each index."""
    name = type(operator).__name__
    if not param.shape:
        raise InferenceError(f"{name}: the parameter has no rows", expected="at least one dim", got=param)
    expected = (*(indices.shape or ()), *param.shape[1:])
    if not same(grad.shape, expected):
        raise InferenceError(
            f"{name}: the gradient needs one row for each index", expected=param.with_shape(expected), got=grad
        )


def check_row_state(operator: object, param: TensorType, what: str, state: TensorType) -> None:
    """Raise unless ``state`` has one number for each row of the parameter."""
    rows = (param.shape or ())[:1]
    if not same(state.shape, rows):
        name = type(operator).__name__
        raise InferenceError(
            f"{name}: {what} needs one number for each row", expected=param.with_shape(rows), got=state
        )


def update_rows(
    operator: object,
    xp: ArrayModule,
    indices: Array,
    tables: Sequence[Array],
    grad: Array,
    step: Callable[..., tuple[Array, ...]],
    told: Array | None = None,
) -> None:
    """Update the rows ``indices`` of ``tables`` where they are, one occurrence of an index after the other.

    ``step(*rows, grad)`` gets rows of each table (the first is the parameter) and their gradients, all different
    rows, and returns the new ones; it may return one more value for each gradient, which ``told`` gets, if given.

    Raises:
        RunError: an index that is out of range; nothing is written.
    """
    flat = indices.reshape(-1)
    grads = grad.reshape(flat.shape[0], *tables[0].shape[1:])
    check_indices(operator, flat, tables[0].shape[0])
    pieces = [(at, flat[at], grads[at]) for at in rounds(xp, flat)]  # copies, should a table be read as a gradient too
    for at, rows, piece in pieces:
        updated = step(*(table[rows] for table in tables), piece)
        for table, result in zip(tables, updated, strict=False):
            table[rows] = result
        if told is not None:
            told.reshape(grads.shape)[at] = updated[-1]


def check_indices(operator: object, indices: Array, count: int) -> None:
    """Raise RunError unless all of the flat ``indices`` name one of ``count`` rows."""
    if indices.shape[0]:
        low, high = int(indices.min()), int(indices.max())
        if low < 0 or high >= count:
            raise RunError(
                f"{type(operator).__name__}: an index is out of range",
                expected=f"0 to {count - 1}",
                got=low if low < 0 else high,
            )


def rounds(xp: ArrayModule, indices: Array) -> Iterator[Array]:
    """Cut the positions of ``indices`` so that no part names an index twice; its k-th occurrence is in part k."""
    count = indices.shape[0]
    if not count:
        return
    order = xp.argsort(indices, kind="stable")
    ordered = indices[order]
    occurrence = xp.arange(count) - xp.searchsorted(ordered, ordered)
    most = int(occurrence.max()) + 1
    if most == 1:
        yield order
        return
    by_occurrence = xp.argsort(occurrence, kind="stable")
    ends = xp.to_host(xp.searchsorted(occurrence[by_occurrence], xp.arange(most), side="right")).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        yield order[by_occurrence[start:end]]
