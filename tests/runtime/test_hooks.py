"""Hooks see every operator, nested ones included, and change nothing."""

from __future__ import annotations

import io

import numpy as np
import pytest

from netdsl.errors import RunError
from netdsl.runtime import Workspace
from netdsl.runtime.hooks import NanGuard, Recorder, Timer
from tests.runtime.operators import net, op

CHAIN = net("y = RtAdd(x, x)", "y = RtSquarePlus(y)", "p = RtPositive(y)", "s = RtSum(p)")


def workspace() -> Workspace:
    ws = Workspace(output=io.StringIO())
    ws.feed("x", np.float32([1, -2]))
    return ws


def test_hooks_see_every_operator_in_order():
    seen = []

    class Watch:
        def before(self, op, index, net):
            seen.append(("before", index, op.type, net.name))

        def after(self, op, index, net, values):
            seen.append(("after", index, values[0].tolist()))

    ws = workspace()
    ws.run(CHAIN, hooks=[Watch()])
    assert seen[:2] == [("before", 0, "RtAdd", "net"), ("after", 0, [2, -4])]
    assert seen[2:4] == [("before", 1, "RtSquarePlus", "net"), ("after", 1, [4, 16])]
    assert len(seen) == 8
    plain = workspace()
    plain.run(CHAIN)
    assert {n: ws.fetch(n).tolist() for n in ws.blobs} == {n: plain.fetch(n).tolist() for n in plain.blobs}


def test_hooks_follow_into_nested_nets():
    recorder = Recorder()
    ws = workspace()
    ws.run(net(op("y = RtCall(x)", net=net("y = RtAdd(x, x)", name="inner"))), times=2, hooks=[recorder])
    assert [o.type for o in recorder.ops] == ["RtAdd", "RtCall"] * 2
    assert recorder.values["y"][0].tolist() == [2, -4]


def test_hooks_with_keep():
    recorder = Recorder(["y"])
    ws = workspace()
    ws.run(CHAIN, keep=["s"], hooks=[recorder])
    assert [v.tolist() for v in recorder.values["y"]] == [[2, -4], [4, 16]]
    assert "y" not in ws


def test_timer():
    timer = Timer()
    workspace().run(CHAIN, times=3, hooks=[timer])
    assert [t.calls for t in timer.timings] == [3, 3, 3, 3]
    assert set(timer.by_type()) == {"RtAdd", "RtSquarePlus", "RtPositive", "RtSum"}
    assert all(t.seconds > 0 for t in timer.timings)
    assert len(timer.table(most=2).splitlines()) == 3


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_guard_names_operator_and_blob(value):
    ws = workspace()
    ws.feed("x", np.float32([1, value]))
    with pytest.raises(RunError) as caught:
        ws.run(CHAIN, hooks=[NanGuard()])
    assert "blob 'y' holds" in str(caught.value)
    assert "y = RtAdd(x, x)     (operator 0 of net 'net')" in str(caught.value)


def test_nan_guard_may_be_limited():
    ws = workspace()
    ws.feed("x", np.float32([1, np.inf]))
    ws.run(CHAIN, hooks=[NanGuard(infinity=False), NanGuard(["s2"])])


def test_errors_under_hooks_tell_the_operator():
    ws = workspace()
    with pytest.raises(ZeroDivisionError) as caught:
        ws.run(net("y = RtAdd(x, x)", "z = RtFail(y)"), hooks=[Timer()])
    assert "z = RtFail(y)     (operator 1" in caught.value.__notes__[0]
    assert ws.blobs == ("x", "y")


def test_hooks_may_be_any_iterable():
    ws = workspace()
    recorder = Recorder()
    ws.run(CHAIN, hooks=(hook for hook in [recorder]))
    assert len(recorder.ops) == 4


def test_a_hook_may_watch_one_blob():
    recorder, ws = Recorder("y"), Workspace()
    ws.feed("x", np.float32([1, 2]))
    ws.run(net("y = RtAdd(x, x)", "z = RtAdd(y, y)"), hooks=[recorder])
    assert list(recorder.values) == ["y"]
