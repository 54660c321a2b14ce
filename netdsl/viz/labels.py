"""The texts in a box, short enough for it; widths are counted in characters of a monospaced font."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from netdsl.analysis.roles import Role
from netdsl.ir import UNKNOWN
from netdsl.viz.scene import Node, Scene
from netdsl.viz.text import dims, fit, main_arguments, short_type

NAME_ROOM = {Role.FORWARD: 33, Role.GRADIENT: 33, Role.UPDATE: 26}
TITLE_ROOM = {Role.FORWARD: 24, Role.GRADIENT: 24, Role.UPDATE: 20}
CHIP_ROOM = 16
MAX_CHIPS = 4


@attrs.frozen
class Label:
    """What a box says: operator type, its main arguments, what it writes, and the type of that."""

    title: str
    note: str
    name: str
    type: str


def local(name: str, scope: Sequence[str]) -> str:
    """Return a blob's name without the scope in which its operator stands."""
    return name.removeprefix("/".join(scope) + "/") if scope else name


def label(node: Node) -> Label:
    """Return the texts of a node's box."""
    if node.op is None:
        type_ = short_type(node.types[0])
        return Label(fit(local(node.blob, node.scope), TITLE_ROOM[node.lane]), "", "input", fit(type_, 22))
    title = fit(node.op.type, TITLE_ROOM[node.lane])
    room = NAME_ROOM[node.lane]
    type_ = short_type(node.types[0]) if len(node.types) == 1 and node.lane is Role.FORWARD else ""
    type_ = fit(type_, 20)
    names = ", ".join(local(name, node.scope) for name in node.op.outputs)
    note = main_arguments(node.op, 38 - len(title) * 3 // 2) if node.lane is Role.FORWARD else ""
    return Label(title, note, fit(names, room - (len(type_) + 2 if type_ else 0)), type_)


def chips(scene: Scene, index: int, far: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return what an operator reads that no edge brings, as pairs of name and shape, in at most two lines.

    A parameter is named as its operator's output goes on: ``w`` for ``conv1_w`` of ``conv1``.
    """
    node = scene.nodes[index]
    if node.op is None or node.lane is not Role.FORWARD:
        return ()
    output = node.op.outputs[0] if node.op.outputs else ""
    found = [(_short_name(name, output, node.scope), dims(type_)) for name, type_ in node.held]
    found += [("↑ " + local(name, node.scope), dims(UNKNOWN)) for name in far]
    if len(found) > MAX_CHIPS:
        found[MAX_CHIPS - 1 :] = [(f"+{len(found) - MAX_CHIPS + 1} more", "")]
    return tuple((fit(name, CHIP_ROOM - min(len(shape), 9)), fit(shape, 11)) for name, shape in found)


def _short_name(name: str, output: str, scope: Sequence[str]) -> str:
    rest = name.removeprefix(output + "_")
    return rest if output and rest and rest != name else local(name, scope)
