"""``Model``: an init net, a net, and the parameters that one makes and the other uses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import Any

from netdsl.dsl import Blob, GradientMap, Net, Parameter, SparseGradient, Tag
from netdsl.errors import NetError, SchemaError, did_you_mean
from netdsl.initializers import ExternalInitializer, Initializer
from netdsl.ir import NetDef, TensorType
from netdsl.passes.edit import extract, for_test

AnyInitializer = Initializer | ExternalInitializer
InitializerLike = AnyInitializer | str | tuple[str, Mapping[str, Any]]

_SHARED: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("netdsl_parameter_sharing", default=())


class Model:
    """A net with its init net and parameters: what layer functions, gradients and optimizers append to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.net = Net(name)
        self.init_net = Net(f"{name}_init")
        self.parameters: dict[str, Parameter] = {}
        self.gradients = GradientMap({})
        self.initializer_class: type[Initializer] | None = None

    # ------------------------------------------------------------------ blobs

    def input(self, name: str, shape: Sequence[int | str | None] | None = None, dtype: Any = "float32") -> Blob:
        """Declare a blob that the caller feeds before each run."""
        return self.net.input(name, shape, dtype)

    def parameter(
        self,
        name: str,
        shape: Sequence[int],
        initializer: InitializerLike = "XavierFill",
        *,
        tag: Tag = Tag.WEIGHT,
        kind: str = "",
    ) -> Parameter:
        """Create a parameter in the current name scope, or return the shared one (see :meth:`sharing`).

        ``initializer`` is an Initializer, an operator name, or a pair of name and arguments; the last two
        use the model's ``initializer_class`` (PseudoFP16Initializer for half precision).

        Raises:
            NetError: a parameter of this name exists with another shape, or outside a sharing scope.
        """
        full = self.net.blob(name).name
        resolved = _shared_name(full)
        if resolved in self.parameters:
            return self._existing(resolved, full, tuple(shape))
        made = self._initializer(initializer).create_param(Blob(resolved, self.init_net), self.init_net, shape)
        made.tag, made.kind = tag, kind
        self.parameters[resolved] = made
        for blob in made.blobs:
            self.adopt(blob)
        made.blob = Blob(made.blob.name, self.net)
        made.blob_copy = {dtype: Blob(copy.name, self.net) for dtype, copy in made.blob_copy.items()}
        return made

    def _existing(self, name: str, asked: str, shape: tuple[int, ...]) -> Parameter:
        found = self.parameters[name]
        if found.shape != shape:
            raise NetError(f"parameter {name!r} exists with another shape", expected=found.shape, got=shape)
        if not _SHARED.get():
            raise NetError(f"parameter {asked!r} exists already", fix="give the layer another name, or use model.sharing")
        return found

    def _initializer(self, given: InitializerLike) -> AnyInitializer:
        if isinstance(given, Initializer | ExternalInitializer):
            return given
        name, kwargs = (given, {}) if isinstance(given, str) else given
        return (self.initializer_class or Initializer)(name, **kwargs)

    def adopt(self, blob: Blob) -> Blob:
        """Tell the net what the init net knows of a blob's type; return the net's blob."""
        known = self.init_net.type_of(blob)
        if known != TensorType():
            self.net.set_type(blob, known)
        return Blob(blob.name, self.net)

    @contextlib.contextmanager
    def sharing(self, scopes: Mapping[str, str]) -> Iterator[None]:
        """Let layers in name scope ``b`` use the parameters of scope ``a`` inside: ``model.sharing({"b": "a"})``.

        An empty scope is the outermost one.
        """
        if not scopes:
            raise SchemaError("sharing needs at least one pair of scopes", got=scopes)
        pairs = tuple((f"{b}/" if b else "", f"{a}/" if a else "") for b, a in scopes.items())
        token = _SHARED.set(_SHARED.get() + pairs)
        try:
            yield
        finally:
            _SHARED.reset(token)

    # ------------------------------------------------------------------ parameters

    def params(self, tag: Tag | str | None = None) -> list[Parameter]:
        """The parameters in the order of creation: all that can be trained, or those with ``tag``."""
        if tag is None:
            return [p for p in self.parameters.values() if p.tag is not Tag.COMPUTED]
        return [p for p in self.parameters.values() if p.tag is Tag(tag)]

    def freeze(self, *patterns: str | Parameter) -> list[Parameter]:
        """Exclude parameters from gradients and updates, by name or glob pattern; call it before add_gradients.

        Raises:
            NetError: a pattern that matches nothing, or a call after the gradients were added.
        """
        if self.gradients:
            raise NetError("parameters are frozen before the gradients are added", got=", ".join(map(str, patterns)))
        frozen: list[Parameter] = []
        for pattern in map(str, patterns):
            found = [p for name, p in self.parameters.items() if fnmatchcase(name, pattern)]
            if not found:
                near = did_you_mean(pattern, self.parameters)
                raise NetError(f"no parameter matches {pattern!r}", did_you_mean=near)
            frozen.extend(found)
        for parameter in frozen:
            parameter.frozen = True
        return frozen

    def add_gradients(self, loss: Any, *, wrt: Iterable[Any] | None = None) -> GradientMap:
        """Append the gradients of ``loss`` (see :meth:`Net.add_gradients`) and note each parameter's own.

        With frozen parameters, only what the others need is appended.
        """
        if wrt is None and any(p.frozen for p in self.params()):
            wrt = [p.blob for p in self.params() if not p.frozen]
        self.gradients = self.net.add_gradients(loss, wrt=None if wrt is None else list(wrt))
        for parameter in self.params():
            found = self.gradients[parameter.name] if parameter.name in self.gradients else None
            parameter.grad = None if parameter.frozen else found
        return self.gradients

    # ------------------------------------------------------------------ results

    def for_inference(self, outputs: Blob | str | Sequence[Blob | str]) -> Model:
        """Return a model that computes ``outputs`` and nothing else, in test mode.

        Its init net makes the parameters that are left.
        """
        names = [str(outputs)] if isinstance(outputs, Blob | str) else [str(b) for b in outputs]
        net = for_test(extract(self.net.definition, names))
        net = extract(net, names)
        made = Model(self.name)
        made.net = Net.from_definition(net, self.name)
        needed = [name for name in net.inputs if name in _written(self.init_net.definition)]
        if needed:
            made.init_net = Net.from_definition(extract(self.init_net.definition, needed), self.init_net.name)
        made.parameters = {n: p for n, p in self.parameters.items() if n in net.inputs}
        return made

    def describe(self) -> list[dict[str, Any]]:
        """One row per parameter: name, shape, dtype, tag, kind, copies, gradient, frozen."""
        return [_row(p, self.net) for p in self.parameters.values()]

    def save_tables(self) -> None:
        """Put the table of parameters into the net's metadata, where ``show --params`` and the picture find it."""
        self.net.metadata["parameters"] = self.describe()

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {len(self.parameters)} parameters, {len(self.net.definition.ops)} operators>"

    def _repr_html_(self) -> str:
        from importlib import import_module

        self.save_tables()
        return import_module("netdsl.viz").to_svg(self.net.definition)


def _row(p: Parameter, net: Net) -> dict[str, Any]:
    type_ = net.type_of(p.blob)
    grad = f"rows {p.grad.indices} of {p.grad.values}" if isinstance(p.grad, SparseGradient) else p.grad
    return {
        "name": p.name,
        "shape": list(p.shape or ()),
        "dtype": type_.dtype.value if isinstance(type_, TensorType) and type_.dtype else None,
        "tag": p.tag.value,
        "kind": p.kind,
        "copies": {dtype.value: str(copy) for dtype, copy in p.blob_copy.items()},
        "gradient": None if grad is None else str(grad),
        "frozen": p.frozen,
        **p.settings,
    }


def _shared_name(name: str) -> str:
    for scope, owner in reversed(_SHARED.get()):
        if name.startswith(scope):
            return owner + name.removeprefix(scope)
    return name


def _written(net: NetDef) -> set[str]:
    return {name for op in net.ops for name in op.outputs}
