"""What all tests share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable

import pytest
from hypothesis import settings

settings.register_profile("netdsl", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("netdsl")


@pytest.fixture(scope="session")
def fresh_python() -> Callable[..., str]:
    """Run code in a new interpreter, in which the modules ``without`` cannot be imported; give what it prints."""

    def run(code: str, *, without: Iterable[str] = ()) -> str:
        block = f"import sys\nsys.modules.update(dict.fromkeys({list(without)!r}))\n"
        command = [sys.executable, "-W", "error", "-c", block + code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
