"""Every check of ``netdsl.testing`` on every case under ``tests/ops``."""

from __future__ import annotations

from collections import Counter

import pytest

from netdsl.testing import Case, Check, backend_agrees, check_case, checks_for
from tests.ops.collect import all_cases


def named_cases() -> dict[str, Case]:
    """Every case by a name of its own."""
    found: dict[str, Case] = {}
    seen: Counter[str] = Counter()
    for case in all_cases():
        seen[str(case)] += 1
        found[str(case) if seen[str(case)] == 1 else f"{case}#{seen[str(case)]}"] = case
    return found


def combinations() -> list[object]:
    """One parameter for each check that says something about a case."""
    return [
        pytest.param(case, check, id=f"{name}-{check.__name__}", marks=[pytest.mark.slow] if case.slow else [])
        for name, case in named_cases().items()
        for check in checks_for(case)
    ]


@pytest.mark.parametrize(("case", "check"), combinations())
def test_contract(case: Case, check: Check) -> None:
    check_case(case, check)


@pytest.mark.gpu
@pytest.mark.parametrize("case", [pytest.param(c, id=name) for name, c in named_cases().items() if not c.refuses])
def test_cupy_agrees(case: Case) -> None:
    backend_agrees(case, "cupy")
