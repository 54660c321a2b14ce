"""The Python operator in the builder, in files, and with functions that misbehave."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.errors import GradientError, SchemaError
from tests.ops.utility import case_python as functions

A, B = functions.A, functions.B


def run(net: nd.Net, backend: str = "numpy") -> nd.Workspace:
    workspace = nd.Workspace(backend)
    workspace.feed("a", A)
    workspace.feed("b", B)
    workspace.run(net)
    return workspace


def by_callable() -> nd.Net:
    net = nd.Net("net")
    a, b = net.input("a", A.shape), net.input("b", B.shape)
    (y,) = net.Python([a, b], ["y"], function=functions.hypotenuse, gradient_function=functions.hypotenuse_gradient)
    net.add_gradients({y: "y"})
    return net


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_a_function_is_recorded_by_its_name(backend: str) -> None:
    net = by_callable()
    assert net.definition.ops[0].args["function"] == f"{functions.__name__}:hypotenuse"
    again = nd.parse(net.dump())
    assert again == net.definition
    workspace = run(nd.Net.from_definition(again), backend)
    y = np.hypot(A, B)
    np.testing.assert_allclose(workspace.fetch("y"), y, rtol=1e-6)
    np.testing.assert_allclose(workspace.fetch("a_grad"), A, rtol=1e-5)
    np.testing.assert_allclose(workspace.fetch("b_grad"), B, rtol=1e-5)


def local() -> Any:
    def inner(a: Any) -> Any:
        return a

    return inner


def hidden(a: Any) -> Any:
    return a


HIDDEN, hidden = hidden, functions.itself


@pytest.mark.parametrize("function", [lambda a: a, local(), functools.partial(hidden)])
def test_refuses_what_cannot_be_imported(function: Any) -> None:
    with pytest.raises(SchemaError, match="cannot be imported"):
        nd.Net("net").Python(["a"], ["y"], function=function)


def test_refuses_a_name_that_means_another_function() -> None:
    with pytest.raises(SchemaError, match="another function"):
        nd.Net("net").Python(["a"], ["y"], function=HIDDEN)


def test_refuses_what_is_no_function() -> None:
    with pytest.raises(SchemaError, match="wrong kind"):
        nd.Net("net").Python(["a"], ["y"], function=3)


def test_without_a_gradient_function_there_is_none() -> None:
    net = nd.Net("net")
    (y,) = net.Python([net.input("a", A.shape)], ["y"], function=functions.itself)
    with pytest.raises(GradientError, match="has no gradient"):
        net.add_gradients(y)


def test_refuses_indices_of_blobs_that_are_not_there() -> None:
    net = nd.Net("net")
    chosen = {"gradient_function": functions.itself, "grad_input_indices": [1]}
    (y,) = net.Python(["a"], ["y"], function=functions.itself, **chosen)
    with pytest.raises(GradientError, match="grad_input_indices"):
        net.add_gradients(y)


def test_inputs_cannot_be_written() -> None:
    net = nd.Net("net")
    net.Python(["a"], ["y"], function=functions.writes)
    with pytest.raises(ValueError, match="read-only") as caught:
        run(net)
    assert "while running" in "".join(caught.value.__notes__)


def test_results_do_not_share_memory_with_the_inputs() -> None:
    net = nd.Net("net")
    net.Python(["a"], ["y"], function=functions.itself)
    workspace = run(net)
    workspace.feed("a", np.zeros_like(A))
    np.testing.assert_array_equal(workspace.fetch("y"), A)


def test_opaque_blobs_are_passed_as_they_are() -> None:
    net = nd.Net("net")
    (mutex,) = (net.CreateMutex([], "m"),)
    net.Python([mutex], [], function=functions.nothing)
    nd.Workspace().run(net)


def test_loads_and_prints_nets_of_caffe2_that_cannot_run() -> None:
    net = nd.parse('net "n"\ninput x: float32[2]\ny = Python(x) {token = "4"}\n')
    assert "Python" in str(net)
    workspace = nd.Workspace()
    workspace.feed("x", np.zeros(2, np.float32))
    with pytest.raises(nd.errors.MissingKernelError, match="only in the process that built the net"):
        workspace.run(net)
