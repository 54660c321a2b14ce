"""Where everything goes: rows and columns first, then the ways of edges, then coordinates.

Forward operators take rows from top to bottom, in columns where they branch. Their gradients stand in the
same row of the next lane, in the same column, so that the backward pass reads upwards; what updates their
parameters stands in the same row again. A scope is a band of whole rows through all lanes, so opening and
closing it moves rows, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from netdsl.analysis.roles import Role
from netdsl.ir import BlobType, NetDef
from netdsl.viz.labels import chips_of
from netdsl.viz.place import Band, Grid, place
from netdsl.viz.route import Routes, Way, route
from netdsl.viz.scene import Scene, build_scene

LANES = (Role.FORWARD, Role.GRADIENT, Role.UPDATE)

BOX_WIDTH = {Role.FORWARD: 228, Role.GRADIENT: 228, Role.UPDATE: 212}
BOX_HEIGHT = {Role.FORWARD: 44, Role.GRADIENT: 44, Role.UPDATE: 38}
CHIP_HEIGHT = 20
STACK_GAP = 16
SLOT_GAP = 18
ROW_GAP = 32
MARGIN = 24
HEADER = 44
LANE_PAD = 18
LANE_GAP = 20
GUTTER = 14
TRACK = 9
RAIL = 132
INDENT = 12
BAND_TOP = 14
BAND_BOTTOM = 14


@attrs.frozen
class LaneBox:
    """One lane's horizontal extent; ``first`` is where its first column begins."""

    role: Role
    left: float
    right: float
    first: float
    count: int


@attrs.define
class Box:
    """A node's place: its row, ``x``, and ``dy`` below the top of its row."""

    row: int
    x: float
    dy: float
    width: float
    height: float
    chips: tuple[tuple[str, str], ...] = ()


@attrs.define
class Picture:
    """A scene with coordinates; ``tops`` are the rows' upper ends with every band open."""

    scene: Scene
    grid: Grid
    lanes: list[LaneBox]
    boxes: list[Box]
    ways: list[Way]
    pairs: list[tuple[int, int]]
    heights: list[float]
    tops: list[float]
    band_spans: list[tuple[float, float]]
    width: float
    height: float

    @property
    def rail(self) -> float:
        """The width of the column that holds the scopes' names; 0 where there are none."""
        return RAIL if self.grid.bands else 0


def lay_out(net: NetDef, types: Mapping[str, BlobType] | None = None) -> Picture:
    """Return the picture of ``net``; time and size grow linearly with the number of operators."""
    scene = build_scene(net, types)
    grid = place(scene)
    return _Geometry(scene, grid, route(scene, grid)).picture()


class _Geometry:
    def __init__(self, scene: Scene, grid: Grid, routes: Routes) -> None:
        self.scene, self.grid, self.routes = scene, grid, routes

    def picture(self) -> Picture:
        lanes, columns = self._columns()
        boxes, heights = self._boxes(columns)
        tops, spans, bottom = self._tops(heights)
        for way in self.routes.ways:
            way.finish(columns, BOX_WIDTH, TRACK)
        right = lanes[-1].right + LANE_PAD if self.grid.bands else lanes[-1].right
        return Picture(
            scene=self.scene,
            grid=self.grid,
            lanes=lanes,
            boxes=boxes,
            ways=self.routes.ways,
            pairs=self.routes.pairs,
            heights=heights,
            tops=tops,
            band_spans=spans,
            width=right + MARGIN,
            height=bottom + MARGIN,
        )

    def _columns(self) -> tuple[list[LaneBox], dict[Role, list[float]]]:
        """The left end of every column of every lane, gutters sized by the tracks in them."""
        x = MARGIN + (RAIL if self.grid.bands else 0)
        lanes: list[LaneBox] = []
        columns: dict[Role, list[float]] = {}
        for role in LANES:
            count = self.grid.columns.get(role, 0)
            if not count:
                continue
            left = x
            x += LANE_PAD
            columns[role] = []
            for column in range(count):
                tracks = self.grid.tracks.get((role, column), 0)
                x += (GUTTER + TRACK * tracks if tracks else 0) if column == 0 else SLOT_GAP + TRACK * tracks
                columns[role].append(x)
                x += BOX_WIDTH[role]
            x += LANE_PAD
            nodes = sum(node.lane is role and node.op is not None for node in self.scene.nodes)
            lanes.append(LaneBox(role, left, x, columns[role][0], nodes))
            x += LANE_GAP
        if not lanes:
            lanes.append(LaneBox(Role.FORWARD, x, x + BOX_WIDTH[Role.FORWARD], x, 0))
        return lanes, columns

    def _boxes(self, columns: dict[Role, list[float]]) -> tuple[list[Box], list[float]]:
        """Boxes within their rows, each lane's stacks centred, and the rows' heights."""
        boxes: list[Box] = [Box(0, 0, 0, 0, 0) for _ in self.scene.nodes]
        heights: list[float] = []
        for row, cells in enumerate(self.grid.rows):
            stacks: list[tuple[list[int], float]] = []
            for (role, column), nodes in cells.items():
                y = 0.0
                for index in nodes:
                    chips = chips_of(self.scene.nodes[index], self.routes.far.get(index, ()))
                    height = BOX_HEIGHT[role] + CHIP_HEIGHT * -(-len(chips) // 2)
                    if role is Role.UPDATE:  # in lines across the columns
                        y = self.grid.level_of[index] * (height + STACK_GAP)
                    boxes[index] = Box(row, columns[role][column], y, BOX_WIDTH[role], height, chips)
                    y += height + STACK_GAP
                stacks.append((nodes, y - STACK_GAP))
            tall = max((height for _, height in stacks), default=0.0)
            lines = max(
                (height for (role, _), (_, height) in zip(cells, stacks, strict=True) if role is Role.UPDATE),
                default=0.0,
            )
            for (role, _), (nodes, height) in zip(cells, stacks, strict=True):
                for index in nodes:
                    boxes[index].dy += (tall - (lines if role is Role.UPDATE else height)) / 2
            heights.append(tall)
        return boxes, heights

    def _tops(self, heights: list[float]) -> tuple[list[float], list[tuple[float, float]], float]:
        y = MARGIN + HEADER
        tops: list[float] = []
        starts, ends = _borders(self.grid.bands, len(heights))
        spans = [(0.0, 0.0)] * len(self.grid.bands)
        for row, height in enumerate(heights):
            for band in starts[row]:
                spans[band] = (y, y)
                y += BAND_TOP
            tops.append(y)
            y += height
            for band in reversed(ends[row]):
                y += BAND_BOTTOM
                spans[band] = (spans[band][0], y)
            y += ROW_GAP
        return tops, spans, max(y - ROW_GAP, MARGIN + HEADER)


def _borders(bands: list[Band], rows: int) -> tuple[list[list[int]], list[list[int]]]:
    """For every row the bands that start and that end there, outer ones first."""
    starts: list[list[int]] = [[] for _ in range(rows)]
    ends: list[list[int]] = [[] for _ in range(rows)]
    for index, band in enumerate(bands):
        starts[band.first].append(index)
        ends[band.last].append(index)
    return starts, ends
