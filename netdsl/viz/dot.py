"""A net in Graphviz's language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from netdsl.analysis.roles import Role
from netdsl.ir import BlobType, NetDef
from netdsl.viz.scene import Node, Scene, build_scene
from netdsl.viz.text import fit, printable, short_type

COLORS = {Role.FORWARD: "#2f6fb5", Role.GRADIENT: "#b3622b", Role.UPDATE: "#3b8058"}
NAME_LIMIT = 60


def quote(text: str) -> str:
    """Return ``text`` as a quoted string in which every character stands for itself."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def render(net: NetDef, types: Mapping[str, BlobType] | None) -> str:
    """Return the DOT text of ``net``."""
    scene = build_scene(net, types)
    lines = [
        f"digraph {quote(net.name or 'net')} {{",
        "  rankdir=TB;",
        '  node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];',
        '  edge [color="#98a1b2", fontname="Helvetica", fontsize=9];',
    ]
    counter = iter(range(len(scene.nodes) * 4 + 4))
    for role in Role:
        members = [i for i in scene.top if scene.nodes[i].lane is role]
        if members:
            lines.append(f"  subgraph cluster_{role.value} {{")
            lines.append(f"    label={quote(role.value)}; color={quote(COLORS[role])};")
            lines += _members(scene, members, "    ", counter)
            lines.append("  }")
    for edge in scene.edges:
        lines.append(f"  n{edge.source} -> n{edge.target} [label={quote(fit(edge.blob, NAME_LIMIT))}];")
    lines.append("}\n")
    return "\n".join(lines)


def _members(scene: Scene, members: list[int], indent: str, counter: Iterator[int], depth: int = 0) -> list[str]:
    """Nodes, those of each deeper scope in a cluster of their own."""
    lines: list[str] = []
    deeper: dict[str, list[int]] = defaultdict(list)
    for index in members:
        node = scene.nodes[index]
        if len(node.scope) > depth:
            deeper[node.scope[depth]].append(index)
        else:
            lines += _node(scene, index, indent, counter)
    for title, inner in deeper.items():
        lines += _cluster(title, _members(scene, inner, indent + "  ", counter, depth + 1), indent, counter)
    return lines


def _cluster(title: str, body: list[str], indent: str, counter: Iterator[int]) -> list[str]:
    head = f"{indent}subgraph cluster_{next(counter)} {{ label={quote(fit(title, NAME_LIMIT))}; color=gray70;"
    return [head, *body, indent + "}"]


def _node(scene: Scene, index: int, indent: str, counter: Iterator[int]) -> list[str]:
    node = scene.nodes[index]
    style = "" if node.op is not None else ", shape=oval"
    style += "" if node.known else ', style="rounded,dashed"'
    lines = [f"{indent}n{index} [label={_label(node)}, color={quote(COLORS[node.lane])}{style}];"]
    for title, inner in node.nested:
        lines += _cluster(title, _members(scene, inner, indent + "  ", counter, 99), indent, counter)
    return lines


def _label(node: Node) -> str:
    """Type, outputs and their type in lines; ``\\n`` is the only escape that Graphviz is to read."""
    if node.op is None:
        texts = [node.blob, short_type(node.types[0])]
    else:
        shown = short_type(node.types[0]) if len(node.types) == 1 else ""
        texts = [node.op.type, fit(", ".join(node.op.outputs), NAME_LIMIT), shown]
    return '"' + "\\n".join(quote(text)[1:-1] for text in texts if text) + '"'
