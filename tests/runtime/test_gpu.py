"""The CuPy backend on a GPU: what every device must do, and every operator case."""

from __future__ import annotations

import numpy as np
import pytest

from netdsl.runtime.backends import get
from netdsl.testing import Case
from netdsl.testing.checks import outputs_of
from netdsl.testing.compare import assert_same
from tests.ops.collect import all_cases
from tests.runtime.devices import CHECKS

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("check", CHECKS)
def test_device(check):
    check(get("cupy"))


def on_device(case: Case) -> bool:
    """Whether CuPy has arrays for all of its inputs: not for strings."""
    return not case.refuses and all(np.asarray(x).dtype.kind in "biuf" for x in case.feeds.values())


@pytest.mark.parametrize("case", [c for c in all_cases() if on_device(c)], ids=str)
def test_every_case_agrees_with_plain_numpy(case):
    expected, found = outputs_of(case), outputs_of(case, "cupy")
    for name, got, wanted in zip(case.record.outputs, found, expected, strict=True):
        assert_same(got, wanted, f"{name} on cupy", case, exactly=False)
