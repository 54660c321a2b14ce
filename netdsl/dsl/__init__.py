"""Authoring nets: ``Net``, ``Blob``, scopes and control flow. Nothing here computes."""

from netdsl.dsl.blob import Blob, GradientMap, SparseGradient
from netdsl.dsl.control import cond
from netdsl.dsl.net import Net
from netdsl.dsl.parameter import Parameter, Tag
from netdsl.dsl.scopes import device_scope, name_scope

__all__ = ["Blob", "GradientMap", "Net", "Parameter", "SparseGradient", "Tag", "cond", "device_scope", "name_scope"]
