"""Workspaces of a device, here the strict backend: what lives where, and what crosses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netdsl.errors import RunError
from netdsl.ir import Device, OperatorDef, TensorType
from netdsl.ops.dtypes import AnyTensor
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.runtime import Workspace
from netdsl.runtime.backends.strict import StrictBackend
from netdsl.runtime.hooks import Recorder
from tests.runtime.operators import net, op


@operator
class RtHostScale(Operator):
    """Reads its scale on the host."""

    inputs = (In("X", AnyTensor), In("scale", AnyTensor, host=True))
    outputs = (Out("Y"),)

    def infer(self, X: TensorType, scale: TensorType) -> TensorType:
        return X

    def compute(self, xp: Any, X: Any, scale: Any) -> Any:
        assert isinstance(scale, np.ndarray)
        return X * float(scale)


@operator
class RtHostStep(Operator):
    """Runs on the host in every workspace."""

    inputs = (In("n", AnyTensor),)
    outputs = (Out("m", inplace="n"),)
    on_host = True

    def infer(self, n: TensorType) -> TensorType:
        return n

    def compute(self, xp: Any, n: Any) -> Any:
        assert isinstance(n, np.ndarray)
        return n + xp.ones_like(n)


def strict(**blobs) -> Workspace:
    ws = Workspace("strict")
    for name, value in blobs.items():
        ws.feed(name, np.asarray(value, np.float32))
    return ws


def on_host(ws: Workspace, name: str) -> bool:
    return isinstance(ws.cell(name).value, np.ndarray)


def test_blobs_live_on_the_device():
    ws = strict(x=[1, 2], w=[0.5, 0.5])
    ws.run(
        net("y = RtAdd(x, w)", "z = RtSquarePlus(y)", "s = RtSum(z)", "p = RtPositive(z)", "q = RtAdd(p, p)"), times=2
    )
    assert not any(on_host(ws, name) for name in ws.blobs)
    assert ws.fetch("s") == 8.5
    assert isinstance(ws.fetch("q"), np.ndarray)
    assert ws.fetch("q").tolist() == [4.5, 12.5]


def test_operators_on_the_host_keep_their_blobs_there():
    ws = strict(n=[3])
    step = net("n = RtHostStep(n)")
    ws.run(step, times=2)
    assert on_host(ws, "n")
    ws.feed("n", np.float32([7]))
    assert on_host(ws, "n")
    ws.run(step)
    assert ws.fetch("n").tolist() == [8]


def test_an_operator_tagged_cpu_runs_on_the_host():
    ws = strict(x=[1, 2])
    ws.run(net(OperatorDef("RtAdd", ("x", "x"), ("y",), device=Device("cpu"))))
    assert on_host(ws, "y")
    assert ws.fetch("y").tolist() == [2, 4]


def test_declared_host_inputs_cross_from_either_side():
    ws = strict(x=[1, 2], scale=3, n=1)
    ws.run(net("n = RtHostStep(n)", "y = RtHostScale(x, scale)", "z = RtHostScale(y, n)"), times=2)
    assert ws.fetch("z").tolist() == [9, 18]
    assert not on_host(ws, "scale")
    assert on_host(ws, "n")


def test_nothing_else_crosses():
    ws = strict(x=[1, 2], n=[1, 1])
    with pytest.raises(RunError, match="blob 'n' lives on the host, and RtAdd reads it on the device"):
        ws.run(net("n = RtHostStep(n)", "y = RtAdd(x, n)"))


def test_texts_stay_on_the_host():
    ws = strict()
    ws.feed("t", ["a", "b"])
    assert ws.fetch("t").tolist() == [b"a", b"b"]


def test_random_numbers_are_those_of_numpy():
    one, two = Workspace(seed=5), Workspace("strict", seed=5)
    for ws in (one, two):
        ws.feed("s", np.zeros(5, np.float32))
        ws.run(net("x = RtNoise(s)"))
    assert one.fetch("x").tolist() == two.fetch("x").tolist()


def test_hooks_are_given_host_arrays():
    recorder, ws = Recorder(), strict(x=[1, 2])
    ws.run(net("y = RtAdd(x, x)"), hooks=[recorder])
    assert recorder.values["y"][0].tolist() == [2, 4]


def test_keep_and_nested_nets():
    ws = strict(x=[1, 2])
    inner = net("y = RtAdd(t, t)", name="inner")
    outer = net("t = RtAdd(x, x)", op("y = RtTyped(t)", net=inner), "z = RtTranspose(y)", "u = RtAdd(z, z)")
    ws.run(outer, keep=["u"])
    assert ws.fetch("u").tolist() == [8, 16]
    assert "z" not in ws


def test_a_device_array_may_be_fed():
    ws = strict(x=[1, 2])
    ws.feed("y", ws.backend.from_host(np.float32([3, 4])))
    ws.run(net("z = RtAdd(x, y)"))
    assert ws.fetch("z").tolist() == [4, 6]


def test_an_alias_across_places_is_a_copy():
    ws = strict(x=[1, 2])
    ws.run(net(OperatorDef("RtAlias", ("x",), ("y",), device=Device("cpu"))))
    assert on_host(ws, "y")
    assert ws.fetch("y").tolist() == [1, 2]


class Streams(StrictBackend):
    """A device that tells what is recorded and waited for."""

    def __init__(self):
        super().__init__()
        self.recorded, self.waited = 0, []

    def event(self):
        self.recorded += 1
        return self.recorded

    def wait_for(self, event):
        self.waited.append(event)


def test_a_cell_on_a_device_carries_the_event_of_its_last_write():
    device = Streams()
    ws = Workspace(device)
    ws.feed("x", np.float32([1, 2]))
    fed = ws.cell("x").event
    assert fed == device.recorded
    program = ws.create(net("y = RtAdd(x, x)", "z = RtSum(y)"))
    for _ in range(3):
        device.waited.clear()
        program.run()
        assert device.waited[0] == fed  # what the net reads is there before it runs
        assert ws.cell("y").event == ws.cell("z").event == device.recorded
    ws.fetch("z")
    assert device.waited[-1] == device.recorded
