"""Cases of the fills: what is constant is written out, what is random states its distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing import Case, integers, normal

VALUES = [0.5, -2.0, 65504.0, 1e-7, 0.1, 3.0]
shape = np.array([2, 3], np.int64)
given = np.array(VALUES, np.float32).reshape(2, 3)


def uniform(low: float, high: float, dtype: Any = np.float32, count: int = 6000) -> Any:
    """Values from low to high, with the mean and deviation of a uniform distribution."""

    def holds(_: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        (Y,) = outputs
        assert Y.dtype == dtype
        assert Y.size == count
        wide, ends = Y.astype(np.float64), (high - low + 1) ** 2 - 1 if Y.dtype.kind == "i" else (high - low) ** 2
        assert low <= wide.min() <= wide.max() <= high
        assert abs(wide.mean() - (low + high) / 2) < 5 * np.sqrt(ends / 12 / count)
        assert abs(wide.std() / np.sqrt(ends / 12) - 1) < 0.05

    return holds


def gaussian(mean: float, std: float, count: int = 6000) -> Any:
    """Values whose mean, deviation and tails are those of a normal distribution."""

    def holds(_: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        (Y,) = outputs
        assert Y.dtype == np.float32
        assert Y.size == count
        scaled = (Y.astype(np.float64) - mean) / std
        assert abs(scaled.mean()) < 5 / np.sqrt(count)
        assert abs(scaled.std() - 1) < 0.05
        assert abs((np.abs(scaled) < 1).mean() - 0.6827) < 0.03
        assert 2.5 < np.abs(scaled).max() < 6

    return holds


LARGE = {"shape": [60, 50, 2]}

CASES = [
    Case("ConstantFill", (), {"shape": [2, 3], "value": 1.5}, np.full((2, 3), 1.5, np.float32)),
    Case("ConstantFill", (), {"shape": [2], "value": 7}, np.array([7, 7]), label="an int gives int64"),
    Case("ConstantFill", (), {"shape": [2], "value": 1, "dtype": 5}, np.array([True, True])),
    Case("ConstantFill", (), {"shape": [2], "value": 0.1, "dtype": 12}, np.full(2, 0.1, np.float16)),
    Case("ConstantFill", (), {"value": 2.0}, np.float32(2.0), label="a number"),
    Case("ConstantFill", (normal(2, 3),), {"value": -1.0}, lambda X, value: np.full(X.shape, value), batch=(0,)),
    Case("ConstantFill", (integers(2),), {"extra_shape": [3]}, np.zeros((2, 3), np.float32), label="extra dims"),
    Case("ConstantFill", (shape,), {"input_as_shape": 1}, np.zeros((2, 3), np.float32)),
    Case("ConstantFill", (normal(2),), {"input_as_shape": 1}, refuses="must be a 1-d int64 tensor", label="no shape"),
    Case("ConstantFill", (), {"shape": [1], "value": "a", "dtype": 1}, refuses="a text cannot fill"),
    Case("Float16ConstantFill", (), {"shape": [2, 2], "value": 0.1}, np.full((2, 2), 0.1, np.float16)),
    Case("GivenTensorFill", (), {"shape": [2, 3], "values": VALUES}, given),
    Case("GivenTensorFill", (shape,), {"input_as_shape": 1, "values": VALUES}, given),
    Case("GivenTensorFill", (), {"shape": [5], "values": VALUES}, refuses="does not fit the shape"),
    Case("GivenTensorDoubleFill", (), {"shape": [6], "values": VALUES}, np.array(VALUES, np.float32)),
    Case("GivenTensorFp16Fill", (), {"shape": [2, 3], "values": VALUES}, np.array(VALUES, np.float16).reshape(2, 3)),
    Case("GivenTensorFp16Fill", (), {"shape": [2], "values": VALUES}, refuses="does not fit the shape"),
    Case("GivenTensorIntFill", (), {"shape": [3], "values": [1, -2, 3]}, np.array([1, -2, 3], np.int32)),
    Case("GivenTensorInt64Fill", (), {"shape": [2], "values": [2**40, -1]}, np.array([2**40, -1])),
    Case("GivenTensorBoolFill", (), {"shape": [2, 1], "values": [1, 0]}, np.array([[True], [False]])),
    Case("UniformFill", (), {**LARGE, "min": -2.0, "max": 3.0}, holds=uniform(-2, 3)),
    Case("UniformFill", (), {**LARGE, "min": 1.0, "max": 1.0}, refuses="UniformFill"),
    Case("UniformIntFill", (), {**LARGE, "min": -2, "max": 2}, holds=uniform(-2, 2, np.int32)),
    Case("Float16UniformFill", (), {**LARGE, "min": 0.0, "max": 2.0}, holds=uniform(0, 2, np.float16)),
    Case("GaussianFill", (), {**LARGE, "mean": 1.0, "std": 0.5}, holds=gaussian(1, 0.5)),
    Case("GaussianFill", (), {**LARGE, "std": -1.0}, refuses="'std' must be positive"),
    Case("XavierFill", (), LARGE, holds=uniform(-np.sqrt(3 / 100), np.sqrt(3 / 100))),
    Case("MSRAFill", (), LARGE, holds=gaussian(0, np.sqrt(2 / 120))),
    Case("MSRAFill", (), {"shape": [5]}, refuses="MSRAFill"),
]
