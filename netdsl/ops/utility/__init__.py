"""The utility operators."""
