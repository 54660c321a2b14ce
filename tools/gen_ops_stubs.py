"""Generates the type stubs of the operator methods of Net, one per family."""

from __future__ import annotations

import importlib

import attrs

from netdsl.ops.reference import signature
from tools.gen_ops_index import known


def generate() -> dict[str, str]:
    """Return one stub per family, and the class that joins them, by path."""
    from netdsl.ops import lookup

    families: dict[str, list[str]] = {}
    for name, module in known().items():
        importlib.import_module(f"netdsl.ops.{module}")
        families.setdefault(module.split(".")[0], []).append(_method(lookup(name)))
    folder = "netdsl/dsl/_calls"
    texts: dict[str, str] = {}
    for family, methods in sorted(families.items()):
        header = f'"""Signatures of the {family} operators as methods of Net; generated, do not edit."""\n\n'
        header += "from collections.abc import Sequence\nfrom typing import Any\n\n"
        header += "from netdsl.dsl.blob import Blob\nfrom netdsl.ir import Device\n\n"
        header += "_Ins = Blob | str | Sequence[Blob | str]\n_Outs = Blob | str | int | Sequence[Blob | str]\n\n"
        texts[f"{folder}/{family}.pyi"] = f"{header}class {family.title()}Calls:\n" + "\n".join(methods)
    imports = "".join(f"from netdsl.dsl._calls.{f} import {f.title()}Calls\n" for f in sorted(families))
    bases = ", ".join(f"{f.title()}Calls" for f in sorted(families))
    doc = '"""Every operator as a method of Net; generated, do not edit."""\n\n'
    texts[f"{folder}/__init__.pyi"] = f"{doc}{imports}\nclass OpCalls({bases}): ...\n"
    return texts


def _method(cls: type) -> str:
    arguments = cls.arguments().values()
    parts = [
        f"{f.name}: {_annotation(f)}" + (" = ..." if f.default is not attrs.NOTHING else "")
        for f in sorted(arguments, key=lambda f: f.default is not attrs.NOTHING)
    ]
    reserved = [
        "name: str = ...",
        "engine: str = ...",
        "device: Device | str | None = ...",
        "control_inputs: _Ins = ...",
    ]
    keyword = ", ".join(["*", *parts, *(r for r in reserved if r.split(":")[0] not in cls.arguments())])
    outs = list(cls.outputs)
    if any(o.many or o.optional for o in outs):
        result = "Any"
    elif len(outs) == 1:
        result = "Blob"
    else:
        result = f"tuple[{', '.join(['Blob'] * len(outs))}]" if outs else "None"
    doc = f"{signature(cls)}\n\n{(cls.__doc__ or '').strip()}"
    for f in arguments:
        doc += f"\n\n{f.name}: {f.metadata['doc']}"
    text = doc.replace("\\", "\\\\").replace('"""', "'''")
    body = "\n".join(f"        {line.strip()}" if line.strip() else "" for line in text.split("\n"))
    head = f"    def {cls.__name__}(self, inputs: _Ins = ..., outputs: _Outs = ..., {keyword}) -> {result}:"
    return f'{head}\n        """{body.lstrip()}"""\n'


def _annotation(field: attrs.Attribute) -> str:
    kind = str(field.type)
    if field.metadata["enum"]:
        return f"{kind} | str"
    if kind.startswith("tuple["):
        return f"Sequence[{kind.removeprefix('tuple[').split(',')[0]}]"
    return {"ArgValue": "Any", "NetDef": "Any", "NetDef | None": "Any", "bool": "bool | int"}.get(kind, kind)
