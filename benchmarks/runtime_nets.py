"""The nets that ``runtime.py`` runs, how a user runs them, and operators that the package itself need not have.

The operators stand for kinds: a reader, whose output's type is known only when it ran; a loop; a recurrent network's
steps, each in a frame of its own; a queue, at which an operator waits for another.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import netdsl as nd
from netdsl import layers, optimizers
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import ANYTHING, AnyTensor, Boolean, Kind
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator
from netdsl.ops.xp import Array

Feeds = Mapping[str, np.ndarray]

PATIENCE = 2.0
"""Seconds until an operator that waits for a queue gives up."""


@operator
class Source(Operator):
    """Give the input on, as a reader gives a batch: nothing is known of the output before it ran."""

    inputs = (In("X", AnyTensor),)
    outputs = (Out("Y"),)

    def gradient(self, g: Gradients) -> None:
        pass

    def run(self, ctx: RunContext, X: Array) -> Array:
        return X.copy()


@operator
class Loop(Operator):
    """Run a net in the same frame as long as the condition, which the net writes, is true."""

    inputs = (In("condition", Boolean, host=True), In("Xs", ANYTHING, many=1, least=0, lazy=True))
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)

    loop_net: NetDef | None = arg(None, doc="What an iteration runs.")

    def run(self, ctx: RunContext, condition: Array, Xs: tuple[Any, ...]) -> None:
        assert self.loop_net is not None
        name = ctx.op.inputs[0]
        while bool(ctx.take(name)[0]):
            ctx.execute(self.loop_net)


@operator
class InFrames(Operator):
    """Run a net in each of ``count`` child frames, ``times`` times one after the other."""

    inputs = (In("Xs", ANYTHING, many=1, least=0, lazy=True),)
    outputs = ()

    step_net: NetDef | None = arg(None, doc="What is run.")
    count: int = arg(1, doc="How many frames.")
    times: int = arg(1, doc="How often in each.")

    def run(self, ctx: RunContext, Xs: tuple[Any, ...]) -> None:
        assert self.step_net is not None
        frames = ctx.memory.get("frames")
        if frames is None:
            own = [name for op in self.step_net.ops for name in op.outputs]
            frames = ctx.memory["frames"] = [ctx.frame(local=own) for _ in range(self.count)]
        for frame in frames:
            for _ in range(self.times):
                ctx.execute(self.step_net, frame)


class Queue(queue.Queue[Any]):
    """What a queue's blob holds."""

    kind = "queue"


@operator
class MakeQueue(Operator):
    """Make a queue of room for one."""

    outputs = (Out("q"),)

    def run(self, ctx: RunContext) -> Queue:
        return Queue(1)


@operator
class Put(Operator):
    """Put a copy of a tensor into a queue."""

    inputs = (In("q", Kind("queue")), In("X", AnyTensor))
    outputs = ()
    waits = True

    def run(self, ctx: RunContext, q: Queue, X: Array) -> None:
        def attempt(seconds: float) -> bool | None:
            try:
                q.put(item, timeout=seconds)
            except queue.Full:
                return None
            return True

        item = X.copy()
        ctx.wait(_patient(attempt), "room in a queue")


@operator
class Get(Operator):
    """Take a tensor out of a queue."""

    inputs = (In("q", Kind("queue")),)
    outputs = (Out("Y"),)
    waits = True

    def run(self, ctx: RunContext, q: Queue) -> Array:
        def attempt(seconds: float) -> Array | None:
            try:
                return q.get(timeout=seconds)
            except queue.Empty:
                return None

        return ctx.wait(_patient(attempt), "an item in a queue")


def _patient(attempt: Callable[[float], Any]) -> Callable[[float], Any]:
    """Let an attempt fail after so many seconds in all: what nobody will ever bring must not stop the script."""
    waited = 0.0

    def limited(seconds: float) -> Any:
        nonlocal waited
        result = attempt(seconds)
        waited += seconds
        if result is None and waited > PATIENCE:
            raise TimeoutError("nothing came: a part of the net waits for one that stands behind it")
        return result

    return limited


def workspace(feeds: Feeds, init: nd.Net | None = None) -> nd.Workspace:
    """Return a workspace that holds what an init net makes, and ``feeds``."""
    ws = nd.Workspace(seed=1)
    if init is not None:
        ws.run(init)
    feed(ws, feeds)
    return ws


def feed(ws: nd.Workspace, feeds: Feeds) -> None:
    """Feed every array."""
    for name, value in feeds.items():
        ws.feed(name, value)


def cycle(ws: nd.Workspace, net: NetDef, batches: Sequence[Feeds], fetch: Sequence[str] = ()) -> Callable[[], None]:
    """Return a function that feeds each of ``batches`` and runs ``net`` on it, as a user's loop does."""

    def once() -> None:
        for batch in batches:
            feed(ws, batch)
            ws.run(net)
            for name in fetch:
                ws.fetch(name)

    return once


def lenet(*, behind_reader: bool = False) -> nd.Model:
    """Return a training step of LeNet, whose images and labels are fed, or read by operators from what is fed."""
    model = nd.Model("lenet")
    if behind_reader:
        model.net.input("image_source", ("N", 1, 28, 28))
        model.net.input("label_source", ("N",), "int32")
        x, label = model.net.Source("image_source", "image"), model.net.Source("label_source", "label")
    else:
        x, label = model.input("image", ("N", 1, 28, 28)), model.input("label", ("N",), "int32")
    h = model.net.MaxPool(layers.conv(model, x, "conv1", 1, 20, kernel=5), "pool1", kernel=2, stride=2)
    h = model.net.MaxPool(layers.conv(model, h, "conv2", 20, 50, kernel=5), "pool2", kernel=2, stride=2)
    h = layers.relu(model, layers.fc(model, h, "fc1", 800, 500), "relu1")
    scores = layers.fc(model, h, "fc2", 500, 10)
    _, loss = model.net.SoftmaxWithLoss([scores, label], ["softmax", "loss"])
    model.add_gradients(loss)
    optimizers.SGD(base_learning_rate=0.01, momentum=0.9).build(model)
    return model


def digits(batch: int, suffix: str = "") -> dict[str, np.ndarray]:
    """Return images and labels for :func:`lenet`; with the suffix "_source" for the one behind a reader."""
    random = np.random.default_rng(batch)
    images = random.random((batch, 1, 28, 28), np.float32)
    return {f"image{suffix}": images, f"label{suffix}": random.integers(0, 10, batch).astype(np.int32)}


def mlp(width: int = 64, *, step: bool = False, data_gradient: bool = False) -> nd.Model:
    """Return four layers and their gradients, 19 operators; as a ``step``, with the updates."""
    model = nd.Model("MLP")
    h = x = model.input("x", ("N", width))
    label = model.input("label", ("N",), "int32")
    for i in range(4):
        h = layers.relu(model, layers.fc(model, h, f"fc{i}", width, width), f"relu{i}")
    _, loss = model.net.SoftmaxWithLoss([h, label], ["softmax", "loss"])
    weights = [blob for parameter in model.params() for blob in parameter.blobs]
    model.add_gradients(loss, wrt=[x, *weights] if data_gradient else None)
    if step:
        optimizers.SGD(base_learning_rate=0.01, momentum=0.9).build(model)
    return model


def rows(batch: int, width: int = 64) -> dict[str, np.ndarray]:
    """Return what :func:`mlp` reads."""
    random = np.random.default_rng(batch)
    return {
        "x": random.random((batch, width), np.float32),
        "label": random.integers(0, width, batch).astype(np.int32),
    }


def convolutions(pairs: int = 60) -> nd.Model:
    """Return pairs of Conv and Relu on images of any size."""
    model = nd.Model("convolutions")
    h = model.input("image", (1, 8, "H", "W"))
    for i in range(pairs):
        h = layers.relu(model, layers.conv(model, h, f"conv{i}", 8, 8, kernel=3, pad=1), f"relu{i}")
    return model


def chain(operators: int) -> tuple[NetDef, Feeds]:
    """Return a chain of FC, Relu and Add, each FC with weights of its own, and what it reads."""
    weight, bias = np.eye(8, dtype=np.float32) * np.float32(0.1), np.zeros(8, np.float32)
    ops, feeds, x = [], {"x": np.ones((4, 8), np.float32)}, "x"
    for i in range(operators // 3):
        feeds |= {f"fc{i}_w": weight, f"fc{i}_b": bias}
        ops.append(OperatorDef("FC", (x, f"fc{i}_w", f"fc{i}_b"), (f"fc{i}",)))
        ops.append(OperatorDef("Relu", (f"fc{i}",), (f"relu{i}",)))
        ops.append(OperatorDef("Add", (f"relu{i}", x), (f"sum{i}",)))
        x = f"sum{i}"
    return NetDef("chain", ops, outputs=[x]), feeds


def loop(*, growing: bool = False) -> nd.Net:
    """Return a net that counts ``i`` up to ``n``, three operators an iteration; or four, and ``x`` grows."""
    body = nd.Net("body")
    body.Add(["i", "one"], "i")
    if growing:
        body.Concat(["x", "one"], ["longer", "split"], axis=0)
        body.Copy("longer", "x")
    else:
        body.Add(["x", "one"], "x")
    body.LT(["i", "n"], "go")
    net = nd.Net("loop")
    net.add("Loop", ["go", "i", "x", "one", "n"], ["go", "i", "x"], {"loop_net": body.definition})
    return net


def lstm_step() -> tuple[NetDef, Feeds]:
    """Return one step of an LSTM, 13 operators, and what it reads."""
    net = nd.Net("step")
    gates = net.Add([net.FC(["x", "x_w", "x_b"], "from_x"), net.FC(["h", "h_w", "h_b"], "from_h")], "gates")
    i, f, o, u = net.Split(gates, ["to_i", "to_f", "to_o", "to_u"], axis=1)
    i, f, o, u = net.Sigmoid(i, "i"), net.Sigmoid(f, "f"), net.Sigmoid(o, "o"), net.Tanh(u, "u")
    cell = net.Add([net.Mul([f, "c"], "kept"), net.Mul([i, u], "added")], "next_c")
    net.Mul([o, net.Tanh(cell, "shown")], "next_h")
    shapes = {"x": (16, 64), "h": (16, 64), "c": (16, 64)}
    shapes |= {"x_w": (256, 64), "x_b": (256,), "h_w": (256, 64), "h_b": (256,)}
    random = np.random.default_rng(1)
    return net.definition, {name: random.random(shape, np.float32) - 0.5 for name, shape in shapes.items()}


def branches(length: int = 3, size: int = 1024) -> tuple[NetDef, Feeds]:
    """Return two chains of matrix products that do not depend on each other."""
    ops = [OperatorDef("MatMul", (f"{b}{i}", "w"), (f"{b}{i + 1}",)) for b in "ab" for i in range(length)]
    random, scale = np.random.default_rng(1), np.float32((12 / size) ** 0.5)  # products as large as their factors
    return NetDef("branches", ops), {
        n: (random.random((size, size), np.float32) - 0.5) * scale for n in ("a0", "b0", "w")
    }
