"""What Print shows, and when."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import netdsl as nd

Lines = list[str]


def printed(value: Any, times: int = 1, backend: str = "numpy", **args: Any) -> Lines:
    output = io.StringIO()
    workspace = nd.Workspace(backend, output=output)
    workspace.feed("x", value)
    net = nd.Net("show")
    net.Print(["x"], [], **args)
    workspace.run(net, times)
    return output.getvalue().splitlines()


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_shows_name_type_and_elements(backend: str) -> None:
    value = np.array([[0.1, -2], [np.nan, np.inf]], np.float32)
    assert printed(value, backend=backend) == ["x: float32[2, 2] = 0.1, -2.0, nan, inf"]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (np.array(7, np.int32), "x: int32[] = 7"),
        (np.array([True, False]), "x: bool[2] = True, False"),
        (np.empty((0, 3), np.float16), "x: float16[0, 3] = "),
        (["grün", b"\xff"], "x: string[2] = grün, \\xff"),
    ],
)
def test_shows_every_kind_of_tensor(value: Any, line: str) -> None:
    assert printed(value) == [line]


def test_shows_no_more_than_the_limit() -> None:
    assert printed(np.arange(5), limit=2) == ["x: int64[5] = 0, 1, ..."]
    assert printed(np.arange(2), limit=2) == ["x: int64[2] = 0, 1"]
    (line,) = printed(np.zeros(1001, np.int64))
    assert line.count("0,") == 1000


def test_shows_the_first_of_every_n_runs() -> None:
    assert len(printed(np.arange(2), times=7, every_n=3)) == 3


def test_counts_runs_by_workspace_and_by_operator() -> None:
    net = nd.Net("two")
    net.Print(["x"], [], every_n=2)
    net.Print(["x"], [], every_n=2)
    for _ in range(2):
        output = io.StringIO()
        workspace = nd.Workspace(output=output)
        workspace.feed("x", np.arange(2))
        workspace.run(net)
        assert len(output.getvalue().splitlines()) == 2


def test_tells_the_kind_of_other_blobs() -> None:
    output = io.StringIO()
    net = nd.Net("mutex")
    net.Print([net.CreateMutex([], "m")], [])
    nd.Workspace(output=output).run(net)
    assert output.getvalue() == "m: <mutex>\n"
