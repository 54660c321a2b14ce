"""The command draw."""

from __future__ import annotations

import pytest

from netdsl import io
from netdsl.cli.main import main
from tests.viz.nets import residual


@pytest.fixture
def nets(tmp_path):
    model = residual(1)
    io.save(model.net.definition, tmp_path / "train.net")
    io.save(model.init_net.definition, tmp_path / "init.net")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "start"), [("n.svg", "<svg "), ("n.html", "<!DOCTYPE html>"), ("n.dot", "digraph "), ("n.SVG", "<svg ")]
)
def test_the_ending_chooses_the_form(nets, capsys, name, start):
    assert main(["draw", str(nets / "train.net"), "-o", str(nets / name)]) == 0
    assert (nets / name).read_text("utf-8").startswith(start)
    assert f"operators drawn in {nets / name}" in capsys.readouterr().out.replace("\n", "")


def test_the_init_net_tells_types(nets):
    text = (nets / "train.net").read_text("utf-8").replace("input block0/fc1_w: float32[8, 8]", "input block0/fc1_w")
    (nets / "train.net").write_text(text, "utf-8")
    pictures = []
    for extra in ([], ["--init", str(nets / "init.net")]):
        main(["draw", str(nets / "train.net"), "-o", str(nets / "n.svg"), *extra])
        pictures.append((nets / "n.svg").read_text("utf-8"))
    assert pictures[0].count("8\u00d78") < pictures[1].count("8\u00d78")


def test_another_ending_is_refused(nets, capsys):
    assert main(["draw", str(nets / "train.net"), "-o", str(nets / "n.svgz")]) != 0
    said = capsys.readouterr()
    assert "cannot draw a file that ends in '.svgz'" in said.out + said.err
    assert not (nets / "n.svgz").exists()
