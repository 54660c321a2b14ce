"""Draw a net: forward, gradient and updates in lanes, clustered by scope.

The output's ending chooses the form: .svg, .html (pan, zoom, search, collapse; works offline) or .dot
(for Graphviz, which nothing here needs).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from netdsl import io
from netdsl.cli.show import known_types
from netdsl.cli.terminal import console
from netdsl.errors import NetdslError, did_you_mean
from netdsl.io.atomic import replace_file

HELP = "draw a net as SVG, HTML or DOT"
FORMS = ("svg", "html", "dot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", type=Path, help="a net, in any form that show reads")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="what to write: net.svg, net.html or net.dot"
    )
    parser.add_argument("--init", type=Path, metavar="FILE", help="its init net, for the types of its parameters")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    form = options.output.suffix.removeprefix(".").lower()
    if form not in FORMS:
        near = did_you_mean(form, FORMS)
        raise NetdslError(
            f"cannot draw a file that ends in {options.output.suffix!r}",
            expected=".svg, .html, .dot",
            did_you_mean=near,
        )
    from netdsl import viz

    net = io.load(options.file)
    types = known_types(net, io.load(options.init) if options.init else None, {})
    draw = {"svg": viz.to_svg, "html": viz.to_html, "dot": viz.to_dot}[form]
    text = draw(net, types=types)
    with replace_file(options.output) as file:
        file.write(text.encode("utf-8"))
    console().print(f"{len(net.ops)} operators drawn in {options.output}", markup=False)
    return 0
