"""Hot kernels for NumPy arrays."""

from netdsl.runtime.kernels import Registry

kernel = Registry(__name__)
"""Registers a kernel: ``@kernel(FC)``."""
