"""Comparing arrays with the tolerance their dtype deserves."""

from __future__ import annotations

from typing import Any

import numpy as np

from netdsl.testing.case import Case


def assert_close(got: Any, expected: Any, what: str, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Raise AssertionError unless shapes are equal and values close (of integers, bools and strings: equal).

    The expected array may be of another float dtype; half-precision results may be one unit in the last place off.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind != "f":
        assert expected.dtype.kind != "f", f"{what}: {got.dtype} values, expected {expected.dtype}"
        np.testing.assert_array_equal(got, expected, err_msg=what)
        return
    if got.dtype == np.float16:
        rtol, atol = max(rtol, 2.0**-10), max(atol, 2.0**-24)
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol, atol, err_msg=what)


def assert_same(got: Any, expected: Any, what: str, case: Case, *, exactly: bool) -> None:
    """Compare two executions of one operator: the same dtype and shape; the same values, to the bit if ``exactly``."""
    if not hasattr(expected, "dtype"):
        assert type(got) is type(expected), f"{what}: a {type(got).__name__}, expected a {type(expected).__name__}"
        return
    assert got.dtype == expected.dtype, f"{what}: dtype {got.dtype}, expected {expected.dtype}"
    if exactly:
        assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
        np.testing.assert_array_equal(got, expected, err_msg=what)
    else:
        assert_close(got, expected, what, case.rtol, case.atol)
