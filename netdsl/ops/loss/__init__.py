"""The loss operators."""
