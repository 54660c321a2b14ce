"""Print a net as text.

The text is netdsl's own form (docs/text-format.md), whatever the file's format; long lists of numbers
are elided. With --raw nothing is elided, and the output is a net file again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netdsl import io
from netdsl.analysis.cost import NetCost, cost
from netdsl.analysis.infer import infer
from netdsl.cli.terminal import console, count, plain, size
from netdsl.errors import NetdslError
from netdsl.ir import UNKNOWN, BlobType, NetDef, TensorType
from netdsl.ir.text import dump
from netdsl.ops.schema import is_known, lookup

HELP = "print a net as text, with shapes, parameters and costs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", type=Path, help="a net: netdsl text or JSON, or Caffe2's .pb or .pbtxt")
    parser.add_argument("--init", type=Path, metavar="FILE", help="its init net, for the types of its parameters")
    parser.add_argument("--shapes", action="store_true", help="comment every operator with its output types")
    parser.add_argument("--params", action="store_true", help="print the table of parameters instead")
    parser.add_argument("--cost", action="store_true", help="print FLOPs, bytes and memory instead")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="size of a named dim, as N=64")
    parser.add_argument("--raw", action="store_true", help="elide nothing and add no comments")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    net = io.load(options.file)
    init = io.load(options.init) if options.init else None
    types = known_types(net, init, _dims(options.dim))
    if options.params:
        console().print(parameter_table(net, init, types))
    elif options.cost:
        _print_cost(cost(net, types))
    elif options.raw:
        plain(dump(net))
    else:
        plain(dump(net, elide=True, comments=_comments(net, types) if options.shapes else _enums))
    return 0


def _dims(given: list[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in given:
        name, _, value = text.partition("=")
        if not value.isdecimal():
            raise NetdslError("--dim takes a name and a size", expected="N=64", got=text)
        sizes[name] = int(value)
    return sizes


def known_types(net: NetDef, init: NetDef | None, dims: dict[str, int]) -> dict[str, BlobType]:
    """Return the types of what ``net`` reads: as declared, as the init net makes them, with dims put in."""
    made = infer(init) if init is not None else {}
    found: dict[str, BlobType] = {}
    for name in net.inputs:
        type_ = net.types.get(name, UNKNOWN)
        type_ = made.get(name, type_) if type_ == UNKNOWN else type_
        if isinstance(type_, TensorType) and type_.shape is not None:
            type_ = type_.with_shape(tuple(dims.get(d, d) if isinstance(d, str) else d for d in type_.shape))
        if type_ != UNKNOWN:
            found[name] = type_
    return found


def _comments(net: NetDef, types: dict[str, BlobType]) -> Callable[[NetDef, int], str | None]:
    rows = cost(net, types).ops

    def comment(owner: NetDef, index: int) -> str | None:
        notes = [_enums(owner, index)]
        if owner is net:
            notes.insert(0, ", ".join(str(t) for t in rows[index].outputs))
        return "; ".join(note for note in notes if note) or None

    return comment


def _enums(net: NetDef, index: int) -> str | None:
    """Explain arguments that are numbers of an enumeration: ``dtype 10 is int64``."""
    op = net.ops[index]
    if not is_known(op.type):
        return "unknown operator"
    notes: list[str] = []
    for name, field in lookup(op.type).arguments().items():
        enum = field.metadata["enum"]
        if enum and op.args.get(name):
            meaning = next((word for word, number in enum.items() if number == op.args[name]), "unknown")
            notes.append(f"{name} {op.args[name]} is {meaning}")
    return ", ".join(notes) or None


def parameter_table(net: NetDef, init: NetDef | None, types: dict[str, BlobType]) -> Any:
    """The parameters as a rich table: from the net's metadata, else what the init net makes and the net reads."""
    from rich.table import Table

    rows = net.metadata.get("parameters") or _guessed_parameters(net, init, types)
    table = Table(box=None, pad_edge=False)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column.replace("_", " "), justify="left")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    return table


def _guessed_parameters(net: NetDef, init: NetDef | None, types: dict[str, BlobType]) -> list[dict[str, Any]]:
    made = {name for op in init.ops for name in op.outputs} if init else set(net.inputs)
    rows: list[dict[str, Any]] = []
    for name in net.inputs:
        type_ = types.get(name, UNKNOWN)
        if name in made and isinstance(type_, TensorType):
            trained = any(name in op.outputs for op in net.ops)
            rows.append({"name": name, "type": str(type_), "changed": "yes" if trained else "no"})
    return rows


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    if isinstance(value, list):
        return "x".join(map(str, value)) or "scalar"
    return "" if value is None else ("yes" if value is True else "no" if value is False else str(value))


def _print_cost(found: NetCost) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name, justify in (("operator", "left"), ("FLOPs", "right"), ("read", "right"), ("written", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for row in found.ops:
        table.add_row(str(row.op), count(row.flops), size(row.bytes_read), size(row.bytes_written))
    console().print(table)
    unknown = f" ({found.unknown} operators of unknown size left out: see --init and --dim)" if found.unknown else ""
    console().print(f"\n{count(found.flops)}FLOP a run, {size(found.bytes_moved)} moved{unknown}")
    console().print(f"memory: {size(found.held)} for all blobs, {size(found.peak)} with freeing")
