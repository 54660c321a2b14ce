"""Generates docs/check.md: every finding of ``netdsl check``, with an example and what is printed about it."""

from __future__ import annotations

INTRODUCTION = """\
# What `netdsl check` finds

`netdsl check INIT NET` reads an init net and the net that runs after it; `netdsl check NET` reads one net by itself.
Nothing is run, and no module that a net names is imported. Every finding names the operator, the blob and, where it is
known, the line that added the operator: of the Python program, or of the text file. Names that may have been meant
stand under `did you mean`. What only follows from another finding is left out.

    netdsl check INIT [NET]        exit status 0: nothing found, 1: something found, 2: a file cannot be read
    netdsl check ... --ignore N402 leave a code out (or a name, as unused-fill); may be repeated
    netdsl check ... --errors-only leave warnings out
    netdsl check ... --json        the findings as data
    netdsl check ... --allow-python module:name   a function that the nets may call (N108); may be repeated
    netdsl check --explain N303    what a code means, with an example; `all` explains every code

An error is what cannot run or computes something else than it says; a warning is what is probably not meant. Codes are
stable: N1xx are about what keeps a net from running, N2xx about types, N3xx about training, N4xx about what is useless
or overwritten.

From Python: `netdsl.analysis.check.check(init, net)` returns the findings; nets are `NetDef`s, so a net under
construction is checked by `check(model.init_net.definition, model.net.definition)`.

"""


def generate() -> dict[str, str]:
    """Return the page by its path."""
    from netdsl.analysis.rules import RULES

    table = "".join(f"| [{r.code}](#{r.code.lower()}) | {r.name} | {r.severity} | {r.what} |\n" for r in RULES.values())
    page = INTRODUCTION + "| code | name | | |\n|---|---|---|---|\n" + table
    page += "".join(_section(rule) for rule in RULES.values())
    return {"docs/check.md": page}


def _section(rule: object) -> str:
    from netdsl.analysis.check import check
    from netdsl.analysis.rules import Rule
    from netdsl.ir import parse

    assert isinstance(rule, Rule)
    init = parse(rule.init, "init.net") if rule.init else None
    printed = "\n\n".join(map(str, check(init, parse(rule.example, "train.net" if rule.init else "a.net"))))
    text = f"\n## {rule.code}\n\n**{rule.name}** ({rule.severity}): {rule.what}\n\n{rule.why}\n{rule.fix}\n\n"
    nets = "\n".join(filter(None, (rule.init, rule.example)))
    return f"{text}```text\n{nets}```\n\n```text\n{printed}\n```\n"
