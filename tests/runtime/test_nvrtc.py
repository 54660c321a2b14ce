"""NVRTC compiles the kernels of groups: as CUDA with its own half type, and with CuPy's where CuPy is installed."""

from __future__ import annotations

import pytest

from netdsl.runtime.cuda_source import OPTIONS, PREAMBLE, kernels, pieces
from netdsl.runtime.groups import Group
from tests.runtime import nvrtc
from tests.runtime.cuda_programs import compiled, whole
from tests.runtime.formulas import cut, full, run_plain, types_of
from tests.runtime.test_every_formula import STEPS, XP
from tests.runtime.test_groups import curves

LOOP = "for (long long at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x)"
HEADERS = {"cuda": "#include <cuda_fp16.h>\ntypedef __half float16;\n"}
if nvrtc.CUPY_INCLUDES:
    HEADERS["cupy"] = "#include <cupy/float16.cuh>\n"


def ptx(kind: str, text: str) -> str:
    includes = [*nvrtc.INCLUDES, *(nvrtc.CUPY_INCLUDES if kind == "cupy" else [])]
    return nvrtc.compile_ptx(HEADERS[kind] + PREAMBLE + text, OPTIONS, includes)


@pytest.mark.parametrize("kind", list(HEADERS))
def test_kernels_compile(kind):
    text, names = "", []
    for name, _, _, _, found, group in compiled(10):
        for i, kernel in enumerate(found):
            names.append(f"{name}_{i}")
            text += whole(names[-1], kernel, group, LOOP, "__global__")
    result = ptx(kind, text)
    assert all(f".entry {name}(" in result for name in names)
    assert "fma.rn" not in result.split(".entry adam_0(")[0].split(".entry chain_0(")[1]


@pytest.mark.parametrize("kind", list(HEADERS))
def test_the_kernels_of_every_elementwise_operator_compile(kind):
    text, names = "", []
    for type_, found in STEPS.items():
        for step, arrays in found:
            plain = dict(arrays)
            run_plain([step], plain, XP)
            for group in (part for part in cut([step], types_of(plain)) if isinstance(part, Group)):
                group.finish(plain)
                for kernel in (kernel for piece in pieces(group) for kernel in kernels(piece)):
                    names.append(f"{type_}_{len(names)}")
                    text += whole(names[-1], kernel, group, LOOP, "__global__")
    assert {name.rpartition("_")[0] for name in names} >= {"Add", "Adam", "FP16MomentumSGDUpdate", "Relu"}
    result = ptx(kind, text)
    assert all(f".entry {name}(" in result for name in names)


def test_curves_compile_in_every_precision():
    for dtype in ("f2", "f4", "f8"):
        types = types_of({"x": full(10, 0, 1, dtype), "y": full(10, 0, 1, dtype)})
        group = Group()
        assert group.try_add(curves, ("x",), ("y",), types)
        group.finish({"y"})
        (kernel,) = kernels(group)
        assert ".entry curves(" in ptx("cuda", whole("curves", kernel, group, LOOP, "__global__"))


def test_the_compiler_says_what_is_wrong():
    with pytest.raises(nvrtc.CompileError, match="undefined"):
        ptx("cuda", "__global__ void broken() { nothing(); }")
