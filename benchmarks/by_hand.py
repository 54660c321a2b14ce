"""The training step of the demo's model as one would write it in NumPy: every array made once, then overwritten.

It computes every blob that the net computes, under the same names. In half precision each half has a float32
twin to compute in: a result is rounded to the half and read back, so that it is converted once each way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.lib.stride_tricks import as_strided

MOMENTUM = np.float32(0.9)
SINGLE = np.float32


class Convolution:
    """A convolution with kernel 3 and pad 1: one product with the columns of all windows, images innermost."""

    def __init__(self, x: np.ndarray, w: np.ndarray) -> None:
        (n, c, height, width), filters = x.shape, len(w)
        self.frame = np.zeros((c, height + 2, width + 2, n), SINGLE)
        sc, sh, sw, sn = self.frame.strides
        self.windows = as_strided(self.frame, (c, 3, 3, height, width, n), (sc, sh, sw, sh, sw, sn), writeable=False)
        self.columns, self.back = np.empty(self.windows.shape, SINGLE), np.empty(self.windows.shape, SINGLE)
        self.product = np.empty((filters, height, width, n), SINGLE)
        self.total = np.empty_like(self.frame)

    def forward(self, x: np.ndarray, w: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
        """Fill ``y``; the columns are kept for the gradient."""
        np.copyto(self.frame[:, 1:-1, 1:-1], x.transpose(1, 2, 3, 0))
        np.copyto(self.columns, self.windows)
        rows = w[0].size
        np.matmul(w.reshape(-1, rows), self.columns.reshape(rows, -1), out=self.product.reshape(len(w), -1))
        np.add(self.product.transpose(3, 0, 1, 2), b[:, None, None], out=y)

    def backward(self, w: np.ndarray, dy: np.ndarray, dw: np.ndarray, db: np.ndarray, dx: np.ndarray | None) -> None:
        """Fill the gradients; that of the input where one is wanted."""
        np.copyto(self.product, dy.transpose(1, 2, 3, 0))
        rows = w[0].size
        given = self.product.reshape(len(w), -1)
        np.matmul(given, self.columns.reshape(rows, -1).T, out=dw.reshape(-1, rows))
        np.add.reduce(given, axis=1, out=db)
        if dx is None:
            return
        np.matmul(w.reshape(-1, rows).T, given, out=self.back.reshape(rows, -1))
        height, width = dx.shape[2:]
        self.total.fill(0)
        for i in range(3):
            for j in range(3):
                part = self.total[:, i : i + height, j : j + width]
                np.add(part, self.back[:, i, j], out=part)
        np.copyto(dx, self.total[:, 1:-1, 1:-1].transpose(3, 0, 1, 2))


class Step:
    """The step on copies of ``blobs``, which hold the state before it and arrays for all that it computes.

    ``schedule`` are ``base_lr``, ``gamma`` and ``stepsize`` of the learning rate.
    """

    def __init__(self, blobs: Mapping[str, np.ndarray], schedule: Mapping[str, float]) -> None:
        self.schedule = schedule
        self.blobs = {name: np.array(array) for name, array in blobs.items()}
        self.half = "data_half" in blobs
        self.wide = {
            name: array.astype(SINGLE) if array.dtype == np.float16 else array for name, array in self.blobs.items()
        }
        wide = self.wide
        self.x, self.scores = ("data_half", "scores_half") if self.half else ("data", "scores")
        self.conv1 = Convolution(wide[self.x], wide["conv1_w"])
        self.conv2 = Convolution(wide["conv1_relu"], wide["conv2_w"])
        self.rows = np.arange(len(wide["label"]))
        self.shifted, self.column = np.empty_like(wide["scores"]), np.empty((len(self.rows), 1), SINGLE)
        self.masks = {
            name: np.empty(wide[name].shape, bool) for name in ("conv1_relu", "conv2_relu", "fc1_relu", "pool")
        }
        self.parameters = [f"{layer}_{p}" for layer in ("conv1", "conv2", "fc1", self.scores) for p in "wb"]
        self.spare = {name: np.empty(wide[name].shape, SINGLE) for name in self.parameters}

    def run(self) -> None:
        """Compute everything once."""
        self.forward()
        self.loss()
        self.backward()
        self.update()

    def round(self, *names: str) -> None:
        """Bring float32 results to their halves, and back."""
        if self.half:
            for name in names:
                np.copyto(self.blobs[name], self.wide[name], casting="same_kind")
                np.copyto(self.wide[name], self.blobs[name])

    def forward(self) -> None:
        b = self.wide
        if self.half:
            np.copyto(b[self.x], b["data"])
            self.round(self.x)
        self.conv1.forward(b[self.x], b["conv1_w"], b["conv1_b"], b["conv1"])
        self.round("conv1")
        self.relu("conv1")
        self.conv2.forward(b["conv1_relu"], b["conv2_w"], b["conv2_b"], b["conv2"])
        self.round("conv2")
        self.relu("conv2")
        x, y = b["conv2_relu"], b["pool"]
        np.maximum(x[..., ::2, ::2], x[..., ::2, 1::2], out=y)
        np.maximum(y, x[..., 1::2, ::2], out=y)
        np.maximum(y, x[..., 1::2, 1::2], out=y)
        self.round("pool")
        self.fc("pool", "fc1", "fc1")
        self.relu("fc1")
        self.fc("fc1_relu", self.scores, self.scores)
        if self.half:
            np.copyto(b["scores"], b[self.scores])

    def relu(self, name: str) -> None:
        np.maximum(self.wide[name], 0, out=self.wide[f"{name}_relu"])
        self.round(f"{name}_relu")

    def fc(self, x: str, layer: str, y: str) -> None:
        b = self.wide
        np.matmul(b[x].reshape(len(b[x]), -1), b[f"{layer}_w"].T, out=b[y])
        np.add(b[y], b[f"{layer}_b"], out=b[y])
        self.round(y)

    def loss(self) -> None:
        b = self.wide
        label, softmax, shifted, column = b["label"], b["softmax"], self.shifted, self.column
        np.maximum.reduce(b["scores"], axis=1, keepdims=True, out=column)
        np.subtract(b["scores"], column, out=shifted)
        np.exp(shifted, out=softmax)
        np.add.reduce(softmax, axis=1, keepdims=True, out=column)
        np.divide(softmax, column, out=softmax)
        b["loss"][...] = (np.log(column[:, 0]) - shifted[self.rows, label]).mean()
        b["accuracy"][...] = (softmax.argmax(axis=1) == label).mean()
        b["loss_autogen_grad"].fill(1)
        np.copyto(b["scores_grad"], softmax)
        b["scores_grad"][self.rows, label] -= 1
        np.multiply(b["scores_grad"], b["loss_autogen_grad"] / SINGLE(len(label)), out=b["scores_grad"])

    def backward(self) -> None:
        b = self.wide
        if self.half:
            np.copyto(b["scores_half_grad"], b["scores_grad"])
            self.round("scores_half_grad")
        self.fc_gradient("fc1_relu", self.scores, "fc1_relu_grad")
        self.relu_gradient("fc1")
        self.fc_gradient("pool", "fc1", "pool_grad")
        x, y, dx, dy, mask = b["conv2_relu"], b["pool"], b["conv2_relu_grad"], b["pool_grad"], self.masks["pool"]
        for i in range(2):
            for j in range(2):
                np.equal(x[..., i::2, j::2], y, out=mask)
                np.multiply(dy, mask, out=dx[..., i::2, j::2])
        self.round("conv2_relu_grad")
        self.relu_gradient("conv2")
        self.conv_gradient(self.conv2, "conv2", "conv1_relu_grad")
        self.relu_gradient("conv1")
        self.conv_gradient(self.conv1, "conv1")

    def fc_gradient(self, x: str, layer: str, dx: str) -> None:
        b = self.wide
        dy, rows = b[f"{layer}_grad"], b[x].reshape(len(b[x]), -1)
        np.matmul(dy.T, rows, out=b[f"{layer}_w_grad"])
        np.add.reduce(dy, axis=0, out=b[f"{layer}_b_grad"])
        np.matmul(dy, b[f"{layer}_w"], out=b[dx].reshape(rows.shape))
        self.round(f"{layer}_w_grad", f"{layer}_b_grad", dx)

    def relu_gradient(self, name: str) -> None:
        b, mask = self.wide, self.masks[f"{name}_relu"]
        np.greater(b[f"{name}_relu"], 0, out=mask)
        np.multiply(b[f"{name}_relu_grad"], mask, out=b[f"{name}_grad"])
        self.round(f"{name}_grad")

    def conv_gradient(self, conv: Convolution, name: str, *dx: str) -> None:
        b = self.wide
        dw, db = f"{name}_w_grad", f"{name}_b_grad"
        conv.backward(b[f"{name}_w"], b[f"{name}_grad"], b[dw], b[db], b[dx[0]] if dx else None)
        self.round(dw, db, *dx)

    def update(self) -> None:
        b = self.wide
        b["optimizer_iteration"] += 1
        rate = b["multi_precision_sgd_lr" if self.half else "sgd_lr"]
        drops = int(b["optimizer_iteration"][0]) // self.schedule["stepsize"]
        rate[...] = self.schedule["base_lr"] * self.schedule["gamma"] ** drops
        for name in self.parameters:
            grad, momentum, spare = b[f"{name}_grad"], b[f"{name}_momentum"], self.spare[name]
            parameter = b[f"{name}_fp32" if self.half else name]
            if self.half:
                np.copyto(b[f"{name}_grad_fp32"], grad)
                grad = b[f"{name}_grad_fp32"]
            np.multiply(momentum, MOMENTUM, out=spare)
            np.multiply(grad, rate, out=grad)
            np.add(spare, grad, out=momentum)
            np.multiply(momentum, 1 + MOMENTUM, out=grad)
            np.subtract(grad, spare, out=grad)
            np.subtract(parameter, grad, out=parameter)
            if self.half:
                np.copyto(b[name], parameter)
                self.round(name)
