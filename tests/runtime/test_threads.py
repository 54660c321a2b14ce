"""Nets on several threads: one program by one thread, several programs at once, feeds meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from netdsl.errors import RunError
from netdsl.ir import NetDef
from netdsl.runtime import Workspace
from netdsl.runtime.backends import Offer
from netdsl.runtime.backends.numpy import NumpyBackend
from tests.runtime.interrupting import busy
from tests.runtime.loops import array
from tests.runtime.operators import RtSum, net, op

PATIENCE = 20
"""Seconds after which a thread is taken to wait for ever."""


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Running:
    """Functions, each on a thread of its own; the first error of any is raised when all have ended."""

    def __init__(self, *functions: Callable[[], object]) -> None:
        self.errors: list[BaseException] = []
        self.threads = [threading.Thread(target=self._run, args=(f,), daemon=True) for f in functions]

    def _run(self, function: Callable[[], object]) -> None:
        try:
            function()
        except BaseException as error:
            self.errors.append(error)

    def __enter__(self) -> Running:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *failed: object) -> None:
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "it waits for ever"
        if self.errors and failed[0] is None:
            raise self.errors[0]


def at_once(*functions: Callable[[], object]) -> None:
    with Running(*functions):
        pass


class Gate:
    """Lets a net wait in its middle: ``y = RtAsk(x)`` tells that it is there and waits until it may go on."""

    def __init__(self, ws: Workspace) -> None:
        self.there, self.open = threading.Event(), threading.Event()
        self.calls = 0
        ws.functions["ask"] = self

    def __call__(self, ctx: Any, x: Any) -> Any:
        self.calls += 1
        self.there.set()
        assert self.open.wait(PATIENCE)
        return x + 1


# one program


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_second_thread_in_one_program_is_refused_at_once(before):
    ws = Workspace()
    gate = Gate(ws)
    ws.feed("x", array(1))
    program = ws.create(net("y = RtAsk(x)", "z = RtAdd(y, y)", name="busy"))
    gate.open.set()
    program.run(before) if before else None
    gate.open.clear()
    gate.there.clear()
    with Running(program.run) as running:
        assert gate.there.wait(PATIENCE)
        for _ in range(3):
            with pytest.raises(RunError, match="net 'busy' is running already, in this program"):
                program.run()
            with pytest.raises(RunError, match="is running already"):
                ws.run(program)
        assert gate.calls == before + 1
        gate.open.set()
    assert not running.errors
    assert ws.fetch("z") == 4
    ws.feed("x", array(5))
    program.run()
    assert ws.fetch("z") == 12


def test_a_net_that_runs_is_refused_by_workspaces_too():
    ws = Workspace()
    gate = Gate(ws)
    ws.feed("x", array(1))
    busy = net("y = RtAsk(x)")
    gate.open.set()
    ws.run(busy, times=2)
    gate.open.clear()
    gate.there.clear()
    with Running(lambda: ws.run(busy)):
        assert gate.there.wait(PATIENCE)
        with pytest.raises(RunError, match="is running already"):
            ws.run(busy)
        other = Workspace()  # where it may run
        other.functions["ask"] = lambda ctx, x: x
        other.feed("x", array(7))
        other.run(busy, times=2)
        assert other.fetch("y") == 7
        gate.open.set()


@pytest.mark.parametrize("units", [False, True])
def test_a_hook_that_runs_the_very_program_is_refused(units):
    ws = Workspace()
    ws.feed("x", array(1))
    program = ws.create(net("y = RtAdd(x, x)", "z = RtSquarePlus(y)", name="itself"))

    class Again:
        def before(self, op: Any, index: int, net: Any) -> None:
            program.run()

    class AgainByUnit:
        units = True

        def before_unit(self, ops: Any, index: int, net: Any) -> None:
            program.run()

        def after_unit(self, ops: Any, index: int, net: Any) -> None: ...

    for _ in range(3):
        with pytest.raises(RunError, match="net 'itself' is running already"):
            program.run(hooks=[AgainByUnit() if units else Again()])
    program.run()
    assert ws.fetch("z") == 4


def test_an_operator_that_runs_the_very_program_is_refused():
    ws = Workspace()
    ws.feed("x", array(1))
    ws.functions["ask"] = lambda ctx, x: program.run()
    program = ws.create(net("y = RtAsk(x)", name="itself"))
    for _ in range(3):
        with pytest.raises(RunError, match="net 'itself' is running already"):
            program.run()
    ws.functions["ask"] = lambda ctx, x: x
    program.run()
    assert ws.fetch("y") == 1


def test_hooks_and_operators_may_run_other_nets():
    ws, other = Workspace(), net("o = RtAdd(x, x)", "o = RtSquarePlus(o)", "p = FC(v, w, b)")
    for name, shape in {"v": (3, 4), "w": (5, 4), "b": (5,)}.items():
        ws.feed(name, np.ones(shape, np.float32))
    ws.functions["ask"] = lambda ctx, x: ws.run(other)

    class Other:
        def before(self, op: Any, index: int, net: Any) -> None:
            ws.run(other)

    step = net("y = RtAdd(x, x)", "q = RtAsk(x)", "z = RtSquarePlus(y)", "k = FC(v, w, b)")
    for value in (1, 2, 3, 4):
        ws.feed("x", array(value))
        ws.run(step, hooks=[Other()] if value == 3 else [])
        assert ws.fetch("z") == ws.fetch("o") == 4 * value * value
        assert (ws.fetch("k") == 5).all()
    assert not any(busy(arena.turns) for arena in ws.pool.arenas)
    assert len(ws.pool.arenas) == 1


# what failed may run again


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit, SystemExit])
@pytest.mark.parametrize("before", [0, 3])
def test_after_an_error_another_thread_may_run(error, before):
    ws = Workspace()
    ws.feed("x", array(1))
    program = ws.create(net("y = RtAdd(x, x)", "q = RtAsk(y)", "z = RtAdd(q, y)", "z = RtSquarePlus(z)"))
    ws.functions["ask"] = lambda ctx, x: x
    for _ in range(before):
        program.run()

    def fail(ctx: Any, x: Any) -> Any:
        raise error("now")

    for _ in range(3):
        ws.functions["ask"] = fail
        with pytest.raises(error):
            program.run()
        ws.functions["ask"] = lambda ctx, x: x
        at_once(program.run)
        assert ws.fetch("z") == 16
        assert not program.site.ledger.pending
        assert not any(busy(arena.turns) for arena in ws.pool.arenas)
    assert len(ws.pool.arenas) == 1


# several programs at once


def layers(number: int) -> NetDef:
    """Kernels, groups that need registers, a segment that ends at data."""
    n = number
    return net(
        f"h{n} = FC(x{n}, w, b)",
        f"r{n} = Relu(h{n})",
        f"t{n} = RtSquarePlus(r{n})",
        f"y{n} = FC(t{n}, w, b)",
        f"s{n} = Softmax(y{n})",
        f"q{n} = RtSquarePlus(s{n}, t{n})",
        f"p{n} = RtPositive(q{n})",
        f"l{n} = RtSum(p{n})",
        name=f"layers {n}",
    )


def fed(backend: Any = None) -> Workspace:
    ws, rng = Workspace(backend), np.random.default_rng(0)
    ws.feed("w", rng.random((64, 64), np.float32) - 0.5)
    ws.feed("b", rng.random(64, np.float32))
    return ws


def data(number: int, size: int) -> np.ndarray:
    return np.random.default_rng([number, size]).random((size, 64), np.float32)


def results(number: int, size: int) -> dict[str, bytes]:
    """What ``layers`` computes alone."""
    ws = fed()
    ws.feed(f"x{number}", data(number, size))
    ws.run(layers(number))
    return fetched(ws, number)


def fetched(ws: Workspace, number: int) -> dict[str, bytes]:
    return {name: ws.fetch(name).tobytes() for name in (f"y{number}", f"q{number}", f"l{number}")}


@pytest.mark.parametrize("keep", [False, True])
def test_programs_of_one_workspace_run_at_once(hasty, keep):
    ws, sizes = fed(), (3, 17, 64)
    want = {(n, size): results(n, size) for n in range(3) for size in sizes}

    def work(number: int) -> None:
        kept = [f"y{number}", f"q{number}", f"l{number}"] if keep else None
        for at in range(60):
            size = sizes[(at + number) % 3 if at < 30 else at // 10 % 3]
            ws.feed(f"x{number}", data(number, size))
            ws.run(layers(number), keep=kept)
            assert fetched(ws, number) == want[number, size], (number, at)

    at_once(*(lambda n=n: work(n) for n in range(3)))
    assert len(ws.pool.arenas) <= 6
    assert not any(busy(arena.turns) for arena in ws.pool.arenas)


def test_scratch_memory_is_never_in_use_by_two_threads(hasty):
    """A kernel writes its scratch memory, waits, and finds it as it was."""
    wrong: list[Any] = []

    class Careful(NumpyBackend):
        def kernel(self, op: Any, inputs: Any, outputs: Any, *, inplace: bool) -> Offer | None:
            return Offer(self._make) if isinstance(op, RtSum) else super().kernel(op, inputs, outputs, inplace=inplace)

        def _make(self, inputs: Any, outputs: Any, scratch: Any) -> Any:
            return [(self._run, (inputs[0], outputs[0], scratch(inputs[0].shape, np.float32)))]

        def _run(self, x: Any, to: Any, memory: Any) -> None:
            mark = float(threading.get_ident() % 1000)
            memory[...] = mark
            threading.Event().wait(0.0002)
            if not (memory == mark).all():
                wrong.append(memory.copy())
            np.copyto(to, x.sum())

    ws = Workspace(Careful())

    def work(number: int) -> None:
        step = net(f"y{number} = RtTranspose(x{number})", f"s{number} = RtSum(y{number})", name=f"careful {number}")
        for at in range(80):
            size = at % 5 + 1
            ws.feed(f"x{number}", np.full(size * 100, number, np.float32))
            ws.run(step)
            assert ws.fetch(f"s{number}") == number * size * 100

    at_once(*(lambda n=n: work(n) for n in range(4)))
    assert not wrong
    assert 1 <= len(ws.pool.arenas) <= 8  # two threads may each find the other before it in one that nobody uses


def test_two_threads_that_run_at_once_have_two_arenas():
    ws = Workspace()
    gate = Gate(ws)
    ws.feed("x", array(1))
    first, second = ws.create(net("y = RtAsk(x)")), ws.create(net("z = RtAdd(x, x)", "s = RtSum(z)"))
    with Running(first.run):
        assert gate.there.wait(PATIENCE)
        for _ in range(3):
            second.run()
        assert first.site.arena is not second.site.arena
        assert len(ws.pool.arenas) == 2
        gate.open.set()
    for _ in range(3):
        first.run()
        second.run()
    assert len(ws.pool.arenas) == 2
    assert not any(busy(arena.turns) for arena in ws.pool.arenas)


def test_children_of_one_workspace_run_one_net_at_once(hasty):
    parent = fed()
    want = {size: results(0, size) for size in (3, 8, 17)}

    def work(offset: int) -> None:
        child = Workspace(parent=parent)
        child.cells["x0"] = child.cell("x0")
        for at in range(60):
            size = (3, 8, 17)[(at + offset) % 3]
            child.feed("x0", data(0, size))
            child.run(layers(0))
            assert fetched(child, 0) == want[size]

    at_once(*(lambda n=n: work(n) for n in range(3)))
    assert parent.blobs == ("b", "w")


def test_workspaces_that_share_executables_run_at_once(hasty):
    """They meet in the tables of plans, of groups and of inferred types."""

    def work(number: int) -> None:
        ws = Workspace(seed=number)
        for at in range(120):
            size = at % 9 + 1
            ws.feed("x", np.full(size, number, np.float32))
            ws.run(
                net("y = RtAdd(x, x)", "y = RtSquarePlus(y)", "z = RtTranspose(y)", "s = RtSum(z)", name=f"n{at % 4}")
            )
            assert ws.fetch("s") == 4 * number * number * size

    at_once(*(lambda n=n: work(n) for n in range(4)))


# feeds meanwhile


@pytest.mark.parametrize("replaces", [False, True])
def test_a_feed_from_another_thread_is_neither_lost_nor_an_error(hasty, replaces):
    ws = Workspace()
    ws.feed("s", array(1))
    done = threading.Event()

    def feeder() -> None:
        at = 0
        while not done.is_set():
            at += 1
            ws.feed("s", np.ones((1,) if at % 2 or not replaces else (), np.float32))

    def work(number: int) -> None:
        step = net(f"z{number} = Add(x{number}, s)", f"r{number} = Relu(z{number})", name=f"n{number}")
        for at in range(300):
            size = at % 7 + 1
            ws.feed(f"x{number}", np.full((size, 3), number, np.float32))
            ws.run(step)
            found = ws.fetch(f"r{number}")
            assert found.shape == (size, 3)
            assert (found == number + 1).all()

    with Running(feeder), Running(*(lambda n=n: work(n) for n in range(3))) as working:
        for thread in working.threads:
            thread.join(PATIENCE)
        done.set()


def test_what_was_fed_last_is_what_the_next_run_reads(hasty):
    """Another thread feeds; once it says so, no run may see what was before."""
    ws = Workspace()
    ws.feed("s", array(0))
    ws.feed("x", array(0))
    step = net("y = Add(x, s)", "z = RtTranspose(y)")
    ws.run(step)
    told: list[int] = [0]
    done = threading.Event()

    def feeder() -> None:
        for value in range(1, 600):
            ws.feed("s", array(value) if value % 2 else np.float32(value))
            told[0] = value
        done.set()

    def reader() -> None:
        while not done.is_set():
            least = told[0]
            ws.run(step)
            assert ws.fetch("z").reshape(-1)[0] >= least
        ws.run(step)
        assert ws.fetch("z").reshape(-1)[0] == 599

    at_once(feeder, reader)


def test_feeding_and_removing_other_blobs_disturbs_nothing(hasty):
    ws = Workspace()
    ws.feed("x", array(1, 2))
    done = threading.Event()

    def feeder() -> None:
        at = 0
        while not done.is_set():
            at += 1
            ws.feed(f"other{at % 50}", np.ones(at % 5 + 1, np.float32))
            if at % 7 == 0:
                ws.remove(f"other{at % 50}")
            assert "x" in ws.blobs

    def work() -> None:
        try:
            for at in range(300):
                ws.run(net("y = RtAdd(x, x)", "z = RtSquarePlus(y)", name=f"n{at % 3}"))
                assert ws.fetch("z").tolist() == [4, 16]
        finally:
            done.set()

    at_once(feeder, work)


def test_nested_nets_run_at_once(hasty):
    ws = Workspace()
    ws.feed("one", array(1))
    body = {n: net(f"x{n} = RtAdd(x{n}, one)", f"s{n} = RtSum(x{n})", name=f"body {n}") for n in range(3)}

    def work(number: int) -> None:
        n = number
        outer = net(op(f"x{n}, s{n} = RtRepeat(x{n}, one)", body=body[n], times=5), f"t{n} = RtAdd(s{n}, s{n})")
        for at in range(60):
            size = at % 3 + 1
            ws.feed(f"x{n}", np.zeros(size, np.float32))
            ws.run(outer)
            assert ws.fetch(f"x{n}").tolist() == [5] * size
            assert ws.fetch(f"t{n}") == 10 * size

    at_once(*(lambda n=n: work(n) for n in range(3)))
    assert not any(busy(arena.turns) for arena in ws.pool.arenas)


def test_a_net_that_an_operator_runs_leaves_its_scratch_memory_in_use():
    ws = Workspace()
    gate = Gate(ws)
    ws.feed("x", array(1))
    waits, inner = ws.create(net("y = RtAsk(x)")), ws.create(net("z = RtAdd(x, x)", "s = RtSum(z)"))
    users: list[Any] = []

    def run_inner(ctx: Any, x: Any) -> None:
        inner.run()
        users.append(busy(ctx.site.arena.turns))

    ws.functions["inner"] = run_inner
    outer = ws.create(net(op("q = RtAsk(x)", token="inner"), "r = RtTranspose(x)"))
    with Running(waits.run):  # on the first arena
        assert gate.there.wait(PATIENCE)
        for _ in range(3):
            outer.run()
        gate.open.set()
    assert users == [True] * 3


def test_programs_may_be_forgotten_while_others_are_asked_for(hasty, monkeypatch):
    monkeypatch.setattr("netdsl.runtime.workspace.PROGRAMS", 1)
    monkeypatch.setattr("netdsl.runtime.workspace.OPERATORS", 1)
    ws = Workspace()
    ws.feed("x", array(1, 2))

    def work(number: int) -> None:
        nets = [net(f"y{number} = RtAdd(x, x)", name=f"n{at}") for at in range(3)]
        for at in range(1500):
            ws.run(nets[at // 2 % 3])
            assert ws.fetch(f"y{number}").tolist() == [2, 4]

    at_once(*(lambda n=n: work(n) for n in range(3)))
