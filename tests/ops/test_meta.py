"""What must be true of every operator: where it is declared, that it is documented, and that it is tested."""

from __future__ import annotations

import contextlib
import functools
import inspect

import pytest

from netdsl.analysis.gradient import gradient
from netdsl.errors import NetdslError, SchemaError
from netdsl.ir import NetDef
from netdsl.ops._index import MODULES
from netdsl.ops.schema import is_known, lookup
from netdsl.testing import execute
from netdsl.testing.checks import has_gradient
from netdsl.testing.gradients import flowing, with_backward
from tests.ops.collect import all_cases
from tests.ops.golden import cases, names_in

BY_POLICIES = {"LearningRate"}
"""Operators whose measured numbers stand in a file of their own."""

UNTESTED: dict[str, str] = {}
"""Operators with neither case nor golden case, with the reason."""

NOTHING_FLOWS = {"BatchOneHot", "EnsureCPUOutput", "OneHot", "StopGradient"}
"""Operators through which no gradient flows; ``utility/test_no_gradient.py`` holds them to it."""

every_operator = pytest.mark.parametrize("type_", sorted(MODULES))


def test_every_operator_expected_is_there() -> None:
    missing = [name for name in names_in("expected_operators.txt") if not is_known(name)]
    assert not missing, f"no operator is called {', '.join(missing)}"


@every_operator
def test_is_declared_where_the_index_says(type_: str) -> None:
    assert lookup(type_).__module__ == f"netdsl.ops.{MODULES[type_]}"


@every_operator
def test_is_documented(type_: str) -> None:
    declared = lookup(type_)
    first = inspect.getdoc(declared)
    assert first, "needs a docstring"
    assert first.splitlines()[0].rstrip().endswith((".", ":", ";", "``")), "the first line should be a sentence"
    for name, field in declared.arguments().items():
        assert field.metadata["doc"].strip(), f"argument {name!r} needs a doc"


@every_operator
def test_has_a_body_and_tells_its_types(type_: str) -> None:
    declared = lookup(type_)
    assert any(hasattr(declared, body) for body in ("compute", "sample", "run")), "has no body"
    assert hasattr(declared, "infer") or hasattr(declared, "run"), "a pure operator must infer its output types"


@every_operator
def test_refuses_a_wrong_number_of_blobs(type_: str) -> None:
    declared = lookup(type_)
    for formals in (declared.formal_inputs, declared.formal_outputs):
        if formals.required:
            with pytest.raises(SchemaError, match=type_):
                formals.layout(formals.required - 1)
        if formals.limit is not None:
            with pytest.raises(SchemaError, match=type_):
                formals.layout(formals.limit + 1)


@every_operator
def test_refuses_an_unknown_argument(type_: str) -> None:
    with pytest.raises(SchemaError, match="has no argument 'no_such_argument'"):
        lookup(type_).bind({"no_such_argument": 1})


@functools.cache
def appended_by_gradients() -> frozenset[str]:
    """The operators that the gradients of all cases append; what raises is reported by the suites of the cases."""
    found: set[str] = set()
    for case in all_cases():
        if not case.refuses and has_gradient(case):
            with contextlib.suppress(NetdslError):
                net, _ = with_backward(case, flowing(case, execute(case.net, case.feeds)))
                found |= {op.type for op in net.ops}
    for golden in cases():
        if is_known(golden.op.type) and golden.out_grads:
            with contextlib.suppress(NetdslError):
                seeds = {name: f"{name}_GO" for name in golden.out_grads}
                found |= {op.type for op in gradient(NetDef("one", [golden.op]), seeds).ops}
    return frozenset(found)


def test_every_gradient_operator_exists() -> None:
    missing = sorted(name for name in appended_by_gradients() if not is_known(name))
    assert not missing, f"gradients append operators that nothing declares: {', '.join(missing)}"


def test_every_operator_is_tested() -> None:
    tested = (
        {case.op for case in all_cases()} | {case.op.type for case in cases()} | appended_by_gradients() | BY_POLICIES
    )
    untested = sorted(set(MODULES) - tested - set(UNTESTED))
    assert not untested, f"operators without cases: {', '.join(untested)}"
    assert not set(UNTESTED) & tested, "these have cases: they need no excuse"


def test_every_differentiable_operator_has_its_gradient_checked() -> None:
    checked = {case.op for case in all_cases() if not case.refuses and has_gradient(case)}
    checked |= {case.op.type for case in cases() if case.in_grads}
    unchecked = sorted(
        type_
        for type_ in MODULES
        if hasattr(lookup(type_), "gradient") and type_ not in checked | set(UNTESTED) | NOTHING_FLOWS
    )
    assert not unchecked, f"gradients that no case checks: {', '.join(unchecked)}"
