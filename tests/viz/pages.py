"""Reading pages back."""

from __future__ import annotations

import json
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "rect", "path", "circle", "line"}


class Page(HTMLParser):
    """Reads a page: its elements, its scripts, and whether every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.data: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        self.is_data = tag == "script" and ("type", "application/json") in attrs

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script" and self.is_data:
            self.data.append(data)
        elif inside not in ("script", "style"):
            self.texts.append(data)


def check_page(text: str) -> Page:
    text.encode("utf-8")
    page = Page(text)
    assert page.tags.count("script") == len(page.data) + 1, "the page's own script and data, nothing else"
    for data in page.data:
        json.loads(data)
    return page
