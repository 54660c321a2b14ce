"""Matching a list of actual blobs with an operator's formal inputs or outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from netdsl.errors import SchemaError

T = TypeVar("T")
F = TypeVar("F", bound="Formal")


class Formal(Protocol):
    """What :class:`In` and :class:`Out` have in common."""

    @property
    def name(self) -> str: ...
    @property
    def optional(self) -> bool: ...
    @property
    def many(self) -> int: ...
    @property
    def least(self) -> int: ...


class Formals(Generic[F]):
    """The formal inputs (or outputs) of one operator; at most one run of optional or one of many."""

    def __init__(self, operator: str, side: str, formals: Sequence[F]) -> None:
        self.operator, self.side, self.formals = operator, side, tuple(formals)
        self.names = tuple([f.name for f in formals])
        self.required = sum(f.many * f.least if f.many else not f.optional for f in formals)
        self.run = next((f for f in formals if f.many), None)
        self.limit = None if self.run else len(self.formals)
        self._layouts: dict[int, tuple[tuple[str, slice | int | None], ...]] = {}
        self._aligned: dict[int, tuple[F, ...]] = {}
        runs = [i for i, f in enumerate(formals) if f.many or f.optional]
        if runs and (runs != list(range(runs[0], runs[-1] + 1)) or (self.run and len(runs) > 1)):
            raise TypeError(f"operator {operator}: its {side}s have more than one optional or variadic run")

    def layout(self, count: int) -> tuple[tuple[str, slice | int | None], ...]:
        """Where each formal stands among ``count`` blobs: an index, a slice (of a run) or None.

        Raises:
            SchemaError: so many blobs do not fit.
        """
        found = self._layouts.get(count)
        if found is None:
            found = self._layouts[count] = self._make_layout(count)
        return found

    def _make_layout(self, count: int) -> tuple[tuple[str, slice | int | None], ...]:
        spare = count - self.required
        if spare < 0 or (self.limit is not None and count > self.limit) or (self.run and spare % self.run.many):
            raise SchemaError(
                f"{self.operator} takes {self.arity()} {self.side}s, got {count}", expected=self.describe()
            )
        places: list[tuple[str, slice | int | None]] = []
        at = 0
        for formal in self.formals:
            if formal.many:
                size = formal.many * formal.least + spare
                places.append((formal.name, slice(at, at + size)))
                at += size
            elif formal.optional and not spare:
                places.append((formal.name, None))
            else:
                spare -= formal.optional
                places.append((formal.name, at))
                at += 1
        return tuple(places)

    def group(self, items: Sequence[T]) -> list[Any]:
        """Return one value per formal: an item, None where absent, a tuple for a run."""
        if self.run is None and len(items) == len(self.formals):
            return list(items)
        return [items[p] if type(p) is int else self._run(items, p) for _, p in self.layout(len(items))]

    def by_name(self, items: Sequence[T]) -> dict[str, Any]:
        """As :meth:`group`, by formal name."""
        if self.run is None and len(items) == len(self.formals):
            return dict(zip(self.names, items, strict=True))
        return {name: items[p] if type(p) is int else self._run(items, p) for name, p in self.layout(len(items))}

    def _run(self, items: Sequence[T], place: Any) -> Any:
        """The value of a formal that is a run, or absent."""
        if place is None:
            return None
        size = self.run.many if self.run else 1
        found = tuple(items[place])
        return found if size == 1 else tuple(found[i : i + size] for i in range(0, len(found), size))

    def flatten(self, values: Sequence[Any], count: int) -> list[Any]:
        """Undo :meth:`group`: the first ``count`` values, runs opened, absent ones left out."""
        if self.run is None and count == len(self.formals):
            return list(values[:count])
        flat: list[Any] = []
        for (_, place), value in zip(self.layout(count), values, strict=False):
            if isinstance(place, slice):
                flat.extend(value)
            elif place is not None:
                flat.append(value)
        return flat

    def results(self, result: Any, count: int) -> list[Any]:
        """Return what a rule or a body gave, one value or a tuple with one per formal, as one value per blob."""
        return self.flatten(result if isinstance(result, tuple) else (result,), count)

    def formal_at(self, index: int, count: int) -> F:
        """Return the formal that blob ``index`` of ``count`` stands for."""
        return self.aligned(count)[index]

    def aligned(self, count: int) -> tuple[F, ...]:
        """Return the formal that each of ``count`` blobs stands for; raises as :meth:`layout`."""
        found = self._aligned.get(count)
        if found is None:
            places = zip(self.formals, self.layout(count), strict=True)
            sizes = [(f, p.stop - p.start if isinstance(p, slice) else int(p is not None)) for f, (_, p) in places]
            found = self._aligned[count] = tuple([formal for formal, size in sizes for _ in range(size)])
        return found

    def first_index(self, name: str, count: int) -> int | None:
        """Return where ``name`` (of a run: its first blob) stands among ``count`` blobs."""
        for formal, place in self.layout(count):
            if formal == name:
                return place.start if isinstance(place, slice) else place
        raise KeyError(name)

    def present(self, name: str, count: int) -> bool:
        """Whether ``name`` is there when ``count`` blobs are."""
        return self.first_index(name, count) is not None

    def arity(self) -> str:
        """How many blobs fit, in words."""
        if self.run:
            by = f" (in groups of {self.run.many})" if self.run.many > 1 else ""
            return f"at least {self.required}{by}"
        most = len(self.formals)
        return str(most) if most == self.required else f"{self.required} to {most}"

    def describe(self) -> str:
        """The formal names as a signature: ``X, W, [b], Xs...``."""
        names = [f"{f.name}..." if f.many else (f"[{f.name}]" if f.optional else f.name) for f in self.formals]
        return ", ".join(names) or "nothing"
