"""``netdsl check`` as a command; what it finds is tested under analysis."""

from __future__ import annotations

import json

import pytest

from netdsl import io
from netdsl.analysis.rules import RULES
from netdsl.cli.digits.model import build
from netdsl.cli.digits.training import Nets
from netdsl.cli.main import main

STALE = RULES["N303"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.net").write_text('net "n"\ninput x\ny = Relu(x)\noutput y\n')
    (tmp_path / "bad.net").write_text('net "n"\ninput x\ny = Relu(z)\nd = Tanh(x)\ne = Tanh(x)\noutput y\n')
    (tmp_path / "init.net").write_text(STALE.init)
    (tmp_path / "train.net").write_text(STALE.example)


def test_nothing_found(capsys):
    assert main(["check", "good.net"]) == 0
    assert capsys.readouterr().out == "nothing found\n"


def test_findings_with_reasons_once_a_code_and_a_tally(capsys):
    assert main(["check", "bad.net"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "error[N103] blob 'z' is read, but nothing provides it",
        "  in       : y = Relu(z)     (operator 0 of net 'n')",
        "  added at : bad.net:3",
        f"  why      : {RULES['N103'].why}",
        f"  fix      : {RULES['N103'].fix}",
        "",
        "warning[N401] nothing reads 'd'",
        "  in       : d = Tanh(x)     (operator 1 of net 'n')",
        "  added at : bad.net:4",
        f"  why      : {RULES['N401'].why}",
        f"  fix      : {RULES['N401'].fix}",
        "",
        "warning[N401] nothing reads 'e'",
        "  in       : e = Tanh(x)     (operator 2 of net 'n')",
        "  added at : bad.net:5",
        "",
        "1 error, 2 warnings; `netdsl check --explain N103` tells more",
    ]


def test_two_nets(capsys):
    assert main(["check", "init.net", "train.net"]) == 1
    out = capsys.readouterr().out
    assert "copied by : w = FloatToHalf(w_fp32)     (operator 1 of net 'init', init.net:3)" in out
    assert out.endswith("1 warning; `netdsl check --explain N303` tells more\n")


def test_state_of_optimizers_that_a_predict_net_does_not_read_is_one_finding(tmp_path, capsys):
    model = build("half")
    nets = Nets.of(model.init_net.definition, model.net.definition)
    io.save(nets.init, tmp_path / "i.net")
    io.save(nets.predict, tmp_path / "p.net")
    assert main(["check", "i.net", "p.net"]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == ("warning[N402] 10 operators make what net 'digits_predict', which trains nothing, does not read")
    assert rest[1].startswith("  not read : 'optimizer_iteration', ")
    assert rest[-1].startswith("1 warning;")
    (tmp_path / "p.net").write_text((tmp_path / "p.net").read_text().replace("fc1_b", "fc1_bias"))
    main(["check", "i.net", "p.net"])
    assert "neither net reads 'fc1_b'" in capsys.readouterr().out


@pytest.mark.parametrize("ignored", [["N303"], ["n303"], ["stale-copy"], ["N401,N303"], ["N401", "--ignore", "N303"]])
def test_what_is_ignored_is_not_found(ignored, capsys):
    assert main(["check", "init.net", "train.net", "--ignore", *ignored]) == 0
    assert capsys.readouterr().out == "nothing found\n"


def test_errors_only(capsys):
    assert main(["check", "bad.net", "--errors-only"]) == 1
    assert "1 error;" in capsys.readouterr().out
    assert main(["check", "init.net", "train.net", "--errors-only"]) == 0


def test_json(capsys):
    assert main(["check", "bad.net", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(f["code"], f["severity"], f["blob"], f["file"], f["line"]) for f in found] == [
        ("N103", "error", "z", "bad.net", 3),
        ("N401", "warning", "d", "bad.net", 4),
        ("N401", "warning", "e", "bad.net", 5),
    ]
    assert main(["check", "good.net", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_functions_may_be_allowed(tmp_path, capsys):
    (tmp_path / "p.net").write_text('net "n"\ninput x\ny = Python(x) {function = "no.such:f"}\noutput y\n')
    assert main(["check", "p.net"]) == 1
    assert "N108" in capsys.readouterr().out
    assert main(["check", "p.net", "--allow-python", "other:f", "--allow-python", "no.such:*"]) == 0
    assert main(["check", "p.net", "--allow-python", "no.such"]) == 2
    assert "names no function" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["N303", "n303", "stale-copy"])
def test_a_code_is_explained(given, capsys):
    assert main(["check", "--explain", given]) == 0
    out = capsys.readouterr().out
    assert out == STALE.text
    assert out.startswith("N303 stale-copy (warning)\n\nWhat: A parameter exists in half and in single precision;")
    assert "    w = FloatToHalf(w_fp32)\n" in out


def test_all_codes_are_explained(capsys):
    assert main(["check", "--explain", "all"]) == 0
    out = capsys.readouterr().out
    for rule in RULES.values():
        assert rule.text in out


def test_names_are_printed_as_they_are(tmp_path, capsys):
    (tmp_path / "odd.net").write_text('net "[red]n[/red]"\n"[bold]y" = Relu("[x]")\noutput "[bold]y"\n')
    assert main(["check", "odd.net"]) == 1
    assert "blob '[x]' is read" in capsys.readouterr().out
