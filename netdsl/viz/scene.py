"""What a picture shows: operators with their lanes, places of origin and types, and the edges between them."""

from __future__ import annotations

import contextlib
from collections import ChainMap
from collections.abc import Mapping, MutableMapping

import attrs

from netdsl.analysis.infer import infer_writes
from netdsl.analysis.roles import Role, classify
from netdsl.errors import NetdslError
from netdsl.ir import UNKNOWN, BlobType, NetDef, OperatorDef
from netdsl.ops.regions import Region, all_writes, flow, regions
from netdsl.ops.schema import bound, is_known
from netdsl.viz.match import anchors

Scope = tuple[str, ...]
MAX_DEPTH = 8


@attrs.define
class Node:
    """An operator, or (``op`` is None) a blob of data that the net is given.

    ``beside`` is the node of the forward operator it belongs to, None if it belongs to no single one.
    ``held`` are the blobs it reads that the workspace holds; ``nested`` its nets' nodes, by a title each.
    """

    lane: Role
    op: OperatorDef | None
    scope: Scope
    beside: int | None
    blob: str = ""
    types: tuple[BlobType, ...] = ()
    held: list[tuple[str, BlobType]] = attrs.field(factory=list)
    nested: list[tuple[str, list[int]]] = attrs.field(factory=list)
    inside: int | None = None
    known: bool = True


@attrs.frozen
class Edge:
    """A blob written by one node and read by another."""

    source: int
    target: int
    blob: str


@attrs.define
class Scene:
    """A net, ready to be laid out. ``top`` are the nodes in order, those of nested nets left out."""

    net: NetDef
    nodes: list[Node] = attrs.field(factory=list)
    edges: list[Edge] = attrs.field(factory=list)
    top: list[int] = attrs.field(factory=list)


def scope_of(op: OperatorDef) -> Scope:
    """Return the name scope of an operator: that of its first output, else of its name or first input.

    Scopes deeper than ``MAX_DEPTH`` are one with that depth.
    """
    name = next(filter(None, (*op.outputs[:1], op.name, *op.inputs[:1])), "")
    scope = name.rpartition("/")[0]
    return tuple(part for part in scope.split("/", MAX_DEPTH - 1) if part)


def build_scene(net: NetDef, types: Mapping[str, BlobType] | None = None) -> Scene:
    """Return the scene of ``net``; operators that nothing declares, or with clashing types, are part of it as well."""
    scene = Scene(net)
    known: dict[str, BlobType] = {**net.types, **(types or {})}
    data = _data_blobs(net)
    scene.top = _Builder(scene, known, data).add_net(net)
    return scene


def _data_blobs(net: NetDef) -> dict[str, None]:
    """What the net is given rather than owns: read first, as some operator's first input, never written."""
    inside = flow(net)
    parameters = {row.get("name") for row in net.metadata.get("parameters", ())}
    first = dict.fromkeys(op.inputs[0] for op in net.ops if op.inputs)
    return {
        name: None for name in first if name in inside.reads and name not in inside.writes and name not in parameters
    }


class _Builder:
    def __init__(self, scene: Scene, known: dict[str, BlobType], data: dict[str, None]) -> None:
        self.scene, self.known, self.data = scene, known, data

    def add_net(self, net: NetDef) -> list[int]:
        """Append the nodes of the net itself; returns them in order."""
        roles = classify(net)
        beside = anchors(net, roles)
        writers: dict[str, int] = {}
        index_of: list[int] = []
        added: list[int] = []
        for op, role, place in zip(net.ops, roles, beside, strict=True):
            if role is Role.FORWARD:
                added += self._add_data(op, writers)
            node = len(self.scene.nodes)
            index_of.append(node)
            self.scene.nodes.append(Node(role, op, scope_of(op), None if place is None else index_of[place]))
            added.append(node)
            self._finish(node, _Names(writers, self.known))
        return added

    def _add_data(self, op: OperatorDef, writers: dict[str, int]) -> list[int]:
        added: list[int] = []
        for name in op.inputs:
            if name in self.data and name not in writers:
                node = len(self.scene.nodes)
                data = Node(Role.FORWARD, None, scope_of(op), node, name, (self.known.get(name, UNKNOWN),))
                self.scene.nodes.append(data)
                writers[name] = node
                added.append(node)
        return added

    def _add_nested(self, region: Region, owner: int, around: _Names) -> list[int]:
        """Append the nodes of a nested net: all in its owner's lane, as one forward pass."""
        outer = region.outer()
        names = _Names(
            ChainMap({}, {name: around.writers[there] for name, there in outer.items() if there in around.writers}),
            ChainMap({}, {name: around.types[there] for name, there in outer.items() if there in around.types}),
            frozenset(region.own()),
        )
        added: list[int] = []
        for op in region.net.ops:
            node = len(self.scene.nodes)
            self.scene.nodes.append(Node(self.scene.nodes[owner].lane, op, scope_of(op), node, inside=owner))
            added.append(node)
            self._finish(node, names)
        return added

    def _finish(self, index: int, names: _Names) -> None:
        """Connect a node to what it reads, infer what it writes, and add its nested nets."""
        node = self.scene.nodes[index]
        op = node.op
        assert op is not None
        node.known = is_known(op.type)
        for name in dict.fromkeys(op.inputs):
            if name in names.writers:
                self.scene.edges.append(Edge(names.writers[name], index, name))
            elif name not in names.own:
                node.held.append((name, names.types.get(name, UNKNOWN)))
        for region in regions(op):
            if region.net.ops:
                node.nested.append((region.argument, self._add_nested(region, index, names)))
        written = self._infer(op, names.types)
        node.types = tuple([written[name] for name in op.outputs])
        names.types.update(written)
        names.writers.update(dict.fromkeys(written, index))

    @staticmethod
    def _infer(op: OperatorDef, types: Mapping[str, BlobType]) -> dict[str, BlobType]:
        with contextlib.suppress(NetdslError):  # a picture of a wrong net helps to find what is wrong
            return infer_writes(bound(op) if is_known(op.type) else None, op, types)
        return dict.fromkeys(all_writes(op), UNKNOWN)


@attrs.frozen
class _Names:
    """What the blobs of a net are: who wrote each last, what is known of it, and which are a nested net's own."""

    writers: MutableMapping[str, int]
    types: MutableMapping[str, BlobType]
    own: frozenset[str] = frozenset()
