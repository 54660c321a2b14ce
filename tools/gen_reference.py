"""Generates ``docs/reference.md``: the Python interface, module by module, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from importlib import import_module
from types import ModuleType

import attrs

from netdsl.ops.reference import markdown
from tools import gen_public_api as public

MODULES = {
    "Building nets": ("netdsl.dsl", "netdsl.model", "netdsl.layers", "netdsl.initializers", "netdsl.optimizers"),
    "Nets as data": ("netdsl.ir", "netdsl.io", "netdsl.passes.edit"),
    "Running nets": ("netdsl.runtime", "netdsl.runtime.hooks"),
    "Looking at nets": (
        *("netdsl.analysis.check", "netdsl.analysis.cost", "netdsl.analysis.diff", "netdsl.analysis.gradient"),
        *("netdsl.analysis.graph", "netdsl.analysis.infer", "netdsl.analysis.roles", "netdsl.viz"),
    ),
    "Declaring and testing operators": (
        *("netdsl.ops", "netdsl.ops.schema", "netdsl.ops.xp", "netdsl.ops.context", "netdsl.ops.gradient"),
        *("netdsl.ops.reference", "netdsl.testing"),
    ),
    "Errors and data": ("netdsl.errors", "netdsl.data"),
}

INTRODUCTION = """\
# The Python interface

<!-- Generated from signatures and docstrings by tools/regen.py; do not edit. -->

`import netdsl as nd` offers the names most programs need: {names}. Everything else is imported from the module it
stands under here. A name that is not here, or begins with an underscore, is not part of the interface.

The operators have [pages of their own](operators/README.md), and every one is a method of `Net`. The commands are
described in [commands.md](commands.md)."""


def generate() -> dict[str, str]:
    """Return the text of the page by its path."""
    names = sorted([*public.MODULES, *(name for names in public.HOMES.values() for name in names)], key=str.casefold)
    parts = [INTRODUCTION.format(names=", ".join(f"`{name}`" for name in names))]
    for title, modules in MODULES.items():
        parts.append(f"## {title}")
        for name in modules:
            parts += _module(name, import_module(public.MODULES.get(name.removeprefix("netdsl.")) or name))
    return {"docs/reference.md": "\n\n".join(parts) + "\n"}


def _module(name: str, module: ModuleType) -> Iterator[str]:
    yield f"### {name}"
    yield prose(module.__doc__)
    constants: list[str] = []
    for member in public.members(module):
        value = getattr(module, member)
        if inspect.isclass(value):
            yield from _class(member, value)
        elif inspect.isroutine(value):
            yield f"#### {member}"
            yield f"```python\n{member}{public.signature(value)}\n```"
            yield prose(value.__doc__)
        elif not inspect.ismodule(value):
            constants.append(f"`{member}`")
    if constants:
        yield f"Constants and types: {', '.join(constants)}."


def _class(name: str, cls: type) -> Iterator[str]:
    yield f"#### {name}"
    yield f"```python\nclass {name}{'' if issubclass(cls, Enum) else public.signature(cls)}\n```"
    yield prose(cls.__doc__)
    if issubclass(cls, Enum):
        yield f"Members: {', '.join(f'`{member.name}`' for member in cls)}."
    fields = {field.name: _type(field.type) for field in attrs.fields(cls)} if attrs.has(cls) else {}
    others = {name: member for name, member in sorted(public.methods(cls).items()) if name not in fields}
    shown = [f"`{name}: {type_}`" for name, type_ in fields.items() if not name.startswith("_")]
    if not issubclass(cls, Enum):
        shown += [f"`{name}`" for name, member in others.items() if not _is_code(member)]
    if shown:
        yield f"Attributes: {', '.join(shown)}."
    rows = [_row(name, member) for name, member in others.items() if _is_code(member)]
    if rows:
        yield "\n".join(["| | |", "|---|---|", *rows])


def _is_code(member: object) -> bool:
    return isinstance(member, property) or inspect.isroutine(member)


def _row(name: str, member: object) -> str:
    parameters = "" if isinstance(member, property) else re.sub(r"^\((self|cls)(, )?", "(", public.signature(member))
    first = prose(member.__doc__).split("\n\n")[0]
    code, doc = (text.replace("|", "\\|") for text in (name + parameters, " ".join(first.split())))
    return f"| `{code}` | {doc} |"


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def prose(doc: str | None) -> str:
    """Return a docstring as Markdown: its sections (``Args:``, ``Raises:``) as lists, indented code as code."""
    return "\n".join(_sections(markdown(inspect.cleandoc(doc or "")).splitlines())).strip()


def _sections(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if re.fullmatch(r"[A-Z][\w ]*:", line) and line.split()[0].rstrip(":") in ("Args", "Raises", "Warns", "Class"):
            inside = True
            yield from (f"{line.rstrip(':')}:", "")
        elif inside and re.match(r" {4}\S", line):
            yield f"- {line.strip()}"
        elif inside and line.startswith("     "):
            yield f"  {line.strip()}"
        else:
            inside = inside and not line
            yield line
