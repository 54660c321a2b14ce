"""How many threads compute: one setting for BLAS and for the pools of the runtime, and the threads of a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from netdsl.errors import NetError, RunError

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
"""What a user may have set for BLAS; where nobody calls :func:`set_threads` it stays so."""

FEW = 2
"""With so many processors or fewer BLAS gets one thread: on busy ones its threads wait for each other."""


class _Setting:
    """What is in force: None until the first run."""

    wanted: int | None = None
    applied = False
    limits: Any = None


def processors() -> int:
    """Return how many processors this process may use, by its affinity and its control group's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("ascii").split()
        count = min(count, max(-(-int(quota) // int(period)), 1))
    except (OSError, ValueError):  # no such group, or one without a quota
        pass
    return count


def set_threads(count: int | None) -> None:
    """Let BLAS compute with ``count`` threads, and dag nets with as many branches at once as processors are left.

    It holds for the whole process, from now on; None goes back to the default: what the environment says
    (NETDSL_THREADS, OPENBLAS_NUM_THREADS and the like), else one thread where there are at most two processors,
    else what BLAS chooses. The bits of large products and sums may depend on it.

    Raises:
        NetError: a count below 1.
    """
    if count is not None and (type(count) is not int or count < 1):
        raise NetError("a number of threads makes no sense", expected="a whole number from 1", got=count)
    _Setting.wanted = count
    _apply()


def apply_once() -> None:
    """Apply the setting, before the first net of the process runs."""
    if not _Setting.applied:
        _apply()


def threads() -> int:
    """Return how many threads BLAS has, by the setting in force; the first call applies it."""
    apply_once()
    return _chosen() or processors()


def workers() -> int:
    """Return how many branches of a dag net may compute at once."""
    return max(processors() // threads(), 1)


def _chosen() -> int | None:
    """The number that BLAS is held to; None where it is left alone."""
    if _Setting.wanted is not None:
        return _Setting.wanted
    told = os.environ.get("NETDSL_THREADS")
    if told:
        if not told.isdecimal() or int(told) < 1:
            raise NetError("NETDSL_THREADS makes no sense", expected="a whole number from 1", got=told)
        return int(told)
    if any(name in os.environ for name in VARIABLES):
        return None
    return 1 if processors() <= FEW else None


def _apply() -> None:
    from threadpoolctl import threadpool_limits

    count = _chosen()
    if _Setting.limits is not None:
        _Setting.limits.restore_original_limits()
        _Setting.limits = None
    if count is not None:
        _Setting.limits = threadpool_limits(count, user_api="blas")
    _Setting.applied = True


class Lanes:
    """The threads of a workspace, made when they are first needed and kept.

    What may wait gets a thread of its own; what touches a resource runs on the one thread of that resource. Nothing
    here takes a lock in two steps, so that Ctrl-C leaves none behind.
    """

    def __init__(self) -> None:
        self._open()

    def _open(self) -> None:
        self._process, self._closed = os.getpid(), False
        self._free: list[SimpleQueue[Any]] = []
        self._all: list[SimpleQueue[Any]] = []
        self._lanes: dict[str, SimpleQueue[Any]] = {}

    def submit(self, resource: str | None, work: Callable[[], object]) -> None:
        """Do ``work``, which raises nothing, on the lane of a resource, or on a free thread.

        Raises:
            RunError: the workspace was closed.
        """
        if self._process != os.getpid():  # a fork has none of its parent's threads
            self._open()
        if self._closed:
            raise RunError("the workspace is closed: no operator starts on a thread of its own")
        inbox = self._lanes.get(resource) if resource else self._free.pop() if self._free else None
        if inbox is None:
            inbox = self._start(resource)
        inbox.put(work)

    def _start(self, resource: str | None) -> SimpleQueue[Any]:
        inbox: SimpleQueue[Any] = SimpleQueue()
        inbox = self._lanes.setdefault(resource, inbox) if resource else inbox
        self._all.append(inbox)
        name = f"netdsl-{resource}" if resource else "netdsl"
        Thread(target=_serve, args=(inbox, None if resource else self._free), name=name, daemon=True).start()
        return inbox

    def close(self) -> None:
        """Let the threads end when they have done what they do."""
        self._closed = True
        for inbox in self._all:
            inbox.put(None)

    def __del__(self) -> None:
        if getattr(self, "_process", None) == os.getpid():
            self.close()


def _serve(inbox: SimpleQueue[Any], free: list[SimpleQueue[Any]] | None) -> None:
    while (work := inbox.get()) is not None:
        work()
        if free is not None:
            free.append(inbox)


class Stop:
    """Whether a run is to end: it, or the one around it."""

    def __init__(self, outer: Any = None) -> None:
        self._set, self._outer = False, outer

    def set(self) -> None:
        """Ask what waits to give up, and what has not begun not to begin."""
        self._set = True

    def is_set(self) -> bool:
        """Whether it was asked to."""
        return self._set or (self._outer is not None and self._outer.is_set())


class Crew:
    """What one run has under way on the threads of a workspace; ``ended`` lists what is over, with its error."""

    def __init__(self, lanes: Lanes, stop: Stop) -> None:
        self.lanes, self.stop = lanes, stop
        self.ended: list[tuple[int, BaseException | None]] = []
        self._begun: list[int] = []
        self._bell: SimpleQueue[None] = SimpleQueue()

    def start(self, at: int, resource: str | None, function: Callable[..., object], *args: Any) -> None:
        """Let a thread call a function; ``at`` is what the caller knows it by."""
        self.lanes.submit(resource, partial(self._work, at, function, args))

    def _work(self, at: int, function: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._begun.append(at)
        error: BaseException | None = None
        try:
            if not self.stop.is_set():
                function(*args)
        except BaseException as found:
            error = found
        self.ended.append((at, error))
        self._bell.put(None)

    def wait(self, seen: int) -> None:
        """Wait until more than ``seen`` are over. (An interrupt may swallow a bell: hence the timeout.)"""
        while len(self.ended) <= seen:
            with suppress(Empty):
                self._bell.get(timeout=0.05)

    def finish(self) -> None:
        """After ``stop`` was set: wait for all that have begun; what begins later ends at once."""
        while len(self.ended) < len(self._begun):
            with suppress(Empty):
                self._bell.get(timeout=0.05)
