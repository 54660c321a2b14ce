"""Tests that need a compiler are collected where there is one."""

from __future__ import annotations

import shutil

from tests.runtime import nvrtc

collect_ignore: list[str] = []
if not nvrtc.AVAILABLE:
    collect_ignore.append("test_nvrtc.py")
if shutil.which("c++") is None:
    collect_ignore.append("test_cuda_on_cpu.py")
