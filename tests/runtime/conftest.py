"""Tests that need a compiler are collected where there is one; those that run nets run twice.

Once as users run nets, whose first run is interpreted, and once planned from the first run on.
"""

from __future__ import annotations

import shutil

import pytest

from netdsl.runtime import plan, program
from tests.runtime import nvrtc

collect_ignore: list[str] = []
if not nvrtc.AVAILABLE:
    collect_ignore.append("test_nvrtc.py")
if shutil.which("c++") is None:
    collect_ignore.append("test_cuda_on_cpu.py")

BOTH_WAYS = frozenset(
    f"test_{name}"
    for name in (
        *("backends", "dag", "errors", "frames", "hooks", "kernels", "loss_kernels", "memory", "numpy_backend"),
        *("places", "program", "random_runs", "segments", "workspace"),
    )
)


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__.rpartition(".")[2] in BOTH_WAYS:
        metafunc.parametrize("way", ["interpreted", "planned"], indirect=True)


@pytest.fixture(autouse=True)
def way(request, monkeypatch):
    """Which of both ways a test runs."""
    found = getattr(request, "param", "interpreted")
    if found == "planned":

        def at_once(executable, after, key, known, *, now=False):
            return plan.plan_of(executable, after, key, known, now=True)

        monkeypatch.setattr(program, "plan_of", at_once)
    return found
