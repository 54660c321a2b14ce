"""A finding: one thing that is wrong, or looks wrong, in one net; as data and as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from netdsl.analysis.rules import Rule
from netdsl.errors import printable
from netdsl.ir import NetDef, OperatorDef, SourceLine


@attrs.frozen(eq=False)
class Finding:
    """One thing that is wrong, or looks wrong, in one net.

    ``message`` is one sentence about this very case; the rule says why it matters and what to do. ``notes``
    are further facts, each with its label, and ``near`` the names that may have been meant.
    """

    rule: Rule
    message: str
    net: NetDef
    blob: str | None = None
    index: int | None = None
    near: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def op(self) -> OperatorDef | None:
        """The operator it is about, None where it is about the net."""
        return None if self.index is None else self.net.ops[self.index]

    @property
    def where(self) -> SourceLine | None:
        """The author's line, where it is known."""
        return None if self.op is None else self.op.where

    def rows(self, *, full: bool = False) -> list[tuple[str, str]]:
        """What is told below the message, label by label; ``full`` adds why it matters and what to do."""
        net = f"net {self.net.name!r}"
        place = f"{self.op}     (operator {self.index} of {net})" if self.op is not None else net
        found = [("in", place)]
        if self.where is not None:
            found.append(("added at", str(self.where)))
        found += self.notes
        if self.near:
            found.append(("did you mean", ", ".join(self.near)))
        if full:
            found.append(("why", self.rule.why))
            if not any(label == "fix" for label, _ in self.notes):  # the one for this very case says more
                found.append(("fix", self.rule.fix))
        return found

    @property
    def title(self) -> str:
        """``error[N103]``, which stands before the message."""
        return f"{self.rule.severity}[{self.code}]"

    def __str__(self) -> str:
        """In the form of all messages: what, then aligned details."""
        return "\n".join([f"{self.title} {self.message}", *aligned(self.rows())])

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "code": self.code,
            "name": self.rule.name,
            "severity": self.rule.severity,
            "message": self.message,
            "net": self.net.name,
            "operator": None if self.op is None else str(self.op),
            "index": self.index,
            "blob": self.blob,
            "file": None if self.where is None else self.where.file,
            "line": None if self.where is None else self.where.line,
            "did_you_mean": list(self.near),
            "notes": [{"label": label, "text": text} for label, text in self.notes],
            "why": self.rule.why,
            "fix": self.rule.fix,
        }


def aligned(rows: Iterable[tuple[str, str]]) -> list[str]:
    """One line a row, with the texts below each other."""
    listed = list(rows)
    width = max((len(label) for label, _ in listed), default=0)
    return [f"  {label:<{width}} : {printable(text, keep='')}" for label, text in listed]


def about(
    rule: Rule,
    message: str,
    net: NetDef,
    index: int | None = None,
    blob: str | None = None,
    near: str | None = None,
    notes: Iterable[tuple[str, str]] = (),
) -> Finding:
    """Return a finding about operator ``index`` of ``net``, or about the net."""
    return Finding(rule, message, net, blob, index, tuple(near.split(", ")) if near else (), tuple(notes))


def placed(op: OperatorDef, index: int, net: NetDef) -> str:
    """``y = Relu(x)     (operator 3 of net 'n', train.net:7)``, as notes name an operator."""
    where = f", {op.where}" if op.where is not None else ""
    return f"{op}     (operator {index} of net {net.name!r}{where})"
