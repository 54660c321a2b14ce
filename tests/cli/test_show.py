"""``netdsl show``."""

from __future__ import annotations

from pathlib import Path

import pytest

from netdsl import io
from netdsl.cli.digits.model import build
from netdsl.cli.main import main
from netdsl.cli.terminal import count
from netdsl.ir import parse


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("nets")
    model = build("half")
    io.save(model.net, made / "train.net")
    io.save(model.net, made / "train.json")
    io.save(model.net, made / "train.pb")
    io.save(model.init_net, made / "init.net")
    return made


@pytest.fixture
def show(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> str:
        assert main(["show", *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_a_net_in_any_format_is_shown_as_its_text(show, folder):
    text = (folder / "train.net").read_text()
    assert parse(show("train.net")) == parse(text)
    assert parse(show("train.pb")).ops == parse(text).ops
    assert show("train.json") == show("train.net")


def test_raw_is_the_file_again(show, folder):
    assert show("train.net", "--raw") == (folder / "train.net").read_text()


def test_long_lists_are_elided_and_raw_keeps_them(tmp_path, capsys):
    values = ", ".join(map(str, range(100)))
    path = tmp_path / "w.net"
    path.write_text(f'net "w"\nw = GivenTensorFill() {{shape = [100], values = [{values}.5]}}\n')
    assert main(["show", str(path)]) == 0
    assert "values = float32 x 100 <elided>" in capsys.readouterr().out
    assert main(["show", str(path), "--raw"]) == 0
    assert parse(capsys.readouterr().out) == parse(path.read_text())


def test_numbers_of_enumerations_are_explained(show):
    assert "dtype = 10, shape = [1], value = 0} @cpu  # dtype 10 is int64\n" in show("init.net")


def test_shapes(show):
    out = show("train.net", "--shapes")
    assert "conv1 = Conv(data_half, conv1_w, conv1_b) {kernel = 3, pad = 1}  # float16[N, 16, 8, 8]\n" in out
    assert "# float16[32, 16, 8, 8]\n" in show("train.net", "--shapes", "--dim", "N=32")


def test_shapes_tell_the_types_of_inputs_too(show, tmp_path):
    text = Path("train.net").read_text().replace("input fc1_w: float16[64, 512]", "input fc1_w")
    (tmp_path / "bare.net").write_text(text)
    assert "\ninput fc1_w\n" in show(str(tmp_path / "bare.net"))
    out = show(str(tmp_path / "bare.net"), "--shapes", "--init", "init.net", "--dim", "N=32")
    assert "\ninput fc1_w: float16[64, 512]\n" in out
    assert "\ninput data: float32[32, 1, 8, 8]\n" in out


def test_shapes_of_a_net_that_does_not_fit_say_where(tmp_path, capsys):
    path = tmp_path / "a.net"
    path.write_text('net "n"\ninput x: float32[2]\ninput y: float32[3]\nz = Add(x, y)\nu = Nobodys(z)\n')
    assert main(["show", str(path), "--shapes"]) == 0
    sum_, unknown = capsys.readouterr().out.splitlines()[-2:]
    assert sum_.startswith("z = Add(x, y)  # Add: ")
    assert unknown == "u = Nobodys(z)  # no operator is called 'Nobodys'"


def test_parameters_from_the_nets(show):
    header, first, *rest, blank, note = show("train.net", "--params", "--init", "init.net").splitlines()
    assert header.split("  ")[0] == "name"
    assert (blank, note) == ("", "as read off the operators; a net saved as JSON keeps the table of its model")
    assert first.split() == [
        *("conv1_w", "float16[16,", "1,", "3,", "3]", "conv1_w_grad", "0.1", "step"),
        *("MomentumSGDUpdate", "(operator", "26)", "conv1_w_fp32"),
    ]
    assert len(rest) == 7


def test_parameters_from_the_train_net_alone(show):
    header, first, *_ = show("train.net", "--params").splitlines()
    assert header.split()[-4:] == ["lr", "(base)", "updated", "by"]
    assert first.split()[5:] == ["conv1_w_grad", "0.1", "step", "MomentumSGDUpdate", "(operator", "26)"]


def test_parameters_from_the_table_that_json_keeps(show):
    header, first, *_ = show("train.json", "--params").splitlines()
    assert header.split() == [
        "name",
        "shape",
        "dtype",
        "tag",
        "kind",
        "copies",
        "gradient",
        "frozen",
        "optimizer",
        "lr",
        "(base)",
    ]
    assert first.startswith("conv1_w        16x1x3x3   float16  weight  conv")


def test_parameters_of_an_inference_net(tmp_path, capsys):
    model = build("float32").for_inference("scores")
    io.save(model.net, tmp_path / "p.net")
    io.save(model.init_net, tmp_path / "i.net")
    assert main(["show", str(tmp_path / "p.net"), "--params", "--init", str(tmp_path / "i.net")]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "conv1_w   float32[16, 1, 3, 3]"
    assert main(["show", str(tmp_path / "p.net"), "--params"]) == 0
    assert capsys.readouterr().out.startswith("no parameters")


def test_costs(show):
    out = show("train.net", "--cost", "--dim", "N=32").splitlines()
    assert out[0].split() == ["FLOPs", "read", "written", "operator"]
    conv2 = next(line for line in out if line.endswith("conv2 = Conv(conv1_relu, conv2_w, conv2_b)"))
    assert conv2.split()[:6] == ["18.9", "M", "73.06", "KiB", "128", "KiB"]
    assert out[-2].startswith("64.7 MFLOP a run")
    assert out[-1].startswith("memory: 1.4")


def test_costs_without_sizes_say_what_is_missing(show):
    assert show("train.net", "--cost").splitlines()[-1] == (
        "not counted: 22 operators of unknown size; --init and --dim N=64 tell more sizes"
    )


@pytest.mark.parametrize(
    ("number", "told"), [(None, "?"), (0, "0"), (999, "999"), (999_600, "1 M"), (999_400, "999 k"), (2.5e12, "2.5 T")]
)
def test_counts_as_people_read_them(number, told):
    assert count(number) == told


def test_a_net_without_arithmetic_costs_0_flop(tmp_path, capsys):
    (tmp_path / "n.net").write_text('net "n"\ninput x: float32[3]\ny = Copy(x)\noutput y\n')
    assert main(["show", str(tmp_path / "n.net"), "--cost"]) == 0
    assert "\n0 FLOP a run, 24 B moved\n" in capsys.readouterr().out
