"""Beside which forward operator each gradient and update is drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from netdsl.analysis.roles import GRADIENT_SUFFIX, Role
from netdsl.ir import NetDef, OperatorDef

NEAREST = 4
"""How many writers or readers of one blob are considered: what keeps matching linear."""


def gradient_of(name: str) -> str | None:
    """Return the blob whose gradient ``name`` is by its name; None where it is none.

    ``x_grad``, ``x_autogen_grad``, ``x_grad_fp32`` and ``_x_grad_autosplit_0`` are gradients of ``x``.
    """
    base, found, _ = name.rpartition(GRADIENT_SUFFIX)
    if not found:
        return None
    base = base.removesuffix("_autogen")
    scope, slash, last = base.rpartition("/")
    return scope + slash + last[1:] if "_grad_" in name and last.startswith("_") else base


def _gradients(names: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(base for base in map(gradient_of, names) if base is not None)


def anchors(net: NetDef, roles: list[Role]) -> list[int | None]:
    """Return, for each operator, the forward operator that it is drawn beside; its own index for these.

    None is for what belongs to no single one: a learning rate, a counter, a gradient without forward pass.
    """
    matcher = _Matcher(net)
    for index, role in enumerate(roles):
        matcher.add(index, role)
    return matcher.beside


class _Matcher:
    """Reads a net once, in order; knows who wrote and who read each blob last."""

    def __init__(self, net: NetDef) -> None:
        self.ops = net.ops
        self.beside: list[int | None] = []
        self._makers: dict[str, list[int]] = defaultdict(list)  # forward operators, latest last
        self._readers: dict[str, list[int]] = defaultdict(list)
        self._writer: dict[str, int] = {}  # gradients and updates
        self._taken: set[int] = set()

    def add(self, index: int, role: Role) -> None:
        op = self.ops[index]
        if role is Role.FORWARD:
            self.beside.append(index)
            for name in op.inputs:
                self._readers[name].append(index)
            for name in op.outputs:
                self._makers[name].append(index)
                self._writer.pop(name, None)
            return
        self.beside.append(self._of_gradient(op) if role is Role.GRADIENT else self._follow(op))
        self._writer.update(dict.fromkeys(op.outputs, index))

    def _of_gradient(self, op: OperatorDef) -> int | None:
        """The forward operator whose outputs' gradients ``op`` reads and whose inputs' gradients it writes."""
        given = _gradients(op.inputs)
        wanted = {name for name in _gradients(op.outputs) if name not in given}
        found = self._latest(self._makers, given) + self._latest(self._readers, wanted)
        if not found and (readers := self._latest(self._readers, given)):
            return min(readers)  # gradients of data, added up: done when the first of its readers is
        found = found or self._latest(self._makers, (*wanted, *op.inputs))
        if not found:
            return self._follow(op)

        def fits(index: int) -> tuple[int, bool, int]:
            other = self.ops[index]
            ours = wanted.intersection(other.inputs)
            score = 2 * len(ours) + sum(name in given for name in other.outputs)
            score += len({*op.inputs}.intersection((*other.inputs, *other.outputs)))
            return score, index not in self._taken, index

        best = max(found, key=fits)
        known = {*self.ops[best].inputs, *self.ops[best].outputs}
        if given and not known.isdisjoint(op.inputs):  # neither a seed nor a sum of gradients: the gradient itself
            self._taken.add(best)
        return best

    def _latest(self, table: dict[str, list[int]], names: Iterable[str]) -> list[int]:
        """The last few in ``table`` for each name; those taken already make room for those before them."""
        found: list[int] = []
        for name in names:
            rows = table.get(name, [])
            while len(rows) > NEAREST and rows[-1] in self._taken:
                rows.pop()
            found += rows[-NEAREST:]
        return found

    def _follow(self, op: OperatorDef) -> int | None:
        """Where the gradients that ``op`` reads were computed; None if at more than two places."""
        writers = [self._writer[name] for name in op.inputs if name in self._writer]
        writers = [w for w in writers if self.beside[w] is not None]
        places = {self.beside[w] for w in writers}
        return self.beside[max(writers)] if 0 < len(places) <= 2 else None
