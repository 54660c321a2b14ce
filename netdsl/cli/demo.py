"""Train a small convolutional net on 1,797 real handwritten digits, in half precision.

The nets, a page with their picture and the curves, the trained parameters and a summary are left in
--out. With --from DIR the text nets init.net and train.net of a folder are trained, edited or not;
they stay as they are. The train net must read data (float32 [N, 1, 8, 8]) and label (int32 [N]), and
compute loss, accuracy and scores.

Nets in --out that were edited after a demo left them are not overwritten without --force.
Exit status: 0 for success, 1 where the loss was not finite (the training stops there), 2 for an error.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netdsl.cli.allow import add_allow_python
from netdsl.cli.terminal import console, plain
from netdsl.errors import NetdslError, NetError

if TYPE_CHECKING:
    from netdsl.cli.digits.training import Nets, Result

HELP = "train a net on handwritten digits: the place to start"
DEFAULT_OUT = Path("netdsl-demo")
EPOCHS = 40
SMOOTHING = 0.95
WRITTEN = "written"
"""The key of summary.json that tells by their digests which text nets the demo wrote."""
SOURCES = ("init.net", "train.net")
FILES = (
    *("init.net", "init.pb", "train.net", "train.pb", "predict.net", "predict.pb"),
    *("parameters.npz", "index.html", "summary.json"),
)
CARDS = {
    "accuracy": "held-out accuracy",
    "loss": "loss (mean of the last epoch)",
    "not_finite_since_step": "loss not finite since step",
}
"""What the page calls the numbers of the summary, where it says more."""
BLAS = ("OPENBLAS", "MKL", "OMP")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--out", type=Path, metavar="DIR", help=f"where to leave the results (default {DEFAULT_OUT}, or DIR of --from)")
    add("--from", dest="source", type=Path, metavar="DIR", help="train the text nets init.net and train.net in DIR")
    add("--force", action="store_true", help="overwrite nets in --out although they were edited")
    add("--precision", choices=("half", "float32"), help="what to compute in (default half)")
    add("--backend", choices=("numpy", "strict", "cupy"), default="numpy", help="where to run (default numpy)")
    add("--seed", type=_natural, default=0, metavar="N", help="what weights and batches are drawn from (default 0)")
    add_allow_python(parser)
    add("--epochs", type=_positive, default=EPOCHS, metavar="N", help=f"passes over the digits (default {EPOCHS})")


def _natural(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a number from {least} on, got {text!r}")
    return int(text)


def _positive(text: str) -> int:
    return _natural(text, least=1)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.source is not None and options.precision is not None:
        got = f"--precision {options.precision}"
        raise NetdslError("--precision builds a new net; the nets of --from have theirs", got=got)
    out: Path = options.out or options.source or DEFAULT_OUT
    _check_writable(out)
    if not options.force:
        _check_unedited(out, options.source)
    if not any(f"{library}_NUM_THREADS" in os.environ for library in BLAS):
        os.environ.setdefault("NETDSL_THREADS", "1")  # products this small are slower where threads wait for each other
    _check_backend(options.backend)
    nets = (
        _build(options.precision or "half") if options.source is None else _read(options.source, options.allow_python)
    )
    result, tensors = _train(nets, options)
    _leave(out, nets, result, tensors, source=options.source)
    _finish(out, result, options.source)
    return 0 if result.diverged is None else 1


# ---------------------------------------------------------------------- before


def _check_writable(out: Path) -> None:
    """Raise OSError now rather than after the training if ``out`` cannot be written."""
    there = next((folder for folder in (out, *out.parents) if folder.exists()), Path())
    if not there.is_dir() or not os.access(there, os.W_OK):
        error = errno.EACCES if there.is_dir() else errno.ENOTDIR
        raise OSError(error, os.strerror(error), str(there))
    for folder in (out / name for name in FILES if (out / name).is_dir()):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder))


def _check_unedited(out: Path, source: Path | None) -> None:
    """Raise NetdslError if a text net that would be overwritten is not as the last demo wrote it."""
    try:
        written = dict(json.loads((out / "summary.json").read_text("utf-8"))[WRITTEN])
    except (OSError, ValueError, LookupError, TypeError):
        written = {}
    kept = SOURCES if _is_same(out, source) else ()
    for name in (*SOURCES, "predict.net"):
        path = out / name
        if name not in kept and path.is_file() and written.get(name) != _digest(path):
            raise NetdslError(
                f"{str(path)!r} was edited since a demo wrote it, or is not the demo's",
                fix="another --out, or --force to overwrite it",
                to_train_it=None if name not in SOURCES else f"netdsl demo --from {out}",
            )


def _is_same(out: Path, source: Path | None) -> bool:
    return source is not None and out.exists() and source.exists() and out.samefile(source)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check_backend(name: str) -> None:
    """Raise MissingExtraError now if the backend's array library is not installed."""
    from netdsl.runtime import Workspace

    Workspace(name)


def _build(precision: str) -> Nets:
    from netdsl.cli.digits.model import build
    from netdsl.cli.digits.training import Nets

    model = build(precision)
    return Nets.of(model.init_net.definition, model.net.definition)


def _read(source: Path, allowed: Sequence[str]) -> Nets:
    """Read the text nets of a folder, and stop where check finds an error."""
    from netdsl.analysis.check import check
    from netdsl.cli.digits.training import NEEDS, Nets, lacks
    from netdsl.cli.findings import load_to_check, print_findings, tally

    for name in SOURCES:
        if not (source / name).exists():
            expected = "a folder with init.net and train.net, as `netdsl demo` leaves one"
            raise NetdslError(f"there is no file {str(source / name)!r}", expected=expected)
    init, net = (load_to_check(source / name) for name in SOURCES)
    found = check(init, net, python=allowed)
    if found:
        print_findings(found)
        console().print()
    errors = [finding for finding in found if finding.rule.is_error]
    if errors:
        needs = NEEDS if lacks(net) else None
        raise NetError(f"the nets in {str(source)!r} cannot be trained", found=tally(errors), the_demo_needs=needs)
    return Nets.of(init, net)


# ---------------------------------------------------------------------- training


def _train(nets: Nets, options: argparse.Namespace) -> tuple[Result, dict[str, Any]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from netdsl.cli.digits.training import steps_per_epoch, train

    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.4f}  accuracy {task.fields[accuracy]:.3f}  (smoothed)"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(), refresh_per_second=5) as progress:
        total = options.epochs * steps_per_epoch()
        task = progress.add_task("training", total=total, loss=float("nan"), accuracy=float("nan"))
        shown: list[float] = []

        def report(step: int, *now: float) -> None:
            before = shown or now
            shown[:] = [SMOOTHING * a + (1 - SMOOTHING) * b for a, b in zip(before, now, strict=True)]
            progress.update(task, completed=step, loss=shown[0], accuracy=shown[1])

        return train(
            nets,
            backend=options.backend,
            seed=options.seed,
            epochs=options.epochs,
            python=options.allow_python,
            report=report,
        )


# ---------------------------------------------------------------------- after


def _leave(out: Path, nets: Nets, result: Result, tensors: dict[str, Any], source: Path | None) -> None:
    """Write all results at once, so that a failure leaves nothing half-written."""
    from netdsl.io.atomic import replace_files
    from netdsl.io.tensors import write_tensors

    files = _results(nets, result)
    if _is_same(out, source):
        files = {name: data for name, data in files.items() if name not in SOURCES}  # the author's own, with comments
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items()) if name.endswith(".net")}
    summary = result.summary() | {WRITTEN: digests}
    files["summary.json"] = f"{json.dumps(summary, indent=2)}\n".encode()
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with replace_files([out / "parameters.npz", *(out / name for name in files)]) as (parameters, *others):
            write_tensors(tensors, parameters)
            for file, data in zip(others, files.values(), strict=True):
                file.write(data)
    finally:
        if is_new and not any(out.iterdir()):
            out.rmdir()


def _results(nets: Nets, result: Result) -> dict[str, bytes]:
    """What the files hold that come from the nets and their training."""
    from netdsl.io.files import encode
    from netdsl.viz import training_page

    pictures = {"train": nets.train, "init": nets.init, "predict": nets.predict}
    files = {f"{name}.{form}": encode(net, form) for name, net in pictures.items() for form in ("net", "pb")}
    cards = {CARDS.get(name, name): value for name, value in result.summary().items()}
    page = training_page(f"Digits in {result.precision}", pictures, result.curves(), cards)
    return files | {"index.html": page.encode()}


def _finish(out: Path, result: Result, source: Path | None) -> None:
    from rich.text import Text

    made = f"held-out accuracy {result.accuracy:.2%}"
    how = f" in {result.seconds:.1f} s: {result.steps} steps in {result.precision} on {result.backend}"
    console().print(Text(made, style="bold").append(how, style="not bold"))
    if result.diverged is not None:
        since = f"the loss is not finite since step {result.diverged} (learning rate too large?)"
        print(f"warning: {since}; the training stopped there", file=sys.stderr)
    plain(f"left in {out}: init, train and predict net (.net, .pb), parameters.npz, index.html, summary.json\n")
    rows = [
        (f"open {out}/index.html in a browser", "the curves, and the nets as pictures"),
        (f"netdsl show {out}/train.net", "the whole training step as text"),
    ]
    if source is None:
        rows += [
            (f"cp -r {out} mine", "a copy to change: edit a line of mine/train.net"),
            ("netdsl check mine/init.net mine/train.net", "what the change broke, if anything"),
            (f"netdsl diff {out}/train.net mine/train.net", "what it did"),
            ("netdsl demo --from mine", "train the changed net"),
        ]
    width = max(len(command) for command, _ in rows)
    plain("Next:\n" + "\n".join(f"  {command:<{width}}   {what}" for command, what in rows))
