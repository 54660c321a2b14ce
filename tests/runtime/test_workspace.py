"""Blobs: feeding, fetching, names, types, isolation."""

from __future__ import annotations

import io
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from netdsl.errors import BlobError, InferenceError, NetError
from netdsl.ir import DType, NetDef, OperatorDef, TensorType
from netdsl.model import Model
from netdsl.runtime import Workspace
from tests.runtime.operators import net

ADD = net("c = RtAdd(a, b)")


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (3, DType.INT64, ()),
        ([1, 2], DType.INT64, (2,)),
        (0.5, DType.FLOAT, ()),
        ([[1, 2.5]], DType.FLOAT, (1, 2)),
        ([True], DType.BOOL, (1,)),
        (np.float64(1), DType.DOUBLE, ()),
        (np.zeros((2, 0), np.float16), DType.FLOAT16, (2, 0)),
        (np.zeros(2, ">i4"), DType.INT32, (2,)),
        ("text", DType.STRING, ()),
        (["a", b"b"], DType.STRING, (2,)),
        (np.array(["x", "yz"]), DType.STRING, (2,)),
    ],
)
def test_what_is_fed_becomes_a_tensor(value, dtype, shape):
    ws = Workspace()
    ws.feed("x", value)
    assert ws.types() == {"x": TensorType(dtype, shape)}
    assert ws.fetch("x").shape == shape


def test_strings_are_bytes():
    ws = Workspace()
    ws.feed("x", ["grün", b"\xff"])
    assert ws.fetch("x").tolist() == ["grün".encode(), b"\xff"]


@pytest.mark.parametrize("value", [1j, object(), {"a": 1}, [[1], [2, 3]], np.zeros(2, np.uint32), None])
def test_what_no_tensor_can_hold_is_refused(value):
    ws = Workspace()
    with pytest.raises(InferenceError, match="blob 'x' cannot hold"):
        ws.feed("x", value)
    assert "x" not in ws


def test_feed_and_fetch_copy():
    ws, given = Workspace(), np.arange(3.0)
    ws.feed("x", given)
    given[0] = 9
    fetched = ws.fetch("x")
    fetched[1] = 9
    assert ws.fetch("x").tolist() == [0, 1, 2]


def test_feed_keeps_the_buffer_where_type_and_shape_agree():
    ws = Workspace()
    ws.feed("x", np.zeros(3))
    buffer = ws.cell("x").value
    ws.feed("x", np.ones(3))
    assert ws.cell("x").value is buffer
    assert buffer.tolist() == [1, 1, 1]
    ws.feed("x", np.ones(3, np.float32))
    assert ws.cell("x").value is not buffer


def test_a_strided_array_is_fed_by_value():
    ws = Workspace()
    ws.feed("x", np.arange(12).reshape(3, 4).T[::2])
    assert ws.fetch("x").tolist() == [[0, 4, 8], [2, 6, 10]]
    assert ws.cell("x").value.flags.c_contiguous


def test_names_may_be_blobs():
    ws = Workspace()
    ws.feed(SimpleNamespace(name="x"), 1)
    assert SimpleNamespace(name="x") in ws
    assert ws.fetch("x") == 1
    ws.remove(SimpleNamespace(name="x"))
    with pytest.raises(TypeError, match="a blob's name is a str"):
        ws.feed(3, 1)


def test_blobs_remove_and_reset():
    ws = Workspace()
    ws.feed("b", 1)
    ws.feed("a", 2)
    assert ws.blobs == ("a", "b")
    ws.remove("a")
    assert ws.blobs == ("b",)
    with pytest.raises(BlobError, match="'a' does not exist"):
        ws.remove("a")
    ws.reset()
    assert ws.blobs == ()


def test_fetching_what_is_not_there_names_near_ones():
    ws = Workspace()
    ws.feed("data", 1)
    with pytest.raises(BlobError) as caught:
        ws.fetch("dta")
    assert str(caught.value) == "blob 'dta' does not exist in the workspace\n  did you mean : data"
    assert isinstance(caught.value, LookupError)


def test_an_unknown_backend_names_the_known_ones():
    with pytest.raises(NetError, match=r"expected +: numpy, strict, cupy"):
        Workspace("cuda")


def test_a_net_may_be_given_as_itself_by_its_author_or_as_a_program():
    ws = Workspace()
    ws.feed("a", 1)
    ws.feed("b", 2)
    program = ws.create(SimpleNamespace(definition=ADD))
    assert ws.create(ADD) is program
    assert ws.create(net("c = RtAdd(a, b)")) is program
    assert ws.create(ADD, keep=["c"]) is not program
    ws.run(program)
    assert ws.fetch("c") == 3
    with pytest.raises(NetError, match="runs in its own workspace"):
        Workspace().run(program)
    with pytest.raises(NetError, match="keep="):
        ws.run(program, keep=["c"])


def test_workspaces_in_threads_do_not_meet():
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        ws = Workspace(seed=number)
        ws.feed("a", [float(number)])
        ws.feed("b", [0.0])
        for _ in range(200):
            ws.run(net("b = RtAdd(b, a)"))
        results[number] = ws.fetch("b").tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [200.0 * n] for n in range(4)}


def test_run_missing_runs_what_is_new():
    ws = Workspace()
    init = net("w = RtNoise(s)", "m = RtAdd(s, s)")
    ws.feed("s", [1.0, 2.0])
    ws.run(net("w = RtNoise(s)"))
    w = ws.fetch("w")
    assert ws.run_missing(init) == ("m",)
    assert ws.fetch("m").tolist() == [2, 4]
    assert ws.fetch("w").tolist() == w.tolist()
    assert ws.run_missing(init) == ()


def test_keep_may_be_one_blob():
    ws = Workspace()
    ws.feed("x", [1.0])
    ws.run(net("y = RtAdd(x, x)", "z = RtAdd(y, y)"), keep=SimpleNamespace(name="z"))
    assert ws.fetch("z").tolist() == [4]


def test_a_number_that_float32_cannot_hold_is_infinite():
    ws = Workspace()
    ws.feed("x", [1e300, 1.0])
    assert ws.fetch("x").tolist() == [np.inf, 1]


def test_hundreds_of_small_nets_run_in_turn_without_planning_again():
    ws = Workspace()
    nets = [net("y = RtAdd(x, x)", name=f"net{number}") for number in range(300)]
    assert [ws.create(n) for n in nets] == [ws.create(n) for n in nets]


def test_of_large_nets_fewer_are_remembered(monkeypatch):
    monkeypatch.setattr("netdsl.runtime.workspace.PROGRAMS", 2)
    monkeypatch.setattr("netdsl.runtime.workspace.OPERATORS", 4)
    ws = Workspace()
    nets = [net(*["y = RtAdd(x, x)"] * 3, name=f"net{number}") for number in range(3)]
    first, second, third = map(ws.create, nets)
    assert ws.create(nets[1]) is second
    assert ws.create(nets[2]) is third
    assert ws.create(nets[0]) is not first


@pytest.mark.parametrize("what", ["net", None, []])
def test_what_is_no_net_cannot_run(what):
    with pytest.raises(TypeError, match="a net to run is a Net, a NetDef or a Program"):
        Workspace().run(what)


def test_a_model_is_two_nets():
    with pytest.raises(TypeError, match="not Model; a model has two: run its init_net once, then its net"):
        Workspace().run(Model("m"))


def test_what_an_operator_remembers_lasts_from_the_first_run_on():
    out = io.StringIO()
    ws = Workspace(output=out)
    ws.feed("x", [1.0])
    shown = NetDef("shown", [OperatorDef("Print", ("x",), (), {"every_n": 2})])
    for _ in range(5):
        ws.run(shown)
    assert len(out.getvalue().splitlines()) == 3


def test_what_a_net_declares_is_checked_in_every_run():
    ws = Workspace()
    ws.feed("a", [1, 2])
    declared = NetDef("n", [OperatorDef("RtAdd", ("a", "a"), ("c",))], types={"a": TensorType(DType.FLOAT, (2,))})
    for _ in range(4):
        with pytest.raises(InferenceError, match="blob 'a' is not what net 'n' declares"):
            ws.run(declared)
