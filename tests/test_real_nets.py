"""Real Caffe2 nets give the real Caffe2's numbers.

The zoo nets run with stand-in weights (their own are not to be had), of which the golden outputs were
measured; every blob is compared by shape, dtype, sum and largest magnitude, and the outputs element by element.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netdsl as nd
from netdsl.ops import is_known

MODELS = Path(__file__).parent / "data" / "models"


def stand_in(name: str, shape: list[int]) -> np.ndarray:
    """The weights that the golden outputs were measured with: a function of name and shape alone."""
    random = np.random.RandomState(zlib.crc32(name.encode()))
    last = name.split("/")[-1]
    if last.endswith("_riv"):
        values = 0.5 + random.rand(*shape)
    elif last.endswith("_rm"):
        values = 0.1 * random.randn(*shape)
    elif len(shape) >= 2:
        values = random.randn(*shape) * np.sqrt(2.0 / np.prod(shape[1:]))
    elif last.endswith(("_b", "bias")):
        values = 0.05 * random.randn(*shape)
    else:
        values = 1.0 + 0.1 * random.randn(*shape)
    return values.astype(np.float32)


def agree(ws: nd.Workspace, measured: dict[str, Any]) -> None:
    """Compare every blob with what was measured of it: shape, dtype, sum, largest magnitude."""
    for name, (shape, dtype, total, largest, *_) in measured.items():
        value = ws.fetch(name)
        assert (list(value.shape), str(value.dtype)) == (shape, dtype), name
        scale = float(np.abs(value).sum(dtype=np.float64)) or 1.0
        assert abs(float(value.sum(dtype=np.float64)) - total) <= 1e-4 * scale, name
        assert float(np.abs(value).max()) == pytest.approx(largest, rel=1e-3, abs=1e-6), name


ZOO = ["zoo_bvlc_alexnet", "zoo_inception_v1", "zoo_resnet50", "zoo_zfnet512"]


@pytest.mark.parametrize("model", ZOO)
def test_zoo(model: str) -> None:
    folder = MODELS / model
    described = json.loads((folder / "synthetic_params.json").read_text())
    net = nd.load(folder / "predict_net.pbtxt")
    ws = nd.Workspace()
    for name, shape in described["param_shapes"].items():
        ws.feed(name, stand_in(name, shape))
    size = 227 if "227" in described["input"] else 224
    ws.feed(described["data"], np.random.RandomState(0).rand(1, 3, size, size).astype(np.float32))
    ws.run(net)
    agree(ws, json.loads((folder / "golden_synth_intermediates.json").read_text()))
    for name, expected in np.load(folder / "golden_synth.npz").items():
        found = ws.fetch(name.removeprefix("output:"))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max(), err_msg=name)


def test_super_resolution() -> None:
    """Real weights from the init net, which also fills the input with a dummy."""
    folder = MODELS / "super_resolution"
    ws = nd.Workspace()
    ws.run(nd.load(folder / "init_net.pb"))
    ws.feed("1", np.random.RandomState(0).rand(1, 1, 224, 224).astype(np.float32))
    ws.run(nd.load(folder / "predict_net.pb"))
    agree(ws, json.loads((folder / "golden_intermediates.json").read_text()))
    expected = np.load(folder / "golden.npz")["every_7th"]
    np.testing.assert_allclose(ws.fetch("27")[:, :, ::7, ::7], expected, rtol=1e-4, atol=1e-5)


def glow_cases() -> list[Any]:
    golden: dict[str, dict[str, np.ndarray]] = {}
    for key, value in np.load(MODELS / "glow" / "golden.npz").items():
        name, _, blob = key.partition("|")
        golden.setdefault(name, {})[blob] = value
    return [
        pytest.param(name, blobs, id=name)
        for name, blobs in golden.items()
        if all(is_known(op.type) for op in nd.load(MODELS / "glow" / f"{name}.pbtxt").ops)
    ]


@pytest.mark.parametrize(("name", "blobs"), glow_cases())
def test_glow(name: str, blobs: dict[str, np.ndarray]) -> None:
    ws = nd.Workspace()
    init = MODELS / "glow" / f"{name.replace('_pred_net', '').replace('_predict_net', '')}_init_net.pbtxt"
    if init.exists():
        ws.run(nd.load(init))
    for blob, value in blobs.items():
        if blob.startswith("input:"):
            ws.feed(blob.removeprefix("input:"), value)
    ws.run(nd.load(MODELS / "glow" / f"{name}.pbtxt"))
    random = "gaussian_fill" in name
    for blob, expected in blobs.items():
        if blob.startswith("output:") and random:
            found = ws.fetch(blob.removeprefix("output:"))
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        elif blob.startswith("output:"):
            np.testing.assert_allclose(ws.fetch(blob.removeprefix("output:")), expected, rtol=1e-5, atol=1e-6)
