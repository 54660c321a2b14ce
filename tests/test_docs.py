"""The documentation: its Python runs and prints what it says, its links lead somewhere, nothing public is left out."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from netdsl.data.caffe2_operators import operators as caffe2_operators
from netdsl.ops._index import MODULES
from netdsl.ops.schema import OPERATORS

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "tests" / "data" / "models"
PAGES = [
    *(path for folder in (".", "benchmarks", "examples") for path in sorted((ROOT / folder).glob("*.md"))),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FRAGMENTS = {"docs/reference.md", "docs/performance.md"}
"""Pages whose Python is no program: signatures, and lines that speak of the reader's own net."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Code(NamedTuple):
    """A block of Python on a page, and the text that the page says it prints."""

    source: str
    line: int
    printed: str | None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def runs(page: Path) -> bool:
    return name_of(page) not in FRAGMENTS and "```python\n" in page.read_text("utf-8")


def python_of(page: Path) -> Iterator[Code]:
    """The blocks of Python of a page; a block of text that follows one, with nothing between, is what it prints."""
    text = page.read_text("utf-8")
    blocks = [*FENCE.finditer(text), None]
    for block, following in itertools.pairwise(blocks):
        if block is None or block[1] != "python":
            continue
        prints = following is not None and following[1] == "text" and text[block.end() : following.start()].isspace()
        yield Code(block[2], text[: block.start()].count("\n") + 1, following[2] if prints else None)


def same(printed: str, said: str) -> bool:
    """Whether a program printed what a page says, where ``...`` stands for any text."""
    escaped = re.escape(said.rstrip()).replace(r"\.\.\.", ".*")
    return re.fullmatch(escaped, printed.rstrip(), re.DOTALL) is not None


@pytest.fixture
def forgetful():
    """Forgets the operators that a page declares once the test is over."""
    yield
    for name in [name for name, declared in OPERATORS.items() if declared.__module__ == "__main__"]:
        del OPERATORS[name]


@pytest.mark.parametrize("page", [*filter(runs, PAGES)], ids=name_of)
def test_python_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, forgetful):
    """The blocks of a page are one program; it runs where the repository's nets are, or beside those of a reader."""
    for file in (MODELS / "super_resolution").glob("*_net.pb"):
        there = tmp_path / file.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, there)
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    blocks = list(python_of(page))
    assert blocks, "the page shows no Python"
    for block in blocks:
        out = io.StringIO()
        code = compile("\n" * block.line + block.source, str(page), "exec", dont_inherit=True)
        with contextlib.redirect_stdout(out):
            exec(code, names)
        if block.printed is not None:
            assert same(out.getvalue(), block.printed), f"{page}:{block.line} prints\n{out.getvalue()}"


def test_a_difference_in_what_is_printed_is_found():
    assert same("a 1\nb 2\nc 3\n", "a ...\n...\nc 3\n")
    assert not same("a 1\nb 2\n", "a 1\n")
    assert not same("a 1\n", "a 2\n")


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """What a link to a page may name behind ``#``, as GitHub makes it from headings."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = (
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", found) for found in re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    )
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))
    broken: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


def test_every_page_can_be_reached_from_the_readme():
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.exists():
            reached.add(page)
            targets = re.findall(r"\]\(([^)\s#]+\.md)", page.read_text("utf-8"))
            waiting += [(page.parent / target).resolve() for target in targets if ":" not in target]
    assert sorted(map(name_of, set(PAGES) - reached)) == []


def test_pages_named_in_the_code_exist():
    named = {
        (path, page)
        for folder in ("netdsl", "tools", "tests", "examples", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8"))
    }
    assert named
    assert sorted(f"{name_of(path)}: {page}" for path, page in named if not (ROOT / page).exists()) == []


def test_the_reference_mentions_every_public_name():
    text = (ROOT / "docs" / "reference.md").read_text("utf-8")
    listed = re.findall(r"^ +(?:class )?(\w+)", (ROOT / "tests" / "public_api.txt").read_text("utf-8"), re.MULTILINE)
    assert len(listed) > 100
    assert [name for name in listed if not re.search(rf"\b{name}\b", text)] == []


def test_every_package_is_on_the_map():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    packages = sorted(path.parent.name for path in (ROOT / "netdsl").glob("*/__init__.py"))
    assert [name for name in packages if f"`{name}`" not in text] == []


def test_figures_about_operators_are_true():
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    mainstream = [row.name for rows in caffe2_operators().values() for row in rows if row.tier == 1]
    least, of = map(int, re.findall(r"more than (\d+) operators.* more than half of the (\d+)", text)[0])
    assert len(MODULES) > least
    assert len(mainstream) == of
    assert sum(name in MODULES for name in mainstream) > of / 2
