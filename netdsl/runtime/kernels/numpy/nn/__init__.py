"""Hot kernels of the nn operators."""
