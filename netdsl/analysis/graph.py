"""A net as a networkx graph of operators and blob versions; the one door to networkx."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from netdsl.ir import NetDef
from netdsl.ops.regions import around


def graph(net: NetDef) -> Any:
    """Return a bipartite networkx DiGraph in single-assignment form.

    Operator nodes are ``("op", index)`` with attributes ``kind="operator"``, ``type``, ``op`` (the
    record); blob nodes are ``("blob", name, version)`` with ``kind="blob"``, ``name`` and ``version``
    (0 is what the workspace held before the run). Edges from a blob to its readers carry ``inputs``,
    edges from an operator to what it writes ``outputs``: the positions, as a tuple, for an operator may
    read one blob twice; an empty one where only its nested nets read or write it. Outputs and inputs of
    the net are marked on their blob nodes (``is_input``, ``is_output``).
    """
    import networkx as nx

    directed: Any = nx.DiGraph
    made: Any = directed(name=net.name)
    version: dict[str, int] = defaultdict(int)

    def blob(name: str) -> tuple[str, str, int]:
        node = ("blob", name, version[name])
        if node not in made:
            made.add_node(node, kind="blob", name=name, version=version[name], is_input=False, is_output=False)
        return node

    for name in net.inputs:
        made.nodes[blob(name)]["is_input"] = True
    for index, op in enumerate(net.ops):
        node = ("op", index)
        made.add_node(node, kind="operator", type=op.type, op=op)
        inside = around(op)
        for name, positions in _positions(op.inputs, inside.reads).items():
            made.add_edge(blob(name), node, inputs=positions)
        for name, positions in _positions(op.outputs, inside.writes).items():
            version[name] += 1
            made.add_edge(node, blob(name), outputs=positions)
    for name in net.outputs:
        made.nodes[blob(name)]["is_output"] = True
    return made


def _positions(names: Sequence[str], inside: Iterable[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for position, name in enumerate(names):
        found[name] = (*found.get(name, ()), position)
    return dict.fromkeys(inside, ()) | found
