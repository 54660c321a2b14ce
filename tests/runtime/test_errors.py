"""What is told when a net cannot run, and what is left behind."""

from __future__ import annotations

import io
import multiprocessing
import traceback
from concurrent.futures import ProcessPoolExecutor

import attrs
import numpy as np
import pytest

from netdsl.errors import BlobError, InferenceError, MissingKernelError, RunError, SchemaError, UnknownOperatorError
from netdsl.ir import NetDef, SourceLine, parse
from netdsl.runtime import Workspace
from tests.runtime.operators import net, op


def workspace(**blobs) -> Workspace:
    ws = Workspace(output=io.StringIO())
    for name, value in blobs.items():
        ws.feed(name, np.asarray(value, np.float32))
    return ws


def notes(error: BaseException) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


def test_an_unfed_input():
    ws = workspace(data=[1], w=[1])
    reader = attrs.evolve(op("y = RtAdd(dta, w)"), where=SourceLine("train.py", 16))
    with pytest.raises(BlobError) as caught:
        ws.run(net("a = RtAdd(w, w)", reader, name="train"))
    assert str(caught.value) == (
        "blob 'dta' does not exist in the workspace\n"
        "  read by      : y = RtAdd(dta, w)     (operator 1 of net 'train')\n"
        "  added at     : train.py:16\n"
        "  did you mean : data"
    )
    assert ws.blobs == ("data", "w")


def test_many_missing_blobs_are_listed_and_the_init_net_is_offered():
    with pytest.raises(BlobError) as caught:
        workspace(x=[1]).run(net("y = RtAdd(x, w)", "m = RtAdd(m, y)"))
    assert "2 blobs do not exist in the workspace: 'w', 'm'" in str(caught.value)
    assert "Workspace.run_missing(init_net)" in str(caught.value)


def lacking(net: NetDef, ws: Workspace) -> dict[str, object]:
    with pytest.raises(BlobError) as caught:
        ws.run(net)
    return caught.value.details


def trained(**types: str) -> NetDef:
    """A net that updates ``w`` from the inputs ``types``."""
    lines = [f"input {name}: {type_}\n" for name, type_ in types.items()]
    reads = "".join(f"y{i} = Relu({name})\n" for i, name in enumerate(types) if name != "w")
    return parse(f'net "train"\n{"".join(lines)}{reads}w = Relu(w)\n')


def test_after_the_init_net_has_run_what_is_missing_is_to_be_fed():
    told = lacking(trained(data="float32[N, 1, 8]", label="int32[N]", w="float32[2]"), workspace(w=[1, 2]))
    assert told["feed"] == "ws.feed('data', ...)  float32[N, 1, 8], ws.feed('label', ...)  int32[N]"
    assert "fix" not in told


def test_state_is_what_the_init_net_makes():
    told = lacking(trained(x="float32[N]", w="float32[2]"), workspace(x=[1, 2]))
    assert told["fix"] == "run the init net first; Workspace.run_missing(init_net) runs only what is new in it"
    assert told.keys() == {"read by", "added at", "fix"}


def test_both_kinds_of_missing_blobs_have_a_line_each():
    told = lacking(trained(x="float32[N]", w="float32[2]", c="float32[2]"), workspace())
    assert told["feed"] == "ws.feed('x', ...)  float32[N]"
    assert str(told["fix"]).startswith("run the init net first for c, w; ")
    assert "or" not in told


def test_an_input_that_may_be_data_or_a_parameter_is_either():
    told = lacking(net("y = RtAdd(x, x)"), workspace())
    assert str(told["fix"]).startswith("run the init net first;")
    assert told["or"] == "feed what no init net makes"


def test_a_long_list_of_missing_blobs_is_cut():
    names = [f"x{i}" for i in range(28)]
    with pytest.raises(BlobError) as caught:
        workspace().run(trained(**dict.fromkeys(names, "float32[N]"), w="float32[2]"))
    assert caught.value.what.startswith("29 blobs do not exist in the workspace: 'x0', 'x1', ")
    assert caught.value.what.endswith("'x9' and 19 more")
    assert str(caught.value.details["feed"]).endswith("float32[N] and 18 more")


def test_what_is_fed_with_another_dtype_is_to_be_converted():
    ws = workspace(w=[1])
    ws.feed("x", np.zeros(3))
    with pytest.raises(InferenceError) as caught:
        ws.run(trained(x="float32[N]", w="float32[1]"))
    assert caught.value.details["fix"] == "ws.feed('x', numpy.asarray(value, 'float32'))"
    ws.feed("x", np.zeros((3, 1), np.float32))
    with pytest.raises(InferenceError) as caught:
        ws.run(trained(x="float32[N]", w="float32[1]"))
    assert "fix" not in caught.value.details


def test_a_traceback_shows_which_operator_failed_and_where_it_was_added():
    ws = workspace(x=[[1, 2]])
    ws.feed("label", np.array([7], np.int32))
    failing = attrs.evolve(op("p, loss = SoftmaxWithLoss(x, label)"), where=SourceLine("model.py", 3))
    with pytest.raises(RunError) as caught:
        ws.run(net(failing, name="train"))
    told = "".join(traceback.format_exception(caught.value))
    assert told.endswith(
        "  operator : p, loss = SoftmaxWithLoss(x, label)     (operator 0 of net 'train')\n"
        "  inputs   : x: float32[1, 2], label: int32[1]\n"
        "  added at : model.py:3\n"
    )
    assert not hasattr(caught.value, "__notes__")


def test_an_error_before_the_first_operator_changes_nothing():
    ws = workspace(x=[1], y=[7])
    for bad in ("z = RtNowhere(x)", "z = RtBodiless(x)", "z = RtAdd(x)"):
        with pytest.raises((UnknownOperatorError, MissingKernelError, SchemaError)) as caught:
            ws.run(net("y = RtAdd(x, x)", bad))
        assert "operator 1 of net 'net'" in notes(caught.value)
    assert ws.fetch("y").tolist() == [7]
    assert ws.blobs == ("x", "y")


def test_a_body_that_raises():
    ws = workspace(x=[1, 2])
    failing = attrs.evolve(op("z = RtFail(y)"), where=SourceLine("model.py", 3))
    with pytest.raises(ZeroDivisionError, match="no such number") as caught:
        ws.run(net("y = RtAdd(x, x)", failing, "u = RtAdd(z, z)", name="train"))
    assert notes(caught.value) == (
        "while running z = RtFail(y)     (operator 1 of net 'train')\n  y : float32[2]\n  added at : model.py:3"
    )
    assert ws.blobs == ("x", "y")
    assert ws.fetch("y").tolist() == [2, 4]


def test_after_a_failure_later_blobs_hold_what_they_held():
    ws = workspace(x=[1, 2], z=[[5]])
    with pytest.raises(ZeroDivisionError):
        ws.run(net("y = RtFail(x)", "z = RtAdd(x, x)"))
    assert ws.fetch("z").tolist() == [[5]]


def test_a_body_that_contradicts_its_inference():
    with pytest.raises(RunError, match=r"expected +: float32\[2\]\n +got +: float32\[1\]"):
        workspace(x=[1, 2]).run(net(op("y = RtFail(x)", lie=1)))


# nested nets


def test_nested_nets_write_by_name():
    ws = workspace(x=[1, 2])
    inner = net("t = RtAdd(x2, x2)", "y = RtAdd(t, x2)", name="inner")
    outer = net("x2 = RtAdd(x, x)", op("y = RtCall(x2)", net=inner), "z = RtAdd(y, y)")
    ws.run(outer, times=2)
    assert ws.fetch("z").tolist() == [12, 24]
    assert ws.fetch("t").tolist() == [4, 8]
    assert ws.output.getvalue() == "ran RtCall\n" * 2


def test_nested_nets_may_write_what_is_bound():
    ws = workspace(x=[1, 2])
    outer = net(op("y = RtTyped(x)", net=net("y = RtAdd(x, x)", name="inner")), "z = RtAdd(y, y)")
    ws.run(outer, times=2)
    assert ws.fetch("z").tolist() == [4, 8]


def test_later_operators_are_bound_again_when_a_nested_net_replaces_an_array():
    ws = workspace(x=[1, 2], u=[5, 6])
    inner = net("y = RtAdd(x, x)", "p = RtPositive(u)", "y = RtAlias(p)", name="inner")
    ws.run(net(op("y = RtTyped(x, u)", net=inner), "z = RtAdd(y, y)"))
    assert ws.fetch("z").tolist() == [10, 12]


def test_a_nested_net_that_writes_another_type_than_is_inferred():
    ws = workspace(x=[1, 2, 3])
    outer = net(op("y = RtTyped(x)", net=net("y = RtAdd(x, x)", name="inner")), "z = RtAdd(y, y)")
    with pytest.raises(RunError, match=r"expected +: float32\[2\]\n +got +: float32\[3\]"):
        ws.run(outer)


@pytest.mark.parametrize("kind", ["RtCall", "RtTyped"])
def test_what_a_nested_net_did_not_write_cannot_be_read(kind):
    ws = workspace(x=[1, 2])
    empty = op(f"y = {kind}(x)", net=NetDef("empty"))
    ws.run(net(empty))
    assert "y" not in ws
    with pytest.raises(BlobError, match="blob 'y' does not exist") as caught:
        ws.run(net(empty, "z = RtAdd(y, y)"))
    assert "z = RtAdd(y, y)" in str(caught.value)
    assert "y" not in ws


def test_an_error_in_a_nested_net_names_both_operators():
    ws = workspace(x=[1, 2])
    inner = net("y = RtFail(x)", name="inner")
    with pytest.raises(ZeroDivisionError) as caught:
        ws.run(net(op("y = RtCall(x)", net=inner), name="outer"))
    assert "y = RtFail(x)     (operator 0 of net 'inner')" in notes(caught.value)
    assert "y = RtCall(x)     (operator 0 of net 'outer')" in notes(caught.value)


@pytest.mark.parametrize("times", [1, 2])
def test_an_error_of_ours_in_a_nested_net_tells_the_inner_operator_and_notes_the_outer(times):
    ws = workspace(x=[1, 2])
    inner = net(op("y = RtFail(x)", lie=1), name="inner")
    with pytest.raises(RunError) as caught:
        ws.run(net(op("y = RtCall(x)", net=inner), name="outer"), times=times)
    assert caught.value.details["operator"] == "y = RtFail(x)     (operator 0 of net 'inner')"
    assert caught.value.details["inputs"] == "x: float32[2]"
    assert notes(caught.value).count("while running") == 1
    assert "while running y = RtCall(x)     (operator 0 of net 'outer')" in notes(caught.value)


def raised(kind: str) -> BaseException:
    """An error as an operator of a nested net raises it, of ours or another's."""
    inner = net(op("y = RtFail(x)", lie=1) if kind == "ours" else "y = RtFail(x)", name="inner")
    try:
        workspace(x=[1, 2]).run(net(op("y = RtCall(x)", net=inner), name="outer"))
    except Exception as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("kind", ["ours", "foreign"])
def test_an_error_of_a_worker_process_tells_everything(kind):
    here = raised(kind)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(raised, kind).result()
    assert (type(there), str(there), notes(there)) == (type(here), str(here), notes(here))
    assert vars(there).get("details") == vars(here).get("details")


def test_an_error_that_a_worker_process_raises_tells_everything():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool, pytest.raises(RunError) as caught:
        pool.submit(raise_it).result()
    assert caught.value.details["operator"] == "y = RtFail(x)     (operator 0 of net 'inner')"
    assert "outer" in notes(caught.value)


def raise_it() -> None:
    raise raised("ours")


def test_keep_leaves_alone_what_nested_nets_touch():
    ws = workspace(x=[1, 2])
    inner = net("y = RtAdd(t, t)", name="inner")
    outer = net("t = RtAdd(x, x)", op("y = RtTyped()", net=inner), "z = RtAdd(y, y)", "u = RtAdd(z, z)")
    ws.run(outer, keep=["u"])
    assert ws.fetch("u").tolist() == [16, 32]
    assert "z" not in ws


def test_a_blob_too_large_for_memory_is_named():
    ws = workspace()
    with pytest.raises(MemoryError) as caught:
        ws.run(NetDef("big", [op("huge = ConstantFill()", shape=[1 << 46])]))
    text = str(caught.value)
    assert text.startswith("blob 'huge' does not fit into memory")
    assert "wanted     : 281,474,976,710,656 bytes" in text
    assert "type       : float32[70368744177664]" in text
    assert "written by : huge = ConstantFill()     (operator 0 of net 'big')" in text


def test_in_place_rules_hold_for_nets_from_files():
    with pytest.raises(SchemaError, match="cannot write"):
        workspace(x=[[1]]).run(NetDef("n", [op("x = SumElements(x)")]))
