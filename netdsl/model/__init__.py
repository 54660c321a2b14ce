"""``Model`` (init net, net and parameters) and the layer functions."""

from netdsl.model.model import Model  # isort: skip  (layers need it)
from netdsl.model import layers

__all__ = ["Model", "layers"]
