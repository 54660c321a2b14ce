"""Files are whole or not at all, what is no regular file is written into, and killed writers leave nothing for long."""

from __future__ import annotations

import ast
import errno
import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import netdsl as nd
from netdsl import io
from netdsl.cli.main import main
from netdsl.io.atomic import replace_file, replace_files

ROOT = Path(__file__).resolve().parent.parent.parent
NET = nd.parse('net "small"\ninput x: float32[3]\ny = Relu(x)\noutput y\n')
AS_ROOT = os.geteuid() == 0
TEMPORARY = ".a.net.0123456789ab.tmp"


def write(path: object, text: bytes = b"new") -> None:
    with replace_file(path) as file:  # type: ignore[arg-type]
        file.write(text)


def test_there_is_one_way_to_write_a_file() -> None:
    """No other module opens a file to write, renames one or makes a temporary one."""
    words = {"write_text", "write_bytes", "mkstemp", "mkdtemp", "NamedTemporaryFile", "savez", "tofile"}
    for path in sorted((ROOT / "netdsl").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path.name != "atomic.py" else ():
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                mode = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
                writes = called == "open" and any(set(ast.unparse(given)) & set("wax+") for given in mode)
                bad = writes or called in ("os.replace", "os.rename") or called.rpartition(".")[2] in words
                assert not bad, f"{path}:{node.lineno}: {ast.unparse(node)[:80]}"


# ---------------------------------------------------------------------- what is no regular file


def drain(path: Path) -> tuple[threading.Thread, list[bytes]]:
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    return reader, got


def saves(path: Path, folder: Path) -> dict[str, object]:
    (folder / "n.net").write_text(NET and io_text())
    return {
        "save": lambda: nd.save(NET, path, format="net"),
        "save_tensors": lambda: io.save_tensors({"w": np.ones(3, np.float32)}, path),
        "draw": lambda: main(["draw", str(folder / "n.net"), "-o", str(path)]),
    }


def io_text() -> str:
    from netdsl.ir import dump

    return dump(NET)


@pytest.mark.parametrize("what", ["save", "save_tensors", "draw"])
def test_a_pipe_is_written_into_and_stays(what: str, tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe.svg", tmp_path / "plain.svg"
    os.mkfifo(pipe)
    reader, got = drain(pipe)
    saves(pipe, tmp_path)[what]()  # type: ignore[operator]
    reader.join(10)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    saves(plain, tmp_path)[what]()  # type: ignore[operator]
    assert got == [plain.read_bytes()]
    assert sorted(os.listdir(tmp_path)) == ["n.net", "pipe.svg", "plain.svg"]


def test_a_link_to_a_pipe_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    reader, got = drain(tmp_path / "pipe")
    write(tmp_path / "link")
    reader.join(10)
    assert got == [b"new"]
    assert (tmp_path / "link").is_symlink()


def test_nothing_reaches_a_pipe_where_writing_fails(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def half() -> None:
        with replace_file(tmp_path / "pipe") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()  # it would wait for a reader


def test_devices_are_written_into(tmp_path: Path) -> None:
    before = os.stat("/dev/null")
    nd.save(NET, "/dev/null", format="pb")
    write("/dev/null")
    after = os.stat("/dev/null")
    assert (stat.S_ISCHR(after.st_mode), after.st_ino, after.st_rdev) == (True, before.st_ino, before.st_rdev)
    with pytest.raises(OSError, match="No space left") as caught:
        nd.save(NET, "/dev/full", format="net")
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.skipif(not AS_ROOT, reason="only root can make devices, and replace them")
def test_a_device_in_a_folder_of_ones_own_stays(tmp_path: Path) -> None:
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.open("wb").close()
    except OSError:
        pytest.skip("no devices can be made here")
    write(path)
    assert stat.S_ISCHR(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["null"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_the_streams_of_the_process_are_written_into(name: str, into: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = f"import sys, netdsl as nd; print('# first', flush=True); net = nd.parse({io_text()!r})\n"
    code += f"nd.save(net, {name!r}, format='net'); print('# last')"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (tmp_path / "out").open("wb") as out:
        stdout = subprocess.PIPE if into == "pipe" else out
        done = subprocess.run([sys.executable, "-c", code], stdout=stdout, check=True, cwd=tmp_path, env=env)
    got = done.stdout if into == "pipe" else (tmp_path / "out").read_bytes()
    assert got.decode() == f"# first\n{io_text()}# last\n"
    assert sorted(os.listdir(tmp_path)) == ["link", "out"]


# ---------------------------------------------------------------------- links, modes, folders


def test_the_target_of_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link, chain = tmp_path / "there/a", tmp_path / "link", tmp_path / "chain"
    real.write_bytes(b"old")
    before = real.stat().st_ino
    link.symlink_to("there/a")
    chain.symlink_to("link")
    write(chain)
    assert real.read_bytes() == b"new"
    assert real.stat().st_ino != before
    assert (link.is_symlink(), chain.is_symlink(), real.is_symlink()) == (True, True, False)
    real.unlink()
    write(chain, b"again")  # a link to what is not there yet
    assert real.read_bytes() == b"again"


def test_links_that_lead_nowhere_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_are_kept_and_never_wider_while_writing(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replace_file(path) as file:
        file.write(b"new")
        (temporary,) = set(tmp_path.iterdir()) - {path}
        assert temporary.stat().st_mode & 0o777 == 0o600
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder with a file, in which an ordinary user can write nothing."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    (folder / "a.net").write_bytes(b"old")
    (folder / "a.net").chmod(0o666)
    folder.chmod(0o555)
    if AS_ROOT:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if AS_ROOT:
            os.seteuid(0)
        folder.chmod(0o755)
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("name", ["a.net", "new.net"])
def test_a_folder_that_cannot_be_written_is_told_by_the_files_name(name: str, closed: Path) -> None:
    with pytest.raises(PermissionError) as caught:
        write(closed / name)
    assert caught.value.filename == str(closed / name)
    assert os.listdir(closed) == ["a.net"]
    assert (closed / "a.net").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["n" * 255, "日" * 85, "é" * 127, "x.net"])
def test_names_as_long_as_a_folder_holds(name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    write(tmp_path / name, b"twice")
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"twice"


# ---------------------------------------------------------------------- no space


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    io.save_tensors({"w": np.zeros(3)}, path)
    old = path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            io.save_tensors({"w": np.zeros(100_000)}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["a.npz"]


def test_several_files_take_their_places_only_when_all_are_on_the_disk(tmp_path: Path, monkeypatch) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"old")
    real, synced = os.fsync, []

    def full(handle: int) -> None:
        synced.append(handle)
        if len(synced) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)

    def write_all() -> None:
        with replace_files(paths) as files:
            for file in files:
                file.write(b"new")

    with pytest.raises(OSError, match="No space"):
        write_all()
    assert [path.read_bytes() for path in paths] == [b"old"] * 3
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path: Path, monkeypatch) -> None:
    seen: list[tuple[bool, str]] = []
    real = os.fsync

    def sync(handle: int) -> None:
        seen.append((stat.S_ISDIR(os.fstat(handle).st_mode), (tmp_path / "a").read_text()))
        real(handle)

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "fsync", sync)
    write(tmp_path / "a")
    assert seen == [(False, "old"), (True, "new")]


# ---------------------------------------------------------------------- killed writers


WRITER = """
import os, sys
from netdsl.io.atomic import replace_file
with replace_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is writing ``a.net``, and ends well when it is told to."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "a.net")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        yield process
        process.kill()


def temporaries(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_what_a_killed_writer_left_is_removed_by_the_next(writer: subprocess.Popen[str], tmp_path: Path) -> None:
    (left,) = temporaries(tmp_path)
    writer.kill()
    writer.wait()
    write(tmp_path / "b.net")  # another target's
    write(tmp_path / "a.net.b")
    assert temporaries(tmp_path) == [left]
    write(tmp_path / "a.net")
    assert temporaries(tmp_path) == []
    assert (tmp_path / "a.net").read_bytes() == b"new"


def test_what_another_process_is_writing_is_let_be(writer: subprocess.Popen[str], tmp_path: Path) -> None:
    (left,) = temporaries(tmp_path)
    write(tmp_path / "a.net")
    assert temporaries(tmp_path) == [left]
    assert writer.stdin is not None
    writer.stdin.write("\n")
    writer.stdin.close()
    assert writer.wait() == 0
    assert (tmp_path / "a.net").read_bytes() == b"half"  # who ends last wins
    assert temporaries(tmp_path) == []


def test_only_files_of_this_form_are_removed(tmp_path: Path) -> None:
    other = [
        ".a.net.tmp",
        ".a.net.0123456789ag.tmp",
        "a.net.0123456789ab.tmp",
        ".a.net.0123456789ab.tmp2",
        ".aXnet.0123456789ab.tmp",
    ]
    for name in [*other, TEMPORARY]:
        (tmp_path / name).touch()
    (tmp_path / ".a.net.0123456789ac.tmp").mkdir()
    (tmp_path / ".a.net.0123456789ad.tmp").symlink_to(other[0])
    write(tmp_path / "a.net")
    kept = [*other, ".a.net.0123456789ac.tmp", ".a.net.0123456789ad.tmp", "a.net"]
    assert sorted(os.listdir(tmp_path)) == sorted(kept)


def test_many_threads_may_write_one_file(tmp_path: Path) -> None:
    texts = [bytes([65 + i]) * 10_000 for i in range(8)]
    failed: list[BaseException] = []

    def again(text: bytes) -> None:
        try:
            for _ in range(20):
                write(tmp_path / "a.net", text)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=again, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert (tmp_path / "a.net").read_bytes() in texts
    assert os.listdir(tmp_path) == ["a.net"]
