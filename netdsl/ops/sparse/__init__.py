"""The sparse operators."""
