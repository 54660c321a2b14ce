"""The optim operators."""
