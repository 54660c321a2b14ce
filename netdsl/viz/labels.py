"""The texts in a box, short enough for it; widths are counted in characters of a monospaced font."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import attrs

from netdsl.analysis.roles import Role
from netdsl.viz.match import gradient_of
from netdsl.viz.scene import Node
from netdsl.viz.text import dims, fit, fit_list, main_arguments, short_type

NAME_ROOM = {Role.FORWARD: 33, Role.GRADIENT: 33, Role.UPDATE: 30}
TITLE_ROOM = {Role.FORWARD: 24, Role.GRADIENT: 24, Role.UPDATE: 20}
LINE, TITLE_LETTER, NOTE_LETTER = 198, 8.2, 5.1
"""What the first line has room for, and how wide letters of the title and of the arguments are, in pixels."""
CHIP_ROOM = 15
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
    outputs: Sequence[str] = node.op.outputs
    if node.lane is Role.UPDATE:  # the parameter first, then its momentum and the like, its gradient last
        outputs = sorted(outputs, key=lambda name: (gradient_of(name) is not None, len(name)))
    names = [local(name, node.scope) for name in outputs]
    names = names or [f"{name} of {len(net.ops)}" for name, net in node.op.nested]
    left = int((LINE - TITLE_LETTER * len(title)) / NOTE_LETTER)
    note = main_arguments(node.op, left) if node.lane is Role.FORWARD else ""
    return Label(title, note, fit_list(names, room - (len(type_) + 2 if type_ else 0)), type_)


def chips_of(node: Node, far: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return what an operator reads that no edge brings, as pairs of name and shape, in at most two lines.

    A parameter is named as its operator's output goes on: ``w`` for ``conv1_w`` of ``conv1``.
    """
    if node.op is None or node.lane is not Role.FORWARD:
        return ()
    output = node.op.outputs[0] if node.op.outputs else ""
    found = [(_short_name(name, output, node.scope), dims(type_)) for name, type_ in node.held]
    found += [("↑ " + local(name, node.scope), "") for name in far]
    if len(found) > MAX_CHIPS:
        found[MAX_CHIPS - 1 :] = [(f"+{len(found) - MAX_CHIPS + 1} more", "")]
    return tuple((fit(name, CHIP_ROOM - min(len(shape), 9)), fit(shape, 11)) for name, shape in found)


def _short_name(name: str, output: str, scope: Sequence[str]) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(name, output + "_", strict=False))
    common = "".join(letter for letter, _ in same)
    rest = name[max(common.rfind("_"), common.rfind("/")) + 1 :]
    return rest or local(name, scope)
