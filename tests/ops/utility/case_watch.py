"""Cases of NanCheck, Print and CheckTensor; what Print shows is tested in test_print.py."""

from __future__ import annotations

import numpy as np

from netdsl.testing import Case, integers, normal

X = normal(3, 4)


def spoilt(value: float) -> np.ndarray:
    x = X.copy()
    x[1, 2] = value
    return x


CASES = [
    Case("NanCheck", (X,), {}, X, label="fine"),
    Case("NanCheck", (X, integers(2), spoilt(np.nan)), {}, X, grad=(0,), label="others are not checked"),
    Case("NanCheck", (spoilt(np.nan),), refuses="blob 'tensor' holds nan", label="NaN"),
    Case("NanCheck", (spoilt(-np.inf),), refuses="[1, 2]", label="where"),
    Case("NanCheck", (spoilt(np.inf), X), refuses="others_0: float32[3, 4]", label="tells of others"),
    Case("NanCheck", (integers(3),), refuses="wrong type", label="integers"),
    Case("Print", (X,), {}, holds=lambda *_: None, outputs=0),
    Case("Print", (X,), {"to_file": 1}, refuses="writes no files", outputs=0),
    Case("Print", (X,), {"every_n": 0}, refuses="counts make no sense", outputs=0),
    Case("Print", (X,), {"limit": -1}, refuses="counts make no sense", outputs=0),
    Case("CheckTensor", (X,), {"shape": [3, 4], "dtype": 1}, holds=lambda *_: None, outputs=0, label="fine"),
    Case("CheckTensor", (X,), {"shape": [4, 3]}, refuses="the wrong shape", outputs=0, label="shape"),
    Case("CheckTensor", (X,), {"dtype": 12}, refuses="the wrong dtype", outputs=0),
]
