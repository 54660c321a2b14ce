"""``--allow-python``: the functions that nets of files may call, for every command that runs or checks nets."""

from __future__ import annotations

import argparse


def add_allow_python(parser: argparse.ArgumentParser) -> None:
    """Declare the option; ``options.allow_python`` is what ``Workspace(python=)`` takes."""
    parser.add_argument(
        "--allow-python",
        action="append",
        default=[],
        metavar="NAME",
        help="a Python function that the nets may call: module:name, or module:*; may be repeated",
    )
