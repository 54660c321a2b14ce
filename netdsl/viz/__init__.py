"""Pictures of nets: DOT for Graphviz, SVG, and HTML pages that need no network and no library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netdsl.ir import BlobType, NetDef

__all__ = ["to_dot", "to_html", "to_svg", "training_page"]


def to_dot(net: NetDef, *, types: Mapping[str, BlobType] | None = None) -> str:
    """Return ``net`` in Graphviz's language: a node per operator, clustered by lane and scope.

    ``types`` tells what is known of the blobs that the net reads, beyond its declared inputs.
    """
    from netdsl.viz.dot import render

    return render(net, types)


def to_svg(net: NetDef, *, types: Mapping[str, BlobType] | None = None) -> str:
    """Return ``net`` as an SVG picture: forward, gradient and update operators in lanes, everything open.

    ``types`` is as in :func:`to_dot`.
    """
    from netdsl.viz.layout import lay_out
    from netdsl.viz.svg import render

    return render(lay_out(net, types))


def to_html(net: NetDef, *, types: Mapping[str, BlobType] | None = None, title: str | None = None) -> str:
    """Return a page that shows ``net``: pan, zoom, search, open and close scopes, click for details.

    ``types`` is as in :func:`to_dot`; the ``title`` is the net's name unless given.
    """
    from netdsl.viz.html import net_page

    return net_page(net, types, title)


def training_page(
    title: str,
    nets: Mapping[str, NetDef],
    curves: Mapping[str, Sequence[float]],
    summary: Mapping[str, Any],
) -> str:
    """Return a page on a training: its summary, its curves, and a picture of each net.

    Curves whose names end in the same word share a chart ("batch accuracy", "held-out accuracy"); each is
    spread evenly over the training, however many values it has. Tables of parameters are taken from the
    nets' ``metadata["parameters"]``.
    """
    from netdsl.viz.html import training

    return training(title, nets, curves, summary)
