"""``netdsl diff``."""

from __future__ import annotations

import json

import pytest

from netdsl.cli.main import main

BASE = """\
net "n"
input x: float32[N, 4]
a = Relu(x)
b = LeakyRelu(a) {alpha = 0.1}
y = Softmax(b)
output y
"""


@pytest.fixture
def compare(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.net").write_text(BASE)

    def run(text: str, *options: str) -> tuple[int, str]:
        (tmp_path / "b.net").write_text(text)
        return main(["diff", "a.net", "b.net", *options]), capsys.readouterr().out

    return run


def test_equal_nets(compare):
    assert compare(BASE.replace("\na =", "\n# a remark\na =")) == (0, "the nets are equal\n")


def test_every_kind_of_change(compare):
    text = BASE.replace("float32[N, 4]", "float32[N, 5]").replace("0.1", "0.2").replace("output y", "output y, c")
    text = (
        text.replace("y = Softmax(b)\n", "y = Softmax(b)\nc = Sqr(y)\n")
        .replace("\na =", "\nact =")
        .replace("(a)", "(act)")
    )
    status, out = compare(text)
    assert status == 1
    assert out.splitlines() == [
        "= a -> act",
        "~ input x: float32[N, 4] -> float32[N, 5]",
        "~ b = LeakyRelu(act)     (b.net:4)",
        "    argument alpha: 0.1 -> 0.2",
        "+ c = Sqr(y)     (b.net:6)",
        "+ output c",
        "",
        "2 added, 2 changed, 1 renamed",
    ]


def test_removed_and_moved(compare):
    status, out = compare('net "n"\ninput x: float32[N, 4]\na = Relu(x)\ny = Softmax(a)\noutput y\n')
    assert status == 1
    assert out.splitlines() == [
        "~ y = Softmax(a)     (b.net:4)",
        "    inputs: b -> a",
        "- b = LeakyRelu(a)     (a.net:4)",
        "",
        "1 removed, 1 changed",
    ]


def test_json(compare):
    status, out = compare(BASE.replace("0.1", "0.2"), "--json")
    assert status == 1
    assert json.loads(out) == [
        {
            "kind": "changed",
            "where": "b",
            "before": "b = LeakyRelu(a)",
            "after": "b = LeakyRelu(a)",
            "details": [{"what": "argument alpha", "before": "0.1", "after": "0.2"}],
        }
    ]
