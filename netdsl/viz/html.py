"""Pages: pictures to explore, curves, summaries and tables, each page one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import attrs

from netdsl.ir import BlobType, NetDef, OperatorDef
from netdsl.ops.schema import is_known, lookup
from netdsl.viz import layout
from netdsl.viz.curves import charts
from netdsl.viz.labels import label
from netdsl.viz.layout import Picture, lay_out
from netdsl.viz.place import Band
from netdsl.viz.text import TIMES, argument, enum_name, fit_list, heading, markup, printable, script_json

MAX_ROWS = 260
"""A picture starts with the deepest scopes closed until it has at most so many rows."""
MAX_NESTED = 12
"""A nested net of more operators starts closed."""


@attrs.frozen
class Tab:
    """One page of the page: ``body`` is markup; ``picture`` says that it fills the window."""

    title: str
    body: str
    picture: bool = False


def net_page(net: NetDef, types: Mapping[str, BlobType] | None, title: str | None) -> str:
    """Return the page of one net, with its table of parameters if its metadata has one."""
    heading = title if title is not None else net.name or "net"
    tabs = [Tab("Picture", picture_view(lay_out(net, types)), picture=True)]
    if net.metadata.get("parameters"):
        tabs.append(Tab("Parameters", parameter_table(net)))
    return page(heading, tabs)


def training(
    title: str, nets: Mapping[str, NetDef], curves: Mapping[str, Sequence[float]], summary: Mapping[str, Any]
) -> str:
    """Return the page of a training."""
    cards = "".join(map(_card, summary.items()))
    overview = [f'<dl class="cards">{cards}</dl>', f'<div class="charts">{charts(curves)}</div>']
    tables = [
        f"<h2>Parameters of {markup(name)}</h2>{parameter_table(net)}"
        for name, net in nets.items()
        if net.metadata.get("parameters")
    ]
    pictures = [Tab(f"{name} net", picture_view(lay_out(net)), picture=True) for name, net in nets.items()]
    return page(title, [Tab("Training", "".join([*overview, *tables])), *pictures])


def page(title: str, tabs: Sequence[Tab]) -> str:
    """Return the page that holds ``tabs``."""
    buttons = "".join(f'<button role="tab" data-tab="{i}">{markup(tab.title)}</button>' for i, tab in enumerate(tabs))
    bodies = "".join(
        f'<section class="{"picture" if tab.picture else "text"}" data-tab="{i}" hidden>{tab.body}</section>'
        for i, tab in enumerate(tabs)
    )
    style, script = _asset("page.css"), f"{_asset('picture.js')}\n{_asset('page.js')}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{markup(title)}</title><style>{style}</style></head><body>"
        f'<header><h1>{markup(title)}</h1><nav role="tablist">{buttons}</nav></header><main>{bodies}</main>'
        "<noscript>This page draws its picture by script.</noscript>"
        f"<script>{script}</script></body></html>\n"
    )


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page: this style and this script, and nothing else from anywhere."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return files("netdsl.viz").joinpath(name).read_text("utf-8")


def _card(item: tuple[str, Any]) -> str:
    name, value = item
    shown = f"{value:.4g}" if isinstance(value, float) else _cell(value)
    return f"<div><dt>{markup(name)}</dt><dd>{markup(shown)}</dd></div>"


def parameter_table(net: NetDef) -> str:
    """Return the table of ``net.metadata["parameters"]``, a column for every key that a row has."""
    rows: Sequence[Mapping[str, Any]] = net.metadata["parameters"]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{markup(heading(column))}</th>" for column in columns)
    cells = ("".join(f"<td>{markup(_cell(row.get(column)))}</td>" for column in columns) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return TIMES.join(map(str, value)) or "scalar"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


# -------------------------------------------------------------------- pictures


def picture_view(picture: Picture) -> str:
    """Return the element in which ``picture.js`` shows a picture, with the picture as data."""
    return (
        '<div class="view"><div class="tools"><input type="search" placeholder="Search operators and blobs  ( / )" '
        'aria-label="Search"><span class="found"></span><button data-do="open">Open all</button>'
        '<button data-do="close">Close all</button><button data-do="fit">Fit</button>'
        '<button data-do="in" aria-label="Zoom in">+</button>'
        '<button data-do="out" aria-label="Zoom out">&#8722;</button>'
        '<span class="hint">scroll or drag to move · ctrl + scroll to zoom · click a box for more</span></div>'
        '<div class="stage"><canvas class="paper" tabindex="0"></canvas><canvas class="map"></canvas>'
        '<aside class="details" hidden></aside></div>'
        f'<script type="application/json" class="data">{script_json(picture_data(picture))}</script></div>'
    )


def picture_data(picture: Picture) -> dict[str, Any]:
    """Return what ``picture.js`` draws, as JSON: geometry and texts, nothing left to be worked out but rows' tops."""
    closed = _start_closed(picture)
    return {
        "name": printable(picture.scene.net.name),
        "width": picture.width,
        "rail": picture.rail,
        "gap": layout.ROW_GAP,
        "margin": layout.MARGIN,
        "header": layout.HEADER,
        "pad": layout.LANE_PAD,
        "indent": layout.INDENT,
        "bandTop": layout.BAND_TOP,
        "bandBottom": layout.BAND_BOTTOM,
        "lanes": [attrs.asdict(lane) | {"role": lane.role.value} for lane in picture.lanes],
        "rows": picture.heights,
        "bands": [_band(picture, index, band, index in closed) for index, band in enumerate(picture.grid.bands)],
        "pairs": picture.pairs,
        "nodes": [_node(picture, index) for index in range(len(picture.boxes))],
        "edges": [
            [edge.source, edge.target, printable(edge.blob), ("down", "beside", "hidden").index(way.kind), way.x]
            for edge, way in zip(picture.scene.edges, picture.ways, strict=True)
        ],
    }


def _band(picture: Picture, index: int, band: Band, closed: bool) -> dict[str, Any]:
    inside: dict[str, list[str]] = {role.value: [] for role in layout.LANES}
    for row in range(band.first, band.last + 1):
        for (role, _), nodes in picture.grid.rows[row].items():
            inside[role.value] += [op.type for op in (picture.scene.nodes[node].op for node in nodes) if op is not None]
    return {
        "label": printable(band.label),
        "path": printable(band.path),
        "depth": band.depth,
        "parent": band.parent,
        "first": band.first,
        "last": band.last,
        "owner": band.owner,
        "closed": closed,
        "counts": {role: len(types) for role, types in inside.items()},
        "types": {role: fit_list(list(dict.fromkeys(types)), 36) for role, types in inside.items()},
    }


def _start_closed(picture: Picture) -> set[int]:
    """Which bands start closed: large nested nets, and scopes from the deepest level that leaves few enough rows."""
    bands = picture.grid.bands
    closed = {i for i, band in enumerate(bands) if band.owner is not None and band.last - band.first >= MAX_NESTED}
    if len(picture.heights) <= MAX_ROWS:
        return closed
    for depth in sorted({band.depth for band in bands}, reverse=True):
        closed.update(i for i, band in enumerate(bands) if band.depth == depth and band.last > band.first)
        if _visible_rows(picture, closed) <= MAX_ROWS:
            break
    return closed


def _visible_rows(picture: Picture, closed: set[int]) -> int:
    hidden = 0
    until = -1
    for index, band in enumerate(picture.grid.bands):  # ordered by first row, outer ones first
        if index in closed and band.first > until:
            hidden += band.last - band.first
            until = band.last
    return len(picture.heights) - hidden


def _near(place: str) -> str:
    """A path below the current folder relative to it, the last two parts of another."""
    below = place.removeprefix(os.getcwd() + os.sep)
    return os.sep.join(below.split(os.sep)[-2:]) if os.path.isabs(below) else below


def _arguments(op: OperatorDef) -> dict[str, str]:
    """The arguments as text, numbers of enumerations with their names: ``10 (int64)``."""
    fields = lookup(op.type).arguments() if is_known(op.type) else {}
    found: dict[str, str] = {}
    for name, value in op.args.items():
        meaning = enum_name(fields.get(name), value)
        found[printable(name)] = f"{argument(value)} ({meaning})" if meaning else argument(value)
    return found


def _node(picture: Picture, index: int) -> dict[str, Any]:
    node, box = picture.scene.nodes[index], picture.boxes[index]
    said = label(node)
    made: dict[str, Any] = {
        "row": box.row, "x": box.x, "dy": box.dy, "w": box.width, "h": box.height, "lane": node.lane.value,
        "title": said.title, "note": said.note, "name": said.name, "type": said.type, "chips": box.chips,
    }  # fmt: skip
    if node.op is None:
        return made | {"outputs": [[printable(node.blob), str(node.types[0])]]}
    op = node.op
    made |= {
        "op": printable(op.type),
        "inputs": [printable(name) for name in op.inputs],
        "held": [[printable(name), str(type_)] for name, type_ in node.held],
        "outputs": [[printable(name), str(type_)] for name, type_ in zip(op.outputs, node.types, strict=True)],
        "args": _arguments(op),
        "where": printable(_near(str(op.where))) if op.where else "",
        "device": str(op.device or ""),
        "engine": printable(op.engine),
        "call": printable(op.name),
        "known": node.known,
    }
    return {key: value for key, value in made.items() if value not in ("", [], {}, ()) or key == "known"}
