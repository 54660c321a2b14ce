"""Reshaping, joining, splitting and slicing."""
