"""The page on a training: curves, summary, tables, pictures."""

from __future__ import annotations

import json
import math
import re

import pytest

from netdsl import viz
from netdsl.viz.curves import charts, nice_ticks, running_mean
from tests.viz.nets import residual
from tests.viz.pages import check_page

LOSSES = [2.0 / (1 + step / 20) for step in range(200)]


def test_the_page_shows_everything():
    model = residual(1)
    curves = {"loss": LOSSES, "batch accuracy": [0.5] * 200, "held-out accuracy": [0.8, 0.9, 0.95]}
    summary = {"accuracy": 0.98765, "steps": 200, "precision": "half", "note": None}
    nets = {"train": model.net.definition, "init": model.init_net.definition}
    page = check_page(viz.training_page("Digits", nets, curves, summary))
    assert {"Digits", "train net", "init net", "Parameters of train", "0.9877", "200", "half"} <= {*page.texts}
    assert "Parameters of init" not in page.texts
    assert page.tags.count("figure") == 2, "curves of one kind share a chart"
    assert [json.loads(data)["name"] for data in page.data[2:]] == ["residual", model.init_net.definition.name]


def test_a_curve_of_few_values_is_spread_over_the_training():
    (data,) = re.findall(
        r'<script type="application/json">(.*?)</script>', charts({"a x": [0.0] * 100, "b x": [1.0, 2.0]})
    )
    assert json.loads(data)["series"][1]["points"] == [[50.0, 1.0], [100.0, 2.0]]


@pytest.mark.parametrize("curves", [{}, {"loss": []}, {"loss": [math.nan] * 3}])
def test_curves_without_values_are_left_out(curves):
    assert charts(curves) == ""
    check_page(viz.training_page("t", {}, curves, {}))


def test_values_that_are_no_numbers_are_gaps():
    text = charts({"loss": [1.0, math.nan, 2.0, math.inf, 3.0]})
    (path,) = re.findall(r'class="line s0" d="([^"]*)"', text)
    assert path.count("M") == 3
    assert "nan" not in text.lower()
    assert "[2.0,null]" in text


def test_a_constant_curve_has_axes():
    assert charts({"loss": [0.5, 0.5]}).count('class="axis"') > 3


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.03, 2.31, [0, 0.5, 1, 1.5, 2, 2.5]),
        (-3, 7, [-4, -2, 0, 2, 4, 6, 8]),
        (5, 5, [2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert nice_ticks(low, high) == ticks


def test_the_running_mean_does_not_lag():
    line = [(float(step), float(step)) for step in range(300)]
    assert all(abs(mean - value) < 1e-9 for (_, mean), (_, value) in zip(running_mean(line), line, strict=True))
