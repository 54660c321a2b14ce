"""Hot kernels of the losses."""
