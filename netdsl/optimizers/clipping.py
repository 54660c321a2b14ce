"""Clipping of gradients, after loss unscaling and before weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from netdsl.dsl import Blob, SparseGradient
from netdsl.errors import SchemaError, did_you_mean
from netdsl.optimizers.base import Updates

KINDS = ("full_model", "norm", "value")

AnyGradient = Blob | SparseGradient


def _kind(_: Any, __: Any, value: str) -> None:
    if value not in KINDS:
        near = did_you_mean(value, KINDS)
        raise SchemaError(f"no clipping is called {value!r}", expected=", ".join(KINDS), did_you_mean=near)


def _positive(_: Any, attribute: attrs.Attribute[Any], value: float) -> None:
    if not value > 0:
        raise SchemaError(f"Clip: {attribute.name!r} must be positive", got=value)


@attrs.frozen
class Clip:
    """How gradients are clipped.

    ``full_model`` scales all of them so that their common norm is at most ``limit``, ``norm`` each by
    itself, and ``value`` limits every element to +-limit. The norm is of order ``norm_type`` (may be
    infinite), the factor PyTorch's ``min(1, limit / (norm + 1e-6))``. Of a sparse gradient the rows of a
    repeated index are added first.
    """

    kind: str = attrs.field(default="full_model", validator=_kind)
    limit: float = attrs.field(default=1.0, validator=_positive)
    norm_type: float = attrs.field(default=2.0, validator=_positive)

    def append(self, to: Updates, grads: Sequence[AnyGradient]) -> list[AnyGradient]:
        """Append the clipping of ``grads``; return the clipped ones in the same order."""
        whole = [to.deduplicated(g, "sum") if isinstance(g, SparseGradient) else g for g in grads]
        factor = self._factor(to, whole) if self.kind == "full_model" else None
        return [self._clipped(to, g, factor) for g in whole]

    def _factor(self, to: Updates, grads: Sequence[AnyGradient]) -> Blob:
        norm = to.net.add("GlobalNorm", [_values(g) for g in grads], Blob("gradient_norm", to.net), self._order())
        return to.net.add("ClipFactor", norm, Blob("gradient_clip_factor", to.net), {"max_norm": self.limit})

    def _clipped(self, to: Updates, grad: AnyGradient, factor: Blob | None) -> AnyGradient:
        values = _values(grad)
        name = Blob(f"{values}_clipped", to.net)
        if factor is not None:
            made = to.net.add("Mul", [values, factor], name, {"broadcast": 1})
        elif self.kind == "norm":
            made = to.net.add("ClipByNorm", values, name, {"max_norm": self.limit, **self._order()})
        else:
            made = to.net.add("Clip", values, name, {"min": -self.limit, "max": self.limit})
        return SparseGradient(grad.indices, made) if isinstance(grad, SparseGradient) else made

    def _order(self) -> dict[str, float]:
        return {} if self.norm_type == 2.0 else {"norm_type": self.norm_type}


def _values(grad: AnyGradient) -> Blob:
    return grad.values if isinstance(grad, SparseGradient) else grad
