"""Say what is wrong, or looks wrong, in an init net and the net that runs after it (or in one net).

Each finding has a stable code; --explain CODE tells what it means, why it matters and what to do.
Exit status: 0 where nothing is found, 1 where something is, 2 where a file cannot be read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from netdsl.cli.allow import add_allow_python
from netdsl.errors import NetdslError, did_you_mean

HELP = "say what is wrong in a net, or in an init net and its net"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("init", type=Path, nargs="?", metavar="INIT", help="the init net (or the only net)")
    parser.add_argument("net", type=Path, nargs="?", metavar="NET", help="the net that runs after it")
    parser.add_argument("--explain", metavar="CODE", help="explain a code such as N303, or 'all', and stop")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="CODE", help="leave a code out; may be repeated"
    )
    add_allow_python(parser)
    parser.add_argument("--errors-only", action="store_true", help="leave warnings out")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from netdsl.analysis.check import check
    from netdsl.cli.findings import load_to_check, print_findings
    from netdsl.cli.terminal import plain

    if options.explain:
        return _explain(options.explain)
    if options.init is None:
        raise NetdslError("check needs a net", expected="netdsl check INIT [NET], or --explain CODE")
    ignored = {_known(code) for given in options.ignore for code in given.split(",")}
    nets = [load_to_check(path) for path in (options.init, options.net) if path is not None]
    found = [
        finding
        for finding in check(nets[0], nets[1] if len(nets) > 1 else None, python=options.allow_python)
        if finding.code not in ignored and (finding.rule.is_error or not options.errors_only)
    ]
    if options.json:
        plain(json.dumps([finding.to_dict() for finding in found], indent=2))
    else:
        print_findings(found)
    return int(bool(found))


def _known(code: str) -> str:
    """The code of a rule that is given by its code or its name, in any case."""
    from netdsl.analysis.rules import RULES

    names = {rule.name: rule.code for rule in RULES.values()}
    known = names.get(code.lower(), code.upper())
    if known not in RULES:
        near = did_you_mean(code, [*RULES, *names])
        raise NetdslError(f"no finding has the code {code!r}", codes=", ".join(RULES), did_you_mean=near)
    return known


def _explain(code: str) -> int:
    from netdsl.analysis.rules import RULES
    from netdsl.cli.terminal import plain

    rules = RULES.values() if code == "all" else [RULES[_known(code)]]
    plain("\n".join(rule.text for rule in rules))
    return 0
