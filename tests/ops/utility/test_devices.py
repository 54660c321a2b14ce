"""The copying operators behind a device's manners, and Alias, which copies nothing."""

from __future__ import annotations

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import RunError

X = np.array([[-1, 2]], np.float32)


def run(net: nd.Net, backend: str = "strict") -> nd.Workspace:
    workspace = nd.Workspace(backend)
    workspace.feed("x", X)
    workspace.run(net)
    return workspace


def test_a_blob_goes_to_the_host_and_back() -> None:
    net = nd.Net("net")
    host = net.CopyGPUToCPU(net.Relu("x"), "host")
    net.Relu(net.CopyCPUToGPU(host, "back"), "y")
    workspace = run(net)
    np.testing.assert_array_equal(workspace.fetch("y"), [[0, 2]])


def test_what_lives_on_the_host_is_not_read_on_the_device() -> None:
    net = nd.Net("net")
    net.Relu(net.EnsureCPUOutput("x", "host"), "y")
    with pytest.raises(RunError, match="blob 'host' lives on the host"):
        run(net)


def test_a_copy_is_no_alias() -> None:
    net = nd.Net("net")
    net.Copy("x", "copy")
    net.StopGradient("x", "stopped")
    net.Alias("x", "alias")
    net.Scale("x", "x", scale=2.0)
    workspace = run(net, "numpy")
    np.testing.assert_array_equal(workspace.fetch("copy"), X)
    np.testing.assert_array_equal(workspace.fetch("stopped"), X)
    np.testing.assert_array_equal(workspace.fetch("alias"), 2 * X)


def test_a_sparse_gradient_becomes_dense() -> None:
    net = nd.Net("net")
    table, indices = net.input("table", (3, 2)), net.input("i", (2,), "int64")
    rows = net.Gather([net.EnsureDense(table, "dense"), indices], "rows")
    grads = net.add_gradients(net.AveragedLoss(rows))
    assert [op.type for op in net.definition.ops[-2:]] == ["AveragedLossGradient", "SparseToDense"]
    workspace = nd.Workspace()
    workspace.feed("table", np.ones((3, 2), np.float32))
    workspace.feed("i", np.array([2, 2]))
    workspace.run(net)
    np.testing.assert_array_equal(workspace.fetch(grads["table"]), [[0, 0], [0, 0], [0.5, 0.5]])
