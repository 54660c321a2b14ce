"""Checks for authors of operators; see docs/operators-testing.md."""
