"""Generates docs/commands.md from the arguments that the commands declare."""

from __future__ import annotations

import argparse
import importlib
import inspect

INTRODUCTION = """\
# Commands

`netdsl` without a command prints help, and so does `netdsl COMMAND --help`. Results go to standard output, warnings and
errors to standard error, in one form: what is wrong, then where, what was expected and which names come near.

Where a net is asked for, any of its forms will do, told apart by content: netdsl's text, JSON, and Caffe2's binary and
text files.

Exit status: 0 for success, 1 where `check` finds something, `diff` finds a difference or the loss of `demo` is not
finite, 2 for an error, 130 where it was interrupted. Files are [written whole or not at all](files.md); a pipe or a
device is written into.
"""


def generate() -> dict[str, str]:
    """Return the page by its path."""
    from netdsl.cli.main import COMMANDS

    return {"docs/commands.md": INTRODUCTION + "".join(_section(name) for name in COMMANDS)}


def _section(name: str) -> str:
    module = importlib.import_module(f"netdsl.cli.{name}")
    parser = argparse.ArgumentParser(add_help=False)
    module.add_arguments(parser)
    actions = parser._actions
    usage = " ".join([f"netdsl {name}", *map(_usage, actions)])
    rows = "".join(f"| `{_name(action)}` | {_help(action)} |\n" for action in actions)
    return f"\n## {name}\n\n```text\n{usage}\n```\n\n{inspect.getdoc(module)}\n\n| argument | |\n|---|---|\n{rows}"


def _name(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + (f" {value}" if action.nargs != 0 else "")


def _value(action: argparse.Action) -> str:
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or action.dest.upper())


def _usage(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"[{value}]" if action.nargs == "?" else value
    text = action.option_strings[0] + (f" {value}" if action.nargs != 0 else "")
    return text if action.required else f"[{text}]"


def _help(action: argparse.Action) -> str:
    text = str(action.help)
    return text[0].upper() + text[1:] + "."
