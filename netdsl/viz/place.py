"""Rows, columns and bands: the grid on which a scene is drawn."""

from __future__ import annotations

from collections import defaultdict

import attrs

from netdsl.analysis.roles import Role
from netdsl.viz.scene import Node, Scene

MAX_COLUMNS = 5
"""How many branches stand side by side."""
SLOTS = 3
"""How many updates of one parameter stand in a line."""
WINDOW = 24
"""How many rows above the last one a branch may start."""

Cell = tuple[Role, int]


@attrs.define
class Band:
    """Consecutive rows that belong together: a scope, or a nested net (``owner`` is its operator's node)."""

    label: str
    path: str
    depth: int
    parent: int | None
    first: int
    last: int = -1
    owner: int | None = None
    closed: bool = False


@attrs.define
class Grid:
    """For every row, the nodes stacked in each cell (lane and column); and what else the picture is made of."""

    rows: list[dict[Cell, list[int]]] = attrs.field(factory=list)
    bands: list[Band] = attrs.field(factory=list)
    row_of: dict[int, int] = attrs.field(factory=dict)
    column_of: dict[int, int] = attrs.field(factory=dict)
    level_of: dict[int, int] = attrs.field(factory=dict)
    columns: dict[Role, int] = attrs.field(factory=dict)
    tracks: dict[Cell, int] = attrs.field(factory=dict)

    def put(self, node: int, row: int, role: Role, column: int, level: int | None = None) -> None:
        """Put a node at the end of a cell, or at a given level in it."""
        while len(self.rows) <= row:
            self.rows.append({})
        stack = self.rows[row].setdefault((role, column), [])
        self.level_of[node] = len(stack) if level is None else level
        stack.append(node)
        self.row_of[node] = row
        self.column_of[node] = column
        self.columns[role] = max(self.columns.get(role, 0), column + 1)


def place(scene: Scene) -> Grid:
    """Return the grid of ``scene``."""
    return _Placer(scene).place()


class _Placer:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.grid = Grid()
        self.open: list[tuple[str, int]] = []  # titles and indices of the bands that are open
        self.floor = 0  # the first row that may be used
        self.sources: dict[int, list[int]] = defaultdict(list)
        self.attached: dict[int | None, list[int]] = defaultdict(list)
        self.lines: dict[int, int] = defaultdict(int)  # how many lines of updates a row has
        for edge in scene.edges:
            self.sources[edge.target].append(edge.source)
        for index in scene.top:
            node = scene.nodes[index]
            if node.beside != index:
                self.attached[node.beside].append(index)

    def place(self) -> Grid:
        self._place_shared()
        for index in self.scene.top:
            if self.scene.nodes[index].beside == index:
                self._enter(self.scene.nodes[index].scope, 0)
                self._place_forward(index, self.scene.nodes[index].lane)
        self._leave(0)
        return self.grid

    def _place_shared(self) -> None:
        """What belongs to no forward operator comes first: counters, learning rates, lone gradients."""
        rows: dict[Role, int] = {}
        slots: dict[Role, int] = {}
        for index in self.attached[None]:
            role = self.scene.nodes[index].lane
            width = SLOTS if role is Role.UPDATE else 1
            row, slot = rows.get(role, 0), slots.get(role, 0)
            self.grid.put(index, row, role, slot)
            self.lines[row] = 1
            slots[role] = (slot + 1) % width
            rows[role] = row + (slots[role] == 0)

    # ---------------------------------------------------------------- bands

    def _enter(self, titles: tuple[str, ...], base: int, owner: int | None = None) -> None:
        """Leave the bands that are not of ``titles``, and open those that are missing, above ``base`` ones."""
        same = 0
        while same < len(titles) and base + same < len(self.open) and self.open[base + same][0] == titles[same]:
            same += 1
        if base + same == len(self.open) and same == len(titles):
            return
        self._leave(base + same)
        self.floor = len(self.grid.rows)
        for title in titles[same:]:
            parent = self.open[-1][1] if self.open else None
            path = title if parent is None else f"{self.grid.bands[parent].path}/{title}"
            self.grid.bands.append(Band(title, path, len(self.open), parent, self.floor, owner=owner))
            self.open.append((title, len(self.grid.bands) - 1))

    def _leave(self, depth: int) -> None:
        while len(self.open) > depth:
            _, band = self.open.pop()
            self.grid.bands[band].last = len(self.grid.rows) - 1
            self.floor = len(self.grid.rows)

    # ---------------------------------------------------------------- operators

    def _place_forward(self, index: int, role: Role) -> None:
        row, column = self._find_place(index, role)
        self.grid.put(index, row, role, column)
        beside = self.attached.get(index, [])
        gradients = [i for i in beside if self.scene.nodes[i].lane is Role.GRADIENT]
        for gradient in reversed(gradients):  # the backward pass runs upwards
            self.grid.put(gradient, row, Role.GRADIENT, column)
        self._place_updates(row, [i for i in beside if self.scene.nodes[i].lane is Role.UPDATE])
        for owner in (index, *beside):
            self._place_nested(owner, self.scene.nodes[owner])

    def _find_place(self, index: int, role: Role) -> tuple[int, int]:
        """Below what it reads, if it can in the same column; beside the last row if it reads nothing here."""
        above = [s for s in self.sources[index] if s in self.grid.row_of and self.scene.nodes[s].lane is role]
        above = [s for s in above if self.grid.row_of[s] >= self.floor - 1]
        last = len(self.grid.rows) - 1
        below = [self.grid.row_of[s] + 1 for s in above]
        row = max(self.floor, last - WINDOW, *below) if above else max(self.floor, last)
        wanted = self.grid.column_of[above[0]] if above else 0
        while True:
            used = {c for r, c in self.grid.rows[row] if r is role} if row < len(self.grid.rows) else set()
            if wanted not in used:
                return row, wanted
            free = next((c for c in range(MAX_COLUMNS) if c not in used), None)
            if free is not None:
                return row, free
            row += 1

    def _place_updates(self, row: int, updates: list[int]) -> None:
        """A line for each chain of updates: cast, update, cast back; what is longer goes on in the next line."""
        slot = SLOTS
        previous: int | None = None
        for index in updates:
            if slot == SLOTS or previous not in self.sources[index]:
                slot = 0
                self.lines[row] += 1
            self.grid.put(index, row, Role.UPDATE, slot, self.lines[row] - 1)
            slot += 1
            previous = index

    def _place_nested(self, owner: int, node: Node) -> None:
        for title, nodes in node.nested:
            base = len(self.open)
            self._enter((title,), base, owner)
            for index in nodes:
                self._place_forward(index, node.lane)
            self._leave(base)
