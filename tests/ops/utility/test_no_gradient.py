"""Operators through which nothing flows back, in a net where something flows beside them."""

from __future__ import annotations

from typing import Any

import pytest

import netdsl as nd


@pytest.mark.parametrize("type_", ["StopGradient", "EnsureCPUOutput"])
def test_stops_the_gradient(type_: str) -> None:
    net = nd.Net("net")
    x, w = net.input("x", (2, 3)), net.input("w", (2, 3))
    stopped = net.add(type_, [x], ["stopped"])
    grads = net.add_gradients(net.AveragedLoss(net.Add([stopped, w])))
    assert "w" in grads
    assert "x" not in grads


def test_stops_the_gradient_in_place() -> None:
    net = nd.Net("net")
    x, w = net.input("x", (2, 3)), net.input("w", (2, 3))
    net.StopGradient([x], [x])
    grads = net.add_gradients(net.AveragedLoss(net.Add([x, w])))
    assert "w" in grads
    assert "x" not in grads


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [("OneHot", ["i", "n"]), ("BatchOneHot", ["m", "n", "v"])],
)
def test_integers_have_no_gradient(type_: str, inputs: list[str]) -> None:
    net = nd.Net("net")
    shapes: dict[str, Any] = {"i": (2,), "n": (1,), "m": (2, 1), "v": (3,)}
    for name in inputs:
        net.input(name, shapes[name], "int64")
    w = net.input("w", (3,))
    hot = net.Cast(net.add(type_, inputs, ["hot"]), to=1, from_type=10)
    grads = net.add_gradients(net.AveragedLoss(net.Mul([hot, w])))
    assert "w" in grads
    assert not set(inputs) & set(grads)
