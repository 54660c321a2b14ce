"""Print a net as text.

The text is netdsl's own form (docs/text-format.md), whatever the file's format; long lists of numbers
are elided and numbers of enumerations explained. With --raw nothing is elided, and the output is a net
file again. --shapes, --params, --cost and --raw exclude each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from netdsl.cli.terminal import count, plain, size, table
from netdsl.errors import NetdslError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType, NetDef, TensorType
from netdsl.ir.extents import names, substitute
from netdsl.ir.text import dump
from netdsl.ops.schema import is_known, lookup

if TYPE_CHECKING:
    from netdsl.analysis.cost import NetCost

HELP = "print a net as text, with shapes, parameters and costs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a net: netdsl text or JSON, or Caffe2's .pb or .pbtxt")
    parser.add_argument("--init", type=Path, metavar="FILE", help="its init net, for the types of its parameters")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="size of a named dim, as N=64")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--shapes", action="store_true", help="tell the types of all blobs, those of outputs in comments")
    form.add_argument("--params", action="store_true", help="print the table of parameters instead")
    form.add_argument("--cost", action="store_true", help="print FLOPs, bytes and memory instead")
    form.add_argument("--raw", action="store_true", help="elide nothing and add no comments")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from netdsl import io

    net = io.load(options.file)
    init = io.load(options.init) if options.init else None
    types = known_types(net, init, _dims(options.dim, [t for n in (net, init) if n for t in n.types.values()]))
    if options.params:
        plain(parameter_table(net, init, types))
    elif options.cost:
        from netdsl.analysis.cost import cost

        _print_cost(cost(net, types))
    elif options.raw:
        plain(dump(net))
    elif options.shapes:
        declared = attrs.evolve(net, types={**net.types, **types})
        plain(dump(declared, elide=True, comments=_comments(declared, types)))
    else:
        plain(dump(net, elide=True, comments=_enums))
    return 0


# ---------------------------------------------------------------------- types


def _dims(given: list[str], types: Iterable[BlobType]) -> dict[str, int]:
    """The sizes of named dims as the command line gives them."""
    shapes = [t.shape for t in types if isinstance(t, TensorType) and t.shape is not None]
    known = sorted({name for shape in shapes for d in shape for name in names(d)})
    sizes: dict[str, int] = {}
    for text in given:
        name, _, value = text.partition("=")
        if not value.isdecimal():
            raise NetdslError("--dim takes a name and a size", expected="N=64", got=text)
        if name not in known:
            near = did_you_mean(name, known)
            raise NetdslError(f"no dim is called {name!r}", named=", ".join(known) or "none", did_you_mean=near)
        sizes[name] = int(value)
    return sizes


def known_types(net: NetDef, init: NetDef | None, dims: dict[str, int]) -> dict[str, BlobType]:
    """Return the types of what ``net`` reads: as declared, as the init net makes them, with dims put in."""
    from netdsl.analysis.cost import cost

    rows = cost(init).ops if init is not None else ()
    made = {name: type_ for row in rows for name, type_ in zip(row.op.outputs, row.outputs, strict=True)}
    found: dict[str, BlobType] = {}
    for name in dict.fromkeys((*net.inputs, *net.types)):
        type_ = net.types.get(name, UNKNOWN)
        type_ = made.get(name, type_) if type_ == UNKNOWN else type_
        if isinstance(type_, TensorType) and type_.shape is not None:
            type_ = type_.with_shape(tuple(substitute(d, dims) for d in type_.shape))
        if type_ != UNKNOWN:
            found[name] = type_
    return found


def _comments(net: NetDef, types: dict[str, BlobType]) -> Callable[[NetDef, int], str | None]:
    from netdsl.analysis.cost import cost

    rows = cost(net, types).ops

    def comment(owner: NetDef, index: int) -> str | None:
        if owner is not net:
            return _enums(owner, index)
        row = rows[index]
        told = row.problem or ", ".join(str(type_) for type_ in row.outputs)
        return "; ".join(filter(None, (told, _enums(owner, index) if row.problem is None else None))) or None

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


# ---------------------------------------------------------------------- parameters


def parameter_table(net: NetDef, init: NetDef | None, types: dict[str, BlobType]) -> str:
    """The parameters as a table: from the net's metadata, else as the nets tell."""
    from netdsl.viz.text import heading

    kept = net.metadata.get("parameters")
    rows = kept or _parameters(net, init, types)
    if not rows:
        return "no parameters: the net trains nothing (--init tells what an init net makes for it)"
    columns = list(dict.fromkeys(key for row in rows for key in row))
    told = table(list(map(heading, columns)), [[_cell(row.get(n)) for n in columns] for row in rows])
    return told if kept else f"{told}\n\nas read off the operators; a net saved as JSON keeps the table of its model"


def _parameters(net: NetDef, init: NetDef | None, types: dict[str, BlobType]) -> list[dict[str, Any]]:
    """What is trained, with gradient and update; of a net without training, what the init net makes for it."""
    from netdsl.analysis.training import Training

    found = Training(net, init)
    rows: list[dict[str, Any]] = []
    for use in found.parameters():
        by = ", ".join(f"{net.ops[i].type} (operator {i})" for i in use.updates)
        row = {
            "name": use.name,
            "type": types.get(use.name, UNKNOWN),
            "gradient": use.gradient,
            "lr": _rate(net, use.updates),
            "updated by": by or "nothing",
        }
        rows.append(row | ({"copies": ", ".join(use.copies)} if init is not None else {}))
    if rows or init is None:
        return rows
    return [{"name": name, "type": types.get(name, UNKNOWN)} for name in net.inputs if name in found.made]


def _rate(net: NetDef, updates: Iterable[int]) -> str | None:
    """The learning rate that the first update reads, and its policy."""
    for index in updates:
        read = net.ops[index].inputs
        for op in reversed(net.ops[:index]):
            if "base_lr" in op.args and any(name in read for name in op.outputs):
                return f"{abs(op.args['base_lr']):g} {op.args.get('policy', '')}".rstrip()
    return None


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    if isinstance(value, list):
        return "x".join(map(str, value)) or "scalar"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


# ---------------------------------------------------------------------- costs


def _flops(number: float | None) -> str:
    told = count(number)
    return f"{told}FLOP" if " " in told else f"{told} FLOP"


def _print_cost(found: NetCost) -> None:
    rows = [(count(r.flops), size(r.bytes_read), size(r.bytes_written), str(r.op)) for r in found.ops]
    plain(table(("FLOPs", "read", "written", "operator"), rows, right=("FLOPs", "read", "written")))
    plain(f"\n{_flops(found.flops)} a run, {size(found.bytes_moved)} moved")
    plain(f"memory: {size(found.held)} for all blobs, {size(found.peak)} with freeing")
    if found.unknown:
        operators = "1 operator" if found.unknown == 1 else f"{found.unknown} operators"
        plain(f"not counted: {operators} of unknown size; --init and --dim N=64 tell more sizes")
