"""Runs nets: workspaces of blobs, plans, programs and backends."""

from netdsl.runtime.program import Program
from netdsl.runtime.threads import set_threads
from netdsl.runtime.workspace import Workspace

__all__ = ["Program", "Workspace", "set_threads"]
