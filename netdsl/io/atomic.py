"""Writing files whole or not at all: the one way in which netdsl writes."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import BinaryIO

import attrs

try:
    import fcntl
except ImportError:  # no POSIX: nothing tells whether a writer lives, so nothing is removed
    fcntl = None

Name = str | os.PathLike[str]


@contextlib.contextmanager
def replace_file(path: Name) -> Generator[BinaryIO]:
    """Open a new file beside ``path`` that takes its place when the block ends well and vanishes when it does not.

    A link is followed, and an existing file's permissions are kept. What is there and is no regular file (a pipe,
    a device such as /dev/null) or belongs to the process (/dev/stdout) stays, and is written into when the block
    ends well. What a killed writer of ``path`` left is removed first.

    Raises:
        OSError: the folder does not exist or cannot be written, or ``path`` is a folder; it names ``path``.
    """
    with replace_files([path]) as (file,):
        yield file


@contextlib.contextmanager
def replace_files(paths: Iterable[Name]) -> Generator[list[BinaryIO]]:
    """As :func:`replace_file`, for several files: none takes its place before all are whole and on the disk."""
    opened: list[_New] = []
    try:
        for path in paths:
            opened.append(_open(path))
        yield [new.file for new in opened]
        for new in opened:
            new.complete()
        folders = dict.fromkeys(new.target.parent for new in opened if new.temporary is not None)
        for new in opened:
            new.commit()
        for folder in folders:
            _sync(folder)
    finally:
        for new in opened:
            new.close()


@attrs.define
class _New:
    """What is being written: a temporary file beside its target, or memory where the target is written into."""

    path: Name
    target: Path
    file: BinaryIO
    temporary: Path | None = None
    mode: int | None = None

    def complete(self) -> None:
        """Have everything on the disk."""
        self.file.flush()
        if self.temporary is not None:
            if self.mode is not None:
                os.chmod(self.temporary, self.mode)
            os.fsync(self.file.fileno())

    def commit(self) -> None:
        """Let the target be what was written."""
        if self.temporary is not None:
            if fcntl is None:
                self.file.close()  # what is open cannot be renamed there
            os.replace(self.temporary, self.target)
            self.temporary = None
            return
        self.file.seek(0)
        stream = _stream(self.path)
        with open(os.open(self.path, os.O_WRONLY) if stream is None else os.dup(stream), "wb") as into:
            shutil.copyfileobj(self.file, into)

    def close(self) -> None:
        """Let go of the temporary file, which is removed unless it has become the target."""
        if self.temporary is not None:
            self.temporary.unlink(missing_ok=True)
        self.file.close()


def _open(path: Name) -> _New:
    """Open what takes the place of ``path``, or is written into it."""
    try:
        found = os.stat(path).st_mode
    except FileNotFoundError:
        found = None
    if found is not None and stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if found is not None and (not stat.S_ISREG(found) or _stream(path) is not None):
        return _New(path, Path(path), io.BytesIO())
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", os.fspath(target.parent))
    _clean(target)
    try:
        temporary, file = _temporary(target, 0o666 if found is None else 0o600)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
    return _New(path, target, file, temporary, None if found is None else stat.S_IMODE(found))


def _stream(path: Name) -> int | None:
    """The number of the open file of this process that ``path`` stands for, as /dev/stdout and /dev/fd/1 do."""
    name = os.path.abspath(path)
    while os.path.realpath(os.path.dirname(name)) not in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
        if not os.path.islink(name):
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return int(os.path.basename(name))


# ---------------------------------------------------------------------- temporary files
#
# A writer holds a lock on its temporary file until the file is renamed or removed; the system drops the lock when
# the writer ends, however it ends. So a file whose lock can be had is a dead writer's.


def _prefix(target: Path) -> str:
    """How the temporary files of a target begin; short enough for the longest name that a folder can hold."""
    return f".{os.fsencode(target.name)[:200].decode('utf-8', 'ignore')}."


def _temporary(target: Path, mode: int) -> tuple[Path, BinaryIO]:
    """Create a temporary file beside ``target``, and lock it."""
    while True:
        path = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}.tmp")
        file = open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        if not _lock(file, wait=True) or os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # another writer took it for a dead one's before it was locked


def _clean(target: Path) -> None:
    """Remove the temporary files of writers of ``target`` that were killed."""
    names = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:  # it may be writable and not readable
        for entry in entries:
            if names.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_dead(entry.path)


def _remove_if_dead(path: str) -> None:
    with contextlib.suppress(OSError), open(path, "r+b") as file:
        if _lock(file, wait=False):
            os.unlink(path)


def _lock(file: BinaryIO, *, wait: bool) -> bool:
    """Lock a file until it is closed, if that can be done."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
