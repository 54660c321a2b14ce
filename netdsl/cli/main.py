"""The command line: reads the arguments, calls a command, and turns errors into messages."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import netdsl
from netdsl.errors import NetdslError

COMMANDS = ("demo", "show", "draw", "check", "diff", "ops")
"""Every command; each is a module beside this one with HELP, ``add_arguments`` and ``run``."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="netdsl",
        description="Nets as data: train, read, draw, check and compare them.",
        epilog="`netdsl demo` is the place to start. `netdsl COMMAND --help` tells more of each command.",
    )
    top.add_argument("--version", action="version", version=f"netdsl {netdsl.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"netdsl.cli.{name}")
        sub = commands.add_parser(name, help=module.HELP, description=f"{module.__doc__}", formatter_class=_Formatter)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return top


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps paragraphs of the description as written."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 for success, 1 for findings, 2 for an error."""
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except NetdslError as error:
        print(f"error: {error}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"error: {name}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 2
