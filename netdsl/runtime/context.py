"""``Context``: what an operator with effects is given when it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from netdsl.errors import BlobError, RunError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.xp import ArrayModule
from netdsl.runtime.cells import Frame
from netdsl.runtime.site import Site
from netdsl.runtime.steps import Step

ATTEMPT = 0.05
"""Seconds between two looks at whether a waiting operator is to stop."""


class Context:
    """What an operator with effects is given: implements :class:`netdsl.ops.context.RunContext`."""

    __slots__ = ("site", "step")

    def __init__(self, site: Site, step: Step) -> None:
        self.site, self.step = site, step

    @property
    def op(self) -> OperatorDef:
        return self.step.op

    @property
    def xp(self) -> ArrayModule:
        return self.step.xp

    @property
    def memory(self) -> dict[str, Any]:
        return self.site.memories.setdefault(self.step.index, {})

    def frame(self, bound: Mapping[str, str] | None = None, local: Sequence[str] = ()) -> Frame:
        site = self.site
        return Frame(
            site.frame, site.frame.clock, {inner: site.cells[outer] for inner, outer in (bound or {}).items()}, local
        )

    def execute(self, net: NetDef, frame: Frame | None = None) -> None:
        site, step = self.site, self.step
        count = site.executions.get(step.at, 0)
        site.executions[step.at] = count + 1
        site.program(net, frame).once(site.hooks, (*site.path, (step.stream, count)), site)

    def has(self, name: str, frame: Frame | None = None) -> bool:
        cell = (frame or self.site.frame).find(name)
        return cell is not None and cell.ready

    def take(self, name: str, frame: Frame | None = None) -> Any:
        cell = None if frame is not None else self.site.cells.get(name)
        cell = cell or (frame or self.site.frame).find(name)
        if cell is None or not cell.ready:
            raise BlobError(f"blob {name!r} does not exist in the workspace", read_by=self.op, added_at=self.op.where)
        return cell.value

    def put(self, name: str, value: Any, frame: Frame | None = None) -> None:
        cell = self.site.cells[name] if frame is None else frame.cell(name)
        for backend in (self.site.target.base, self.site.target.host):
            if backend.is_array(value):
                cell.give(backend, value)
                return
        cell.hold(value)

    def fetch(self, name: str) -> Any:
        value, target = self.take(name), self.site.target
        if target.host.is_array(value):
            return np.array(value)
        return target.base.to_host(value) if target.base.is_array(value) else value

    def stream(self, name: str = "") -> Any:
        if not self.step.operator.draws:  # else renaming its output would change what it draws
            raise RunError(f"{self.op.type} asks for random numbers", fix="declare draws = True in its class")
        return self.site.stream(self.step, name and f"/{name}")

    def function(self, token: str) -> Callable[..., Any] | None:
        return self.site.frame.root.function(token)

    def write(self, text: str) -> None:
        print(text, file=self.site.frame.root.output)

    @property
    def stopped(self) -> bool:
        stop = self.site.stop
        return (stop is not None and stop.is_set()) or self.site.frame.root.closed

    def wait(self, attempt: Callable[[float], Any], what: str) -> Any:
        waiting = self.site.waiting
        try:
            waiting[self.step.index] = what
            while not self.stopped:
                found = attempt(ATTEMPT)
                if found is not None:
                    return found
        except BaseException as error:
            error.add_note(f"while waiting for {what}")
            raise
        finally:
            waiting.pop(self.step.index, None)
        raise RunError(f"{self.op.type} no longer waits for {what}: the run is ending", operator=self.op)
