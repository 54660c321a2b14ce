"""Gradients against finite differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from netdsl.analysis.gradient import Backward, Grad, SparseGrad, gradient
from netdsl.ir import DType, NetDef
from netdsl.testing.case import Case
from netdsl.testing.plain import execute

MOST = 24
"""Elements of an input that are varied; of larger inputs a fixed choice."""


def gradient_matches_finite_differences(case: Case) -> None:
    """The gradient of a weighted sum of the outputs equals central differences.

    Where the operator takes float64, it is checked in float64. With several outputs, the sum is taken over all of
    them and over each alone.
    """
    case = in_double(case)
    outputs = flowing(case, execute(case.net, case.feeds))
    for chosen in [outputs, *([name] for name in outputs if len(outputs) > 1)]:
        _check(case, chosen)


def in_double(case: Case) -> Case:
    """The case with float64 inputs in place of float32 ones, if the operator takes them."""
    if not case.accepts(DType.DOUBLE):
        return case
    return case.with_inputs(lambda i, x: x.astype(np.float64) if i in case.singles else x)


def flowing(case: Case, blobs: Mapping[str, Any]) -> list[str]:
    """The outputs through which gradients flow."""
    outs = case.record.outputs
    at = range(len(outs)) if case.grad_outputs is None else case.grad_outputs
    return [outs[i] for i in at if outs[i] in blobs and getattr(blobs[outs[i]], "dtype", np.dtype(int)).kind == "f"]


def with_backward(case: Case, outputs: list[str]) -> tuple[NetDef, Backward]:
    """The net of the case followed by its gradient, whose seeds are blobs called ``<output>_GO``."""
    made = gradient(case.net, {name: f"{name}_GO" for name in outputs})
    return NetDef("case", [*case.net.ops, *made.ops]), made


def _check(case: Case, outputs: list[str]) -> None:
    shapes = execute(case.net, case.feeds)
    seeds = {name: _seed(i, shapes[name]) for i, name in enumerate(outputs)}
    net, made = with_backward(case, outputs)
    blobs = execute(net, {**case.feeds, **{f"{name}_GO": seed for name, seed in seeds.items()}})
    names = _to_check(case, made)
    through = ", ".join(outputs)
    for name in names:
        assert name in made.grads, f"{name} has no gradient through {through}"
        _compare(case, name, dense(made.grads[name], blobs, case.feeds[name]), seeds)
    assert names or case.grad == (), f"nothing has a gradient through {through}; say grad=() where that is right"


def _to_check(case: Case, made: Backward) -> list[str]:
    """The inputs whose gradients are compared."""
    if case.grad == ():
        found = [name for name in case.input_names if name in made.grads]
        assert not found, f"no input should have a gradient, but {', '.join(found)} has one"
    if isinstance(case.grad, tuple):
        return [case.input_names[index] for index in case.grad]
    kinds = (np.float32, np.float64) if case.step is None else (np.float16, np.float32, np.float64)
    return [n for n in case.input_names if n in made.grads and n in case.feeds and case.feeds[n].dtype in kinds]


def _seed(index: int, like: np.ndarray) -> np.ndarray:
    return np.asarray(np.random.default_rng(index + 17).uniform(0.5, 1.5, like.shape)).astype(like.dtype)


def dense(grad: Grad, blobs: Mapping[str, Any], like: np.ndarray) -> np.ndarray:
    """A gradient as an array shaped as ``like``, sparse ones summed up."""
    if not isinstance(grad, SparseGrad):
        return np.asarray(blobs[grad])
    full = np.zeros_like(like)
    np.add.at(full, blobs[grad.indices], blobs[grad.values])
    return full


def _compare(case: Case, name: str, found: np.ndarray, seeds: Mapping[str, np.ndarray]) -> None:
    x = case.feeds[name]
    assert found.shape == x.shape, f"the gradient of {name} has shape {found.shape}, expected {x.shape}"
    assert found.dtype == x.dtype, f"the gradient of {name} has dtype {found.dtype}, expected {x.dtype}"
    double = x.dtype == np.float64
    step, rtol, atol = (1e-5, 1e-4, 1e-6) if double else (1e-2, 2e-2, 5e-3)
    step = case.step or step
    places = range(x.size)
    if x.size > MOST:
        places = sorted(np.random.default_rng(3).choice(x.size, MOST, replace=False).tolist())
    numeric = np.array([_difference(case, name, int(at), step, seeds) for at in places])
    atol *= max(1.0, np.abs(numeric).max(initial=0.0))
    got = found.reshape(-1)[list(places)].astype(np.float64)
    np.testing.assert_allclose(got, numeric, rtol, atol, err_msg=f"gradient of {name}, elements {list(places)}")


def _difference(case: Case, name: str, at: int, step: float, seeds: Mapping[str, np.ndarray]) -> float:
    sums: list[float] = []
    moved: list[float] = []
    for sign in (1, -1):
        x = case.feeds[name].copy()
        x.reshape(-1)[at] += sign * step
        moved.append(float(x.reshape(-1)[at]))
        blobs = execute(case.net, {**case.feeds, name: x})
        sums.append(sum(float(np.sum(seed.astype(np.float64) * blobs[y])) for y, seed in seeds.items()))
    return (sums[0] - sums[1]) / (moved[0] - moved[1])
