"""Lookups by index, scattered updates, segments and searches."""
