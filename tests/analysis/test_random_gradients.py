"""Gradients of random small nets, with blobs overwritten, shared and passed on, against finite differences."""

from __future__ import annotations

import random

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import GradientError, NetdslError
from netdsl.ir import NetDef

FED = ("x", "y", "z")
UNARY = ("Negative", "Negative", "Copy", "Sigmoid", "Alias", "Sqr")
BINARY = ("Add", "Sum", "Sum", "Sum", "Sum", "Mul")
STEP = 1e-5


def random_net(seed: int) -> tuple[nd.Net, list[str]]:
    """A net of float64 blobs, and its losses; about half of its operators write over what they read."""
    rng, net, blobs = random.Random(seed), nd.Net("random"), list(FED)
    for name in FED:
        net.input(name, (2, 2), "float64")
    for index in range(rng.randint(3, 9)):
        type_ = rng.choice(UNARY + BINARY)
        read = [rng.choice(blobs) for _ in range(1 if type_ in UNARY else 2)]
        over = type_ != "Alias" and rng.random() < 0.5
        written = rng.choice(read if rng.random() < 0.8 else blobs) if over else f"t{index}"
        try:
            net.add(type_, read, written)
        except NetdslError:  # an operator that may not write there
            continue
        blobs += [] if written in blobs else [written]
    losses = [f"loss{i}" for i in range(rng.randint(1, 2))]
    for loss in losses:
        net.SumElements(rng.choice(blobs), loss)
    return net, losses


def values(net: NetDef, fed: dict[str, np.ndarray]) -> nd.Workspace:
    ws = nd.Workspace()
    for name, value in fed.items():
        ws.feed(name, value)
    ws.run(net)
    return ws


def differences(net: NetDef, losses: list[str], fed: dict[str, np.ndarray], name: str) -> np.ndarray:
    found = np.zeros((2, 2))
    for at in np.ndindex(2, 2):
        for sign in (1, -1):
            moved = {k: v.copy() for k, v in fed.items()}
            moved[name][at] += sign * STEP
            ws = values(net, moved)
            found[at] += sign * sum(float(ws.fetch(loss)) for loss in losses) / (2 * STEP)
    return found


@pytest.mark.parametrize("some", [False, True])
def test_a_gradient_is_right_or_refused(some: bool) -> None:
    right = 0
    for seed in range(300):
        net, losses = random_net(seed)
        forward = net.definition
        try:
            grads = net.add_gradients(losses, wrt=["x", "z"] if some else None)
        except GradientError:
            continue
        numbers = np.random.default_rng(seed)
        fed = {name: numbers.uniform(-1, 1, (2, 2)) for name in FED}
        ws = values(net.definition, fed)
        written = {name for op in forward.ops for name in op.outputs}
        for name in grads.keys() & set(FED) - written:
            wanted = differences(forward, losses, fed, name)
            np.testing.assert_allclose(ws.fetch(grads[name]), wanted, 1e-4, 1e-5, err_msg=f"{name}, seed {seed}")
            right += 1
    assert right > 100
