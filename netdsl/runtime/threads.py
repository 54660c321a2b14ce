"""How many threads compute: one setting for BLAS and for the pools of the runtime, and the threads of a workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
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
    if told is not None:
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

    What may wait gets a thread of its own; what touches a resource runs on the one thread of that resource.
    """

    def __init__(self) -> None:
        self._open()

    def _open(self) -> None:
        self._process = os.getpid()
        self._free = ThreadPoolExecutor(1 << 16, thread_name_prefix="netdsl")
        self._lanes: dict[str, ThreadPoolExecutor] = {}

    def submit(self, resource: str | None, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Run a function on the lane of a resource, or on a free thread."""
        if self._process != os.getpid():  # a fork has none of its parent's threads
            self._open()
        try:
            return self._submit(resource, function, *args)
        except RuntimeError as error:
            raise RunError("the workspace is closed: no operator starts on a thread of its own", why=error) from None

    def _submit(self, resource: str | None, function: Callable[..., Any], *args: Any) -> Future[Any]:
        if resource is None:
            return self._free.submit(function, *args)
        lane = self._lanes.get(resource)
        if lane is None:
            lane = self._lanes.setdefault(resource, ThreadPoolExecutor(1, thread_name_prefix=f"netdsl-{resource}"))
        return lane.submit(function, *args)

    def close(self) -> None:
        """Let the threads end when they have done what they do."""
        for pool in (self._free, *self._lanes.values()):
            pool.shutdown(wait=False)
