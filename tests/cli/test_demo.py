"""``netdsl demo``: quickly, with one pass over the digits, and once in full."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netdsl import io, viz
from netdsl.analysis.check import check
from netdsl.cli.demo import BLAS, EPOCHS
from netdsl.cli.digits import training
from netdsl.cli.digits.model import build
from netdsl.cli.digits.training import Nets, shaken, train
from netdsl.cli.main import main
from netdsl.errors import MissingExtraError, NetError
from netdsl.ir import dump, parse

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = [
    *("index.html", "init.net", "init.pb", "parameters.npz", "predict.net", "predict.pb"),
    *("summary.json", "train.net", "train.pb"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for library in BLAS:  # the demo sets them where they are not
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Train on an eighth of the digits only."""
    whole = training.stratified_split

    def few(labels):
        chosen, held_out = whole(labels)
        return chosen[::8], held_out

    monkeypatch.setattr(training, "stratified_split", few)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_demo_leaves_its_nets_numbers_and_a_page(folder, capsys):
    assert main(["demo", "--epochs", "1"]) == 0
    out = folder / "netdsl-demo"
    assert names(out) == FILES
    assert names(folder) == ["netdsl-demo"]
    model = build("half")
    init, net, predict = (io.load(out / f"{name}.net") for name in ("init", "train", "predict"))
    assert (init, net) == (model.init_net.definition, model.net.definition)
    for name, text in (("init", init), ("train", net), ("predict", predict)):
        assert io.load(out / f"{name}.pb").ops == text.ops
    assert check(init, net) == []
    assert predict.outputs == ("scores",)
    assert [op.type for op in predict.ops][-2:] == ["FC", "HalfToFloat"]
    tensors = io.load_tensors(out / "parameters.npz")
    for parameter in model.parameters.values():
        assert tensors[parameter.name].dtype == np.float16
        master = tensors[f"{parameter.name}_fp32"]
        assert np.array_equal(master.astype(np.float16), tensors[parameter.name])
    assert int(tensors["optimizer_iteration"][0]) == 44
    assert "<svg" in (out / "index.html").read_text("utf-8")
    printed = capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    assert list(summary) == ["accuracy", "loss", "seconds", "steps", "precision", "backend", "written"]
    assert summary["accuracy"] > 0.7
    assert (summary["steps"], summary["precision"], summary["backend"]) == (44, "half", "numpy")
    assert f"held-out accuracy {summary['accuracy']:.2%}" in printed
    for command in ("netdsl show netdsl-demo/train.net", "netdsl demo --from mine"):
        assert command in printed


@pytest.mark.usefixtures("quick")
def test_the_predict_net_computes_what_the_summary_tells(folder):
    assert main(["demo", "--epochs", "1", "--out", "made"]) == 0
    made = folder / "made"
    from netdsl import Workspace
    from netdsl.data import digits, stratified_split

    workspace = Workspace()
    for name, value in io.load_tensors(made / "parameters.npz").items():
        workspace.feed(name, value)
    images, labels = digits()
    _, held_out = stratified_split(labels)
    workspace.feed("data", images[held_out])
    workspace.run(io.load(made / "predict.pb"))
    share = float((workspace.fetch("scores").argmax(axis=1) == labels[held_out]).mean())
    assert share == pytest.approx(json.loads((made / "summary.json").read_text())["accuracy"], abs=1e-6)


@pytest.mark.usefixtures("quick")
def test_the_same_seed_repeats_everything_and_another_does_not(folder):
    for out, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert main(["demo", "--epochs", "1", "--precision", "float32", "--out", out, "--seed", seed]) == 0
    a, b, c = ((folder / out / "parameters.npz").read_bytes() for out in "abc")
    assert a == b
    assert a != c
    assert json.loads((folder / "a" / "summary.json").read_text())["precision"] == "float32"


@pytest.mark.usefixtures("quick")
def test_an_edited_net_is_trained_and_the_authors_text_is_kept(folder, capsys):
    assert main(["demo", "--epochs", "1", "--precision", "float32"]) == 0
    train_net = folder / "netdsl-demo" / "train.net"
    text = "# mine\n" + train_net.read_text().replace("scores = FC(", "scores = FC( ")
    text = text.replace("fc1_relu = Relu(fc1)", "fc1_relu = Tanh(fc1)").replace("fc1_grad = Relu", "fc1_grad = Tanh")
    train_net.write_text(text)
    capsys.readouterr()
    assert main(["demo", "--from", "netdsl-demo", "--epochs", "1"]) == 0
    assert train_net.read_text() == text
    assert names(folder / "netdsl-demo") == FILES
    assert io.load(folder / "netdsl-demo" / "train.pb").ops == parse(text).ops
    predict = io.load(folder / "netdsl-demo" / "predict.net")
    assert "fc1_relu = Tanh(fc1)" in map(str, predict.ops)
    assert json.loads((folder / "netdsl-demo" / "summary.json").read_text())["precision"] == "float32"
    assert "left in netdsl-demo" in capsys.readouterr().out


@pytest.mark.usefixtures("quick")
def test_another_folder_takes_the_results_of_edited_nets(folder):
    assert main(["demo", "--epochs", "1"]) == 0
    before = {path: path.read_bytes() for path in (folder / "netdsl-demo").iterdir()}
    assert main(["demo", "--from", "netdsl-demo", "--out", "other/place", "--epochs", "1"]) == 0
    assert names(folder / "other" / "place") == FILES
    assert {path: path.read_bytes() for path in (folder / "netdsl-demo").iterdir()} == before


@pytest.fixture
def mine(folder):
    """A folder with the text nets of the demo."""
    made = folder / "mine"
    made.mkdir()
    model = build("half")
    io.save(model.init_net, made / "init.net")
    io.save(model.net, made / "train.net")
    return made


def edit(folder, old: str, new: str, name: str = "train.net") -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def test_nets_with_errors_are_not_trained(mine, capsys):
    edit(mine, "fc1_relu = Relu(fc1)", "fc1_relu = Relu(fcl)")
    assert main(["demo", "--from", "mine"]) == 2
    out, err = capsys.readouterr()
    assert "error[N103] blob 'fcl' is read" in out
    assert err == "error: the nets in 'mine' cannot be trained\n  found : 1 error\n"
    assert names(mine) == ["init.net", "train.net"]


@pytest.mark.usefixtures("quick")
def test_warnings_are_told_and_do_not_stop_the_training(mine, capsys):
    edit(mine, "pool = MaxPool", "extra = Tanh(conv2_relu)\npool = MaxPool")
    assert main(["demo", "--from", "mine", "--epochs", "1"]) == 0
    assert "warning[N401] nothing reads 'extra'" in capsys.readouterr().out
    assert names(mine) == FILES


@pytest.mark.usefixtures("quick")
def test_functions_that_a_net_names_are_called_only_if_they_are_allowed(mine, capsys):
    edit(mine, "pool = MaxPool", 'extra = Python(conv2_relu) {function = "operator:abs"}\npool = MaxPool')
    assert main(["demo", "--from", "mine", "--epochs", "1"]) == 2
    out, err = capsys.readouterr()
    assert "error[N108] nothing allows to call 'operator:abs'" in out
    assert "cannot be trained" in err
    assert main(["demo", "--from", "mine", "--epochs", "1", "--allow-python", "operator:abs"]) == 0
    assert names(mine) == FILES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("scores = HalfToFloat", "points = HalfToFloat", "does not compute 'scores'"),
        ("data", "pixels", "has no blob 'data', which the demo feeds"),
    ],
)
def test_a_net_without_the_blobs_of_the_demo_is_refused(mine, old, new, message, capsys):
    text = (mine / "train.net").read_text()
    word = old.split(" ")[0]
    (mine / "train.net").write_text(re.sub(rf"\b{word}\b", new.split(" ")[0], text))
    assert main(["demo", "--from", "mine"]) == 2
    assert message in capsys.readouterr().err
    assert names(mine) == ["init.net", "train.net"]


def test_a_typo_in_a_net_is_told_with_line_and_column(mine, capsys):
    edit(mine, "pool = MaxPool(", "pool = MaxPool[")
    assert main(["demo", "--from", "mine"]) == 2
    assert re.search(r"at +: mine/train\.net:35:15\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "nowhere"], "error: there is no file 'nowhere/init.net'\n  expected : a folder with init.net and"),
        (["--from", "mine", "--precision", "half"], "error: --precision builds a new net"),
        (["--out", "a-file"], "error: 'a-file': Not a directory"),
        (["--out", "a-file/below"], "error: 'a-file': Not a directory"),
    ],
)
def test_what_cannot_work_is_refused_before_the_training(arguments, message, folder, mine, capsys):
    (folder / "a-file").write_text("")
    assert main(["demo", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)
    assert names(folder) == ["a-file", "mine"]


@pytest.mark.parametrize("epochs", ["0", "-1", "many", "1.5"])
def test_epochs_are_counted_from_one(epochs, capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--epochs", epochs])
    assert f"expected a number from 1 on, got '{epochs}'" in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-1", "x", "0.5"])
def test_seeds_are_counted_from_zero(seed, capsys):
    with pytest.raises(SystemExit):
        main(["demo", f"--seed={seed}"])
    assert f"expected a number from 0 on, got '{seed}'" in capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_a_folder_where_a_result_belongs_is_found_before_the_training(name, folder, capsys):
    (folder / "out" / name).mkdir(parents=True)
    assert main(["demo", "--out", "out"]) == 2
    assert capsys.readouterr().err == f"error: 'out/{name}': Is a directory\n"
    assert names(folder / "out") == [name]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("there", [True, False])
def test_a_failure_while_writing_leaves_nothing(there, folder, monkeypatch, capsys):
    def fail(*_):
        raise OSError(28, "No space left on device", "index.html")

    monkeypatch.setattr(viz, "training_page", fail)
    if there:
        (folder / "out").mkdir()
    assert main(["demo", "--epochs", "1", "--out", "out"]) == 2
    assert capsys.readouterr().err == "error: 'index.html': No space left on device\n"
    assert names(folder) == (["out"] if there else [])
    assert not there or names(folder / "out") == []


@pytest.mark.usefixtures("quick")
def test_links_and_devices_where_results_belong_stay(folder):
    (folder / "out").mkdir()
    (folder / "elsewhere.html").write_text("old")
    (folder / "out" / "index.html").symlink_to("../elsewhere.html")
    (folder / "out" / "train.net").symlink_to("/dev/null")
    assert main(["demo", "--epochs", "1", "--out", "out"]) == 0
    assert names(folder / "out") == FILES
    assert (folder / "out" / "index.html").is_symlink()
    assert (folder / "elsewhere.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert (folder / "out" / "train.net").is_char_device()


@pytest.mark.usefixtures("quick")
def test_a_training_that_diverges_stops_and_says_so(mine, capsys):
    edit(mine, "base_lr = 0.1", "base_lr = 1e20")
    assert main(["demo", "--from", "mine", "--epochs", "2"]) == 1
    assert capsys.readouterr().err == (
        "warning: the loss is not finite since step 2 (learning rate too large?); the training stopped there\n"
    )
    summary = json.loads((mine / "summary.json").read_text(), parse_constant=pytest.fail)
    assert (summary["loss"], summary["steps"], summary["not_finite_since_step"]) == (None, 2, 2)
    assert "loss not finite since step" in (mine / "index.html").read_text("utf-8")
    assert names(mine) == FILES


@pytest.mark.usefixtures("quick")
def test_the_page_says_which_loss_and_which_accuracy(mine):
    assert main(["demo", "--from", "mine", "--epochs", "1"]) == 0
    page = (mine / "index.html").read_text("utf-8")
    assert "<dt>held-out accuracy</dt>" in page
    assert "<dt>loss (mean of the last epoch)</dt>" in page


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["init.net", "train.net", "predict.net"])
def test_an_edited_net_is_not_overwritten_unless_asked_to(name, folder, capsys):
    demo = ["demo", "--epochs", "1", "--precision", "float32"]
    assert main(demo) == 0
    assert main(demo) == 0
    edited = folder / "netdsl-demo" / name
    before = edited.read_text()
    edited.write_text("# mine\n" + before)
    capsys.readouterr()
    assert main(demo) == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first == f"error: 'netdsl-demo/{name}' was edited since a demo wrote it, or is not the demo's"
    assert " ".join(rest[0].split()) == "fix : another --out, or --force to overwrite it"
    assert rest[1:] == (["  to train it : netdsl demo --from netdsl-demo"] if name != "predict.net" else [])
    assert edited.read_text() == "# mine\n" + before
    assert main([*demo, "--force"]) == 0
    assert edited.read_text() == before


@pytest.mark.usefixtures("quick")
def test_nets_that_were_trained_from_a_folder_stay_the_authors(mine):
    assert main(["demo", "--from", "mine", "--epochs", "1"]) == 0
    assert main(["demo", "--from", "mine", "--epochs", "1"]) == 0
    assert main(["demo", "--out", "mine", "--epochs", "1"]) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("input data: float32[N, 1, 8, 8]", "input data: float32[32, 1, 8, 8]"),
        ("input label: int32[N]", "input label: int64[N]"),
        ("input label: int32[N]", "input label: int32[N, 1]"),
    ],
)
def test_declared_inputs_that_the_demo_cannot_feed_are_told_before_the_training(old, new):
    model = build("half")
    text = dump(model.net.definition)
    assert old in text
    with pytest.raises(NetError) as refused:
        Nets.of(model.init_net.definition, parse(text.replace(old, new)))
    assert refused.value.details == {"expected": old, "got": new}


def test_what_the_demo_needs_is_told_before_the_training(mine, capsys):
    text = (mine / "train.net").read_text()
    without = re.sub("^accuracy = .*\n", "", text, flags=re.MULTILINE)
    needs = "  the demo needs : data and label to feed; loss, accuracy and scores to read\n"
    for each, message in ((without, "cannot be trained"), (without.replace("output accuracy\n", ""), "'accuracy'")):
        (mine / "train.net").write_text(each)
        assert main(["demo", "--from", "mine"]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert needs in err
    assert names(mine) == ["init.net", "train.net"]


def test_a_missing_library_is_told_before_the_training(folder, monkeypatch, capsys):
    def missing(name):
        raise MissingExtraError("the backend 'cupy' needs CuPy")

    monkeypatch.setattr("netdsl.runtime.backends.get", missing)
    assert main(["demo", "--backend", "cupy"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: the backend 'cupy' needs CuPy\n")
    assert names(folder) == []


def test_shaken_images_are_moved_by_a_pixel_at_most_and_half_stay():
    images = np.random.default_rng(0).random((400, 1, 8, 8)).astype(np.float32)
    moved = shaken(images, np.random.default_rng(1))
    assert moved.shape == images.shape
    assert moved.dtype == np.float32
    same = (moved == images).all(axis=(1, 2, 3))
    assert 0.4 < same.mean() < 0.7
    padded = np.pad(images[:, 0], ((0, 0), (1, 1), (1, 1)))
    places = [(i, j) for i in range(3) for j in range(3)]
    for index in range(len(images)):
        assert any(np.array_equal(padded[index, i : i + 8, j : j + 8], moved[index, 0]) for i, j in places)


def test_the_strict_backend_trains_alike(quick):
    model = build("float32")
    nets = Nets.of(model.init_net.definition, model.net.definition)
    plain, _ = train(nets, epochs=1)
    strict, _ = train(nets, epochs=1, backend="strict")
    assert strict.backend == "strict"
    assert np.allclose(plain.losses, strict.losses, rtol=1e-3)


@pytest.mark.slow
def test_the_demo_reaches_its_accuracy_in_both_precisions(folder):
    """As a command of its own, as a user starts it."""
    found = {}
    for precision in ("half", "float32"):
        command = [sys.executable, "-m", "netdsl", "demo", "--precision", precision, "--out", precision]
        subprocess.run(
            command, check=True, cwd=folder, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        found[precision] = json.loads((folder / precision / "summary.json").read_text())
    half, single = found["half"], found["float32"]
    assert half["accuracy"] >= 0.985
    assert single["accuracy"] >= 0.985
    assert half["accuracy"] >= single["accuracy"] - 0.005  # of 359 digits, one is 0.28 %
    assert half["steps"] == EPOCHS * training.steps_per_epoch()
    assert (half["precision"], single["precision"]) == ("half", "float32")
