"""The ``netdsl`` command: one module a command."""

from netdsl.cli.main import main

__all__ = ["main"]
