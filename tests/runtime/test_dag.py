"""Nets of concurrent types: waiting operators on lanes, effects in order, heavy branches on several threads."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import threading
from typing import Any

import attrs
import numpy as np
import pytest

from netdsl.cli.digits.model import build
from netdsl.errors import BlobError, NetError, RunError
from netdsl.ir import NetDef, Opaque, OperatorDef
from netdsl.ops.dtypes import AnyTensor, Kind
from netdsl.ops.regions import Region, shared
from netdsl.ops.schema import In, Operator, Out, arg, operator
from netdsl.runtime import Program, Workspace, dag, program, set_threads, tracks
from tests.runtime.operators import net, op


class Queue(queue.Queue):
    """A queue of one item."""

    kind = "queue"


@operator
class DagQueue(Operator):
    """Make a queue."""

    outputs = (Out("q"),)

    def infer(self) -> Opaque:
        return Opaque("queue")

    def run(self, ctx: Any) -> Any:
        return Queue(1)


@operator
class DagPut(Operator):
    """Wait until a queue has room, and put a tensor into it."""

    inputs = (In("q", Kind("queue")), In("X", AnyTensor))
    waits = True

    def run(self, ctx: Any, q: Any, X: Any) -> None:
        def attempt(seconds: float) -> bool | None:
            try:
                q.put(X.copy(), timeout=seconds)
            except queue.Full:
                return None
            return True

        ctx.wait(attempt, f"room in queue {ctx.op.inputs[0]!r}")


@operator
class DagGet(Operator):
    """Wait for an item of a queue."""

    inputs = (In("q", Kind("queue")),)
    outputs = (Out("Y"),)
    waits = True

    def run(self, ctx: Any, q: Any) -> Any:
        def attempt(seconds: float) -> Any:
            try:
                return q.get(timeout=seconds)
            except queue.Empty:
                return None

        return ctx.wait(attempt, f"an item in queue {ctx.op.inputs[0]!r}")


@operator
class DagSay(Operator):
    """Write a word, and note the thread that it is written on."""

    inputs = (In("X", AnyTensor),)
    touches = ("output",)
    word: str = arg("", doc="The word.")

    def run(self, ctx: Any, X: Any) -> None:
        ctx.write(f"{self.word} {threading.current_thread().name}")


@operator
class DagLoop(Operator):
    """Run a net several times."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y", inplace="X"),)
    net: NetDef | None = arg(None, doc="The net.")
    times: int = arg(1, doc="How many times.")

    def regions(self, op: OperatorDef) -> list[Region]:
        return shared(op, again=True)

    def run(self, ctx: Any, X: Any) -> None:
        for _ in range(self.times):
            ctx.execute(self.net)


def concurrent(*ops: Any, name: str = "net", kind: str = "dag") -> NetDef:
    return attrs.evolve(net(*ops, name=name), type=kind)


def workspace(**blobs: Any) -> Workspace:
    ws = Workspace()
    for name, value in blobs.items():
        ws.feed(name, np.asarray(value, np.float32))
    return ws


def with_queue(**blobs: Any) -> Workspace:
    ws = workspace(**blobs)
    ws.run(net("q = DagQueue()"))
    return ws


@pytest.mark.parametrize("kind", ["dag", "async_scheduling"])
def test_a_reader_may_stand_before_its_writer(kind):
    ws = with_queue(x=[1, 2])
    loop = concurrent("y = DagGet(q)", "z = RtAdd(y, y)", "w = RtSum(z)", " = DagPut(q, x)", kind=kind)
    for run in range(4):
        ws.feed("x", np.full(2, run, np.float32))
        ws.run(loop)
        assert ws.fetch("z").tolist() == [2 * run, 2 * run]
        assert ws.fetch("w") == 4 * run


def test_what_stands_behind_a_reader_is_planned():
    ws = with_queue(x=[1, 2])
    made = ws.create(concurrent("y = DagGet(q)", "z = RtAdd(y, y)", "w = RtAdd(z, z)", " = DagPut(q, x)"))
    assert isinstance(made, dag.Dag)
    made.run(3)
    assert sorted(len(part.executable.steps) for part in made.parts) == [1, 1, 2]
    (behind,) = [part for part in made.parts if len(part.executable.steps) == 2]
    assert len(behind.plan.units) == 1  # one group


def test_without_anything_that_waits_it_is_one_program():
    ws = workspace(x=[1, 2])
    made = ws.create(concurrent("y = RtAdd(x, x)", "z = RtSum(x)"))
    assert isinstance(made, Program)
    made.run(2)
    assert ws.fetch("z") == 3


def test_an_error_ends_what_waits():
    ws = with_queue(x=[1])
    with pytest.raises(ZeroDivisionError) as caught:
        ws.run(concurrent("y = DagGet(q)", "w = RtFail(x)"))
    notes = "\n".join(caught.value.__notes__)
    assert "while running w = RtFail(x)" in notes
    ws.run(concurrent("y = DagGet(q)", " = DagPut(q, x)"))
    assert ws.fetch("y").tolist() == [1]


@pytest.mark.parametrize("kind", ["simple", "dag"])
def test_an_interrupt_says_what_is_waited_for(kind):
    ws = with_queue()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    waiting = attrs.evolve(net("y = DagGet(q)"), type=kind)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            ws.run(waiting)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert "waited for an item in queue 'q'" in "\n".join(caught.value.__notes__).replace("while waiting", "waited")
    assert ws.blobs == ("q",)


@pytest.mark.parametrize("kind", ["simple", "dag"])
def test_close_ends_what_waits(kind):
    ws = with_queue()
    waiting = attrs.evolve(net("y = DagGet(q)"), type=kind)
    timer = threading.Timer(0.2, ws.close)
    timer.start()
    with pytest.raises(RunError, match="no longer waits for an item in queue 'q': the run is ending"):
        ws.run(waiting)
    timer.join()
    with pytest.raises(NetError, match="the workspace is closed"):
        ws.run(waiting)


def test_a_workspace_closes_itself():
    with workspace(x=[1]) as ws:
        ws.run(net("y = RtAdd(x, x)"))
        child = Workspace(parent=ws)
    assert ws.closed
    assert child.closed
    assert ws.fetch("y").tolist() == [2]


def test_effects_on_one_resource_keep_their_order_on_one_thread():
    out = io.StringIO()
    ws = Workspace(output=out)
    ws.feed("x", np.ones(2, np.float32))
    words = [op(" = DagSay(x)", word=f"word{i}") for i in range(20)]
    ws.run(concurrent(*words, "y = RtAdd(x, x)", op(" = DagSay(y)", word="last")))
    said = [line.split() for line in out.getvalue().splitlines()]
    assert [word for word, _ in said] == [f"word{i}" for i in range(20)] + ["last"]
    assert len({thread for _, thread in said}) == 1
    assert said[0][1].startswith("netdsl-output")


def test_effects_of_nested_nets_keep_their_order_too():
    out = io.StringIO()
    ws = Workspace(output=out)
    ws.feed("x", np.ones(2, np.float32))
    inner = net(op(" = DagSay(x)", word="inner"))
    ws.run(
        concurrent(op(" = DagSay(x)", word="a"), op("x = DagLoop(x)", net=inner, times=2), op(" = DagSay(x)", word="b"))
    )
    assert [line.split()[0] for line in out.getvalue().splitlines()] == ["a", "inner", "inner", "b"]


def test_control_inputs_are_waited_for():
    after = OperatorDef("RtAdd", ("a", "a"), ("b",), control_inputs=("y",))
    made = Workspace().create(net("y = RtAdd(x, x)", after))
    assert dag._hazards(made.executable.steps) == [set(), {0}]


def test_missing_blobs_are_told_before_anything_runs():
    ws = with_queue()
    with pytest.raises(BlobError, match="blob 'x' does not exist"):
        ws.run(concurrent("y = DagGet(q)", " = DagPut(q, x)"))
    assert ws.blobs == ("q",)


def test_keep_leaves_out_what_nothing_kept_needs():
    ws = with_queue(x=[1, 2])
    kept = concurrent("y = DagGet(q)", "z = RtAdd(y, y)", "w = RtFail(z)", "s = RtSum(z)", " = DagPut(q, x)")
    for _ in range(3):
        ws.run(kept, keep=["s"])
    assert ws.fetch("s") == 6


def test_draws_do_not_depend_on_the_schedule():
    def draws(kind: str) -> list[Any]:
        ws = Workspace(seed=4)
        ws.run(net("q = DagQueue()"))
        for name in "ab":
            ws.feed(name, np.zeros(3, np.float32))
        loops = [op(f"{n} = DagLoop({n})", net=net(f"{n} = RtNoise({n})", name=n), times=3) for n in "ab"]
        ws.run(attrs.evolve(net(" = DagPut(q, a)", *loops, "n = RtNoise(a)"), type=kind))
        return [ws.fetch(name).tolist() for name in "abn"]

    assert draws("dag") == draws("simple") == draws("async_scheduling")


def test_hooks_see_every_operator():
    seen: list[str] = []

    class Watch:
        def after(self, op, index, net, values):
            seen.append(op.type)

    ws = with_queue(x=[1, 2])
    ws.run(concurrent("y = DagGet(q)", "z = RtAdd(y, y)", " = DagPut(q, x)"), hooks=[Watch()])
    assert sorted(seen) == ["DagGet", "DagPut", "RtAdd"]


def test_threads_of_a_workspace_are_kept():
    ws = with_queue(x=[1])
    loop = concurrent("y = DagGet(q)", " = DagPut(q, x)")
    ws.run(loop, 3)
    before = threading.active_count()
    ws.run(loop, 20)
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_gets_threads_of_its_own():
    ws = with_queue(x=[1])
    loop = concurrent("y = DagGet(q)", " = DagPut(q, x)")
    ws.run(loop, 2)
    child = os.fork()
    if child == 0:  # pragma: no cover
        try:
            signal.alarm(20)
            ws.run(loop, 2)
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


# heavy branches


@pytest.fixture
def eager(monkeypatch):
    """Cut every segment that has two branches, however light."""
    monkeypatch.setattr(tracks, "WORTH", 0.0)
    monkeypatch.setattr(tracks, "SHARE", 1e-9)
    monkeypatch.setattr(tracks, "HAND", 0.0)
    monkeypatch.setattr(program, "workers", lambda: 3)


def branches() -> NetDef:
    return concurrent(
        *("a1 = RtSquarePlus(x)", "as = RtSum(a1)", "b1 = RtAdd(x, x)", "bs = RtSum(b1)", "c1 = RtTranspose(x)"),
        *("a2 = RtTranspose(a1)", "b2 = RtTranspose(b1)", "x = RtSquarePlus(x)", "d = RtAdd(a2, b2)", "e = RtSum(d)"),
        *("f = RtAdd(as, bs)", "g = RtAdd(f, e)", "h = RtSum(c1)"),
    )


def test_branches_give_the_bits_of_one_thread(eager):
    found = []
    for kind in ("dag", "simple"):
        ws = workspace(x=np.linspace(-1, 1, 12).reshape(3, 4))
        made = ws.create(attrs.evolve(branches(), type=kind))
        made.run(6)
        found.append({name: ws.fetch(name).tobytes() for name in ws.blobs})
        if kind == "dag":
            assert made._root is not None
            assert made._root.tracks is not None
            assert len(set(made.plan.tracks)) > 1
    assert found[0] == found[1]


def test_branches_under_keep(eager):
    for kind in ("dag", "simple"):
        ws = workspace(x=np.linspace(-1, 1, 12).reshape(3, 4))
        for _ in range(4):
            ws.run(attrs.evolve(branches(), type=kind), keep=["g", "h"])
        assert ws.fetch("g").dtype == np.float32
        assert ws.blobs == ("g", "h", "x")


@pytest.mark.parametrize("precision", ["float32", "half"])
def test_a_training_step_in_branches_gives_the_bits_of_one_thread(eager, precision):
    found = []
    for kind in ("dag", "simple"):
        model, ws = build(precision), Workspace(seed=1)
        ws.run(model.init_net)
        rng = np.random.default_rng(1)
        ws.feed("data", rng.random((16, 1, 8, 8), np.float32))
        ws.feed("label", rng.integers(0, 10, 16).astype(np.int32))
        step = attrs.evolve(model.net.definition, type=kind)
        ws.run(step, 5)
        found.append({n: ws.fetch(n).tobytes() for n in ws.blobs if n != "iteration_mutex"})
    assert found[0] == found[1]


def test_a_branch_that_fails_leaves_what_was_written_and_the_rest_as_it_was(eager):
    ws = workspace(x=[[1, 2], [3, 4]], z=[5])
    failing = concurrent(
        *("a = RtTranspose(x)", "b = RtFail(a)", "c = RtTranspose(b)", "z = RtSum(c)"),
        *("d = RtTranspose(x)", "e = RtSum(d)"),
    )
    for _ in range(4):
        with pytest.raises(ZeroDivisionError) as caught:
            ws.run(failing)
        assert "while running b = RtFail(a)     (operator 1 of net 'net')" in "\n".join(caught.value.__notes__)
    assert ws.fetch("z").tolist() == [5]
    assert ws.fetch("a").tolist() == [[1, 3], [2, 4]]
    assert "b" not in ws
    assert "c" not in ws


def test_light_nets_are_not_cut(monkeypatch):
    monkeypatch.setattr(program, "workers", lambda: 4)
    model, ws = build("float32"), Workspace()
    ws.run(model.init_net)
    ws.feed("data", np.zeros((32, 1, 8, 8), np.float32))
    ws.feed("label", np.zeros(32, np.int32))
    made = ws.create(attrs.evolve(model.net.definition, type="dag"))
    made.run(3)
    assert made._root.tracks is None


def test_heavy_branches_are_cut(monkeypatch):
    monkeypatch.setattr(program, "workers", lambda: 2)
    ws = workspace(x=np.zeros((512, 512)))
    ops = [OperatorDef("MatMul", (a, a), (b,)) for a, b in (("x", "a1"), ("a1", "a2"), ("x", "b1"), ("b1", "b2"))]
    made = ws.create(NetDef("n", ops, type="dag"))
    made.run(2)
    assert made.plan.tracks in ([0, 0, 1, 1], [1, 1, 0, 0])


# the setting of threads


def test_one_setting_of_threads(monkeypatch):
    from threadpoolctl import threadpool_info

    from netdsl.runtime import threads

    def blas() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = blas()
    monkeypatch.setattr(threads, "processors", lambda: 4)
    try:
        set_threads(2)
        assert blas() <= {1, 2}
        assert (threads.threads(), threads.workers()) == (2, 2)
        set_threads(1)
        assert blas() == {1}
        assert threads.workers() == 4
        monkeypatch.setenv("NETDSL_THREADS", "1")
        set_threads(None)
        assert blas() == {1}
        monkeypatch.setenv("NETDSL_THREADS", "many")
        with pytest.raises(NetError, match="NETDSL_THREADS makes no sense"):
            set_threads(None)
    finally:
        monkeypatch.undo()
        set_threads(None)
    assert blas() == before


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_that_makes_no_sense_is_refused(count):
    with pytest.raises(NetError, match="a number of threads makes no sense"):
        set_threads(count)


# what was found by trying hard


@pytest.mark.parametrize("kind", ["simple", "dag"])
def test_aliases_are_heeded(kind):
    ws = with_queue(x=[1, 2], k=[10, 10])
    ops = ["y = RtAlias(x)", " = DagPut(q, k)", "g = DagGet(q)", "x = RtAdd(x, g)", "z = RtAdd(y, y)"]
    ws.run(attrs.evolve(net(*ops), type=kind))
    assert ws.fetch("z").tolist() == [22, 24]


def test_nested_dag_nets_may_touch_what_the_outer_one_touches():
    out = io.StringIO()
    ws = Workspace(output=out)
    ws.feed("x", np.ones(2, np.float32))
    inner = concurrent(OperatorDef("Print", ("x",)), name="inner")
    ws.run(concurrent(op("x = DagLoop(x)", net=inner, times=2), OperatorDef("Print", ("x",))))
    assert len(out.getvalue().splitlines()) == 3


def test_parts_take_scratch_memory_of_the_workspace():
    ws = with_queue(x=np.zeros(300_000))
    made = []
    for number in range(6):
        ops = [
            " = DagPut(q, x)",
            "y = DagGet(q)",
            OperatorDef("Sigmoid", ("y",), ("s",)),
            OperatorDef("Tanh", ("s",), ("t",)),
        ]
        ws.run(concurrent(*ops, name=f"net{number}"), 3)
        made.append(sum(arena.nbytes for arena in ws.pool.arenas))
    assert made[-1] <= 3 * made[0]


@pytest.mark.parametrize("cut", [False, True])
def test_interrupts_at_any_time_leave_nothing_locked(monkeypatch, cut):
    if cut:
        monkeypatch.setattr(tracks, "WORTH", 0.0)
        monkeypatch.setattr(tracks, "SHARE", 1e-9)
        monkeypatch.setattr(program, "workers", lambda: 2)
    ws = with_queue(x=np.linspace(-1, 1, 12).reshape(3, 4))
    loop = branches() if cut else concurrent(" = DagPut(q, x)", "y = DagGet(q)", "z = RtAdd(y, y)")
    ws.run(loop, 4)
    before, rng = signal.signal(signal.SIGALRM, signal.default_int_handler), np.random.default_rng(1)
    count = 0
    try:
        for _ in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + 2e-3 * rng.random())
                ws.run(loop, 100_000)
            except KeyboardInterrupt:
                count += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            with contextlib.suppress(queue.Empty):
                ws.fetch("q").get_nowait()
            ws.feed("x", np.full((3, 4), 0.5, np.float32))
            ws.run(loop)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert count > 100
    assert ws.fetch("e" if cut else "z").size
