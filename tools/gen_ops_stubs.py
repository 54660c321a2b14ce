"""Type stubs: every operator as a method of Net, one file a family."""

from __future__ import annotations

from tools import ops_index


def generate() -> dict[str, str]:
    """Return the text of every stub."""
    return {path.relative_to(ops_index.ROOT).as_posix(): text for path, text in ops_index.stub_texts().items()}
