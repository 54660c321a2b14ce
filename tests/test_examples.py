"""Every example runs, quickly, and does what its first lines say."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from netdsl.analysis.check import check
from netdsl.ir import parse
from netdsl.ops.schema import OPERATORS

TESTS = Path(__file__).resolve().parent
EXAMPLES = TESTS.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def forget_operators():
    """Forget the operators that an example declares."""
    before = set(OPERATORS)
    yield
    for name in set(OPERATORS) - before:
        if OPERATORS[name].__module__.startswith("example_"):
            del OPERATORS[name]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path):
    tests = "".join(test.read_text("utf-8") for test in TESTS.rglob("test_*.py"))
    assert re.search(
        rf'load\("{path.stem}"\)|examples/{path.name}|"examples" / "{path.name}"|import {path.stem}', tests
    )


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_say_what_they_are_and_run_as_programs(path):
    text = path.read_text("utf-8")
    assert text.startswith('"""')
    assert 'if __name__ == "__main__":' in text
    assert "\n    main(" in text


def test_the_list_of_examples_is_whole():
    listed = re.findall(r"^- \[(\w+\.py)\]\(\1\): ", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.glob("*.py"))


def test_the_first_program_is_short_and_learns(capsys):
    example = load("digits")
    assert len((EXAMPLES / "digits.py").read_text("utf-8").splitlines()) < 60
    assert example.main(epochs=3) > 0.95
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["epoch 1", "epoch 2", "epoch 3"]
    model = example.build()
    assert {f.code for f in check(model.init_net.definition, model.net.definition)} <= {"N401"}


def test_the_first_program_builds_the_net_of_the_demo():
    from netdsl.cli.digits.model import build

    ours, theirs = load("digits").build().net.definition, build("float32").net.definition
    kept = [op for op in theirs.ops if "accuracy" not in op.outputs and op.type != "LearningRate"]
    assert [op for op in ours.ops if op.type != "LearningRate"] == kept


def test_a_training_step_is_printed_as_nets_that_can_be_read_back(capsys):
    load("print_step").main()
    printed = capsys.readouterr().out
    nets = [parse(text) for text in re.split(r"^# .*\n", printed, flags=re.MULTILINE)[1:]]
    assert [net.name for net in nets] == ["mlp_init", "mlp", "mlp"]
    assert check(nets[0], nets[1]) == []
    assert "Adam" in {op.type for op in nets[1].ops}
    assert len(nets[2].ops) == 4


def test_caffe2s_flaw_is_found_for_every_parameter_and_the_cure_has_none(capsys):
    example = load("fp16_sgd")
    example.main()
    printed = capsys.readouterr().out
    assert "== FP16SGD: 4 findings" in printed
    assert "== MultiPrecisionSGD: 0 findings" in printed
    for name in ("fc1_w", "fc1_b", "fc2_w", "fc2_b"):
        assert f"warning[N303] '{name}' is trained, but its copy '{name}_fp32' in float32 never changes" in printed
    assert f"added at  : {EXAMPLES / 'fp16_sgd.py'}:" in printed
    assert "N303 stale-copy (warning)" in printed


def test_rewriting(capsys):
    load("rewrite").main()
    printed = capsys.readouterr().out
    assert "type: Relu -> Tanh" in printed
    assert "renamed  blob fc1_relu" in printed
    assert "removed  scores" in printed
    assert printed.endswith("fc2_tanh = Tanh(fc2)\noutput fc2_tanh\n\n")


@pytest.mark.usefixtures("forget_operators")
def test_an_operator_of_ones_own_has_the_right_gradient(capsys):
    example = load("own_operator")
    assert example.main() < 1e-3
    assert "x_grad = MySoftplusGradient(x, y_grad) {beta = 2.0}" in capsys.readouterr().out
