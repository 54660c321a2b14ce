"""NVIDIA's runtime compiler through ctypes: compiles CUDA source without a GPU, if its wheels are installed."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from pathlib import Path


def _folder(package: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


_NVRTC, _RUNTIME = _folder("nvidia.cuda_nvrtc"), _folder("nvidia.cuda_runtime")
_CUPY = _folder("cupy")
AVAILABLE = bool(_NVRTC and _RUNTIME)
INCLUDES = [_RUNTIME / "include"] if _RUNTIME else []
CUPY_INCLUDES = [_CUPY / "_core" / "include"] if _CUPY else []
"""Where CuPy keeps the headers of its own kernels; empty if it is not installed."""


class CompileError(Exception):
    """Source that does not compile; the message is the compiler's."""


def compile_ptx(source: str, options: Sequence[str] = (), includes: Sequence[Path] = ()) -> str:
    """Return the PTX of a CUDA program."""
    assert _NVRTC is not None
    library = ctypes.CDLL(str(next((_NVRTC / "lib").glob("libnvrtc.so.*"))))
    program = ctypes.c_void_p()
    code = source.encode()
    status = library.nvrtcCreateProgram(ctypes.byref(program), code, b"group.cu", 0, None, None)
    assert status == 0, status
    try:
        flags = ["--gpu-architecture=compute_75", "--std=c++17", *options, *(f"-I{path}" for path in includes)]
        array = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        if library.nvrtcCompileProgram(program, len(flags), array):
            raise CompileError(_text(library, "ProgramLog", program) + source)
        return _text(library, "PTX", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    assert getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert getattr(library, f"nvrtcGet{what}")(program, buffer) == 0
    return buffer.value.decode()
