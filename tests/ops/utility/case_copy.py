"""Cases of the operators that pass a tensor on."""

from __future__ import annotations

import numpy as np

from netdsl.testing import Case, integers, normal

X = normal(3, 4)
passed_on = ("Copy", "CopyCPUToGPU", "CopyGPUToCPU", "EnsureCPUOutput", "Alias", "StopGradient", "EnsureDense")
without_gradient = ("EnsureCPUOutput", "StopGradient")

CASES = [
    *(Case(op, (X,), {}, lambda x: x, batch=(0,), grad=op not in without_gradient) for op in passed_on),
    *(Case(op, (integers(3),), {}, lambda x: x, grad=False, label="integers") for op in passed_on),
    Case("ZerosLike", (X,), {}, np.zeros((3, 4)), grad=False),
    Case("ZerosLike", (integers(3),), {}, np.zeros(3, int), grad=False, label="integers"),
    Case("CopyOnDeviceLike", (X, integers(2)), {}, X),
    Case("CopyOnDeviceLike", (np.array(True), X), {}, np.array(True), grad=False, label="bool"),
]
