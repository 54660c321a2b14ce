"""The command line as a whole: help, errors, exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import netdsl
from netdsl.cli.main import COMMANDS, main

NET = 'net "n"\ninput x: float32[N, 4]\ny = Relu(x)\noutput y\n'


def test_without_a_command_help_is_printed(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: netdsl")
    for name in COMMANDS:
        assert f"  {name} " in out


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"netdsl {netdsl.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert f"usage: netdsl {name}" in capsys.readouterr().out


def test_a_misspelt_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["chek"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: no command is called 'chek'",
        f"  commands     : {', '.join(COMMANDS)}",
        "  did you mean : check",
    ]


def test_too_many_arguments_show_the_usage_of_the_command(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["check", "a", "b", "c"])
    assert stopped.value.code == 2
    out = capsys.readouterr().err
    assert out.startswith("error: unknown arguments: c\n  usage : netdsl check [")
    assert out.endswith(" [INIT] [NET]\n")


def test_arguments_that_make_no_sense_are_errors_of_the_usual_form(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["draw", "a.net"])
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("error: the following arguments are required: -o/--output")
    assert "usage : netdsl draw" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "nowhere.net"], "error: 'nowhere.net': No such file or directory\n"),
        (["show", "empty.net"], "error: 'empty.net' is empty\n"),
        (["check", "typo.net"], "error: unexpected '='\n  at       : typo.net:2:5\n"),
        (["ops", "Fc"], "error: no operator is called 'Fc'\n  did you mean : FC\n"),
        (["check"], "error: check needs a net\n"),
        (["check", "--explain", "N999"], "error: no finding has the code 'N999'\n"),
        (["check", "ok.net", "--ignore", "stale-cop"], "error: no finding has the code 'stale-cop'\n"),
        (["show", "ok.net", "--dim", "M=3"], "error: no dim is called 'M'\n  named : N\n"),
        (["show", "ok.net", "--dim", "N"], "error: --dim takes a name and a size\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_go_to_stderr_without_a_traceback(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.net").write_text(NET)
    (tmp_path / "empty.net").write_text("")
    (tmp_path / "typo.net").write_text('net "n"\ny = = Relu(x)\n')
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)


def test_warnings_go_to_stderr_and_only_once_where_the_check_tells_as_well(tmp_path, capsys):
    path = tmp_path / "a.net"
    path.write_text('net "n"\ninput x\ny = LeakyRelu(x) {alhpa = 0.1}\noutput y\n')
    assert main(["show", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "alhpa" in out
    assert err.startswith("warning: LeakyRelu has no argument 'alhpa'")
    assert main(["check", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("warning[N106] LeakyRelu has no argument 'alhpa'")
    assert err == ""


def test_a_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "long.net").write_text('net "n"\ninput x\n' + "".join(f"y{i} = Relu(x)\n" for i in range(20_000)))
    command = f"{sys.executable} -m netdsl show {tmp_path}/long.net; echo status $? >&2"
    done = subprocess.run(["bash", "-c", f"({command}) | head -1"], capture_output=True, text=True, check=True)
    assert done.stdout == 'net "n"\n'
    assert done.stderr == "status 0\n"


def test_commands_that_read_nets_need_no_array_library(tmp_path, fresh_python):
    (tmp_path / "a.net").write_text(NET)
    code = f"from netdsl.cli import main\nassert main(['check', {str(tmp_path / 'a.net')!r}]) == 0"
    assert fresh_python(code, without=["numpy"]) == "nothing found"


NASTY = "red\x1b[31m", "two\nlines", "bell\x07", "\u202etxt.evil", "\x00"


@pytest.fixture
def nasty(tmp_path, monkeypatch):
    """A net whose name and blobs would move the cursor, ring, turn writing round, or break lines."""
    monkeypatch.chdir(tmp_path)
    net = netdsl.Net("net\x1b[2J\nname")
    x = net.input("x\x1b[1m", ("N",))
    for name in NASTY:
        x = net.Relu(x, name)
    net.output(x)
    netdsl.save(net.definition, "nasty.net")
    (tmp_path / "other.net").write_text(NET)
    (tmp_path / "wrong.net").write_text(net.dump().replace("= Relu(", "= Tanh(a, ", 1))
    return net


@pytest.mark.parametrize(
    "arguments",
    [
        *(["show", "nasty.net"], ["show", "nasty.net", "--shapes"], ["show", "nasty.net", "--cost"]),
        *(["show", "nasty.net", "--params"], ["show", "nasty.net", "--dim", "\x1b=3"], ["check", "wrong.net"]),
        *(["check", "nasty.net", "wrong.net"], ["check", "wrong.net", "nasty.net", "--json"]),
        *(["diff", "nasty.net", "other.net"], ["diff", "other.net", "nasty.net", "--json"]),
        *(["diff", "nasty.net", "wrong.net"], ["ops", "\x1b[31m"], ["draw", "nasty.net", "-o", "\x1b.pdf"]),
    ],
    ids=" ".join,
)
def test_names_reach_the_terminal_escaped(arguments, nasty, capsys):
    main(arguments)
    out, err = capsys.readouterr()
    assert out + err
    assert all(line.isprintable() for line in (out + err).split("\n"))
    if not {"show", "--json"} & set(arguments):
        assert not any(line.startswith(("lines", "name")) for line in (out + err).split("\n"))


def test_errors_of_the_library_are_printable():
    net = netdsl.Net("a\x1b[31mb")
    with pytest.raises(netdsl.errors.SchemaError) as caught:
        net.Relu("x\x07", "y", wrong=1)
    assert all(line.isprintable() for line in str(caught.value).split("\n"))
    assert str(netdsl.OperatorDef("Relu", ["a\nb"], ["\x1b"])) == "\\x1b = Relu(a\\nb)"


def test_an_encoding_that_lacks_a_letter_gets_it_escaped(tmp_path):
    (tmp_path / "n.net").write_text('net "n"\ninput x\n"日" = Relu(x)\noutput "日"\n', "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-m", "netdsl", "show", "n.net"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "\\u65e5" in done.stdout
