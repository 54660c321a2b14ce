"""Control flow: builders of the operators that run nested nets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from netdsl.dsl.author import author_line
from netdsl.dsl.blob import Blob
from netdsl.dsl.net import Net
from netdsl.dsl.scopes import current_name_scope
from netdsl.errors import NetError
from netdsl.ops.regions import flow

Result = Blob | str | Sequence[Blob | str]
Branch = Callable[[Net], Result]
"""Appends operators to the nested net it is given and returns the blobs that are its result."""


def cond(
    net: Net,
    condition: Blob | str,
    then: Branch,
    otherwise: Branch | None = None,
    *,
    outputs: Blob | str | Sequence[Blob | str] | None = None,
) -> Blob | tuple[Blob, ...]:
    """Append an If; return the results of ``then`` where the bool ``condition`` is true, else of ``otherwise``.

    ``cond(net, c, lambda n: n.Relu(x, "y"), lambda n: n.Sigmoid(x, "y"))``: both functions append to a
    nested net, may read every blob of ``net``, and return as many blobs. Where they return other names than
    each other, the results are copied to ``outputs``, which are unnamed by default. Without ``otherwise`` the
    results keep the value they had before, so ``net`` must have them. What the If reads and writes is
    derived from the nested nets and listed sorted.

    Raises:
        NetError: results that differ in number, or that nothing holds where the condition is false.
    """
    place = net._unnamed("If", 1)[0].removeprefix(current_name_scope())  # pyright: ignore[reportPrivateUsage]
    condition = net.blob(condition)
    branches = [_Branch(net, f"{place}/then", then)]
    if otherwise is not None:
        branches.append(_Branch(net, f"{place}/else", otherwise))
    names = _names(net, place, branches, outputs)
    for branch in branches:
        branch.end_in(names)
    one = branches[0].written
    other = branches[1].written if otherwise is not None else set[str]()
    writes, surely = one | other, one & other
    kept = {name for name in writes - surely if _has(net, name)}
    _require_results(net, [name for name in names if name not in surely and name not in kept and not _has(net, name)])
    reads = {name for branch in branches for name in branch.net.definition.inputs} | kept
    reads.discard(condition.name)
    args = {f"{side}_net": branch.net for side, branch in zip(("then", "else"), branches, strict=False)}
    inputs = [condition, *(Blob(name, net) for name in sorted(reads))]
    net.add("If", inputs, [Blob(name, net) for name in sorted(writes)], args)
    results = tuple([Blob(name, net) for name in names])
    return results[0] if len(results) == 1 else results


class _Branch:
    """A nested net with what its function returned."""

    def __init__(self, outer: Net, name: str, build: Branch) -> None:
        self.net = Net(name)
        for blob, known in outer.types().items():
            self.net.set_type(blob, known)
        made = build(self.net)
        listed = [made] if isinstance(made, Blob | str) else list(made or ())
        self.results = [self.net.blob(blob).name for blob in listed]

    @property
    def written(self) -> set[str]:
        return {*flow(self.net.definition).writes}

    def end_in(self, names: Sequence[str]) -> None:
        """Copy the results to ``names`` where they are called otherwise, and declare these as outputs."""
        for index, (result, name) in enumerate(zip(self.results, names, strict=True)):
            if result == name:
                continue
            if name in self.results[index + 1 :]:
                raise NetError(
                    f"result {result!r} cannot be called {name!r}, which is another result",
                    got=", ".join(self.results),
                    added_at=author_line(),
                )
            self.net.add("Copy", Blob(result), Blob(name))
        for name in names:
            if not self.net.computes(name):
                self.net.input(Blob(name))
        self.net.output(*map(Blob, names))


def _names(
    net: Net, place: str, branches: Sequence[_Branch], outputs: Blob | str | Sequence[Blob | str] | None
) -> list[str]:
    """What the results are called in the outer net."""
    first = branches[0].results
    for branch in branches[1:]:
        if len(branch.results) != len(first):
            raise NetError(
                "both functions of cond must return as many blobs",
                then=", ".join(first) or "none",
                otherwise=", ".join(branch.results) or "none",
                added_at=author_line(),
            )
    if outputs is not None:
        names = [net.blob(b).name for b in ([outputs] if isinstance(outputs, Blob | str) else outputs)]
        if len(names) != len(first):
            raise NetError(f"cond has {len(first)} results", outputs=", ".join(names), added_at=author_line())
        return names
    if all(branch.results == first and branch.written.issuperset(first) for branch in branches):
        return first
    place = current_name_scope() + place
    return [place] if len(first) == 1 else [f"{place}:{index}" for index in range(len(first))]


def _has(net: Net, name: str) -> bool:
    return net.computes(name) or name in net.definition.inputs


def _require_results(net: Net, missing: Sequence[str]) -> None:
    if missing:
        raise NetError(
            f"net {net.name!r} has no blob {missing[0]!r} to keep where the condition is false",
            fix="give cond a function for that case too, or compute the blob before",
            added_at=author_line(),
        )
