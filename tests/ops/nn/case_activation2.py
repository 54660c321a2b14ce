"""Cases of the smooth activations, and of those with parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from netdsl.testing import Case, normal, spread, uniform

SPECIAL = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, 100.0, -100.0], np.float32)
WIDE = 4 * spread(3, 7)


def each(function: Callable[..., float]) -> Callable[..., Any]:
    """An expectation in Python's floats, one element at a time."""

    def expect(*arrays: Any, **args: Any) -> Any:
        values = [function(*map(float, row), **args) for row in zip(*(a.ravel() for a in arrays), strict=True)]
        return np.array(values, np.float64).reshape(arrays[0].shape)

    return expect


def logistic(x: float) -> float:
    return (1 + math.tanh(x / 2)) / 2


def gelu(x: float, fast_gelu: bool = False) -> float:
    if fast_gelu:
        return x * logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return x * math.erfc(-x / math.sqrt(2)) / 2


def gelu_slope(dy: float, x: float, fast_gelu: bool = False) -> float:
    h = 1e-5
    return dy * (gelu(x + h, fast_gelu) - gelu(x - h, fast_gelu)) / (2 * h)


def leaky(x: float, alpha: float = 0.01) -> float:
    return max(x, 0.0) + alpha * min(x, 0.0)


def elu(x: float, alpha: float = 1.0) -> float:
    return x if x >= 0 else alpha * math.expm1(x)


def selu(x: float, alpha: float = 1.6732632423543772, scale: float = 1.0507009873554805) -> float:
    return scale * elu(x, alpha)


FUNCTIONS: dict[str, Callable[..., float]] = {
    "Sigmoid": logistic,
    "Tanh": math.tanh,
    "Gelu": gelu,
    "LeakyRelu": leaky,
    "Elu": elu,
    "Selu": selu,
    "Softplus": lambda x: math.log1p(math.exp(x)),
    "Softsign": lambda x: math.copysign(1 - 1 / (1 + abs(x)), x),
    "Swish": lambda x: x * logistic(x),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: sorted((0.0, alpha * x + beta, 1.0))[1],
    "ReluN": lambda x, n=6.0: sorted((0.0, x, n))[1],
}

GRADIENTS: dict[str, tuple[tuple[Any, ...], Callable[..., float]]] = {
    "SigmoidGradient": ((uniform(3, 4), normal(3, 4)), lambda y, dy: dy * (0.25 - (y - 0.5) ** 2)),
    "TanhGradient": ((spread(3, 4), normal(3, 4)), lambda y, dy: dy * (1 - y) * (1 + y)),
    "LeakyReluGradient": ((spread(3, 4), normal(3, 4)), lambda y, dy, alpha=0.01: dy * (alpha, 1)[y > 0]),
    "EluGradient": ((spread(3, 4), normal(3, 4)), lambda y, dy, alpha=1.0: dy if y > 0 else dy * alpha + dy * y),
    "SoftplusGradient": ((uniform(3, 4), normal(3, 4)), lambda y, dy: -dy * math.expm1(-y)),
    "GeluGradient": ((normal(3, 4), 2 * spread(3, 4)), gelu_slope),
    "ReluNGradient": ((8 * spread(3, 4), normal(3, 4)), lambda y, dy, n=6.0: dy if 0 < y < n else 0.0),
}

CASES = [
    *(Case(op, (WIDE,), {}, each(function), batch=(0,)) for op, function in FUNCTIONS.items()),
    *(Case(op, (np.float32(0.75),), {}, each(function), label="a number") for op, function in FUNCTIONS.items()),
    *(Case(op, pair, {}, each(function), batch=(0, 1)) for op, (pair, function) in GRADIENTS.items()),
    Case("Gelu", (WIDE,), {"fast_gelu": 1}, each(gelu), batch=(0,)),
    Case("GeluGradient", GRADIENTS["GeluGradient"][0], {"fast_gelu": 1}, each(gelu_slope)),
    Case("LeakyRelu", (WIDE,), {"alpha": 0.3}, each(leaky)),
    Case(
        "LeakyReluGradient", GRADIENTS["LeakyReluGradient"][0], {"alpha": 0.3}, each(GRADIENTS["LeakyReluGradient"][1])
    ),
    Case("LeakyRelu", (spread(5),), {"alpha": -0.5}, each(leaky), grad=False),
    Case("Elu", (WIDE,), {"alpha": 0.3}, each(elu)),
    Case("Selu", (WIDE,), {"alpha": 1.5, "scale": 2.0}, each(selu)),
    Case("ReluN", (WIDE,), {"n": 1.5}, each(FUNCTIONS["ReluN"])),
    Case("HardSigmoid", (WIDE,), {"alpha": 0.25, "beta": 0.375}, each(FUNCTIONS["HardSigmoid"])),
    Case("Sigmoid", (SPECIAL,), {}, (np.array([np.nan, 0, 1, 0.5, 0.5, 1, 0]),), grad=False, label="special values"),
    Case("Tanh", (SPECIAL,), {}, (np.array([np.nan, -1, 1, 0, 0, 1, -1]),), grad=False, label="special values"),
    Case(
        "LeakyRelu",
        (SPECIAL,),
        {},
        (np.array([np.nan, -np.inf, np.inf, 0, 0, 100, -1]),),
        grad=False,
        label="special values",
    ),
    Case("Elu", (SPECIAL,), {}, (np.array([np.nan, -1, np.inf, 0, 0, 100, -1]),), grad=False, label="special values"),
    Case(
        "Softplus",
        (SPECIAL[:5],),
        {},
        (np.array([np.nan, 0, np.inf, *[math.log(2)] * 2]),),
        grad=False,
        label="special values",
    ),
    Case("Sigmoid", (np.arange(3),), refuses="is of the wrong type", label="integers"),
    Case("TanhGradient", (normal(2, 3), normal(3, 2)), refuses="differ in shape"),
    Case("GeluGradient", (normal(2, 3), normal(3, 2)), refuses="differ in shape"),
    Case("SoftsignGradient", (normal(2, 3), normal(3, 2)), refuses="differ in shape"),
    Case("SwishGradient", (normal(2, 3), normal(2, 3), normal(3, 2)), refuses="differ in shape"),
    Case("Selu", (normal(3),), {"scale": 0.5}, refuses="must be greater than 1"),
    Case("ReluN", (normal(3),), {"n": -1.0}, refuses="must be positive"),
]
