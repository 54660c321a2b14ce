"""The control operators."""
