"""Cases of Dropout: its mask is random, so they state what holds between mask, input and output."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, normal


def keeps(ratio: float) -> Any:
    """The output is the scaled input where the mask kept it; about ``1 - ratio`` of it is kept."""

    def holds(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        (X,), (Y, mask) = inputs, outputs
        assert mask.dtype == np.bool_
        scaled = X.astype(np.float64) / (1.0 - ratio)
        tolerance = 2.0**-9 if X.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(Y, np.where(mask, scaled, 0.0), rtol=tolerance)
        assert abs(mask.mean() - (1.0 - ratio)) <= 5 * np.sqrt(ratio * (1 - ratio) / X.size)

    return holds


def unchanged(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    np.testing.assert_array_equal(outputs[0], inputs[0])
    assert outputs[1:] in ((), (None,)), "in test mode no mask is written"


CASES = [
    Case("Dropout", (normal(20, 30),), {"is_test": 0}, holds=keeps(0.5), outputs=2),
    Case("Dropout", (normal(20, 30),), {"is_test": 0, "ratio": 0.1}, holds=keeps(0.1), outputs=2),
    Case(
        "Dropout",
        (normal(8, 9, dtype=np.float16),),
        {"is_test": 0},
        holds=keeps(0.5),
        outputs=2,
        grad=False,
        label="half",
    ),
    Case("Dropout", (normal(4, 5),), {"is_test": 0, "ratio": 0.0}, holds=keeps(0.0), outputs=2, batch=(0,)),
    Case("Dropout", (normal(3, 4),), {"is_test": 1}, holds=unchanged, outputs=2),
    Case("Dropout", (normal(3, 4),), {"is_test": 1, "ratio": 0.9}, holds=unchanged, batch=(0,)),
    Case("Dropout", (normal(3),), refuses="needs the argument 'is_test'", label="no mode"),
    Case("Dropout", (normal(3),), {"is_test": 0, "ratio": 1.0}, refuses="ratio", outputs=2),
]
