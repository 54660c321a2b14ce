"""Nets as data."""
