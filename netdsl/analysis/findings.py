"""What ``check`` can find: codes, their explanations, and the finding itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from netdsl.ir import NetDef, OperatorDef, SourceLine


@attrs.frozen
class Rule:
    """A kind of finding: a stable code, a name, whether it is an error, and what ``--explain`` prints."""

    code: str
    name: str
    is_error: bool
    what: str
    why: str
    fix: str

    @property
    def severity(self) -> str:
        """ "error" for what cannot run or computes something else, "warning" for what is probably not meant."""
        return "error" if self.is_error else "warning"

    @property
    def text(self) -> str:
        """What ``--explain`` prints."""
        return f"{self.code} {self.name} ({self.severity})\n\nWhat: {self.what}\nWhy:  {self.why}\nFix:  {self.fix}\n"


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

    def rows(self) -> list[tuple[str, str]]:
        """What is told below the message, label by label."""
        net = f"net {self.net.name!r}"
        place = f"{self.op}     (operator {self.index} of {net})" if self.op is not None else net
        found = [("in", place)]
        if self.where is not None:
            found.append(("added at", str(self.where)))
        found += self.notes
        if self.near:
            found.append(("did you mean", ", ".join(self.near)))
        return found

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


UNKNOWN_OPERATOR = Rule(
    "N101",
    "unknown-operator",
    True,
    "An operator whose type nothing declares.",
    "The net loads, prints and draws, but it cannot run past this operator.",
    "Correct the type's name, or import the module that declares the operator.",
)
SCHEMA = Rule(
    "N102",
    "bad-use",
    True,
    "An operator used against its declaration: number of blobs, arguments, or an overwritten input.",
    "The operator will refuse to run.",
    "`netdsl ops NAME` prints what the operator takes.",
)
MISSING_INPUT = Rule(
    "N103",
    "missing-input",
    True,
    "A blob is read, but no operator before it, no input line and no init net provides it.",
    "The run fails before its first operator, because the blob does not exist.",
    "Correct the name, or declare the blob with an `input` line.",
)
MISSING_OUTPUT = Rule(
    "N104",
    "missing-output",
    True,
    "A declared output that no operator computes.",
    "Who asks for the output gets an error instead.",
    "Correct the name, or remove the `output` line.",
)
UNMADE = Rule(
    "N105",
    "unmade-parameter",
    True,
    "The net updates a blob that the init net does not make.",
    "A trained blob must exist before the first step; nothing creates it.",
    "Let the init net make it, or load it into the workspace before running.",
)
TYPES = Rule(
    "N201",
    "type-clash",
    True,
    "An operator cannot take its inputs: shapes or dtypes do not fit.",
    "The operator will refuse to run.",
    "Change the blob, the argument or the layer that does not fit.",
)
PRECISION = Rule(
    "N202",
    "precision-clash",
    True,
    "Half and single precision meet in one operator.",
    "Operators do not convert by themselves; the operator will refuse to run.",
    "Put FloatToHalf or HalfToFloat between, or use the parameter's copy in the other precision.",
)
INIT_TYPES = Rule(
    "N203",
    "init-clash",
    True,
    "The init net makes a blob of another type than the net declares or needs.",
    "The first run fails, or the net computes something else than it says.",
    "Make the fill's shape and dtype those of the input line.",
)
NOT_UPDATED = Rule(
    "N301",
    "no-update",
    False,
    "A parameter gets a gradient, but nothing updates it, while others are trained.",
    "It stays at its first value; its gradient is computed for nothing.",
    "Build the optimizer for it too, or freeze it before adding gradients.",
)
UPDATED_TWICE = Rule(
    "N302",
    "updated-twice",
    False,
    "A parameter is updated by more than one operator in a step.",
    "Usually an optimizer was built twice; the step is then too long.",
    "Build one optimizer for each parameter.",
)
STALE_COPY = Rule(
    "N303",
    "stale-copy",
    False,
    "A parameter exists in half and in single precision; one is trained and the other never changes.",
    "The two drift apart: what is saved, or used elsewhere, is the untrained one. Half updates also lose "
    "steps smaller than a rounding.",
    "Update the single-precision blob and round it into the half one (MultiPrecisionSGD, MasterWeightSGD).",
)
WRONG_GRADIENT = Rule(
    "N304",
    "stale-gradient",
    False,
    "The backward pass is not the one that the forward pass has.",
    "After a change to the forward part the old gradient operators compute the gradient of another net.",
    "Change the gradient operator too, or rebuild the net and call add_gradients again.",
)
DEAD = Rule(
    "N401",
    "dead-operator",
    False,
    "Nothing reads what an operator computes, and it has no effect.",
    "It costs time in every run.",
    "Remove it, or declare its result as an output.",
)
UNUSED_FILL = Rule(
    "N402",
    "unused-fill",
    False,
    "The init net makes a blob that neither net reads.",
    "It costs memory, and is often a sign of a misspelt name.",
    "Remove it, or correct the name where it should be read.",
)
LOST_WRITE = Rule(
    "N403",
    "lost-write",
    False,
    "A blob is written and then overwritten before anything reads it.",
    "The first value is lost; two operators probably share a name by mistake.",
    "Give one of them another output name.",
)
HAZARD = Rule(
    "N404",
    "in-place-hazard",
    True,
    "The backward pass reads a blob that was overwritten after the forward operator used it.",
    "The gradient would be computed from the wrong value.",
    "Let the operator that overwrites it write a fresh blob.",
)

RULES = {
    rule.code: rule
    for rule in (
        UNKNOWN_OPERATOR,
        SCHEMA,
        MISSING_INPUT,
        MISSING_OUTPUT,
        UNMADE,
        TYPES,
        PRECISION,
        INIT_TYPES,
        NOT_UPDATED,
        UPDATED_TWICE,
        STALE_COPY,
        WRONG_GRADIENT,
        DEAD,
        UNUSED_FILL,
        LOST_WRITE,
        HAZARD,
    )
}
"""Every rule by its code."""
