"""The shape operators."""
