"""The lazy index: which module declares each operator."""

from __future__ import annotations

from tools import ops_index


def generate() -> dict[str, str]:
    """Return the text of the index; it comes before the parts that look operators up in it."""
    return {"netdsl/ops/_index.py": ops_index.index_text()}
