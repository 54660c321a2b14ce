"""Who holds a mutex: one call at a time, never one that is over, and nobody waits for themselves."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import RunError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops import lookup
from netdsl.ops.utility.mutex import Mutex

COUNT = NetDef("count", [OperatorDef("AtomicIter", ["m", "i"], ["i"])], inputs=["m", "i"])
INIT = NetDef(
    "init",
    [
        OperatorDef("CreateMutex", [], ["m"]),
        OperatorDef("ConstantFill", [], ["i"], {"shape": [1], "value": 0, "dtype": 10}),
    ],
)


class Patient:
    """What a waiting operator is given: waits of a millisecond, until ``patience`` is over."""

    def __init__(self, patience: int = 5000) -> None:
        self.patience, self.waits = patience, 0

    def wait(self, attempt: Callable[[float], Any], what: str) -> Any:
        assert what == "a mutex that another thread holds"
        while (found := attempt(0.001)) is None:
            self.waits += 1
            if self.waits > self.patience:
                raise RunError("the run is to end")
        return found


def held_by_a_thread(mutex: Mutex, until: threading.Event) -> threading.Thread:
    """A thread that holds ``mutex`` now, until the event."""
    holds = threading.Event()
    thread = threading.Thread(target=lambda: mutex.during(Patient(), lambda: (holds.set(), until.wait(5))))
    thread.start()
    assert holds.wait(5)
    return thread


def test_one_call_at_a_time_in_the_order_in_which_they_came() -> None:
    mutex, order, until = Mutex(), list[int](), threading.Event()
    first = held_by_a_thread(mutex, until)
    later = []
    for i in range(3):
        later.append(threading.Thread(target=lambda i=i: mutex.during(Patient(), order.append, i)))
        later[-1].start()
        while len(mutex._turns) < i + 2:
            time.sleep(0.001)
    assert order == []
    until.set()
    for thread in (first, *later):
        thread.join(5)
    assert order == [0, 1, 2]


def test_a_wait_ends_with_the_run_and_leaves_the_mutex_to_others() -> None:
    mutex, until = Mutex(), threading.Event()
    holder, impatient = held_by_a_thread(mutex, until), Patient(3)
    with pytest.raises(RunError, match="the run is to end"):
        mutex.during(impatient, pytest.fail, "called while another thread holds it")
    assert impatient.waits == 4
    until.set()
    holder.join(5)
    assert mutex.during(None, lambda: "next") == "next"


def test_a_thread_that_would_wait_for_itself_is_told() -> None:
    mutex = Mutex()
    with pytest.raises(RunError, match="wanted by the thread that holds it") as caught:
        mutex.during(None, mutex.during, None, pytest.fail, "called twice at a time")
    assert "another mutex" in str(caught.value.details["fix"])
    assert mutex.during(None, lambda: "next") == "next"


def test_an_error_lets_the_mutex_go_though_somebody_keeps_the_traceback() -> None:
    workspace = nd.Workspace()
    workspace.run(INIT)
    workspace.feed("i", np.array([-1]))
    with pytest.raises(RunError, match="not an iteration") as kept:
        workspace.run(COUNT)
    workspace.feed("i", np.array([4]))
    in_a_thread(lambda: workspace.run(COUNT))
    assert workspace.fetch("i") == [5]
    assert kept.tb is not None


def in_a_thread(work: Callable[[], Any]) -> None:
    """Do ``work`` in a thread, and fail where it waits for ever."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive(), "it waits for a mutex that nobody will let go"


class Interrupts:
    """Raises KeyboardInterrupt at the ``at``-th bytecode of the modules of AtomicIter and of the mutex."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.endswith(("mutex.py", "iteration.py")):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def test_no_interrupt_at_any_bytecode_leaves_it_held() -> None:
    mutex, operator = Mutex(), lookup("AtomicIter").bind({})
    count, kept, before = np.zeros(1, np.int64), list[BaseException](), sys.gettrace()
    for at in range(1000):
        sys.settrace(Interrupts(at))
        try:
            operator.run(None, mutex, count)  # type: ignore[attr-defined]
            break
        except KeyboardInterrupt as interrupt:
            kept.append(interrupt)  # as the prompt keeps the last one, with every frame
        finally:
            sys.settrace(before)
        so_far = int(count[0])
        in_a_thread(lambda: operator.run(None, mutex, count))  # type: ignore[attr-defined]
        assert count[0] == so_far + 1
    assert len(kept) > 50
    assert len(mutex._turns) == 0
