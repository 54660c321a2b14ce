"""Training the digits: feeds batches, runs the nets, and tells how it goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from netdsl.analysis.infer import infer
from netdsl.data import digits, stratified_split
from netdsl.errors import NetError, did_you_mean
from netdsl.ir import DType, NetDef, TensorType
from netdsl.passes.edit import extract, for_test
from netdsl.runtime import Workspace

BATCH = 32
FED = ("data", "label")


@attrs.frozen
class Nets:
    """What is trained: init, train and predict net."""

    init: NetDef
    train: NetDef
    predict: NetDef

    @property
    def precision(self) -> str:
        """ "half" where the init net makes a float16 blob, else "float32"."""
        types = infer(self.init).values()
        half = any(isinstance(t, TensorType) and t.dtype is DType.FLOAT16 for t in types)
        return "half" if half else "float32"


@attrs.define
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
    epoch_accuracies: list[float]

    def summary(self) -> dict[str, Any]:
        """What summary.json holds."""
        names = ("accuracy", "loss", "seconds", "steps", "precision", "backend")
        return {name: getattr(self, name) for name in names}


def predict_net(train: NetDef, outputs: tuple[str, ...] = ("scores",)) -> NetDef:
    """Return the part of a train net that computes ``outputs``, in test mode.

    Raises:
        NetError: the net does not compute them.
    """
    written = {name for op in train.ops for name in op.outputs}
    for name in outputs:
        if name not in written:
            near = did_you_mean(name, written)
            raise NetError(f"net {train.name!r} does not compute {name!r}, the scores to predict by", did_you_mean=near)
    made = extract(for_test(extract(train, outputs)), outputs)
    return attrs.evolve(made, name=f"{train.name}_predict")


def train(
    nets: Nets,
    *,
    backend: str = "numpy",
    seed: int = 0,
    epochs: int = 12,
    report: Callable[[int, float, float], None] = lambda step, loss, accuracy: None,
) -> tuple[Result, Workspace]:
    """Train on four fifths of the digits and test on the fifth held out; return how it went, and the workspace.

    ``report`` is told step, loss and accuracy of every batch.

    Raises:
        NetError: the train net lacks ``data``, ``label``, ``loss`` or ``accuracy``.
    """
    _check_names(nets.train)
    images, labels = digits()
    chosen, held_out = stratified_split(labels)
    workspace = Workspace(backend, seed=seed)
    rng = np.random.default_rng(seed)
    losses: list[float] = []
    accuracies: list[float] = []
    tested: list[float] = []
    start = time.perf_counter()
    workspace.run(nets.init)
    for _ in range(epochs):
        order = rng.permutation(chosen)
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[at : at + BATCH]
            workspace.feed("data", images[batch])
            workspace.feed("label", labels[batch])
            workspace.run(nets.train)
            losses.append(float(workspace.fetch("loss")))
            accuracies.append(float(workspace.fetch("accuracy")))
            report(len(losses), losses[-1], accuracies[-1])
        tested.append(accuracy(workspace, nets.predict, images[held_out], labels[held_out]))
    seconds = time.perf_counter() - start
    final = float(np.mean(losses[-len(chosen) // BATCH :]))
    result = Result(
        tested[-1], final, seconds, len(losses), nets.precision, backend, losses, accuracies, tested
    )
    return result, workspace


def steps_per_epoch() -> int:
    """How many batches an epoch has."""
    return len(stratified_split(digits()[1])[0]) // BATCH


def accuracy(workspace: Workspace, predict: NetDef, images: Any, labels: Any) -> float:
    """Share of ``images`` whose largest score is the label's."""
    workspace.feed("data", images)
    workspace.run(predict)
    scores = workspace.fetch(predict.outputs[0])
    return float((scores.argmax(axis=1) == labels).mean())


def _check_names(net: NetDef) -> None:
    known = net.blobs()
    for name in (*FED, "loss", "accuracy"):
        if name not in known:
            near = did_you_mean(name, known)
            raise NetError(f"net {net.name!r} has no blob {name!r}, which the demo needs", did_you_mean=near)
