"""CUDA source compiled for the CPU (with a C++ compiler in CUDA's place) computes what NumPy computes, bit by bit.

It proves the expressions, the order of stores and the wrap-around of integers, not a GPU's libraries.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from netdsl.runtime.cuda_source import PREAMBLE
from tests.runtime.cuda_programs import compiled, rounds_alike, whole
from tests.runtime.formulas import Arrays, assert_same

HOST = """
#include <math.h>
#include <cstring>
#define __device__
typedef _Float16 float16;
static float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
static double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
"""

PROGRAMS = list(compiled(1001))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("cuda")
    text = HOST + PREAMBLE
    for name, _, _, _, found, group in PROGRAMS:
        for i, kernel in enumerate(found):
            text += whole(f"{name}_{i}", kernel, group, "for (long long at = 0; at < n; at++)", "")
    source = folder / "kernels.cpp"
    source.write_text(text)
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-w", "-shared", "-fPIC"]
    subprocess.run(["c++", *flags, str(source), "-o", str(folder / "kernels.so")], check=True)
    return ctypes.CDLL(str(folder / "kernels.so"))


@pytest.mark.parametrize("at", range(len(PROGRAMS)), ids=[p[0] for p in PROGRAMS])
def test_kernels_compute_what_numpy_computes(library, at):
    name, _, arrays, plain, found, group = PROGRAMS[at]
    own: Arrays = {k: np.zeros_like(a) for k, a in plain.items()} | {k: a.copy() for k, a in arrays.items()}
    for i, kernel in enumerate(found):
        blobs = (*kernel.loads, *kernel.uniforms, *kernel.stores)
        size = own[kernel.stores[0]].size
        pointers = [ctypes.c_void_p(own[k].ctypes.data) for k in blobs]
        getattr(library, f"{name}_{i}")(ctypes.c_longlong(size), *pointers)
    for k in plain:
        if rounds_alike(group) or plain[k].dtype.kind != "f":
            assert_same(own[k], plain[k], k)
        else:
            limits = np.finfo(plain[k].dtype)
            np.testing.assert_allclose(own[k], plain[k], 4 * limits.eps, 2 * limits.smallest_subnormal)
