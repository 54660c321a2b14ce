"""``Blob``: a named value that knows its net, and ``SparseGradient``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import attrs

from netdsl.errors import BlobError, did_you_mean
from netdsl.ir import UNKNOWN, BlobType

if TYPE_CHECKING:
    from netdsl.dsl.net import Net


@attrs.frozen
class Blob:
    """A named value in a net. Equality is by name; ``str(blob)`` is the name."""

    name: str
    net: Net | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def type(self) -> BlobType:
        """What is known of its type so far."""
        return UNKNOWN if self.net is None else self.net.type_of(self.name)

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class SparseGradient:
    """A gradient that is zero but for the rows that ``indices`` names (repeated ones add up)."""

    indices: Blob
    values: Blob


class GradientMap(Mapping[str, "Blob | SparseGradient"]):
    """The gradient of each blob, by blob or name, in the order in which they were found."""

    def __init__(self, grads: Mapping[str, Blob | SparseGradient]) -> None:
        self._grads = dict(grads)

    def __getitem__(self, blob: Blob | str) -> Blob | SparseGradient:
        try:
            return self._grads[str(blob)]
        except KeyError:
            near = did_you_mean(str(blob), self._grads)
            raise BlobError(f"blob {str(blob)!r} has no gradient", did_you_mean=near) from None

    def get(self, blob: Blob | str, default: Any = None) -> Any:
        """Return the gradient of ``blob``, or ``default`` where it has none."""
        return self._grads.get(str(blob), default)

    def __contains__(self, blob: object) -> bool:
        return str(blob) in self._grads

    def __iter__(self) -> Iterator[str]:
        return iter(self._grads)

    def __len__(self) -> int:
        return len(self._grads)

    def __repr__(self) -> str:
        return "\n".join(f"{name} -> {_shown(grad)}" for name, grad in self._grads.items())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{escape(n)}</td><td>{escape(_shown(g))}</td></tr>" for n, g in self._grads.items())
        return f"<table><tr><th>blob</th><th>gradient</th></tr>{rows}</table>"


def _shown(grad: Blob | SparseGradient) -> str:
    return str(grad) if isinstance(grad, Blob) else f"rows {grad.indices} of {grad.values}"
