"""Clipping of gradients, after loss unscaling and before weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from netdsl.dsl import Blob
from netdsl.errors import SchemaError, did_you_mean
from netdsl.optimizers.base import AnyGradient, Updates, values, with_values
from netdsl.optimizers.checks import ByKeyword, number

KINDS = ("full_model", "norm", "value")


def _kind(_: Any, __: Any, value: Any) -> None:
    if value not in KINDS:
        near = did_you_mean(str(value), KINDS)
        raise SchemaError(f"no clipping is called {value!r}", expected=", ".join(KINDS), did_you_mean=near)


@attrs.frozen
class Clip(ByKeyword):
    """How gradients are clipped.

    ``full_model`` scales all of them so that their common norm is at most ``limit``, ``norm`` each by
    itself, and ``value`` limits every element to +-limit. The norm is of order ``norm_type`` (may be
    infinite), the factor PyTorch's ``min(1, limit / (norm + 1e-6))``. Sparse gradients count with their
    values: ``build_groups`` adds the rows of a repeated index before it clips.
    """

    kind: str = attrs.field(default="full_model", validator=_kind)
    limit: float = attrs.field(default=1.0, validator=number(positive=True, infinite=True))
    norm_type: float = attrs.field(default=2.0, validator=number(positive=True, infinite=True))

    def append(self, to: Updates, grads: Sequence[AnyGradient]) -> list[AnyGradient]:
        """Append the clipping of ``grads``; return the clipped ones in the same order."""
        factor = self._factor(to, grads) if self.kind == "full_model" else None
        return [self._clipped(to, g, factor) for g in grads]

    def _factor(self, to: Updates, grads: Sequence[AnyGradient]) -> Blob:
        norm = to.net.add(
            "GlobalNorm", [values(g) for g in grads], to.helper("GlobalNorm", "gradient_norm"), self._order()
        )
        return to.net.add("ClipFactor", norm, to.helper("ClipFactor", "gradient_clip_factor"), {"max_norm": self.limit})

    def _clipped(self, to: Updates, grad: AnyGradient, factor: Blob | None) -> AnyGradient:
        blob = values(grad)
        name = Blob(f"{blob}_clipped", to.net)
        if factor is not None:
            made = to.net.add("Mul", [blob, factor], name, {"broadcast": 1})
        elif self.kind == "norm":
            made = to.net.add("ClipByNorm", blob, name, {"max_norm": self.limit, **self._order()})
        else:
            made = to.net.add("Clip", blob, name, {"min": -self.limit, "max": self.limit})
        return with_values(grad, made)

    def _order(self) -> dict[str, float]:
        return {} if self.norm_type == 2.0 else {"norm_type": self.norm_type}
