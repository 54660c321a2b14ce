"""A picture as SVG: one file, no script, its own light and dark colours."""

from __future__ import annotations

from netdsl.analysis.roles import Role
from netdsl.viz.labels import label
from netdsl.viz.layout import BAND_TOP, INDENT, LANE_PAD, MARGIN, ROW_GAP, Picture
from netdsl.viz.route import Way
from netdsl.viz.text import fit, markup

TITLES = {Role.FORWARD: "Forward ↓", Role.GRADIENT: "Gradient ↑", Role.UPDATE: "Update →"}
STYLE = """
.netdsl{--paper:#fff;--ink:#1f2430;--muted:#687082;--line:#98a1b2;--edge:#d5dae3;--band:#67748a;
--forward:#2f6fb5;--gradient:#b3622b;--update:#3b8058;--chip:#eef1f6;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif;background:var(--paper)}
.netdsl .mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
.netdsl .forward{--lane:var(--forward)}.netdsl .gradient{--lane:var(--gradient)}.netdsl .update{--lane:var(--update)}
.netdsl .lane{fill:var(--lane);fill-opacity:.045}
.netdsl .head{fill:var(--lane);font-size:14px;font-weight:600}
.netdsl .count{fill:var(--muted);font-size:12px;font-weight:400}
.netdsl .box{fill:var(--paper);stroke:var(--lane);stroke-opacity:.45}
.netdsl .bar{fill:var(--lane)}
.netdsl .unknown .box{stroke-dasharray:4 3}
.netdsl .title{fill:var(--ink);font-size:13px;font-weight:600}
.netdsl .note,.netdsl .type{fill:var(--muted);font-size:10.5px;text-anchor:end}
.netdsl .name{fill:var(--ink);fill-opacity:.8;font-size:10.5px}
.netdsl .chip{fill:var(--chip)}
.netdsl .chipname{fill:var(--ink);font-size:10px}.netdsl .chipname tspan{fill:var(--muted)}
.netdsl .edge{fill:none;stroke:var(--line);stroke-width:1.2}
.netdsl .tip{fill:var(--line)}
.netdsl .pair{stroke-dasharray:2 3}
.netdsl .band{fill:var(--band);fill-opacity:.05;stroke:var(--band);stroke-opacity:.3}
.netdsl .bandname{fill:var(--band);font-size:11.5px;font-weight:600}
@media (prefers-color-scheme:dark){.netdsl{--paper:#15181e;--ink:#e6e9ef;--muted:#98a1b2;--line:#6d7789;
--edge:#343b47;--band:#9aa6ba;--forward:#6ea8ea;--gradient:#e39a66;--update:#72bf92;--chip:#252b35}}
""".strip()


def render(picture: Picture) -> str:
    """Return the SVG text of ``picture``."""
    width, height = f"{picture.width:g}", f"{picture.height:g}"
    name = picture.scene.net.name or "net"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="netdsl" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width:100%;height:auto" role="img">',
        f"<title>{markup(name)}</title><style>{STYLE}</style>",
    ]
    parts += _lanes(picture)
    parts += _bands(picture)
    parts += [_pair(picture, *pair) for pair in picture.pairs]
    parts += [_edge(picture, way) for way in picture.ways if way.kind != "hidden"]
    parts += [_box(picture, index) for index in range(len(picture.boxes))]
    parts.append("</svg>\n")
    return "\n".join(parts)


def _lanes(picture: Picture) -> list[str]:
    top, bottom = MARGIN, picture.height - MARGIN / 2
    return [
        f'<g class="{lane.role.value}"><rect class="lane" x="{lane.left:g}" y="{top}" '
        f'width="{lane.right - lane.left:g}" height="{bottom - top:g}" rx="10"/>'
        f'<text class="head" x="{lane.first:g}" y="{top + 27}">'
        f'{TITLES[lane.role]} <tspan class="count" dx="6">{lane.count}</tspan></text></g>'
        for lane in picture.lanes
    ]


def _bands(picture: Picture) -> list[str]:
    parts: list[str] = []
    right = picture.lanes[-1].right + LANE_PAD / 2
    for band, (top, bottom) in zip(picture.grid.bands, picture.band_spans, strict=True):
        left = MARGIN / 2 + INDENT * band.depth
        width, name = right - left - 3 * band.depth, markup(fit(band.label, 18 - 2 * band.depth))
        parts.append(
            f'<rect class="band" x="{left:g}" y="{top:g}" width="{width:g}" height="{bottom - top:g}" rx="7"/>'
            f'<text class="bandname" x="{left + 9:g}" y="{top + BAND_TOP + 6:g}">{name}'
            f"<title>{markup(band.path)}</title></text>"
        )
    return parts


def _edge(picture: Picture, way: Way) -> str:
    edge = picture.scene.edges[way.edge]
    if way.kind == "beside":
        path, tip = _beside(picture, edge.source, edge.target)
    else:
        path, tip = _down(picture, edge.source, edge.target, way.x)
    return f'<path class="edge" d="{path}"><title>{markup(edge.blob)}</title></path><path class="tip" d="{tip}"/>'


def _pair(picture: Picture, forward: int, gradient: int) -> str:
    path, _ = _beside(picture, forward, gradient)
    return f'<path class="edge pair" d="{path}"/>'


def _down(picture: Picture, source: int, target: int, x: float) -> tuple[str, str]:
    """From box to box along ``x``: turns happen between rows, where nothing stands."""
    a, b = picture.boxes[source], picture.boxes[target]
    down = a.row < b.row
    ax, bx = a.x + a.width / 2, b.x + b.width / 2
    ay = picture.tops[a.row] + a.dy + (a.height if down else 0)
    by = picture.tops[b.row] + b.dy + (0 if down else b.height)
    leave = picture.tops[a.row] + (picture.heights[a.row] if down else 0)
    enter = picture.tops[b.row] + (0 if down else picture.heights[b.row])
    turn = ROW_GAP if down else -ROW_GAP
    path = f"M{ax:g} {ay:g}V{leave:g}"
    if abs(a.row - b.row) == 1 and x in (ax, bx):
        path += _curve(ax, leave, bx, enter)
    else:
        path += f"{_curve(ax, leave, x, leave + turn)}V{enter - turn:g}{_curve(x, enter - turn, bx, enter)}"
    tip = by - (6 if down else -6)
    return path + f"V{tip:g}", f"M{bx - 3.5:g} {tip:g}h7L{bx:g} {by:g}z"


def _curve(ax: float, ay: float, bx: float, by: float) -> str:
    if ax == bx:
        return f"V{by:g}"
    middle = (ay + by) / 2
    return f"C{ax:g} {middle:g} {bx:g} {middle:g} {bx:g} {by:g}"


def _beside(picture: Picture, source: int, target: int) -> tuple[str, str]:
    """To the next box of the row: across, or up and down within a stack."""
    a, b = picture.boxes[source], picture.boxes[target]
    top = picture.tops[a.row]
    if a.x == b.x:
        down = a.dy < b.dy
        x, ay = a.x + a.width / 2, top + a.dy + (a.height if down else 0)
        by = top + b.dy + (0 if down else b.height)
        tip = by - (6 if down else -6)
        return f"M{x:g} {ay:g}V{tip:g}", f"M{x - 3.5:g} {tip:g}h7L{x:g} {by:g}z"
    ax, bx = a.x + a.width, b.x
    ay, by = top + a.dy + a.height / 2, top + b.dy + b.height / 2
    middle = (ax + bx) / 2
    way = f"H{bx - 6:g}" if ay == by else f"C{middle:g} {ay:g} {middle:g} {by:g} {bx - 6:g} {by:g}"
    return f"M{ax:g} {ay:g}{way}", f"M{bx - 6:g} {by - 3.5:g}v7L{bx:g} {by:g}z"


def _box(picture: Picture, index: int) -> str:
    node, box = picture.scene.nodes[index], picture.boxes[index]
    said = label(node)
    x, y = box.x, picture.tops[box.row] + box.dy
    right = x + box.width - 10
    kind = node.lane.value + ("" if node.known else " unknown")
    full = str(node.op) if node.op is not None else node.blob
    parts = [
        f'<g class="{kind}"><title>{markup(full)}</title><rect class="box" x="{x:g}" y="{y:g}" '
        f'width="{box.width:g}" height="{box.height:g}" rx="{6 if node.op else 18}"/>'
    ]
    if node.op is not None:
        bar = f"M{x:g} {y + 6:g}a6 6 0 0 1 3.5 -5.4v{box.height - 1.2:g}a6 6 0 0 1 -3.5 -5.4z"
        parts.append(f'<path class="bar" d="{bar}"/>')
    parts.append(f'<text class="title" x="{x + 13:g}" y="{y + 17:g}">{markup(said.title)}</text>')
    if said.note:
        parts.append(f'<text class="note" x="{right:g}" y="{y + 17:g}">{markup(said.note)}</text>')
    parts.append(f'<text class="name mono" x="{x + 13:g}" y="{y + 33:g}">{markup(said.name)}</text>')
    if said.type:
        parts.append(f'<text class="type mono" x="{right:g}" y="{y + 33:g}">{markup(said.type)}</text>')
    for position, (name, shape) in enumerate(box.chips):
        cx, cy = x + 11 + (position % 2) * 105, y + 41 + 20 * (position // 2)
        parts.append(
            f'<rect class="chip" x="{cx:g}" y="{cy:g}" width="101" height="16" rx="4"/><text class="chipname mono" '
            f'x="{cx + 6:g}" y="{cy + 11.5:g}">{markup(name)}<tspan dx="5">{markup(shape)}</tspan></text>'
        )
    parts.append("</g>")
    return "".join(parts)
