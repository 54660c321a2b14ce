"""Authoring nets: ``Net``, ``Blob`` and the scopes. Nothing here computes."""

from netdsl.dsl.blob import Blob, GradientMap, SparseGradient
from netdsl.dsl.net import Net
from netdsl.dsl.parameter import Parameter, Tag
from netdsl.dsl.scopes import device_scope, name_scope

__all__ = ["Blob", "GradientMap", "Net", "Parameter", "SparseGradient", "Tag", "device_scope", "name_scope"]
