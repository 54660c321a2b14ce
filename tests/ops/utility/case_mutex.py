"""Cases of CreateMutex; who may hold what it makes, and for how long, is tested in test_mutex.py."""

from __future__ import annotations

from typing import Any

from netdsl.testing import Case


def a_mutex(_: Any, outputs: Any) -> None:
    assert outputs[0].during(None, lambda *args: args, 1, 2) == (1, 2)


CASES = [Case("CreateMutex", (), {}, holds=a_mutex)]
