"""What nets cost."""

from __future__ import annotations

import pytest

from netdsl.analysis.cost import cost, nbytes
from netdsl.ir import UNKNOWN, DType, Opaque, TensorType, parse

FLOAT = DType.FLOAT


def costs(text: str):
    return cost(parse(text))


def test_a_fully_connected_layer_by_hand():
    made = costs(
        'net "n"\ninput x: float32[8, 4]\ninput w: float32[3, 4]\ninput b: float32[3]\ny = FC(x, w, b)\noutput y\n'
    )
    (row,) = made.ops
    assert row.flops == 2 * 8 * 4 * 3
    assert row.bytes_read == 4 * (8 * 4 + 3 * 4 + 3)
    assert row.bytes_written == 4 * 8 * 3
    assert row.outputs == (TensorType(FLOAT, (8, 3)),)
    assert (made.flops, made.bytes_moved) == (row.flops, row.bytes_read + row.bytes_written)
    assert made.held == made.peak == row.bytes_read + row.bytes_written
    assert made.unknown == 0


def test_freeing_needs_only_what_lives_at_once():
    made = costs('net "n"\ninput x: float32[10]\na = Relu(x)\nb = Relu(a)\nc = Relu(b)\ny = Relu(c)\noutput y\n')
    assert made.held == 5 * 40
    assert made.peak == 4 * 40  # x and y live throughout, and two of the others at a time


def test_unknown_sizes_are_counted_not_guessed():
    made = costs('net "n"\ninput x: float32[N, 4]\ny = Relu(x)\nz = Relu(y)\n')
    assert made.unknown == 2
    assert (made.flops, made.held) == (0, 0)
    known = cost(parse('net "n"\ninput x: float32[N, 4]\ny = Relu(x)\n'), {"x": TensorType(FLOAT, (2, 4))})
    assert (known.unknown, known.flops) == (0, 8)


def test_what_does_not_fit_is_told_and_passed_over():
    made = costs('net "n"\ninput x: float32[2]\na = Nobodys(x)\nb = Add(x)\nc = Relu(x)\n')
    assert [row.problem for row in made.ops] == [
        "no operator is called 'Nobodys'",
        "Add takes 2 inputs, got 1",
        None,
    ]
    assert made.ops[0].outputs == (UNKNOWN,)
    assert made.unknown == 2
    assert made.flops == 2


@pytest.mark.parametrize(
    ("type_", "size"),
    [
        (TensorType(DType.FLOAT16, (2, 3)), 12),
        (TensorType(DType.INT64, ()), 8),
        (TensorType(DType.BOOL, (0,)), 0),
        (TensorType(FLOAT, ("N",)), None),
        (TensorType(None, (3,)), None),
        (UNKNOWN, None),
        (Opaque("mutex"), 0),
    ],
)
def test_bytes_of_a_blob(type_, size):
    assert nbytes(type_) == size
