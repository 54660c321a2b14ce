"""The Content-Security-Policy of pages: their own style and script run, and nothing else can, from nowhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from netdsl import viz
from netdsl.ir import NetDef, OperatorDef
from tests.viz.nets import NASTY, residual
from tests.viz.pages import check_page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PART = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)


def pages() -> dict[str, str]:
    model = residual(2)
    nets = {"train": model.net.definition, "init": model.init_net.definition}
    nasty = NetDef("nasty", [OperatorDef(name, [], [name]) for name in NASTY])
    return {
        "net": viz.to_html(model.net.definition),
        "training": viz.training_page("Digits", nets, {"loss": [3.0, 2.0, 1.0], "accuracy": [0.1, 0.2]}, {"steps": 3}),
        "nasty": viz.training_page(NASTY[5], {NASTY[0]: nasty}, {NASTY[5]: [1.0, 2.0]}, {NASTY[2]: NASTY[5]}),
    }


PAGES = pages()


def policy_of(text: str) -> dict[str, list[str]]:
    (content,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    directives = [part.split() for part in unescape(content).split(";")]
    return {name: values for name, *values in directives}


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_allows_its_own_style_and_script_and_nothing_else(name):
    parts = PART.findall(PAGES[name])
    assert [tag for tag, _ in parts] == ["style", "script"]
    style, script = (digest(body) for _, body in parts)
    assert policy_of(PAGES[name]) == {
        "default-src": ["'none'"],
        "style-src": [style],
        "script-src": [script],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }


@pytest.mark.parametrize("name", PAGES)
def test_the_policy_stands_before_anything_that_it_concerns(name):
    head = PAGES[name].partition("Content-Security-Policy")[0]
    assert head == '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="'


@pytest.mark.parametrize("name", PAGES)
def test_nothing_in_a_page_needs_more(name):
    """A policy of hashes blocks handlers and styles in attributes, and addresses that are scripts."""
    page = check_page(PAGES[name])
    for attribute, value in page.attributes:
        assert not attribute.startswith("on"), attribute
        assert attribute not in ("style", "srcdoc", "src", "href", "action"), attribute
        assert not (value or "").lower().startswith("javascript:")
    (script,) = [body for tag, body in PART.findall(PAGES[name]) if tag == "script"]
    assert not re.search(
        r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|\"style\"|\.on[a-z]+ *=", script
    )


DRIVER = """
const told = { blocked: [], failed: [] };
addEventListener("securitypolicyviolation", (event) => told.blocked.push(event.effectiveDirective));
addEventListener("error", (event) => told.failed.push(event.message));
addEventListener("load", () => {
  const view = document.querySelector("main > section:not([hidden]) .view");
  told.built = pictures.size;
  told.font = getComputedStyle(document.querySelector("header")).display;
  const box = view.querySelector("input");
  box.value = "fc1"; box.dispatchEvent(new Event("input"));
  told.found = view.querySelector(".found").textContent;
  const picture = [...pictures.values()].find((each) => each.view === view), open = picture.rows.items.length;
  view.querySelector('[data-do="close"]').click();
  told.closed = picture.rows.items.length < open;
  view.querySelector('[data-do="open"]').click();
  view.querySelector('[data-do="fit"]').click();
  picture.choose(0);
  told.details = view.querySelector(".details").hidden;
  new Image().src = "https://example.invalid/a.png";
  new Image().src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
  const code = document.createElement("script"); code.textContent = "told.foreign = true"; document.body.append(code);
  const inline = document.createElement("p"); inline.setAttribute("onclick", "told.foreign = true");
  document.body.append(inline); inline.click();
  fetch("https://example.invalid/").catch(() => {});
  setTimeout(() => {
    const out = document.createElement("pre"); out.id = "told"; out.textContent = JSON.stringify(told);
    document.body.append(out);
  }, 300);
});
"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("name", ["net", "training"])
def test_a_page_works_under_its_policy(name, tmp_path: Path):
    """In a browser: search, scopes and details work, and a script, a handler or an image put into it does not."""
    (script,) = [body for tag, body in PART.findall(PAGES[name]) if tag == "script"]
    page = PAGES[name].replace(digest(script), f"{digest(script)} {digest(DRIVER)}")
    page = page.replace("</body>", f"<script>{DRIVER}</script></body>")
    (tmp_path / "page.html").write_text(page, "utf-8")
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --window-size=1200,800 --virtual-time-budget=3000 --dump-dom"
    )
    address = f"{(tmp_path / 'page.html').as_uri()}#tab{int(name == 'training')}"
    command = [str(CHROMIUM), *options.split(), f"--user-data-dir={tmp_path / 'user'}", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (text,) = re.findall(r'<pre id="told">(.*?)</pre>', done.stdout)
    told = json.loads(unescape(text))
    blocked = set(told.pop("blocked"))
    assert blocked == {"img-src", "script-src-elem", "script-src-attr", "connect-src"}
    found = told.pop("found")
    assert re.search("[1-9]", found), found
    assert told == {"failed": [], "built": 1, "font": "flex", "closed": True, "details": False}
