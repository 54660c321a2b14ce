"""Train a small convolutional net on 1,797 real handwritten digits, in half precision.

The nets, a page with their picture and the curves, the trained parameters and a summary are left in
--out. With --from DIR the text nets of a folder that the demo left are trained, edited or not.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from netdsl import io
from netdsl.analysis.check import check
from netdsl.cli.digits.training import Nets, Result, predict_net, steps_per_epoch, train
from netdsl.cli.terminal import console
from netdsl.errors import NetdslError, NetError
from netdsl.io.atomic import replace_file
from netdsl.ir import NetDef

HELP = "train a net on handwritten digits: the place to start"
DEFAULT_OUT = Path("netdsl-demo")
EPOCHS = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"where to leave the results (default {DEFAULT_OUT}, or DIR of --from)")
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR", help="train the text nets in DIR")
    parser.add_argument("--precision", choices=("half", "float32"), default=None, help="what to compute in (default half)")
    parser.add_argument("--backend", choices=("numpy", "strict", "cupy"), default="numpy", help="where to run (default numpy)")
    parser.add_argument("--seed", type=int, default=0, help="what weights and batches are drawn from (default 0)")
    parser.add_argument("--epochs", type=_positive, default=EPOCHS, help=f"passes over the digits (default {EPOCHS})")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.source is not None and options.precision is not None:
        raise NetdslError("--precision builds a new net; the nets of --from say theirs", got=f"--precision {options.precision}")
    out = options.out or options.source or DEFAULT_OUT
    nets = _build(options.precision or "half") if options.source is None else _read(options.source)
    result, parameters = _train(nets, options)
    out.mkdir(parents=True, exist_ok=True)
    _leave(out, nets, result, parameters)
    _finish(out, result, options.source)
    return 0


def _build(precision: str) -> Nets:
    from netdsl.cli.digits.model import build

    model = build(precision)
    made = model.net.definition
    return Nets(model.init_net.definition, made, predict_net(made))


def _read(source: Path) -> Nets:
    """Read the text nets of a folder, and stop where check finds an error."""
    init, net = io.load(source / "init.net"), io.load(source / "train.net")
    findings = check(init, net)
    for finding in findings:
        console().print(f"{'error' if finding.rule.is_error else 'warning'}[{finding.code}] {finding.message}", markup=False)
    if any(finding.rule.is_error for finding in findings):
        raise NetError(f"the nets in {source} have errors", fix=f"netdsl check {source}/init.net {source}/train.net tells more")
    before = source / "predict.net"
    outputs = io.load(before).outputs if before.exists() else ("scores",)
    return Nets(init, net, predict_net(net, outputs))


def _train(nets: Nets, options: argparse.Namespace) -> tuple[Result, dict[str, Any]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    total = options.epochs * steps_per_epoch()
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  accuracy {task.fields[accuracy]:.3f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(), refresh_per_second=10) as progress:
        task = progress.add_task("training", total=total, loss=float("nan"), accuracy=float("nan"))
        smooth: list[float] = []

        def report(step: int, loss: float, accuracy: float) -> None:
            smooth[:] = [loss, accuracy] if not smooth else [0.95 * a + 0.05 * b for a, b in zip(smooth, (loss, accuracy), strict=True)]
            progress.update(task, completed=step, loss=smooth[0], accuracy=smooth[1])

        result, workspace = train(
            nets, backend=options.backend, seed=options.seed, epochs=options.epochs, report=report
        )
    made = [name for op in nets.init.ops for name in op.outputs]
    values = {name: workspace.fetch(name) for name in made}
    return result, {name: value for name, value in values.items() if hasattr(value, "dtype")}


def _leave(out: Path, nets: Nets, result: Result, parameters: dict[str, Any]) -> None:
    from netdsl.viz import training_page

    for name, net in (("init", nets.init), ("train", nets.train), ("predict", nets.predict)):
        io.save(net, out / f"{name}.net")
        io.save(net, out / f"{name}.pb")
    io.save_tensors(parameters, out / "parameters.npz")
    pictures: dict[str, NetDef] = {"train": nets.train, "init": nets.init, "predict": nets.predict}
    curves = {"loss": result.losses, "batch accuracy": result.batch_accuracies, "held-out accuracy": result.epoch_accuracies}
    _write(out / "index.html", training_page("Digits in " + result.precision, pictures, curves, result.summary()))
    _write(out / "summary.json", json.dumps(result.summary(), indent=2) + "\n")


def _write(path: Path, text: str) -> None:
    with replace_file(path) as file:
        file.write(text.encode("utf-8"))


def _finish(out: Path, result: Result, source: Path | None) -> None:
    say = console().print
    say(f"held-out accuracy [bold]{result.accuracy:.2%}[/bold] in {result.seconds:.1f} s ({result.steps} steps, {result.precision})")
    say(f"left in {out}: the nets (.net, .pb), parameters.npz, summary.json, index.html\n")
    say("Next:")
    say(f"  netdsl show {out}/train.net          the whole training step as text", markup=False)
    say(f"  open {out}/index.html in a browser   the nets as pictures, and the curves", markup=False)
    if source is None:
        say(f"  cp -r {out} mine, change a line of mine/train.net, then:", markup=False)
        say("  netdsl check mine/init.net mine/train.net   what the change broke, if anything", markup=False)
        say(f"  netdsl diff {out}/train.net mine/train.net  what it did", markup=False)
        say("  netdsl demo --from mine                     train it", markup=False)
