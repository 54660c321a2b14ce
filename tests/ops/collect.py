"""Finding the cases: ``tests/ops/<family>/case_<module>.py`` files, each with a list ``CASES``."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

from netdsl.testing import Case

HERE = Path(__file__).parent


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """Every case of every file, in a fixed order."""
    files = sorted(HERE.glob("*/case_*.py"))
    modules = [importlib.import_module(f"tests.ops.{file.parent.name}.{file.stem}") for file in files]
    return tuple(case for module in modules for case in module.CASES)
