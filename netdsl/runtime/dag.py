"""``Dag``: a net some of whose operators run on threads of their own: what may wait, and what touches a resource.

All other operators are put together with those that depend on the same of these: such a part is a program, with
plans, groups and bindings. A part runs as soon as those that it depends on have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from netdsl.runtime.cells import Frame
from netdsl.runtime.executable import Executable
from netdsl.runtime.program import Program
from netdsl.runtime.refusals import missing
from netdsl.runtime.runnable import Runnable
from netdsl.runtime.site import Site
from netdsl.runtime.steps import Step
from netdsl.runtime.threads import Crew, Stop
from netdsl.runtime.tracks import hazards


class Dag(Runnable):
    """A net in a frame, in parts: ``after`` says which parts each waits for, ``lanes`` on what thread it runs.

    A lane is a resource, "" for a thread of its own, or None: the caller's, or a free one if several are ready.
    """

    def __init__(self, frame: Frame, executable: Executable) -> None:
        super().__init__(frame, executable)
        steps, self.after, self.lanes = parts(executable.steps)
        made = [Executable(executable.net, executable.target, part=part) for part in steps]
        for part in made:
            part.aliased = executable.aliased
        arena = frame.root.pool.arenas[0]  # a part that meets another one there moves to an arena of its own
        self.parts = [Program(frame, part, arena) for part in made]

    @property
    def remembers(self) -> bool:
        return any(part.remembers for part in self.parts)

    def _run(self, times: int, hooks: Sequence[Any]) -> None:
        for _ in range(times):
            self.once(hooks)

    def once(self, hooks: Sequence[Any] = (), path: tuple[Any, ...] | None = None, outer: Site | None = None) -> None:
        """Run the net once. After an error nothing new is begun, and what may wait is asked to stop."""
        lacking = [name for name in self.executable.reads if not self.frame.cell(name).ready]
        if lacking:
            raise missing(lacking, self.net, self.frame)
        if path is None:
            path = (self.frame.root.count_run(self.net) if self.executable.random else 0,)
        crew = Crew(self.frame.root.lanes, Stop(outer.stop if outer is not None else None))
        todo = {at: set(needs) for at, needs in enumerate(self.after)}
        away = seen = 0
        try:
            while todo or seen < away:
                ready = [at for at, needs in todo.items() if not needs]
                here = next((at for at in ready if self.lanes[at] is None), None)
                for at in ready:
                    del todo[at]
                    if at != here:
                        crew.start(at, self.lanes[at] or None, self.parts[at].part, hooks, path, crew.stop)
                        away += 1
                finished = [] if here is None else [here]
                if here is not None:
                    self.parts[here].part(hooks, path, crew.stop)
                else:
                    crew.wait(seen)
                for at, error in crew.ended[seen:]:
                    seen += 1
                    if error is not None:
                        raise error
                    finished.append(at)
                for needs in todo.values():
                    needs.difference_update(finished)
        except BaseException as error:
            self._tell_waiting(error)
            crew.stop.set()
            crew.finish()
            raise

    def _tell_waiting(self, error: BaseException) -> None:
        """Say what the operators were waiting for when the run ended."""
        for part in self.parts:
            for index, what in list(part.site.waiting.items()):
                error.add_note(f"while {self.net.ops[index]} waited for {what}     (operator {index})")


def parts(steps: Sequence[Step]) -> tuple[list[list[Step]], list[set[int]], list[str | None]]:
    """Return the parts, which parts each depends on, and the lane of each."""
    needs = _hazards(steps)
    apart = [step.waits or bool(step.touches) for step in steps]
    behind: list[frozenset[int]] = []  # the steps apart that each step depends on
    numbers: dict[Any, int] = {}
    part: list[int] = []
    for at in range(len(steps)):
        behind.append(frozenset[int]().union(*[behind[n] | {n} if apart[n] else behind[n] for n in needs[at]]))
        part.append(numbers.setdefault(at if apart[at] else behind[at], len(numbers)))
    found: list[list[Step]] = [[] for _ in numbers]
    after: list[set[int]] = [set() for _ in numbers]
    lanes: list[str | None] = [None] * len(numbers)
    for at, step in enumerate(steps):
        found[part[at]].append(step)
        after[part[at]] |= {part[n] for n in needs[at]} - {part[at]}
        if apart[at]:
            lanes[part[at]] = min(type(step.operator).touches, default="")  # nets nested in it ask for lanes themselves
    return found, after, lanes


def _hazards(steps: Sequence[Step]) -> list[set[int]]:
    """For each step those before it that it must not overtake, by memory and by what it touches beside blobs."""
    memory = _memory(steps)

    def of(names: Iterable[str]) -> set[Any]:
        return {memory.get(name, name) for name in names}

    return hazards(
        [
            (
                of((*step.op.inputs, *step.op.control_inputs, *step.named)),
                of((*step.op.outputs, *(step.writes or ()))) | {(what,) for what in step.touches},
            )
            for step in steps
        ]
    )


def _memory(steps: Sequence[Step]) -> dict[str, str]:
    """One name for all blobs that aliases make share their memory."""
    found: dict[str, str] = {}
    for step in steps:
        for name, source in zip(step.op.outputs, step.shared, strict=False):
            if source is not None:
                old, new = found.get(name, name), found.get(source, source)
                found |= {name: new, source: new} | {other: new for other, known in found.items() if known == old}
    return found
