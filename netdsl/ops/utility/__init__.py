"""Copies, checks, printing and functions of Python's as operators."""
