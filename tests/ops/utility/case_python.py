"""Cases of the Python operator, and the functions they call."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl import python_function
from netdsl.testing import Case, integers, normal, uniform

HERE = __name__
A, B = normal(3, 2), uniform(3, 2, low=1, high=2, seed=1)


@python_function
def hypotenuse(a: Any, b: Any) -> Any:
    return np.sqrt(a * a + b * b)


@python_function
def hypotenuse_gradient(a: Any, b: Any, y: Any, dy: Any) -> Any:
    return dy * a / y, dy * b / y


@python_function
def ratio_and_sum(a: Any, b: Any) -> Any:
    return [a / b, a + b]


@python_function
def ratio_and_sum_gradient(a: Any, b: Any, ratio: Any, total: Any, d_ratio: Any, d_total: Any) -> Any:
    return d_ratio / b + d_total, d_total - d_ratio * ratio / b


@python_function
def only_total(a: Any, b: Any, ratio: Any, total: Any, d_total: Any) -> Any:
    return d_total


@python_function
def scaled_by_label(a: Any, label: Any) -> Any:
    return a * label.reshape(-1, 1).astype(a.dtype)


@python_function
def scaled_by_label_gradient(a: Any, label: Any, y: Any, dy: Any) -> Any:
    return scaled_by_label(dy, label), None


@python_function
def itself(a: Any) -> Any:
    return a


@python_function
def nothing(*_: Any) -> None:
    return None


@python_function
def number(_: Any) -> float:
    return 1.0


def writes(a: Any) -> Any:
    a *= 2
    return a


def named(name: str) -> str:
    return f"{HERE}:{name}"


LABEL = integers(3, high=5)
HYPOTENUSE = {"function": named("hypotenuse"), "gradient_function": named("hypotenuse_gradient")}
BOTH = {"function": named("ratio_and_sum"), "gradient_function": named("ratio_and_sum_gradient")}
CHOSEN = {**BOTH, "gradient_function": named("only_total"), "grad_input_indices": [0], "grad_output_indices": [1]}
SCALED = {"function": named("scaled_by_label"), "gradient_function": named("scaled_by_label_gradient")}

CASES = [
    Case("Python", (A, B), HYPOTENUSE, lambda a, b, **_: np.hypot(a, b), outputs=1, batch=(0, 1), label="one output"),
    Case("Python", (A, B), BOTH, (A / B, A + B), outputs=2, label="two outputs"),
    Case("Python", (A, B), CHOSEN, (A / B, A + B), outputs=2, grad=(0,), grad_outputs=(1,), label="chosen gradients"),
    Case("Python", (A, LABEL), SCALED, A * LABEL[:, None], outputs=1, grad=(0,), label="no gradient of integers"),
    Case("Python", (A,), {"function": named("itself")}, A, outputs=1, grad=False, label="the input"),
    Case("Python", (A,), {"function": named("nothing")}, holds=lambda *_: None, outputs=0, grad=False, label="effect"),
    Case("Python", (A,), {"function": named("itself")}, refuses="returned 1 values", outputs=2, label="too few"),
    Case("Python", (A,), {"function": named("nothing")}, refuses="returned None", outputs=1, label="None"),
    Case("Python", (A,), {"function": named("number")}, refuses="returned no array", outputs=1, label="float"),
    Case("Python", (A,), {"function": named("writes")}, refuses="nothing allows", outputs=1, label="not allowed"),
    Case("Python", (A,), {"function": "sqrt"}, refuses="module:name", outputs=1, label="no module"),
    Case("Python", (A,), {}, refuses="needs the argument 'function'", outputs=1, label="no function"),
    Case("Python", (A,), {"token": "3"}, refuses="only in the process that built the net", outputs=1, label="token"),
]  # fmt: skip
