"""``tools/regen.py`` in a copy of the repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

OPERATOR = '''"""An operator that was just written."""

from netdsl.ir import TensorType
from netdsl.ops.dtypes import Float
from netdsl.ops.schema import In, Operator, Out, operator
from netdsl.ops.xp import Array, ArrayModule


@operator
class JustWritten(Operator):
    """``Y = sin(X)``."""

    inputs = (In("X", Float),)
    outputs = (Out("Y"),)
    elementwise = True
    ours = True

    def infer(self, X: TensorType) -> TensorType:
        return X

    def compute(self, xp: ArrayModule, X: Array) -> Array:
        return xp.sin(X)
'''


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("netdsl", "tools", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "public_api.txt", tmp_path / "tests")
    return tmp_path


def regen(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(copy / "tools" / "regen.py"), *arguments]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=300)


def test_one_run_writes_all_that_follows_from_a_new_operator(copy):
    (copy / "netdsl" / "ops" / "math" / "just_written.py").write_text(OPERATOR)
    before = regen(copy, "--check", "ops_index", "ops_stubs", "ops_reference")
    assert before.returncode == 1, before.stderr
    assert regen(copy).returncode == 0
    after = regen(copy, "--check")
    assert (after.returncode, after.stdout, after.stderr) == (0, "", "")
    assert "JustWritten" in (copy / "docs" / "operators" / "math.md").read_text()
    assert "def JustWritten" in (copy / "netdsl" / "dsl" / "_calls" / "math.pyi").read_text()


def test_one_run_writes_all_that_follows_from_a_new_primitive(copy):
    table = copy / "netdsl" / "ops" / "primitives.py"
    row = '    Primitive("sqrt", "a", "sqrt({0})"),\n'
    table.write_text(table.read_text().replace(row, row + '    Primitive("cbrt", "a", "cbrt({0})", "inexact"),\n'))
    assert regen(copy).returncode == 0
    assert regen(copy, "--check").returncode == 0
    assert "def cbrt(self, a: Any) -> Array: ..." in (copy / "netdsl" / "ops" / "xp.py").read_text()
