"""Hot kernels on NumPy."""
