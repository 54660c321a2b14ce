"""``Model``: an init net, a net, and the parameters that one makes and the other uses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import Any

import attrs

from netdsl.dsl import Blob, GradientMap, Net, Parameter, Tag
from netdsl.errors import NetError, SchemaError, did_you_mean
from netdsl.initializers import ExternalInitializer, Initializer
from netdsl.ir import NetDef
from netdsl.model.tables import groups_text, row
from netdsl.passes.edit import extract, inference

AnyInitializer = Initializer | ExternalInitializer
InitializerLike = AnyInitializer | str | tuple[str, Mapping[str, Any]]

_SHARED: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("netdsl_parameter_sharing", default=())


class Model:
    """A net with its init net and parameters: what layer functions, gradients and optimizers append to.

    ``initializer_class`` says how precisions are kept where a layer is given only the operator that fills:
    PseudoFP16Initializer for half precision; None is plain single precision.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.net = Net(name)
        self.init_net = Net(f"{name}_init")
        self.parameters: dict[str, Parameter] = {}
        self.gradients = GradientMap({})
        self.initializer_class: type[Initializer] | None = None
        self._asked: set[str] = set()

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
        tag: Tag | str = Tag.WEIGHT,
        kind: str = "",
    ) -> Parameter:
        """Create a parameter in the current name scope, or return the shared one (see :meth:`sharing`).

        ``initializer`` is an Initializer, an operator name, or a pair of name and arguments; the last two
        use the model's ``initializer_class`` (PseudoFP16Initializer for half precision).

        Raises:
            NetError: the name is taken, or the shared parameter has another shape.
        """
        full = self.net.blob(name).name
        resolved, shared = _shared_name(full)
        if full in self._asked or (resolved in self.parameters and not shared):
            raise NetError(
                f"parameter {full!r} exists already", fix="give the layer another name, or use model.sharing"
            )
        found = self.parameters.get(resolved)
        if found is None:
            found = self._create(resolved, tuple(shape), self._initializer(initializer), Tag(tag), kind)
        elif found.shape != tuple(shape):
            raise NetError(f"shared parameter {resolved!r} has another shape", expected=found.shape, got=tuple(shape))
        self._asked.add(full)
        return found

    def _create(self, name: str, shape: tuple[int, ...], initializer: AnyInitializer, tag: Tag, kind: str) -> Parameter:
        if self.init_net.computes(name) or self.net.computes(name):
            raise NetError(f"parameter {name!r} would overwrite a blob of this name", fix="give the layer another name")
        made = initializer.create_param(Blob(name, self.init_net), self.init_net, shape)
        made.tag, made.kind = tag, kind
        made.blob_copy = {dtype: self.net.adopt(copy, self.init_net) for dtype, copy in made.blob_copy.items()}
        made.blob = self.net.adopt(made.blob, self.init_net)
        self.parameters[name] = made
        return made

    def _initializer(self, given: InitializerLike) -> AnyInitializer:
        if isinstance(given, Initializer | ExternalInitializer):
            return given
        name, kwargs = (given, {}) if isinstance(given, str) else given
        return (self.initializer_class or Initializer)(name, **kwargs)

    @contextlib.contextmanager
    def sharing(self, scopes: Mapping[str, str]) -> Iterator[None]:
        """Let layers in name scope ``b`` use the parameters of scope ``a`` inside: ``model.sharing({"b": "a"})``.

        Whichever layer comes first makes them, under the name in ``a``; gradients of all uses add up, and an
        optimizer updates them once. An empty scope is the outermost one.

        Raises:
            SchemaError: no scopes, or one shared with itself.
        """
        if not scopes:
            raise SchemaError("sharing needs at least one pair of scopes", got=scopes)
        if itself := [b for b, a in scopes.items() if a == b]:
            raise SchemaError(f"scope {itself[0]!r} cannot share with itself", got=dict(scopes))
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
        for pattern in patterns:
            names = [name for name in self.parameters if name == str(pattern) or fnmatchcase(name, str(pattern))]
            if not names:
                near = did_you_mean(str(pattern), self.parameters)
                raise NetError(f"no parameter matches {str(pattern)!r}", did_you_mean=near)
            frozen.extend(self.parameters[name] for name in names)
        for parameter in frozen:
            parameter.frozen = True
        return frozen

    def add_gradients(self, loss: Any, *, wrt: Iterable[Any] | None = None) -> GradientMap:
        """Append the gradients of ``loss`` (see :meth:`Net.add_gradients`) and note each parameter's own.

        Only what the gradients of the parameters need is appended, frozen ones left out: the data has none. ``wrt``
        names other blobs or parameters in their place: ``wrt=[*model.params(), x]`` is for the gradient of ``x`` too.
        A model that has no parameters to train gets all gradients, as a net does. A parameter of which the net
        reads a copy in another precision has that copy's gradient.
        """
        if wrt is None and self.params():
            wrt = [p for p in self.params() if not p.frozen]
        self.gradients = self.net.add_gradients(loss, wrt=None if wrt is None else self._read(wrt))
        for parameter in self.params():
            found = [self.gradients[blob] for blob in parameter.blobs if blob in self.gradients]
            parameter.grad = found[0] if found and not parameter.frozen else None
        return self.gradients

    def _read(self, wanted: Any) -> list[Blob | str]:
        """The blobs to differentiate by: of a parameter, what the net reads of it."""
        read, found = {*self.net.definition.inputs}, list[Blob | str]()
        for each in [wanted] if isinstance(wanted, str | Blob | Parameter) else wanted:
            found += [blob for blob in each.blobs if blob.name in read] if isinstance(each, Parameter) else [each]
        return found

    # ------------------------------------------------------------------ results

    def for_inference(self, outputs: Blob | str | Sequence[Blob | str]) -> Model:
        """Return a model that computes ``outputs`` and nothing else, in test mode.

        It reads no labels, updates nothing, and its init net makes (or checks) only the parameters that are left.

        Raises:
            BlobError: an output that the net does not compute.
            NetError: an output that exists in training only, such as the mask of a dropout.
        """
        names = [str(blob) for blob in ([outputs] if isinstance(outputs, Blob | str) else outputs)]
        net = inference(self.net.definition, [self.net.blob(name).name for name in names])
        made = Model(self.name)
        made.initializer_class = self.initializer_class
        made.net = Net.from_definition(net, self.name)
        made.init_net = Net.from_definition(_making(self.init_net.definition, net.inputs), self.init_net.name)
        for name, parameter in self.parameters.items():
            if name in net.inputs:
                made.parameters[name] = made._taken(parameter)
        return made

    def _taken(self, parameter: Parameter) -> Parameter:
        """The record of another model's parameter here: without gradient, and with the copies that are made here."""
        made = self.init_net
        copies = {dtype: copy for dtype, copy in parameter.blob_copy.items() if made.computes(copy)}
        return attrs.evolve(
            parameter,
            blob=Blob(parameter.name, self.net),
            blob_copy={dtype: Blob(copy.name, self.net) for dtype, copy in copies.items()},
            grad=None,
            settings={},
        )

    def describe(self) -> list[dict[str, Any]]:
        """One row per parameter: name, shape, dtype, tag, kind, copies, gradient, frozen."""
        return [row(p, self.net) for p in self.parameters.values()]

    def describe_groups(self) -> str:
        """How each parameter is trained: rate, decay and optimizer, and which rule decided each, as a table."""
        return groups_text(self.describe())

    def save_tables(self) -> None:
        """Put the table of parameters into the net's metadata, where ``show --params`` and the picture find it."""
        self.net.annotate("parameters", self.describe())

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {len(self.parameters)} parameters, {len(self.net.definition.ops)} operators>"

    def _repr_html_(self) -> str:
        # A display is the one thing a model asks of viz, which stands beside it: so late, and by name.
        from importlib import import_module

        told = {**self.net.metadata, "parameters": self.describe()}
        return import_module("netdsl.viz").to_svg(attrs.evolve(self.net.definition, metadata=told))


def _shared_name(name: str) -> tuple[str, bool]:
    """The name of the parameter that ``name`` stands for now, and whether scopes share it."""
    for scope, owner in reversed(_SHARED.get()):
        if name.startswith(scope):
            return owner + name.removeprefix(scope), True
    return name, any(name.startswith(owner) for _, owner in _SHARED.get())


def _making(init: NetDef, parameters: Sequence[str]) -> NetDef:
    """The part of an init net that makes ``parameters``, with the checks of those that it does not make."""
    written = {name for op in init.ops for name in op.outputs}
    made = extract(init, [name for name in parameters if name in written])
    checks = [op for op in init.ops if not op.outputs and set(op.inputs) <= {*parameters}]
    inputs = dict.fromkeys([*made.inputs, *(name for op in checks for name in op.inputs if name not in written)])
    types = {name: type_ for name, type_ in init.types.items() if name in inputs}
    return attrs.evolve(made, ops=[*made.ops, *checks], inputs=inputs, types=types)
