"""Losses and accuracy."""
