"""What is refused before a net runs: what it cannot execute, keep or find in the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netdsl.errors import BlobError, InferenceError, NetError, did_you_mean
from netdsl.ir import BlobType, Dim, DType, NetDef, Opaque, TensorType
from netdsl.ir.dims import conflict, same
from netdsl.ir.extents import is_made, names, substitute
from netdsl.runtime.cells import Frame

_SHOWN = 10
"""How many names a line lists."""


def check_keep(net: NetDef, keep: frozenset[str]) -> None:
    """Refuse to keep what the net does not have."""
    known = net.blobs()
    for name in sorted(keep):
        if name not in known:
            raise NetError(f"net {net.name!r} has no blob {name!r} to keep", did_you_mean=did_you_mean(name, known))


def missing(names: Sequence[str], net: NetDef, frame: Frame) -> BlobError:
    """The error that a frame lacks the blobs ``names``, which ``net`` reads."""
    name = names[0]
    index, reader = next((i, op) for i, op in enumerate(net.ops) if name in op.inputs)
    what = f"blob {name!r} does not exist in the workspace"
    near = did_you_mean(name, set(frame.root.blobs) - set(names))
    if len(names) > 1:
        what = f"{len(names)} blobs do not exist in the workspace: {_listed([repr(n) for n in names])}"
        near = None
    elided = [by for n in names if (by := frame.cell(n).elided_by) is not None]
    hints: dict[str, str] = {}
    if elided:
        hints["fix"] = f"net {elided[0]!r} does not store it; name it in keep="
    elif near is None:
        hints = _where_from(names, net)
    return BlobError(
        what,
        read_by=f"{reader}     (operator {index} of net {net.name!r})",
        added_at=reader.where,
        did_you_mean=near,
        **hints,
    )


def _where_from(names: Sequence[str], net: NetDef) -> dict[str, str]:
    """Say which of the missing blobs the caller feeds, and which an init net makes."""
    written = {name for op in net.ops for name in op.outputs}
    fed = [name for name in names if name not in written and _varies(net.types.get(name))]
    made = [name for name in names if name not in fed]
    hints: dict[str, str] = {}
    if fed:
        hints["feed"] = _listed([f"ws.feed({name!r}, ...)  {net.types[name]}" for name in fed])
    if made:
        those = f" for {_listed(made)}" if fed else ""
        hints["fix"] = f"run the init net first{those}; Workspace.run_missing(init_net) runs only what is new in it"
        if not (fed or all(name in written or isinstance(net.types.get(name), Opaque) for name in made)):
            hints["or"] = "feed what no init net makes"
    return hints


def _varies(type_: BlobType | None) -> bool:
    """Whether an input is declared with an extent that is left open, as batches are and parameters are not."""
    return isinstance(type_, TensorType) and not type_.is_static


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def check_declared(net: NetDef, types: Mapping[str, BlobType]) -> None:
    """Check what the workspace holds against the net's declared input types; named dims must agree.

    Raises:
        InferenceError: a blob of another type than the net declares.
    """
    named: dict[str, tuple[Dim, str]] = {}
    for name, declared in net.types.items():
        got = types.get(name)
        if got is None:
            continue
        if not _fits(declared, got):
            what = f"blob {name!r} is not what net {net.name!r} declares"
            raise InferenceError(what, expected=declared, got=got, fix=_conversion(name, declared, got))
        if not (isinstance(declared, TensorType) and isinstance(got, TensorType)):
            continue
        for dim, extent in zip(declared.shape or (), got.shape or (), strict=False):
            if isinstance(dim, str):
                first, owner = named.setdefault(dim, (extent, name))
                if first != extent:
                    raise InferenceError(
                        f"inputs of net {net.name!r} disagree on the extent {dim!r}",
                        expected=f"{first}, as blob {owner!r}",
                        got=f"{extent}, blob {name!r}",
                    )
    sizes = {dim: extent for dim, (extent, _) in named.items() if not is_made(dim)}
    for dim, (extent, owner) in named.items():
        wanted = substitute(dim, sizes)  # some names may be told by nothing else
        if conflict(wanted, extent):
            raise InferenceError(
                f"blob {owner!r} is not what net {net.name!r} declares",
                expected=f"{wanted} for {dim}, as {', '.join(f'{n} is {sizes[n]}' for n in sorted(names(dim)))}",
                got=extent,
            )


def _conversion(name: str, declared: BlobType, got: BlobType) -> str | None:
    """How to feed what has the right extents and another dtype."""
    if not (isinstance(declared, TensorType) and isinstance(got, TensorType) and declared.dtype and got.dtype):
        return None
    if declared.dtype is got.dtype or DType.STRING in (declared.dtype, got.dtype):
        return None
    return f"ws.feed({name!r}, numpy.asarray(value, {declared.dtype.value!r}))"


def _fits(declared: BlobType, got: BlobType) -> bool:
    if not (isinstance(declared, TensorType) and isinstance(got, TensorType)):
        return declared == got
    return declared.dtype in (None, got.dtype) and same(declared.shape, got.shape)
