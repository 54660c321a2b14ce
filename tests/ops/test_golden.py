"""Our numbers against those measured on Caffe2 (``tests/data/golden``), operator by operator."""

from __future__ import annotations

import json
from typing import Any

import attrs
import numpy as np
import pytest

from netdsl.analysis.gradient import Backward, SparseGrad, gradient
from netdsl.analysis.infer import check_dtypes
from netdsl.dsl import Net
from netdsl.errors import GradientError, NetdslError
from netdsl.ir import NetDef, OperatorDef
from netdsl.ops.schema import bound, is_known
from netdsl.runtime.values import type_of
from netdsl.testing import Case, execute
from netdsl.testing.gradients import gradient_matches_finite_differences
from tests.ops.golden import FOLDER, Golden, assert_close, cases, names_in

KNOWN = [case for case in cases() if case.comparable and all(is_known(op.type) for op in (*case.pre, case.op))]
ACCEPTED = set(names_in("accepted.txt"))
DIFFERENT = set(names_in("different.txt"))
EXECUTIONS = ("plain", "numpy", "strict", "cupy")

fitting = [c for c in KNOWN if c.name not in DIFFERENT]
values = [c for c in fitting if "error" not in c.facts and "statistics" not in c.facts]
refused = [c for c in KNOWN if "error" in c.facts]
random = [c for c in fitting if "statistics" in c.facts]
differentiated = [c for c in fitting if c.in_grads and "inplace_gradient_wrong" not in c.facts]
emitted = [c for c in fitting if "grad_ops" in c.facts and "inplace_gradient_wrong" not in c.facts]
undifferentiated = [c for c in fitting if "grad_error" in c.facts]
partly_differentiated = [c for c in fitting if "grad_missing" in c.facts]
wrong_in_place = [c for c in KNOWN if "inplace_gradient_wrong" in c.facts]


def runs(some: list[Golden]) -> list[Any]:
    """Every case with every way to execute it; strings exist on the host only."""
    return [
        pytest.param(case, how, id=f"{case}-{how}", marks=[pytest.mark.gpu] if how == "cupy" else [])
        for case in some
        for how in EXECUTIONS
        if how in ("plain", "numpy") or not case.has_strings
    ]


def executed(case: Golden, how: str = "plain", *then: OperatorDef) -> dict[str, Any]:
    """Feed a case, run it as often as it was run, and run what comes ``then``; return all blobs."""
    steps = case.facts.get("steps", 1)
    net = NetDef("case", [*case.pre, *[case.op] * steps, *then])
    return execute(net, {**case.inputs, **{f"{name}_GO": grad for name, grad in case.out_grads.items()}}, how)


@pytest.mark.parametrize(("case", "how"), runs(values))
def test_computes_what_caffe2_computes(case: Golden, how: str) -> None:
    blobs = executed(case, how)
    for name, expected in case.outputs.items():
        assert_close(blobs[name], expected, name)
    for name in case.facts.get("not_written", ()):
        assert name not in blobs


def built(case: Golden) -> None:
    """Append the operator as an author does, which checks the in-place rules too, and run it."""
    net = Net("case")
    for op in (*case.pre, case.op):
        net.add(op.type, op.inputs, op.outputs, dict(op.args))
    execute(net.definition, case.inputs, "numpy")


def of_a_dtype_caffe2_lacks(case: Golden) -> bool:
    """Whether Caffe2 minds a dtype that our declaration takes."""
    floats = {a.dtype for a in case.inputs.values() if a.dtype.kind == "f"}
    if floats not in ({np.dtype(np.float64)}, {np.dtype(np.float16)}) and "dtype" not in case.facts["error"]:
        return False
    try:
        check_dtypes(bound(case.op), case.op.inputs, [type_of(case.inputs[name]) for name in case.op.inputs])
    except NetdslError:
        return False
    return True


@pytest.mark.parametrize("case", refused, ids=str)
def test_refuses_what_caffe2_refuses(case: Golden) -> None:
    if case.name in ACCEPTED or of_a_dtype_caffe2_lacks(case):
        built(case)
    else:
        with pytest.raises(NetdslError) as caught:
            built(case)
        said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert case.op.type in said


@pytest.mark.parametrize("case", [c for c in KNOWN if c.name in DIFFERENT], ids=str)
def test_differs_where_stated(case: Golden) -> None:
    """Keeps the list of cases that we compute otherwise, on purpose, honest."""
    with pytest.raises((AssertionError, NetdslError)):
        assert_built_as_measured(case)


def assert_built_as_measured(case: Golden) -> None:
    built(case)
    test_computes_what_caffe2_computes(case, "numpy")


@pytest.mark.parametrize("case", random, ids=str)
def test_draws_from_the_distribution_of_caffe2(case: Golden) -> None:
    blobs = executed(case)
    for name, expected in case.facts["statistics"].items():
        assert_distributed(blobs[name], expected)


def assert_distributed(got: np.ndarray, expected: dict[str, Any]) -> None:
    """Compare a random array with the statistics of another draw from the same distribution."""
    low, high, std = (expected.get(key, 0.0) for key in ("min", "max", "std"))
    assert got.dtype == expected["dtype"]
    assert list(got.shape) == expected["shape"]
    if not got.size:
        return
    noise = 8 * std / np.sqrt(got.size)
    uniform = abs(std * np.sqrt(12) - (high - low)) < 0.05 * (high - low)
    slack = (high - low) * 20 / got.size if uniform else 4 * std
    wide = got.astype(np.float64)
    assert abs(wide.mean() - expected["mean"]) <= noise
    assert abs(wide.std() - std) <= noise
    assert low - slack <= wide.min() <= low + slack
    assert high - slack <= wide.max() <= high + slack
    distinct = min(len(np.unique(got)), 1000)
    assert distinct == expected["distinct"] if expected["distinct"] <= 2 else distinct >= 0.9 * expected["distinct"]


def backward(case: Golden) -> Backward:
    """Differentiate the one operator, its output gradients being fed as ``<name>_GO``."""
    fed = case.out_grads or dict.fromkeys(case.op.outputs[:1])
    return gradient(NetDef("case", [case.op]), {name: f"{name}_GO" for name in fed})


@pytest.mark.parametrize(("case", "how"), runs(differentiated))
def test_gradients_equal_those_of_caffe2(case: Golden, how: str) -> None:
    made = backward(case)
    blobs = executed(case, how, *made.ops)
    for name, expected in case.in_grads.items():
        found = made.grads[name]
        if isinstance(expected, tuple):
            assert isinstance(found, SparseGrad), f"{name}: a sparse gradient is expected"
            assert_close(blobs[found.indices], expected[0], f"indices of the gradient of {name}")
            assert_close(blobs[found.values], expected[1], f"values of the gradient of {name}")
        else:
            assert_close(blobs[str(found)], expected, f"gradient of {name}")


@pytest.mark.parametrize("case", emitted, ids=str)
def test_appends_the_gradient_operators_of_caffe2(case: Golden) -> None:
    made = backward(case)
    assert [op.type for op in made.ops] == case.facts["grad_ops"]
    for name in case.facts.get("grad_none", ()):
        assert name not in made.grads
    if "grad_nets" in case.facts:
        assert list(made.ops) == [OperatorDef(*record) for record in case.facts["grad_nets"]]


@pytest.mark.parametrize("case", undifferentiated, ids=str)
def test_refuses_the_gradients_that_caffe2_refuses(case: Golden) -> None:
    """Where it is listed that ours exists all the same, it is right."""
    if case.name in ACCEPTED:
        op, inputs = case.op, [case.inputs[name] for name in case.op.inputs]
        gradient_matches_finite_differences(
            Case(op.type, inputs, op.args, outputs=op.outputs, names=op.inputs, grad_outputs=(0,))
        )
    else:
        with pytest.raises(GradientError, match=f"the gradient of {case.op.type} "):
            backward(case)


@pytest.mark.parametrize("case", partly_differentiated, ids=str)
def test_gives_no_gradient_where_caffe2_gives_none(case: Golden) -> None:
    """To weights of WeightedSum without ``grad_on_w``, and to what LayerNorm ignores without ``elementwise_affine``."""
    made = backward(case)
    assert {*case.op.inputs} & {*made.grads} == {*case.op.inputs} - {*case.facts["grad_missing"]}


def test_every_accepted_case_is_one_that_caffe2_refuses() -> None:
    assert {case.name for case in (*refused, *undifferentiated)} >= ACCEPTED


@pytest.mark.parametrize("case", wrong_in_place, ids=str)
def test_in_place_gradients_are_right_or_refused(case: Golden) -> None:
    """Caffe2's are silently wrong here."""
    try:
        made = backward(case)
    except GradientError as error:
        message = str(error)
    else:
        assert_right_in_place(case, made)
        return
    assert "overwritten" in message


def assert_right_in_place(case: Golden, made: Backward) -> None:
    """Compare with the gradients of the same operator out of place."""
    apart = OperatorDef(case.op.type, case.op.inputs, [f"{n}_out" for n in case.op.outputs], case.op.args)
    right = gradient(NetDef("apart", [apart]), {f"{name}_out": f"{name}_GO" for name in case.out_grads})
    results = []
    for op, ops in ((case.op, made), (apart, right)):
        blobs = executed(attrs.evolve(case, op=op), "plain", *ops.ops)
        results.append([blobs[str(ops.grads[name])] for name in case.in_grads])
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def policies() -> list[Any]:
    facts = json.loads((FOLDER / "learning_rate.json").read_text())["policies"]
    return [
        pytest.param(policy, run, id=f"{policy}-{i}")
        for policy, fact in facts.items()
        for i, run in enumerate(fact["golden"])
        if is_known("LearningRate")
    ]


@pytest.mark.parametrize(("policy", "run"), policies())
def test_learning_rate_policies(policy: str, run: dict[str, Any]) -> None:
    op = OperatorDef("LearningRate", ["iter"], ["lr"], {"base_lr": run["base_lr"], "policy": policy, **run["args"]})
    got = [execute(NetDef("lr", [op]), {"iter": np.array([i], np.int64)})["lr"] for i in run["iters"]]
    assert {lr.shape for lr in got} == {()}
    assert_close(np.array(got), np.array(run["lr"], np.float32), policy)
