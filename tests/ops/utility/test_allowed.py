"""Which functions a net may call: those that the author's program names, and none that a file names."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.analysis.check import check
from netdsl.errors import MissingKernelError, RunError, SchemaError
from netdsl.ops.functions import Allowed
from tests.ops.utility import case_python as functions

MARKED = "touched_by_a_stranger"
MODULE = f'''
import os
from os import system
from numpy import hypot
from functools import partial

marks = os.environ.setdefault("{MARKED}", "")
os.environ["{MARKED}"] = "imported"
sent = partial(system, "true")

class Shape:
    def __init__(self, *_): pass
    @staticmethod
    def doubled(x): return x + x

def doubled(x): return x + x
def gradient(x, y, dy): return dy + dy
def _hidden(x): return x
'''


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A module that nobody has imported, by a name of its own, and that shows when it is imported."""
    name = f"stranger_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(MARKED, "")
    yield name
    sys.modules.pop(name, None)


def marked() -> bool:
    """Whether something of a stranger's has run."""
    return bool(os.environ[MARKED])


def text_of(function: str, kind: str = "function") -> str:
    return f'net "n"\ninput x: float32[2]\ny = Python(x) {{{kind} = "{function}"}}\n'


def run(net: nd.NetDef | nd.Net, workspace: nd.Workspace | None = None) -> nd.Workspace:
    workspace = workspace or nd.Workspace()
    workspace.feed("x", np.ones(2, np.float32))
    workspace.run(net)
    return workspace


# ---------------------------------------------------------------------- nets of strangers


def sources(net: nd.NetDef, folder: Path) -> dict[str, nd.NetDef]:
    """The same net, as it comes in every way in which records come."""
    found: dict[str, nd.NetDef] = {"json": nd.from_json(nd.to_json(net)), "pickle": pickle.loads(pickle.dumps(net))}
    for form in ("pb", "pbtxt", "net", "json"):
        nd.save(net, folder / f"n.{form}")
        found[form] = nd.load(folder / f"n.{form}")
    appended, extended, added = nd.Net("a"), nd.Net("b"), nd.Net("c")
    appended.append(net)
    extended.extend(net.ops)
    for op in net.ops:
        added.add(op.type, op.inputs, op.outputs, op.args)
    rewritten = nd.Net.from_definition(net).clone("d", {"x": "x"}).extract("y")
    made = {"append": appended, "extend": extended, "add": added, "clone": rewritten}
    return found | {name: each.definition for name, each in made.items()}


def test_no_net_that_comes_as_records_runs_or_imports_a_function(stranger: str, tmp_path: Path) -> None:
    path = f"{stranger}:doubled"
    for way, net in sources(nd.parse(text_of(path)), tmp_path).items():
        with pytest.raises(RunError, match="nothing allows this net to call"):
            run(net)
        assert [finding.code for finding in check(net) if finding.code == "N108"] == ["N108"], way
    assert not marked()


def test_eval_of_bytes_that_the_file_makes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKED, "")
    code = f"__import__('os').environ.__setitem__('{MARKED}', 'run') or __import__('numpy').zeros(1)".encode()
    words = np.frombuffer(code + b" " * (-len(code) % 4), np.int32).tolist()
    net = nd.parse(
        f'net "n"\nx = GivenTensorIntFill() {{shape = [{len(words)}], values = {words}}}\n'
        'y = Python(x) {function = "builtins:eval"}\n'
    )
    with pytest.raises(RunError) as caught:
        nd.Workspace().run(net)
    first, *_, operator, _, where = str(caught.value).splitlines()
    assert first == "Python: nothing allows this net to call 'builtins:eval'"
    assert (operator, where) == ("  operator : y = Python(x)     (operator 1 of net 'n')", "  added at : <text>:3")
    for way in ("Workspace(python=['builtins:eval'])", "netdsl.python_function", "--allow-python builtins:eval"):
        assert way in str(caught.value)
    assert not marked()
    nd.Workspace(python=["builtins:eval"]).run(net)
    assert marked()  # that is what would have happened


def test_a_gradient_function_of_a_file_is_refused(stranger: str) -> None:
    text = text_of(f"{functions.__name__}:itself").replace("}", f', gradient_function = "{stranger}:gradient"}}')
    net = nd.Net.from_definition(nd.parse(text))
    net.add_gradients({"y": "y"})
    with pytest.raises(RunError, match=f"call '{stranger}:gradient'"):
        run(net)
    assert [finding.code for finding in check(net.definition)] == ["N108"]
    assert not marked()


def test_a_nested_net_of_a_file_is_refused_and_found(stranger: str) -> None:
    nested = nd.parse(text_of(f"{stranger}:doubled"))
    outer = nd.Net("outer")
    outer.add("If", [outer.input("c", (), "bool")], ["y"], {"then_net": nested})
    net = outer.definition
    workspace = nd.Workspace()
    workspace.feed("c", True)
    with pytest.raises(RunError, match="nothing allows"):
        run(net, workspace)
    assert "N108" in [finding.code for finding in check(net)]
    assert not marked()


# ---------------------------------------------------------------------- what allows


@pytest.mark.parametrize("form", ["name", "function"])
def test_what_the_author_gives_to_net_python_is_allowed(stranger: str, form: str) -> None:
    path = f"{stranger}:doubled"
    net = nd.Net("n")
    x = net.input("x", (2,))
    function: Any = path if form == "name" else __import__(stranger).doubled
    (y,) = net.Python([x], ["y"], function=function, gradient_function=f"{stranger}:gradient")
    assert marked() == (form == "function")
    net.add_gradients({y: "y"})
    assert net.definition == nd.parse(net.dump())
    assert check(nd.parse(net.dump())) == []  # the program that builds a net may load it too
    workspace = run(nd.parse(net.dump()))
    np.testing.assert_array_equal(workspace.fetch("x_grad"), [4, 4])


@pytest.mark.parametrize("form", ["{}:doubled", "{}:*"])
def test_a_workspace_allows_by_name_for_itself_and_its_children(stranger: str, form: str) -> None:
    net = nd.parse(text_of(f"{stranger}:doubled"))
    allowing = [form.format(stranger)]
    assert check(net, python=allowing) == []
    workspace = nd.Workspace(python=allowing)
    assert not marked()
    assert run(net, workspace).fetch("y").tolist() == [2, 2]
    assert run(net, nd.Workspace(parent=workspace)).fetch("y").tolist() == [2, 2]
    with pytest.raises(RunError, match="nothing allows"):
        run(net)


def test_a_workspace_takes_functions_and_a_single_one() -> None:
    path = f"{functions.__name__}:writes"
    net = nd.parse(text_of(path))
    for given in (path, functions.writes, [functions.writes]):
        with pytest.raises(ValueError, match="read-only"):  # it was called
            run(net, nd.Workspace(python=given))


def test_a_decorated_function_is_allowed_everywhere() -> None:
    namespace = {"nd": nd, "__name__": "some.where"}
    exec("@nd.python_function\ndef tripled(x):\n    return x + x + x", namespace)
    assert run(nd.parse(text_of("some.where:tripled"))).fetch("y").tolist() == [3, 3]


def test_functions_of_a_workspace_go_by_token_or_by_name() -> None:
    workspace = nd.Workspace()
    workspace.functions |= {"4": np.negative, "4_gradient": lambda x, y, dy: -dy, "no.such:f": np.square}
    assert run(nd.parse(text_of("4", "token")), workspace).fetch("y").tolist() == [-1, -1]
    assert run(nd.parse(text_of("no.such:f")), workspace).fetch("y").tolist() == [1, 1]
    back = nd.parse('net "g"\ninput x, y\ng = PythonGradient(x, y, y) {grad_input_indices = [0], token = "4"}\n')
    assert run(back, workspace).fetch("g").tolist() == [-1, -1]
    with pytest.raises(MissingKernelError, match=r"workspace.functions\['4'\]"):
        run(nd.parse(text_of("4", "token")))
    assert [finding.code for finding in check(nd.parse(text_of("4", "token")))] == ["N108"]


@pytest.mark.parametrize("name", ["system", "hypot", "sent", "Shape", "_hidden", "Shape.doubled", "os.system", "gone"])
def test_a_star_allows_only_what_the_module_itself_defines(stranger: str, name: str) -> None:
    with pytest.raises(RunError, match="nothing allows"):
        run(nd.parse(text_of(f"{stranger}:{name}")), nd.Workspace(python=[f"{stranger}:*"]))


def test_a_star_does_not_reach_other_modules(stranger: str) -> None:
    for path in (f"{stranger}.sub:doubled", f"{stranger}_:doubled"):
        with pytest.raises(RunError, match="nothing allows"):
            run(nd.parse(text_of(path)), nd.Workspace(python=[f"{stranger}:*"]))
    assert not marked()


def test_a_dotted_name_is_allowed_as_it_stands(stranger: str) -> None:
    path = f"{stranger}:Shape.doubled"
    assert run(nd.parse(text_of(path)), nd.Workspace(python=[path])).fetch("y").tolist() == [2, 2]


@pytest.mark.parametrize("name", ["gone", "marks"])
def test_what_is_allowed_but_is_not_there(stranger: str, name: str) -> None:
    path = f"{stranger}:{name}"
    with pytest.raises(RunError, match=r"cannot import the function|is no function"):
        run(nd.parse(text_of(path)), nd.Workspace(python=[path]))
    with pytest.raises(RunError, match="cannot import the function"):
        run(nd.parse(text_of("no.such:f")), nd.Workspace(python=["no.such:*"]))


@pytest.mark.parametrize("given", ["builtins:*", "*", "*:*", "m", "m:", ":f", "m:f()", "m:f.*", "", "m:*.f"])
def test_refuses_to_allow_what_has_no_such_form(given: str) -> None:
    with pytest.raises(SchemaError):
        Allowed([given])
    with pytest.raises(SchemaError):
        nd.Workspace(python=[given])


def test_another_process_must_allow_it_again(fresh_python: Any, tmp_path: Path) -> None:
    net = nd.Net("n")
    net.Python([net.input("x", (2,))], ["y"], function="operator:neg")
    nd.save(net, tmp_path / "n.net")
    code = f"""
import netdsl as nd, numpy as np
net = nd.load({str(tmp_path / "n.net")!r})
for allowed in ([], ["operator:neg"]):
    ws = nd.Workspace(python=allowed)
    ws.feed("x", np.ones(2, np.float32))
    try:
        ws.run(net)
        print("ran")
    except nd.errors.RunError:
        print("refused")
"""
    assert fresh_python(code).split() == ["refused", "ran"]
