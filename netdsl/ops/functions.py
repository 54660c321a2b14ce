"""Functions of the author's that nets call by name, and which of them may be called.

A net records ``module:name``, and so does the file of a stranger: importing the module would already run it.
So nothing that a net names is imported or called unless a program has said so in this process: by giving it to
``net.Python``, by :func:`python_function`, or by ``Workspace(python=[...])``. Records that are loaded, parsed
or appended say nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from netdsl.errors import RunError, SchemaError

Function = Callable[..., Any]

_F = TypeVar("_F", bound=Function)
_FORM = "module:name, or module:* for the functions that a module defines"


class Allowed:
    """Functions that nets may call: each as itself, as ``module:name``, or all of a module as ``module:*``.

    ``module:*`` allows the public functions that the module itself defines: not what it imports, nothing with a
    dot, no classes. Of ``builtins`` each must be named.
    """

    def __init__(self, given: Iterable[str | Function] | str | Function = ()) -> None:
        self._functions: dict[str, Function | None] = {}
        self._modules: set[str] = set()
        for one in [given] if isinstance(given, str) or callable(given) else given:
            self.add(one)

    def add(self, given: str | Function) -> None:
        """Allow a function, the one that ``module:name`` names, or those of ``module:*``; nothing is imported.

        Raises:
            SchemaError: a text of another form, ``builtins:*``, or a function without a name of its own.
        """
        if not isinstance(given, str):
            self._functions[name_of(given)] = given
            return
        module, _, name = given.partition(":")
        if name != "*":
            self._functions.setdefault(checked(given), None)
            return
        checked(f"{module}:all", given)
        if module == "builtins":
            raise SchemaError("the functions of builtins are allowed one by one", got=given)
        self._modules.add(module)

    def __contains__(self, path: str) -> bool:
        """Whether ``path`` may be allowed, as far as that can be told without importing anything."""
        return path in self._functions or self._by_module(path)

    def find(self, path: str) -> Function | None:
        """Return the function that ``path`` names, imported where need be; None where it is not allowed.

        Raises:
            RunError: it is allowed, but there is no such module or function.
        """
        if path in self._functions:
            return self._functions[path] or resolve(path)
        return _defined(path) if self._by_module(path) else None

    def _by_module(self, path: str) -> bool:
        module, _, name = path.partition(":")
        return module in self._modules and not name.startswith("_") and "." not in name


_HERE = Allowed()


def allow(given: str | Function) -> None:
    """Allow what the author's program names, for the rest of the process."""
    _HERE.add(given)


def allowed(path: str) -> bool:
    """Whether this process allows every workspace to call ``path``."""
    return path in _HERE


def find(path: str) -> Function | None:
    """Return the function ``path`` if this process allows it to every workspace."""
    return _HERE.find(path)


def python_function(function: _F) -> _F:
    """Let nets call ``function`` by its name, in every workspace of this process; return it (a decorator).

    A net that the program builds with ``net.Python(function=f)`` needs none: giving the function allows it. It is
    for functions of nets that come from files.

    Raises:
        SchemaError: a function without a name of its own, such as a lambda or a local one.
    """
    allow(function)
    return function


def name_of(function: Any) -> str:
    """Return the ``module:name`` of a function.

    Raises:
        SchemaError: a function that cannot be imported by its name, such as a lambda or a local one.
    """
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not module or not name or "<" in name:
        raise SchemaError(
            "Python: a net records a function by its name, and this one cannot be imported",
            expected="a function defined at the top level of a module",
            got=name or repr(function)[:80],
        )
    return f"{module}:{name}"


def checked(path: str, given: str | None = None) -> str:
    """Return ``path`` if it has the form ``module:name``; ``given`` is what the author wrote, if something else.

    Raises:
        SchemaError: it has not.
    """
    module, _, name = path.partition(":")
    if not (module and name and all(part.isidentifier() for part in f"{module}.{name}".split("."))):
        expected = "module:name" if given is None else _FORM
        raise SchemaError("Python: this names no function", expected=expected, got=given or path)
    return path


def resolve(path: str) -> Function:
    """Import the function that ``path`` (module:name) names, which must be allowed.

    Raises:
        RunError: no such module or function.
    """
    found = _imported(path)
    try:
        for part in path.partition(":")[2].split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise _missing(path, error) from error
    if not callable(found):
        raise RunError(f"Python: {path!r} is no function", got=type(found).__name__)
    return found


def _defined(path: str) -> Function | None:
    """The function ``path`` if its module, which is allowed, defines it."""
    module, _, name = path.partition(":")
    found = vars(_imported(path)).get(name)
    own = callable(found) and not isinstance(found, type) and getattr(found, "__module__", None) == module
    return found if own else None


def _imported(path: str) -> Any:
    try:
        return importlib.import_module(path.partition(":")[0])
    except ImportError as error:
        raise _missing(path, error) from error


def _missing(path: str, error: Exception) -> RunError:
    return RunError(f"Python: cannot import the function {path!r}", why=error)
