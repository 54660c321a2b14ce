"""Multi-head attention: against loops in double precision, in both precisions, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl import layers
from netdsl.analysis.check import check
from netdsl.errors import NetdslError, SchemaError
from netdsl.initializers import PseudoFP16Initializer

LENGTH, DIM, HEADS = 4, 6, 3


def reference(x: np.ndarray, p: dict[str, Any], biased: bool) -> np.ndarray:
    """Sample by sample, head by head, pair by pair."""
    q, k, v = (x @ p[f"a_{part}_w"].T + p[f"a_{part}_b"] for part in "qkv")
    out, size = np.zeros(x.shape), DIM // HEADS
    for n, head in np.ndindex(len(x), HEADS):
        at = slice(size * head, size * (head + 1))
        for i in range(LENGTH):
            scores = [q[n, i, at] @ k[n, j, at] / np.sqrt(size) for j in range(LENGTH)]
            if biased:
                scores = [
                    s + p["a_relative_position_bias_table"][i - j + LENGTH - 1, head] for j, s in enumerate(scores)
                ]
            weights = np.exp(scores) / np.exp(scores).sum()
            out[n, i, at] = sum(w * v[n, j, at] for j, w in enumerate(weights))
    return out @ p["a_w"].T + p["a_b"]


@pytest.mark.parametrize("biased", [False, True], ids=["plain", "biased"])
@pytest.mark.parametrize("half", [False, True], ids=["single", "half"])
def test_equals_loops(biased: bool, half: bool) -> None:
    model = nd.Model("m")
    model.initializer_class = PseudoFP16Initializer if half else None
    dtype = "float16" if half else "float32"
    x = model.input("x", ("N", LENGTH, DIM), dtype)
    layers.multi_head_attention(model, x, "a", DIM, HEADS, length=LENGTH if biased else None)
    assert model.net.type_of("a").shape == ("N", LENGTH, DIM)  # type: ignore[union-attr]
    ws, random = nd.Workspace(), np.random.RandomState(0)
    ws.run(model.init_net)
    values = {p.name: (random.randn(*(p.shape or ())) * 0.4).astype(dtype) for p in model.params()}
    for name, value in values.items():
        ws.feed(name, value)
    fed = random.randn(3, LENGTH, DIM).astype(dtype)
    ws.feed("x", fed)
    ws.run(model.net)
    wide = {name: value.astype("f8") for name, value in values.items()}
    tolerance = 5e-3 if half else 1e-5
    np.testing.assert_allclose(ws.fetch("a"), reference(fed.astype("f8"), wide, biased), rtol=tolerance, atol=tolerance)


def test_inference_keeps_the_index_of_distances() -> None:
    model = nd.Model("m")
    layers.multi_head_attention(model, model.input("x", ("N", LENGTH, DIM)), "a", DIM, HEADS, length=LENGTH)
    predict = model.for_inference("a")
    assert check(predict.init_net.definition, predict.net.definition) == []
    ws = nd.Workspace()
    ws.run(predict.init_net)
    ws.feed("x", np.ones((1, LENGTH, DIM), "f4"))
    ws.run(predict.net)


@pytest.mark.parametrize("heads", [4, 0, -1])
def test_heads_divide_the_features(heads: int) -> None:
    model = nd.Model("m")
    with pytest.raises(SchemaError, match="divides the features among the heads"):
        layers.multi_head_attention(model, model.input("x", ("N", LENGTH, DIM)), "a", DIM, heads)
    assert not model.parameters


def test_another_length_is_seen_while_building() -> None:
    model = nd.Model("m")
    with pytest.raises(NetdslError, match="does not fit"):
        layers.multi_head_attention(model, model.input("x", ("N", 5, DIM)), "a", DIM, HEADS, length=LENGTH)
