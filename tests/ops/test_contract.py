"""Every check of ``netdsl.testing`` on every case under ``tests/ops``."""

from __future__ import annotations

from collections import Counter

import pytest

from netdsl.testing import Case, Check, check_case, checks_for
from tests.ops.collect import all_cases


def combinations() -> list[object]:
    """One parameter for each check that says something about a case."""
    found: list[object] = []
    seen: Counter[str] = Counter()
    for case in all_cases():
        seen[str(case)] += 1
        name = str(case) if seen[str(case)] == 1 else f"{case}#{seen[str(case)]}"
        marks = [pytest.mark.slow] if case.slow else []
        found += [pytest.param(case, check, id=f"{name}-{check.__name__}", marks=marks) for check in checks_for(case)]
    return found


@pytest.mark.parametrize(("case", "check"), combinations())
def test_contract(case: Case, check: Check) -> None:
    check_case(case, check)
