"""Curves of a training as inline SVG: axes, a legend, and what a script needs to show values under the pointer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from netdsl.viz.text import markup, script_json

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 34, 34
NOISY = 80
"""A curve of more values than this is drawn lightly, with its running mean on top."""

Point = tuple[float, float]


def charts(curves: Mapping[str, Sequence[float]]) -> str:
    """Return one chart for the curves whose names end in the same word, in order of first appearance."""
    total = max((len(values) for values in curves.values()), default=0)
    groups: dict[str, dict[str, list[float]]] = {}
    for name, values in curves.items():
        numbers = [float(value) for value in values]
        if any(map(math.isfinite, numbers)):
            groups.setdefault((name.split() or [""])[-1], {})[name] = numbers
    return "\n".join(_chart(title, group, total) for title, group in groups.items())


def _chart(title: str, group: Mapping[str, list[float]], total: int) -> str:
    points = {name: _spread(values, total) for name, values in group.items()}
    finite = [y for line in points.values() for _, y in line if math.isfinite(y)]
    ticks = nice_ticks(min(finite), max(finite))
    low, high = min(ticks[0], *finite), max(ticks[-1], *finite)
    plot = _Plot(max(total, 1), low, high if high > low else low + 1)
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{markup(title)}</title>']
    parts += [plot.horizontal(tick) for tick in ticks]
    parts += [plot.vertical(tick) for tick in nice_ticks(0, total) if tick <= total and tick == int(tick)]
    parts.append(f'<text class="axis" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">step</text>')
    x = LEFT
    for series, (name, line) in enumerate(points.items()):
        parts.append(f'<circle class="dot s{series % 4}" cx="{x + 5}" cy="15" r="4.5"/>')
        parts.append(f'<text class="key" x="{x + 15}" y="19">{markup(name)}</text>')
        x += 36 + 7 * len(name)
        parts += plot.curve(series % 4, line)
    parts.append(f'<line class="cursor" y1="{TOP}" y2="{HEIGHT - BOTTOM}" hidden=""/></svg>')
    series_data = [
        {"name": name, "points": [[x, y if math.isfinite(y) else None] for x, y in line]}
        for name, line in points.items()
    ]
    data = {"left": LEFT, "right": WIDTH - RIGHT, "width": WIDTH, "total": max(total, 1), "series": series_data}
    return (
        f'<figure class="curves">{"".join(parts)}<script type="application/json">{script_json(data)}</script>'
        f'<figcaption class="values">&#160;</figcaption></figure>'
    )


def _spread(values: Sequence[float], total: int) -> list[Point]:
    """Place values evenly over the training: each at the step at whose end it was known."""
    return [((k + 1) * total / len(values), value) for k, value in enumerate(values)]


def nice_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round numbers, evenly spaced, from at most ``low`` to at least ``high``; about ``wanted`` of them."""
    if not high > low:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


class _Plot:
    """The scales of one chart."""

    def __init__(self, total: int, low: float, high: float) -> None:
        self.total, self.low, self.high = total, low, high

    def x(self, step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / self.total

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.low) / (self.high - self.low)

    def horizontal(self, tick: float) -> str:
        y = self.y(tick)
        line = f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        return f'{line}<text class="axis" x="{LEFT - 8}" y="{y + 3.5:.1f}" text-anchor="end">{tick:g}</text>'

    def vertical(self, tick: float) -> str:
        x = self.x(tick)
        line = f'<path class="grid" d="M{x:.1f} {HEIGHT - BOTTOM}v4"/>'
        return f'{line}<text class="axis" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'

    def curve(self, series: int, line: Sequence[Point]) -> list[str]:
        if len(line) <= NOISY:
            dots = [
                f'<circle class="dot s{series}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2.5"/>'
                for x, y in line
                if math.isfinite(y)
            ]
            return [self._path(f"line s{series}", line), *dots]
        return [self._path(f"line faint s{series}", line), self._path(f"line s{series}", running_mean(line))]

    def _path(self, kind: str, line: Sequence[Point]) -> str:
        parts: list[str] = []
        pen = "M"
        for x, y in line:
            if not math.isfinite(y):
                pen = "M"
                continue
            parts.append(f"{pen}{self.x(x):.1f} {self.y(y):.1f}")
            pen = "L"
        return f'<path class="{kind}" d="{"".join(parts)}"/>'


def running_mean(line: Sequence[Point]) -> list[Point]:
    """Return the mean around each value over about a thirtieth of the curve; gaps stay gaps."""
    reach = max(1, len(line) // 60)
    sums, counts = [0.0], [0]
    for _, y in line:
        sums.append(sums[-1] + (y if math.isfinite(y) else 0.0))
        counts.append(counts[-1] + math.isfinite(y))
    found: list[Point] = []
    for k, (x, y) in enumerate(line):
        near = min(reach, k, len(line) - 1 - k)  # as many before as behind, so that the mean does not lag
        low, high = k - near, k + near + 1
        found.append((x, (sums[high] - sums[low]) / (counts[high] - counts[low]) if math.isfinite(y) else math.nan))
    return found
