"""Every exception netdsl raises, in one message form; this module imports nothing of ours."""

from __future__ import annotations

import difflib
import pickle
from collections.abc import Iterable, Mapping


class NetdslError(Exception):
    """Base of all netdsl errors: one line of what happened, then aligned details.

    ``details`` are keyword arguments; underscores in their names become spaces and None is left out.
    """

    def __init__(self, what: str, **details: object) -> None:
        self.what = what
        self.details = {key.replace("_", " "): value for key, value in details.items() if value is not None}
        self._word()

    def tell(self, **details: object) -> None:
        """Add details that are known only where the error passes; those that it has stay."""
        for key, value in details.items():
            if value is not None:
                self.details.setdefault(key.replace("_", " "), value)
        self._word()

    def _word(self) -> None:
        width = max(map(len, self.details), default=0)
        lines = [f"  {key:<{width}} : {value}" for key, value in self.details.items()]
        self.args = (printable("\n".join([self.what, *lines])),)

    def __reduce__(self) -> tuple[object, ...]:
        details = {key: _sendable(value) for key, value in self.details.items()}
        return _blank, (type(self),), {**vars(self), "details": details}

    def __setstate__(self, state: dict[str, object] | None) -> None:
        vars(self).update(state or {})
        self._word()


def _blank(cls: type[NetdslError]) -> NetdslError:
    return cls.__new__(cls)


def _sendable(value: object) -> object:
    """A detail as another process can read it: itself, or its text; exceptions of others may not come back whole."""
    if isinstance(value, BaseException):
        return str(value)
    try:
        pickle.dumps(value)
    except Exception:
        return str(value)
    return value


class UnknownOperatorError(NetdslError, AttributeError):
    """An operator type that nothing declares."""


class SchemaError(NetdslError, ValueError):
    """An operator used against its schema: arity, arguments or in-place rules."""


class InferenceError(NetdslError, ValueError):
    """Types or shapes that an operator cannot accept."""


class GradientError(NetdslError, ValueError):
    """A gradient that does not exist or would be wrong."""


class BlobError(NetdslError, LookupError):
    """A blob that does not exist where it is read."""


class NetError(NetdslError, ValueError):
    """A net, or a request about one, that makes no sense as a whole."""


class ParseError(NetdslError, ValueError):
    """Text that is no net; ``line`` and ``column`` count from 1."""

    def __init__(self, what: str, *, line: int = 0, column: int = 0, **details: object) -> None:
        self.line, self.column = line, column
        super().__init__(what, **details)


class FileFormatError(NetdslError, ValueError):
    """A file that is truncated, corrupt or of another kind than expected."""


class MissingKernelError(NetdslError, NotImplementedError):
    """An operator that cannot be executed here."""


class RunError(NetdslError, RuntimeError):
    """An operator that refused to run on the values it was given."""


class OutOfMemoryError(RunError, MemoryError):
    """Buffers that a workspace may not have, or the machine has not."""


class UnknownArgumentWarning(UserWarning):
    """A file has an argument that the operator does not know: it is kept, and does nothing."""


class NearNameWarning(UserWarning):
    """A new name that becomes an input of a net, and that misspells a blob which the net has."""


class MissingExtraError(NetdslError, ImportError):
    """An optional dependency that is not installed; names the extra that brings it."""


def locate(error: BaseException, what: str, where: str, inputs: Mapping[str, object], added_at: object) -> None:
    """Tell what was running when ``error`` was raised: operator ``what`` of ``where``, with its inputs.

    An error of ours gets details. One of others gets a note, and so does one that tells of another operator: of a
    nested net, which ``what`` was running.
    """
    place = f"{what}     ({where})"
    if isinstance(error, NetdslError) and str(error.details.get("operator", what)) in (what, place):
        error.details["operator"] = place
        error.tell(inputs=", ".join(f"{name}: {type_}" for name, type_ in inputs.items()) or None, added_at=added_at)
        return
    lines = [f"while running {place}", *(f"  {name} : {type_}" for name, type_ in inputs.items())]
    error.add_note("\n".join(lines if added_at is None else [*lines, f"  added at : {added_at}"]))


def printable(text: str, keep: str = "\n\t") -> str:
    """Return ``text`` with what does not print (a terminal's escapes, turned writing) escaped, ``keep`` aside."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return up to three of ``known`` that look like ``name``, or None."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)
    return ", ".join(folded[match] for match in close) or None
