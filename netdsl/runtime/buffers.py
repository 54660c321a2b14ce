"""Which blobs may share a buffer: those of one dtype that are never alive together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

from netdsl.runtime.steps import Step


class HasSteps(Protocol):
    """What runs as one."""

    @property
    def steps(self) -> tuple[Step, ...]: ...


def share(units: Sequence[HasSteps], names: Sequence[str], kind: Callable[[str], tuple[Any, Any]]) -> dict[str, int]:
    """Number the buffers of ``names``; a blob lives from the first step that touches it to the last.

    Buffers freed by one step are taken by later ones only, so no step overwrites what it reads.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, unit in enumerate(units):
        for step in unit.steps:
            for name in (*step.op.inputs, *step.op.outputs):
                first.setdefault(name, at)
                last[name] = at
    starts: dict[int, list[str]] = {}
    ends: dict[int, list[str]] = {}
    for name in names:
        starts.setdefault(first[name], []).append(name)
        ends.setdefault(last[name], []).append(name)
    slots: dict[str, int] = {}
    count = 0
    free: dict[Hashable, list[int]] = {}
    for at in range(len(units)):
        for name in starts.get(at, ()):
            type_, host = kind(name)
            spare = free.get((type_.dtype, host))
            slots[name] = spare.pop() if spare else count
            count = max(count, slots[name] + 1)
        for name in ends.get(at, ()):
            type_, host = kind(name)
            free.setdefault((type_.dtype, host), []).append(slots[name])
    return slots
