"""Check a built site: nothing is fetched from elsewhere, and every link within it leads somewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself; links that a reader follows may lead anywhere.
FETCHED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The anchors of a page, what it fetches, and where it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag has."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if given.get("rel") in ("canonical", "alternate"):
            return
        for name, value in given.items():
            if (tag, name) in FETCHED:
                self.fetched.append(value)
                self.links.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def problems(site: Path) -> tuple[int, list[str]]:
    """How many pages there are, and what is wrong in them, one line each."""
    site = site.resolve()
    files = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(site)
        wrong += [f"{name} fetches {url}" for url in page.fetched if urlsplit(url).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.exists():
                wrong.append(f"{name} links to {link}, which is not there")
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                wrong.append(f"{name} links to {link}; the page has no such place")
    return len(pages), wrong


if __name__ == "__main__":
    count, found = problems(Path(sys.argv[1]))
    print(
        "\n".join(found)
        or f"{count} pages; every link within them leads somewhere, and nothing is fetched from elsewhere."
    )
    sys.exit(bool(found))
