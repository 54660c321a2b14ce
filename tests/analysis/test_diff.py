"""Differences of nets by structure."""

from __future__ import annotations

import attrs
import pytest

from netdsl.analysis.diff import Change, diff
from netdsl.cli.digits.model import build
from netdsl.ir import NetDef, OperatorDef, parse

BASE = """\
net "n"
input x: float32[N, 4]
input w, b
h = FC(x, w, b)
a = Relu(h)
p = Dropout(a) {ratio = 0.5}
Print(p)
y = Softmax(p)
output y
"""


def changes(new: str, old: str = BASE) -> list[str]:
    """The differences as short texts."""
    return [short(change) for change in diff(parse(old), parse(new))]


def short(change: Change) -> str:
    told = "".join(f"; {what} {before} -> {after}" for what, before, after in change.details)
    return f"{change.kind} {change.where}{told}"


def edit(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('net "n"', 'net "m"', ["changed name"]),
        ("a = Relu(h)", "a = Tanh(h)", ["changed a; type Relu -> Tanh"]),
        ("ratio = 0.5", "ratio = 0.25", ["changed p; argument ratio 0.5 -> 0.25"]),
        ("ratio = 0.5", "ratio = 0.5, is_test = 1", ["changed p; argument is_test None -> 1"]),
        ("Softmax(p)", "Softmax(a)", ["changed y; inputs ('p',) -> ('a',)"]),
        ("a = Relu(h)", "a = Relu(h) @cpu", ["changed a; device None -> cpu"]),
        ("a = Relu(h)", 'a = Relu(h) engine "E"', ["changed a; engine  -> E"]),
        ("a = Relu(h)", "s = Sqr(h)\na = Relu(h)", ["added s"]),
        ("Print(p)\n", "", ["removed Print"]),
        ("Print(p)\ny = Softmax(p)\n", "y = Softmax(p)\nPrint(p)\n", ["moved y"]),
        ("float32[N, 4]", "float32[N, 5]", ["changed input x"]),
        ("output y", "output y\noutput a", ["added output a"]),
        ("input w, b", "input w, b, v", ["added input v"]),
        ("output y", "output a", ["removed output y", "added output a"]),
        ('net "n"', 'net "n" type "dag" workers 2', ["changed net type", "changed net num_workers"]),
    ],
)
def test_one_edit_is_one_change(old, new, expected):
    assert changes(edit(old, new)) == expected


def test_equal_nets_have_no_difference_though_they_stand_in_other_files():
    assert diff(parse(BASE, "a.net"), parse(f"# a remark\n{BASE}", "b.net")) == []


def test_a_renamed_blob_is_one_change_wherever_it_is_read():
    renamed = BASE.replace("a =", "act =").replace("(a)", "(act)")
    assert changes(renamed) == ["renamed blob a"]


def test_a_renamed_input_and_output():
    renamed = BASE.replace("x:", "data:").replace("(x,", "(data,").replace("y", "scores")
    assert changes(renamed) == ["renamed blob x", "renamed blob y"]


def test_renaming_and_another_change_are_told_apart():
    renamed = BASE.replace("a =", "act =").replace("(a)", "(act)").replace("0.5", "0.75")
    assert changes(renamed) == ["renamed blob a", "changed p; argument ratio 0.5 -> 0.75"]


def test_an_operator_in_the_place_of_another_renames_its_blob():
    replaced = edit("a = Relu(h)\np = Dropout(a)", "t = Tanh(h)\np = Dropout(t)")
    assert changes(replaced) == ["renamed blob a", "changed t; type Relu -> Tanh"]


def test_swapped_names_are_no_renames():
    found = diff(
        parse('net "n"\ninput x\na = Relu(x)\nb = Tanh(x)\n'), parse('net "n"\ninput x\nb = Relu(x)\na = Tanh(x)\n')
    )
    assert found
    assert all(change.kind != "renamed" for change in found)


def test_names_in_nested_nets_follow():
    text = 'net "n"\ninput c, x\ny = If(c, x)\n  then_net = net "t"\n'
    text += "    input x\n    y = Relu(x)\n    output y\noutput y\n"
    assert changes(text.replace("x", "data"), text) == ["renamed blob x"]
    (change,) = diff(parse(text), parse(text.replace("Relu", "Tanh")))
    assert [what for what, _, _ in change.details] == ["then_net: y: type"]


def test_an_int_and_a_float_differ():
    (change,) = diff(parse('net "n"\ny = A() {k = 1}\n'), parse('net "n"\ny = A() {k = 1.0}\n'))
    assert change.details == (("argument k", 1, 1.0),)


def test_renaming_a_layer_of_a_training_step_renames_its_gradients():
    text = build("half").net.dump()
    found = diff(parse(text), parse(text.replace("fc1", "hidden")))
    assert {change.kind for change in found} == {"renamed"}
    assert ("fc1_w_grad_fp32", "hidden_w_grad_fp32") in {(change.before, change.after) for change in found}


def test_a_long_net_is_compared_in_a_moment():
    """5,000 operators: quadratic work would take minutes."""
    ops = [OperatorDef("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(5000)]
    net = NetDef("long", ops, ["x0"])
    other = attrs.evolve(net, ops=[*ops[:2500], attrs.evolve(ops[2500], type="Tanh"), *ops[2501:]])
    assert [short(change) for change in diff(net, other)] == ["changed x2501; type Relu -> Tanh"]


NESTED = """\
net "n"
input c: bool[1]
input x: float32[2]
y = If(c, x)
  then_net = net "t"
    h = LeakyRelu(x) {alpha = 0.1}
    y = Tanh(h)
    output y
output y
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Tanh(h)", "Relu(h)", "then_net: y: type Tanh -> Relu"),
        ("0.1", "0.5", "then_net: h: argument alpha 0.1"),
        ("    y = Tanh(h)\n", "    y = Tanh(h)\n    Print(y)\n", "then_net: Print added None -> Print(y)"),
        ('net "t"', 'net "u"', "then_net: name changed t -> u"),
    ],
)
def test_a_change_in_a_nested_net_is_told_where_it_is(old, new, told):
    (text,) = changes(NESTED.replace(old, new), NESTED)
    assert text.startswith(f"changed y; {told}")
    assert "\n" not in text
