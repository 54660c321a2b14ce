"""The reference page of one operator, made from its declaration."""

from __future__ import annotations

import inspect
import re
from typing import Any

import attrs

from netdsl.ops.schema import Operator, lookup


def signature(cls: type[Operator]) -> str:
    """``Y = FC(X, W, b)``, optional formals in brackets."""
    call = f"{cls.__name__}({cls.formal_inputs.describe() if cls.inputs else ''})"
    return f"{cls.formal_outputs.describe()} = {call}" if cls.outputs else call


def reference(type_: str) -> str:
    """Return what an operator computes, takes and gives, as text.

    Raises:
        UnknownOperatorError: nothing declares it; names the near ones.
    """
    cls = lookup(type_)
    lines = [signature(cls), "", inspect.cleandoc(cls.__doc__ or ""), ""]
    lines += _section("inputs", [(i.name, _input(i)) for i in cls.inputs])
    lines += _section("outputs", [(o.name, _output(o)) for o in cls.outputs])
    lines += _section("arguments", [(f.name, _argument(f)) for f in cls.arguments().values()])
    lines.append(f"body: {_body(cls)}; gradient: {'yes' if hasattr(cls, 'gradient') else 'no'}")
    if cls.ours:
        lines.append("netdsl only: Caffe2 has no such operator")
    if cls.source:
        lines.append(f"source: {cls.source}")
    return "\n".join(lines) + "\n"


def markdown(doc: str) -> str:
    """Return a docstring with its reStructuredText marks as Markdown's, which read well as plain text too."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", doc).replace("``", "`")


def _body(cls: type[Operator]) -> str:
    kinds = {"compute": "pure", "sample": "random", "run": "has effects"}
    found = next((text for name, text in kinds.items() if hasattr(cls, name)), None)
    return "none: it cannot run" if found is None else f"{found}, elementwise" if cls.elementwise else found


def _section(title: str, rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    width = max(len(name) for name, _ in rows)
    return [f"{title}:", *(f"  {name:<{width}}  {text}".rstrip() for name, text in rows), ""]


def _input(formal: Any) -> str:
    notes = [str(formal.dtypes)]
    if formal.optional:
        notes.append("optional")
    if formal.many:
        notes.append("any number" if formal.many == 1 else f"groups of {formal.many}")
    if formal.host:
        notes.append("read on the CPU")
    return f"({', '.join(notes)}) {formal.doc}"


def _output(formal: Any) -> str:
    notes = ["optional"] if formal.optional else []
    if formal.many:
        notes.append("any number")
    if formal.enforced:
        notes.append(f"must overwrite {formal.enforced}")
    elif formal.inplace:
        notes.append("may overwrite " + ("any input" if formal.inplace == ("*",) else ", ".join(formal.inplace)))
    if formal.alias:
        notes.append(f"shares the memory of {formal.alias}")
    return f"({'; '.join(notes)}) {formal.doc}" if notes else formal.doc


def _argument(field: Any) -> str:
    default = "required" if field.default is attrs.NOTHING else f"default {field.default!r}"
    kind = str(field.type).replace("ArgValue", "any")
    text = f"({kind}, {default}) {field.metadata['doc']}"
    if field.metadata["choices"]:
        text += f" One of {', '.join(field.metadata['choices'])}."
    return text
