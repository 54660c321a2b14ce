"""A whole training net is built, read, changed, saved and drawn where no array library can be imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PROGRAM = """
from pathlib import Path
import netdsl as nd
from netdsl import initializers, layers, optimizers, viz

model = nd.Model("digits")
model.initializer_class = initializers.PseudoFP16Initializer
x = model.input("x", ("N", 1, 8, 8), "float16")
label = model.input("label", ("N",), "int32")
h = layers.relu(model, layers.conv(model, x, "conv", 1, 4, 3, pad=1), "conv_relu")
scores = model.net.HalfToFloat(layers.fc(model, h, "fc", 256, 10), "scores")
loss = layers.softmax_with_loss(model, scores, label)
model.add_gradients(loss)
optimizers.MultiPrecisionSGD(base_learning_rate=0.1, momentum=0.9).build(model)
model.net.output(loss)

folder, net = Path({folder!r}), model.net.definition
assert nd.parse(model.net.dump()) == net
assert nd.from_json(nd.to_json(net)) == net
for kind in ("net", "json", "pb", "pbtxt"):
    nd.save(net, folder / f"n.{{kind}}")
    assert nd.load(folder / f"n.{{kind}}") == net
for draw in (viz.to_dot, viz.to_svg, viz.to_html):
    assert "conv_relu" in draw(net)
assert "conv_relu" in model._repr_html_()
predict = model.for_inference("scores").net
print(*[op.type for op in predict.definition.ops])
"""


def test_authoring_needs_no_array_library(fresh_python: Any, tmp_path: Path) -> None:
    printed = fresh_python(PROGRAM.format(folder=str(tmp_path)), without=["numpy", "cupy", "networkx"])
    assert printed == "Conv Relu FC HalfToFloat"
