"""Functions of the author's as operators: recorded by name, and found when the net runs, if they are allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netdsl.errors import GradientError, MissingKernelError, RunError, SchemaError
from netdsl.ir import UNKNOWN, BlobType
from netdsl.ops import functions
from netdsl.ops.context import RunContext
from netdsl.ops.dtypes import ANYTHING
from netdsl.ops.gradient import Gradients
from netdsl.ops.schema import ANY_INPUT, In, Operator, Out, arg, operator

_FUNCTION = "The function, as 'module:name'; the builder takes the function itself too."
_GRADIENT = "The function that computes gradients, likewise; without it there are none."
_IN = "Positions of the inputs that have gradients; all by default."
_OUT = "Positions of the outputs whose gradients the gradient function gets; all by default."
_TOKEN = "Caffe2's name of a function in the process that built the net; ``Workspace.functions`` may have one for it."


def path_of(value: Any) -> Any:
    """Return 'module:name' for a function, which is thereby allowed; a text is checked to be of this form.

    Raises:
        SchemaError: a function that cannot be imported by its name, such as a lambda or a local one.
    """
    if isinstance(value, str):
        return functions.checked(value) if value else value
    if not callable(value):
        return value  # whose kind is then found to be wrong
    path = functions.name_of(value)
    if functions.resolve(path) is not value:
        raise SchemaError("Python: another function is found under this name", got=path)
    functions.allow(value)  # no record holds a function: the author's program gave it
    return path


def _allow(args: Mapping[str, Any]) -> None:
    """Allow the functions that the author's program named by texts."""
    for path in (args.get("function"), args.get("gradient_function")):
        if path:
            functions.allow(path)


@operator
class Python(Operator):
    """Call a function with the inputs as read-only NumPy arrays; it returns one array for each output.

    ``net.Python([x], "y", function=f, gradient_function=df)`` records both by name, so they must be
    importable, and allows them in this process. A net from a file allows nothing: what it names is neither
    imported nor called unless ``netdsl.python_function(f)`` or ``Workspace(python=["module:name"])`` allows it.
    ``df`` is called with the inputs, the outputs and the outputs' gradients, and returns one gradient for each
    input; None means zeros. Blobs that are no tensors are passed as they are.
    """

    authored = staticmethod(_allow)
    inputs = (In("Xs", ANYTHING, many=1, least=0),)
    outputs = (Out("Ys", many=1, least=0, inplace=ANY_INPUT),)

    function: str = arg("", doc=_FUNCTION, prepare=path_of)
    gradient_function: str = arg("", doc=_GRADIENT, prepare=path_of)
    grad_input_indices: tuple[int, ...] = arg((), doc=_IN)
    grad_output_indices: tuple[int, ...] = arg((), doc=_OUT)
    token: str = arg("", doc=_TOKEN)
    pass_workspace: bool = arg(False, doc="Of Caffe2's; it cannot be run here.")

    def calls(self) -> tuple[str, str]:
        return self.function, self.token

    def gradient(self, g: Gradients) -> None:
        if not self.gradient_function:
            raise GradientError(
                f"Python: the function {self.function or self.token!r} has no gradient",
                fix="give gradient_function=, or put StopGradient after it",
            )
        targets = [g.grad.Xs[i] for i in _chosen(self.grad_input_indices, g.grad.Xs, "grad_input_indices")]
        places = _chosen(self.grad_output_indices, g.blob.Ys, "grad_output_indices")
        grads = [g.grad.Ys[i] or g.zeros(g.blob.Ys[i]) for i in places]
        g.add(PythonGradient, [g.blob.Xs, g.blob.Ys, grads], targets)

    def run(self, ctx: RunContext, Xs: tuple[Any, ...]) -> tuple[tuple[Any, ...]]:
        function = _runnable(ctx, *self.calls())
        results = _called(ctx, function, self.function, Xs, self.wanted)
        if None in [r if r is None else 0 for r in results]:
            raise RunError(f"Python: {self.function!r} returned None for an output", expected="an array")
        return (results,)


@operator
class PythonGradient(Operator):
    """Gradients of :class:`Python`, by its gradient function."""

    authored = staticmethod(_allow)
    inputs = (In("Zs", ANYTHING, many=1, least=0, doc="Inputs, outputs, and the outputs' gradients."),)
    outputs = (Out("dXs", many=1, least=0, inplace=ANY_INPUT),)

    function: str = arg("", doc=_FUNCTION, prepare=path_of)
    gradient_function: str = arg("", doc=_GRADIENT, prepare=path_of)
    grad_input_indices: tuple[int, ...] = arg((), doc=_IN)
    grad_output_indices: tuple[int, ...] = arg((), doc=_OUT)
    token: str = arg("", doc=_TOKEN)
    pass_workspace: bool = arg(False, doc="As in Python.")

    def calls(self) -> tuple[str, str]:
        return self.gradient_function, self.token and f"{self.token}_gradient"

    def infer(self, Zs: tuple[BlobType, ...]) -> tuple[tuple[BlobType, ...]]:
        return (tuple(Zs[i] if 0 <= i < len(Zs) else UNKNOWN for i in self._sources()),)

    def run(self, ctx: RunContext, Zs: tuple[Any, ...]) -> tuple[tuple[Any, ...]]:
        function = _runnable(ctx, *self.calls())
        found = _called(ctx, function, self.gradient_function, Zs, self.wanted)
        sources = [Zs[i] for i in self._sources()]
        return (tuple(ctx.xp.zeros_like(x) if dx is None else dx for x, dx in zip(sources, found, strict=True)),)

    def _sources(self) -> Sequence[int]:
        return self.grad_input_indices or range(self.wanted)


def _chosen(indices: Sequence[int], blobs: Sequence[Any], name: str) -> Sequence[int]:
    if any(not 0 <= i < len(blobs) for i in indices):
        raise GradientError(
            f"Python: {name} names blobs that are not there", expected=f"0 to {len(blobs) - 1}", got=list(indices)
        )
    return indices or range(len(blobs))


def _runnable(ctx: RunContext, path: str, token: str) -> Callable[..., Any]:
    """The function that the workspace or this process allows the net to call."""
    if path:
        found = ctx.function(path)
        if found is None and (found := functions.find(path)) is None:
            raise RunError(
                f"Python: nothing allows this net to call {path!r}",
                why="a net may come from a stranger, so it calls only what your program names",
                fix=f"if you trust it: Workspace(python=[{path!r}]), @netdsl.python_function where it is defined, "
                f"or --allow-python {path} of a command",
            )
        return found
    if token:
        found = ctx.function(token)
        if found is None:
            raise MissingKernelError(
                "Python: this function existed only in the process that built the net",
                token=token,
                fix=f"build it with net.Python(..., function='module:name'), or set workspace.functions[{token!r}]",
            )
        return found
    raise SchemaError("Python needs the argument 'function'", expected="module:name")


def _called(
    ctx: RunContext, function: Callable[..., Any], path: str, values: Sequence[Any], wanted: int
) -> tuple[Any, ...]:
    """Call the author's function; return its results as fresh arrays of the backend, None as None."""
    result = function(*[_shown(ctx, value) for value in values])
    results = tuple(result) if isinstance(result, tuple | list) else ((result,) if wanted or result is not None else ())
    if len(results) != wanted:
        raise RunError(f"Python: {path!r} returned {len(results)} values", expected=f"{wanted}, one for each output")
    return tuple(_taken(ctx, path, value) for value in results)


def _shown(ctx: RunContext, value: Any) -> Any:
    if not hasattr(value, "dtype"):
        return value
    view = ctx.xp.to_host(value).view()
    view.flags.writeable = False  # writing it would change a blob behind the net's back
    return view


def _taken(ctx: RunContext, path: str, value: Any) -> Any:
    if value is None:
        return None
    if not hasattr(value, "dtype"):
        raise RunError(
            f"Python: {path!r} returned no array", expected="an array for each output", got=type(value).__name__
        )
    return ctx.xp.from_host(value.copy())  # the author may keep, or have returned, what others hold
