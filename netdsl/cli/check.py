"""Say what is wrong, or looks wrong, in an init net and the net that runs after it (or in one net).

Each finding has a stable code; --explain CODE tells what it means, why it matters and what to do.
Exit status 0 where nothing is found, 1 where something is, 2 where a file cannot be read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from netdsl import io
from netdsl.analysis.check import check
from netdsl.analysis.findings import RULES, Finding
from netdsl.cli.terminal import console, plain
from netdsl.errors import NetdslError, did_you_mean

HELP = "say what is wrong in a net, or in an init net and its net"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("init", type=Path, nargs="?", help="the init net (or the only net)")
    parser.add_argument("net", type=Path, nargs="?", help="the net that runs after it")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--explain", metavar="CODE", help="explain a code, or all with 'all', and stop")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODE", help="leave a code out")
    parser.add_argument("--errors-only", action="store_true", help="leave warnings out")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.explain:
        return _explain(options.explain)
    if options.init is None:
        raise NetdslError("check needs a net", expected="netdsl check INIT [NET], or --explain CODE")
    for code in options.ignore:
        _known(code)
    nets = [io.load(path) for path in (options.init, options.net) if path is not None]
    found = [
        finding
        for finding in check(nets[0], nets[1] if len(nets) > 1 else None)
        if finding.code not in options.ignore and (finding.rule.is_error or not options.errors_only)
    ]
    if options.json:
        plain(json.dumps([finding.to_dict() for finding in found], indent=2))
    else:
        _print(found)
    return int(bool(found))


def _known(code: str) -> str:
    if code not in RULES:
        raise NetdslError(f"no finding has the code {code!r}", codes=", ".join(RULES), did_you_mean=did_you_mean(code, RULES))
    return code


def _explain(code: str) -> int:
    rules = RULES.values() if code == "all" else [RULES[_known(code.upper())]]
    plain("\n".join(rule.text for rule in rules))
    return 0


def _print(found: list[Finding]) -> None:
    from rich.text import Text

    for finding in found:
        kind, style = ("error", "bold red") if finding.rule.is_error else ("warning", "bold yellow")
        line = Text(f"{kind}[{finding.code}]", style=style)
        line.append(f" {finding.message}", style="bold")
        console().print(line)
        place = f"operator {finding.index} of net {finding.net!r}" if finding.index is not None else f"net {finding.net!r}"
        rows = {
            "in": f"{finding.op}     ({place})" if finding.op is not None else place,
            "added at": finding.where,
            "did you mean": finding.did_you_mean,
            "fix": finding.rule.fix,
        }
        for name, value in rows.items():
            if value is not None:
                console().print(Text(f"  {name:<12} : {value}"))
    errors = sum(finding.rule.is_error for finding in found)
    if not found:
        console().print("nothing found")
    else:
        console().print(f"\n{errors} errors, {len(found) - errors} warnings (netdsl check --explain CODE tells more)")
