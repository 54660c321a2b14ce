"""The command line: reads the arguments, calls a command, and turns errors into messages."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

import netdsl
from netdsl.errors import NetdslError, UnknownArgumentWarning, did_you_mean, printable

COMMANDS = ("demo", "show", "draw", "check", "diff", "ops")
"""Every command; each is a module beside this one with HELP, ``add_arguments`` and ``run``."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in the form of all errors."""

    def error(self, message: str) -> NoReturn:
        details: dict[str, str | None] = {"usage": " ".join(self.format_usage().removeprefix("usage: ").split())}
        unknown = re.match("argument COMMAND: invalid choice: '([^']*)'", message)
        if unknown:
            message = f"no command is called {unknown[1]!r}"
            details = {"commands": ", ".join(COMMANDS), "did_you_mean": did_you_mean(unknown[1], COMMANDS)}
        self.exit(2, f"error: {NetdslError(message, **details)}\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = _Parser(
        prog="netdsl",
        description="Nets as data: train, read, draw, check and compare them.",
        epilog="`netdsl demo` is the place to start. `netdsl COMMAND --help` tells more of each command.",
    )
    top.set_defaults(parser=top)
    top.add_argument("--version", action="version", version=f"netdsl {netdsl.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for name in COMMANDS:
        module = importlib.import_module(f"netdsl.cli.{name}")
        form = argparse.RawDescriptionHelpFormatter
        sub = commands.add_parser(name, help=module.HELP, description=module.__doc__, formatter_class=form)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run, parser=sub)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 for success, 1 for findings, 2 for an error."""
    top = parser()
    options, left = top.parse_known_args(arguments)
    if left:
        options.parser.error(f"unknown arguments: {' '.join(left)}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may hold what the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UnknownArgumentWarning)
            warnings.showwarning = _warn
            return _run(top, options)
    except NetdslError as error:
        _say(str(error), *getattr(error, "__notes__", ()))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f"{str(error.filename)!r}: " if error.filename else ""
        _say(f"{name}{error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 2


def _run(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.command is None:
        top.print_help()
        return 0
    status = int(options.run(options) or 0)
    sys.stdout.flush()  # a closed pipe shows here, not when the interpreter ends
    return status


def _warn(message: Warning | str, *_: object) -> None:
    print(printable(f"warning: {message}"), file=sys.stderr)


def _say(what: str, *notes: str) -> None:
    print(printable("\n".join([f"error: {what}", *notes])), file=sys.stderr)
