"""Hooks: objects that observe every operator of a run.

A hook has ``before(op, index, net)``, ``after(op, index, net, values)``, or both. ``values`` are the
outputs as NumPy arrays (on the NumPy backend the live ones: copy what you keep), None where one was
not written. Hooks of a run also see the nets nested in it. Running with hooks goes operator by
operator; running without costs nothing.

A hook with ``units = True`` sees the run as it is without hooks, in the units that the plan has: operators, and
groups of elementwise ones. It has ``before_unit(ops, index, net)`` and ``after_unit(ops, index, net)``, where
``index`` is that of the first operator. Where all hooks of a run are of this kind, the net is run by its plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import get_ident
from time import perf_counter
from typing import Any

import attrs
import numpy as np

from netdsl.errors import RunError
from netdsl.ir import NetDef, OperatorDef
from netdsl.runtime.values import type_of


@attrs.define
class Timing:
    """How long one operator took, over all runs; nested nets are counted with the operator that runs them."""

    net: str
    index: int
    op: OperatorDef
    calls: int = 0
    seconds: float = 0.0


class Timer:
    """Measures the seconds of every operator: ``ws.run(net, hooks=[timer])``, then ``print(timer.table())``."""

    def __init__(self) -> None:
        self._timings: dict[tuple[str, int, OperatorDef], Timing] = {}
        self._started: dict[int, list[float]] = {}

    def before(self, op: OperatorDef, index: int, net: NetDef) -> None:
        """Start the clock."""
        self._started.setdefault(get_ident(), []).append(perf_counter())

    def after(self, op: OperatorDef, index: int, net: NetDef, values: Sequence[Any]) -> None:
        """Stop it."""
        seconds = perf_counter() - self._started[get_ident()].pop()
        key = (net.name, index, op)
        timing = self._timings.get(key)
        if timing is None:
            timing = self._timings[key] = Timing(net.name, index, op)
        timing.calls += 1
        timing.seconds += seconds

    @property
    def timings(self) -> list[Timing]:
        """Every operator, in the order in which it first ended."""
        return list(self._timings.values())

    def by_type(self) -> dict[str, float]:
        """Seconds by operator type, most first."""
        totals: dict[str, float] = {}
        for timing in self.timings:
            totals[timing.op.type] = totals.get(timing.op.type, 0.0) + timing.seconds
        return dict(sorted(totals.items(), key=lambda item: -item[1]))

    def table(self, most: int = 20) -> str:
        """The slowest operators, one a line: milliseconds in all, calls, microseconds a call, operator."""
        slowest = sorted(self.timings, key=lambda t: -t.seconds)[:most]
        lines = [f"{'ms':>10} {'calls':>7} {'us/call':>10}  operator"]
        for t in slowest:
            lines.append(
                f"{t.seconds * 1e3:10.3f} {t.calls:7d} {t.seconds / t.calls * 1e6:10.1f}  {t.net}:{t.index} {t.op}"
            )
        return "\n".join(lines)


class NanGuard:
    """Stops at the first NaN or infinity that an operator writes.

    ``blobs`` limits it to these; ``infinity=False`` lets infinities pass.
    """

    def __init__(self, blobs: str | Sequence[str] | None = None, *, infinity: bool = True) -> None:
        self.blobs = _named(blobs)
        self.infinity = infinity

    def after(self, op: OperatorDef, index: int, net: NetDef, values: Sequence[Any]) -> None:
        """Raises RunError naming blob and operator."""
        for name, value in zip(op.outputs, values, strict=True):
            if self.blobs is None or name in self.blobs:
                self._look(name, value, op, index, net)

    def _look(self, name: str, value: Any, op: OperatorDef, index: int, net: NetDef) -> None:
        array = _floats(value)
        if array is None:
            return
        nans = int(np.isnan(array).sum())
        infinite = int(np.isinf(array).sum()) if self.infinity else 0
        if nans or infinite:
            raise RunError(
                f"blob {name!r} holds {nans} NaN and {infinite} infinite of {array.size} values",
                written_by=f"{op}     (operator {index} of net {net.name!r})",
                type=type_of(value),
                added_at=op.where,
            )


class Recorder:
    """Keeps a copy of what every operator wrote: ``recorder.values["y"]`` is the list of all versions of y."""

    def __init__(self, blobs: str | Sequence[str] | None = None) -> None:
        self.blobs = _named(blobs)
        self.ops: list[OperatorDef] = []
        self.values: dict[str, list[Any]] = {}

    def after(self, op: OperatorDef, index: int, net: NetDef, values: Sequence[Any]) -> None:
        """Copy the outputs."""
        self.ops.append(op)
        for name, value in zip(op.outputs, values, strict=True):
            if self.blobs is None or name in self.blobs:
                self.values.setdefault(name, []).append(np.array(value) if isinstance(value, np.ndarray) else value)


def _named(blobs: Any) -> frozenset[str] | None:
    """The names of some blobs, or of one; None for all."""
    one = isinstance(blobs, str) or hasattr(blobs, "name")
    return None if blobs is None else frozenset(map(str, [blobs] if one else blobs))


def _floats(value: Any) -> np.ndarray | None:
    return value if isinstance(value, np.ndarray) and value.dtype.kind == "f" else None
