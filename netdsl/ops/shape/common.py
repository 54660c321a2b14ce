"""What operators that only move data have in common."""

from __future__ import annotations

from typing import Any

from netdsl.errors import InferenceError
from netdsl.ir import Shape, TensorType


def free(self: Any, inputs: Any, outputs: Any) -> int:
    """As an operator's ``cost``: nothing is computed."""
    return 0


def dims_of(x: TensorType) -> Shape:
    """The dims of a type whose rank is known."""
    return x.shape or ()


def need_rank(operator: str, name: str, x: TensorType, rank: int, *, least: bool = False) -> None:
    """Check the rank of an input.

    Raises:
        InferenceError: another rank than ``rank`` (with ``least``: a smaller one).
    """
    got = x.rank or 0
    if got < rank or (got > rank and not least):
        raise InferenceError(
            f"{operator}: {name} has the wrong rank", expected=f"{'at least ' if least else ''}{rank} dims", got=x
        )
