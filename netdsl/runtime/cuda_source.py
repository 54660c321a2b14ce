"""A group as CUDA source: the parameters and the loop body of one CuPy ``ElementwiseKernel``.

Every conversion is written out and halves compute as floats, so a kernel computes what NumPy computes,
bit by bit, if it is compiled with ``--fmad=false``; inexact primitives excepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from netdsl.ops.primitives import PRIMITIVES
from netdsl.runtime.groups import Group
from netdsl.runtime.trace import F2, F4, DTypeOf, Node, live

OPTIONS = ("--fmad=false",)
"""What the kernels must be compiled with: a fused multiply-add rounds once where NumPy rounds twice."""

PREAMBLE = """
template <class T, class F> __device__ inline T bits_as(F from) {
  static_assert(sizeof(T) == sizeof(F), "same size");
  T to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
""" + "".join(primitive.helper for primitive in PRIMITIVES.values())

_C_NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
}


@dataclass(frozen=True)
class Kernel:
    """One elementwise kernel: ``loads``, ``uniforms`` and ``stores`` are blobs, in the order of the parameters.

    Parameters are called i0, i1, ... (element by element), u0, u1, ... (size 1, read as ``u0[0]``) and
    o0, o1, ...; a blob updated in place is a load and a store. ``prologue`` runs once a thread, before
    its loop.
    """

    loads: tuple[str, ...]
    uniforms: tuple[str, ...]
    stores: tuple[str, ...]
    inputs: str
    outputs: str
    prologue: str
    body: str


def kernels(group: Group) -> Iterator[Kernel]:
    """Give the kernels of a finished group: one over the full arrays, then one for stored values of size 1."""
    full = {k: n for k, n in group.outputs.items() if not n.uniform}
    single = {k: n for k, n in group.outputs.items() if n.uniform}
    if full:
        yield _kernel(group, full, lambda n: n.uniform)
    if single:  # afterwards: it may overwrite what the other one reads
        yield _kernel(group, single, lambda n: False)


def _kernel(group: Group, outputs: dict[str, Node], outside: Callable[[Node], bool]) -> Kernel:
    nodes = live(group.graph, outputs)
    inputs = [n for n in nodes if n.op == "input"]
    loads, uniforms = [n for n in inputs if not outside(n)], [n for n in inputs if outside(n)]
    names = {n: f"i{k}" for k, n in enumerate(loads)} | {n: f"u{k}[0]" for k, n in enumerate(uniforms)}
    prologue: list[str] = []
    body: list[str] = []
    for n in nodes:
        if n.op == "input":
            continue
        if n.op == "const":
            names[n] = literal(n)
            continue
        to = prologue if outside(n) else body
        names[n], text = f"v{len(prologue) + len(body)}", expression(n, [names[a] for a in n.args])
        to.append(f"const {c_name(n.dtype)} {names[n]} = {text};")
    body += [f"o{k} = {names[n]};" for k, n in enumerate(outputs.values())]
    params = [f"{n.dtype.name} {names[n]}" for n in loads]
    params += [f"raw {n.dtype.name} u{k}" for k, n in enumerate(uniforms)]
    return Kernel(
        tuple(n.value for n in loads),
        tuple(n.value for n in uniforms),
        tuple(outputs),
        ", ".join(params),
        ", ".join(f"{n.dtype.name} o{k}" for k, n in enumerate(outputs.values())),
        "\n".join(prologue),
        "\n".join(body),
    )


def expression(node: Node, args: list[str]) -> str:
    """Return the C++ expression of one node."""
    c = c_name(node.dtype)
    if node.op == "copy":
        return args[0]
    if node.op == "view":
        return f"bits_as<{c}>({args[0]})"
    sources = [a.dtype for a in node.args]
    args = [f"(float){a}" if d == F2 else a for a, d in zip(args, sources, strict=True)]
    if node.op == "cast":
        return f"({c})({args[0]})"
    work, primitive = sources[-1], PRIMITIVES[node.op]
    if work.kind == "f":
        spread = work != F2 and not all(a.uniform for a in node.args[1:])
        text = primitive.half if work == F2 else primitive.spread if spread else ""
    else:
        text = (work.kind == "b" and primitive.bools) or primitive.ints
    unsigned = "unsigned long long" if work.itemsize == 8 else "unsigned int"
    return f"({c})({(text or primitive.cuda).format(*args, u=unsigned)})"


def c_name(dtype: DTypeOf) -> str:
    """Return the C++ type of a dtype (``float16`` is CuPy's class)."""
    return _C_NAMES[dtype.name]


def literal(node: Node) -> str:
    """Return a constant of exactly this dtype and value."""
    dtype, value = node.dtype, node.value
    c = c_name(dtype)
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        number = int(value)
        return f"({c}){number}" if abs(number) < 1 << 31 else f"({c}){number % (1 << 64)}ULL"
    if np.isfinite(value):
        text = repr(float(value))
        return f"({c})({text}f)" if dtype in (F2, F4) else f"({c})({text})"
    if dtype == F2:
        return f"({c})(__int_as_float({int(np.float32(value).view('i4'))}))"
    if dtype == F4:
        return f"__int_as_float({int(value.view('i4'))})"
    return f"__longlong_as_double({int(value.view('i8'))}LL)"


def pieces(group: Group, operators: int = 256, buffers: int = 64) -> list[Group]:
    """Cut a finished group into finished ones small enough for a kernel (its parameters fill 4 KiB at most).

    What one piece leaves to another is stored, also if the whole group need not store it.
    """
    if len(group) <= operators and len(group.buffers) <= buffers:
        return [group]
    parts = [Group()]
    for op, inputs, outputs in group.steps:
        names = {*inputs, *outputs} | {k for _, i, o in parts[-1].steps for k in (*i, *o)}
        if len(parts[-1]) and (len(parts[-1]) >= operators or len(names) > buffers):
            parts.append(Group())
        if not parts[-1].try_add(op, inputs, outputs, group.types):
            raise AssertionError("a part of a group is a group")
    for part in parts:
        part.finish(group.types)
    return parts
