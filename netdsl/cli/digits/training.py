"""Training the digits: feeds batches, runs the nets, and tells how it goes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np

from netdsl.analysis.infer import infer
from netdsl.data import digits, stratified_split
from netdsl.errors import NetError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, DType, NetDef, TensorType
from netdsl.passes.edit import extract, for_test
from netdsl.runtime import Workspace

BATCH = 32
SHAKEN = 0.5
FED = {"data": TensorType(DType.FLOAT, ("N", 1, 8, 8)), "label": TensorType(DType.INT32, ("N",))}
TOLD = ("loss", "accuracy")
SCORES = "scores"
NEEDS = "data and label to feed; loss, accuracy and scores to read"
"""What the demo needs of a net, in words."""


@attrs.frozen
class Nets:
    """What is trained: init, train and predict net."""

    init: NetDef
    train: NetDef
    predict: NetDef

    @classmethod
    def of(cls, init: NetDef, train: NetDef) -> Nets:
        """Return the nets with the predict net extracted from ``train``.

        Raises:
            NetError: ``train`` lacks a blob that the demo feeds or reads, or declares another type for what is fed.
        """
        if lacking := lacks(train):
            name, why = next(iter(lacking.items()))
            near = did_you_mean(name, train.blobs())
            raise NetError(f"net {train.name!r} {why}", the_demo_needs=NEEDS, did_you_mean=near)
        _check_fed(train)
        return cls(init, train, predict_net(train))

    @property
    def precision(self) -> str:
        """ "half" where the predict net reads a float16 parameter, else "float32"."""
        made = infer(self.init)
        types = [made.get(name) for name in self.predict.inputs]
        return "half" if any(isinstance(t, TensorType) and t.dtype is DType.FLOAT16 for t in types) else "float32"


@attrs.frozen
class Result:
    """How a training went: the curves, and accuracy and loss at the end."""

    accuracy: float
    loss: float
    seconds: float
    steps: int
    precision: str
    backend: str
    losses: list[float]
    batch_accuracies: list[float]
    held_out_accuracies: list[float]

    @property
    def diverged(self) -> int | None:
        """The step at which the loss was no longer finite and the training stopped, if it did; the first is 1."""
        return None if math.isfinite(self.losses[-1]) else self.steps

    def summary(self) -> dict[str, Any]:
        """What summary.json holds: plain numbers; of a training that diverged, no loss and the step."""
        told = {
            "accuracy": round(self.accuracy, 6),
            "loss": round(self.loss, 6) if math.isfinite(self.loss) else None,
            "seconds": round(self.seconds, 3),
            "steps": self.steps,
            "precision": self.precision,
            "backend": self.backend,
        }
        return told if self.diverged is None else told | {"not_finite_since_step": self.diverged}

    def curves(self) -> dict[str, list[float]]:
        """The curves that a page shows."""
        return {
            "loss": self.losses,
            "batch accuracy": self.batch_accuracies,
            "held-out accuracy": self.held_out_accuracies,
        }


def predict_net(train: NetDef) -> NetDef:
    """Return the part of a train net that computes the scores, in test mode."""
    made = extract(for_test(extract(train, [SCORES])), [SCORES])
    return attrs.evolve(made, name=f"{train.name}_predict")


def train(
    nets: Nets,
    *,
    backend: str = "numpy",
    seed: int = 0,
    epochs: int = 1,
    python: Iterable[str] = (),
    report: Callable[[int, float, float], None] = lambda step, loss, accuracy: None,
) -> tuple[Result, dict[str, Any]]:
    """Train on four fifths of the digits and test on the fifth held out.

    Returns how it went, and what the init net made (the parameters and the optimizer's state) as arrays.
    ``report`` is told step, loss and accuracy of every batch. A loss that is not finite ends the training.
    ``python`` are functions that the nets may call.
    """
    images, labels = digits()
    chosen, held_out = stratified_split(labels)
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    accuracies: list[float] = []
    tested: list[float] = []
    start = time.perf_counter()
    workspace = Workspace(backend, seed=seed, python=python)
    workspace.run(nets.init)
    for _ in range(epochs):
        order = rng.permutation(chosen)
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            workspace.feed("data", shaken(images[batch], rng))
            workspace.feed("label", labels[batch])
            workspace.run(nets.train)
            losses.append(float(workspace.fetch("loss")))
            accuracies.append(float(workspace.fetch("accuracy")))
            report(len(losses), losses[-1], accuracies[-1])
            if not math.isfinite(losses[-1]):
                break
        tested.append(accuracy(workspace, nets.predict, images[held_out], labels[held_out]))
        if not math.isfinite(losses[-1]):
            break
    seconds = time.perf_counter() - start
    last_epoch = float(np.mean(losses[-(len(chosen) // BATCH) :]))
    result = Result(
        accuracy=tested[-1],
        loss=last_epoch,
        seconds=seconds,
        steps=len(losses),
        precision=nets.precision,
        backend=backend,
        losses=losses,
        batch_accuracies=accuracies,
        held_out_accuracies=tested,
    )
    return result, _tensors(workspace, nets.init)


def shaken(images: Any, rng: np.random.Generator) -> Any:
    """Return images of which half, chosen at random, are moved by up to a pixel each way: more to learn from."""
    count, _, height, width = images.shape
    moves = rng.integers(-1, 2, (count, 2)) * (rng.random((count, 1)) < SHAKEN)
    padded = np.pad(images[:, 0], ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(1, 2))
    return windows[np.arange(count), 1 + moves[:, 0], 1 + moves[:, 1]][:, None]


def _tensors(workspace: Workspace, init: NetDef) -> dict[str, Any]:
    """What the init net made, as it is now; what is no tensor (a mutex) is left out."""
    types = infer(init)
    made = dict.fromkeys(name for op in init.ops for name in op.outputs)
    return {name: workspace.fetch(name) for name in made if isinstance(types[name], TensorType)}


def steps_per_epoch() -> int:
    """How many batches an epoch has."""
    return len(stratified_split(digits()[1])[0]) // BATCH


def accuracy(workspace: Workspace, predict: NetDef, images: Any, labels: Any) -> float:
    """Share of ``images`` whose largest score is the label's."""
    workspace.feed("data", images)
    workspace.run(predict)
    scores = workspace.fetch(SCORES)
    return float((scores.argmax(axis=1) == labels).mean())


def lacks(net: NetDef) -> dict[str, str]:
    """Return the blobs of the demo that ``net`` does not have, each with why that matters."""
    written = {name for op in net.ops for name in op.outputs}
    known = net.blobs()
    lacking = {name: f"has no blob {name!r}, which the demo feeds" for name in FED if name not in known}
    computed = {n: f"does not compute {n!r}, which the demo reads" for n in (*TOLD, SCORES) if n not in written}
    return lacking | computed


def _check_fed(net: NetDef) -> None:
    """Raise NetError where ``net`` declares what the demo cannot feed; N is 32 in training, and more in the test."""
    for name, fed in FED.items():
        declared = net.types.get(name, UNKNOWN)
        if not _accepts(declared, fed):
            raise NetError(
                f"net {net.name!r} declares an input otherwise than the demo feeds it, in batches of several sizes",
                expected=f"input {name}: {fed}",
                got=f"input {name}: {declared}",
            )


def _accepts(declared: BlobType, fed: TensorType) -> bool:
    if not isinstance(declared, TensorType):
        return declared == UNKNOWN
    if declared.dtype not in (None, fed.dtype):
        return False
    if declared.shape is None:
        return True
    assert fed.shape is not None
    sizes = zip(declared.shape, fed.shape, strict=False)
    return len(declared.shape) == len(fed.shape) and not any(isinstance(a, int) and a != b for a, b in sizes)
