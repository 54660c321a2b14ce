"""The ways of edges: straight down a free column, or through the gutters between columns; never over text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping

import attrs

from netdsl.analysis.roles import Role
from netdsl.viz.place import Cell, Grid
from netdsl.viz.scene import Scene

FAR = 40
"""Edges over more rows than this are named at their end instead of drawn."""
MAX_TRACKS = 6


@attrs.define
class Way:
    """How one edge is drawn.

    ``kind`` is "down" (along ``x`` between the rows of its ends), "beside" (to the next box in the same
    row) or "hidden" (drawn only when one of its ends is chosen).
    """

    edge: int
    kind: str
    column: Cell | None = None
    track: int | None = None
    x: float = 0.0

    def finish(self, columns: Mapping[Role, list[float]], widths: Mapping[Role, float], track: float) -> None:
        """Work out ``x``: the middle of a column, or a track in the gutter left of one."""
        if self.column is None:
            return
        role, column = self.column
        left = columns[role][column]
        self.x = left + widths[role] / 2 if self.track is None else left - track * (self.track + 1)


@attrs.define
class Routes:
    """A way for every edge, in order; for every node the blobs that come from too far to be drawn; and the
    pairs of a forward operator and its gradient that are to be joined, since nothing stands between them.
    """

    ways: list[Way]
    far: dict[int, list[str]] = attrs.field(factory=lambda: defaultdict(list))
    pairs: list[tuple[int, int]] = attrs.field(factory=list)


def route(scene: Scene, grid: Grid) -> Routes:
    """Return the ways of the edges of ``scene``, and note in ``grid`` how many tracks each gutter holds."""
    return _Router(scene, grid).route()


class _Router:
    def __init__(self, scene: Scene, grid: Grid) -> None:
        self.scene, self.grid = scene, grid
        self.ways = [Way(i, "hidden") for i in range(len(scene.edges))]
        self.routes = Routes(self.ways)
        self.taken: dict[Cell, list[int]] = defaultdict(list)
        for row, cells in enumerate(grid.rows):
            for cell in cells:
                self.taken[cell].append(row)

    def route(self) -> Routes:
        trunks: dict[tuple[int, int], list[int]] = {}
        for index in range(len(self.scene.edges)):
            self._route(index, trunks)
        self._assign_tracks(trunks)
        for index, node in enumerate(self.scene.nodes):
            if node.lane is Role.GRADIENT and node.beside not in (None, index) and self._is_beside(node.beside, index):
                self.routes.pairs.append((node.beside, index))
        return self.routes

    def _route(self, index: int, trunks: dict[tuple[int, int], list[int]]) -> None:
        edge, way = self.scene.edges[index], self.ways[index]
        source, target = self.scene.nodes[edge.source], self.scene.nodes[edge.target]
        start, end = self.grid.row_of[edge.source], self.grid.row_of[edge.target]
        if source.inside != target.inside:
            self._name(index)
        elif start == end:
            own = target.lane is not Role.GRADIENT or source.lane is Role.GRADIENT  # else a pair, see Routes
            way.kind = "beside" if own and self._is_beside(edge.source, edge.target) else "hidden"
        elif source.lane is target.lane and source.lane is not Role.UPDATE:
            if abs(end - start) > FAR:
                self._name(index)
            elif (cell := self._free_column(edge.source, edge.target)) is not None:
                way.kind, way.column = "down", cell
            else:
                trunks.setdefault((edge.source, self.grid.column_of[edge.target]), []).append(index)

    def _name(self, index: int) -> None:
        edge = self.scene.edges[index]
        if self.scene.nodes[edge.target].lane is Role.FORWARD or self.scene.nodes[edge.target].inside is not None:
            self.routes.far[edge.target].append(edge.blob)

    def _is_beside(self, source: int, target: int) -> bool:
        """Whether two boxes of one row are neighbours: nothing stands between them."""
        from_lane, to_lane = self.scene.nodes[source].lane, self.scene.nodes[target].lane
        cells = self.grid.rows[self.grid.row_of[source]]
        here, there = self.grid.column_of[source], self.grid.column_of[target]
        if from_lane is to_lane:
            step = self.grid.level_of[target] - self.grid.level_of[source]
            return (there - here, step) == (1, 0) or (here == there and step in (1, -1))
        lanes = [role for role in Role if any(r is role for r, _ in cells)]  # Role lists them from left to right
        if lanes.index(to_lane) != lanes.index(from_lane) + 1:
            return False
        return here == max(c for r, c in cells if r is from_lane) and there == min(c for r, c in cells if r is to_lane)

    def _free_column(self, source: int, target: int) -> Cell | None:
        """The column of one end, the outer one first, if it is free all the way to the row of the other."""
        role = self.scene.nodes[source].lane
        low, high = sorted((self.grid.row_of[source], self.grid.row_of[target]))
        for node in sorted((target, source), key=self.grid.column_of.__getitem__, reverse=True):
            cell = (role, self.grid.column_of[node])
            rows = self.taken[cell]
            if bisect_left(rows, high) == bisect_right(rows, low):
                return cell
        return None

    def _assign_tracks(self, trunks: dict[tuple[int, int], list[int]]) -> None:
        """Give the edges from one box into one gutter a common track that no other uses in these rows."""
        spans: list[tuple[int, int, int, list[int]]] = []
        for (source, column), edges in trunks.items():
            rows = [self.grid.row_of[self.scene.edges[e].target] for e in edges]
            rows.append(self.grid.row_of[source])
            spans.append((min(rows), max(rows), column, edges))
        ends: dict[Cell, list[int]] = defaultdict(list)
        for low, high, column, edges in sorted(spans):
            cell = (self.scene.nodes[self.scene.edges[edges[0]].source].lane, column)
            tracks = ends[cell]
            track = next((t for t, end in enumerate(tracks) if end <= low), len(tracks))
            if track >= MAX_TRACKS:
                for edge in edges:
                    self._name(edge)
                continue
            tracks[track:] = [high, *tracks[track + 1 :]]
            for edge in edges:
                self.ways[edge].kind, self.ways[edge].column, self.ways[edge].track = "down", cell, track
        self.grid.tracks = {cell: len(tracks) for cell, tracks in ends.items()}
