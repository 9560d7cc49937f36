"""Untrusted text inside a page: JSON that no HTML parser can mistake for markup."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

# "<", ">" and "&" end or open markup, the two separators end lines of scripts, lone surrogates have no UTF-8.
_DANGEROUS = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def embedded(value: Any) -> str:
    """value as compact JSON without "<", ">", "&", U+2028, U+2029; `JSON.parse` gives back every character."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _DANGEROUS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def n_bytes(value: Any) -> int:
    """Bytes that value takes in the page."""
    return len(embedded(value).encode())


# --- One self-contained page: template, style and scripts of `page/` with the content as JSON, nothing fr

SCRIPTS = (
    "basics.js",
    "colors.js",
    "map.js",
    "view.js",
    "exemplar.js",
    "panel.js",
    "search.js",
    "table.js",
    "about.js",
    "start.js",
)


def render(content: dict[str, Any]) -> str:
    """The page of what `gather` returned, as text to be written in UTF-8.

    The browser runs and styles nothing but the texts whose hashes its policy names; ids, labels and titles are data.
    """
    from jinja2 import Environment, StrictUndefined

    style, script = _style(), _script()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(_read("report.html.jinja")).render(
        title=_printable(content["title"]),
        policy=_policy(style, script),
        style=_Raw(style),
        script=_Raw(script),
        content=_Raw(embedded(content)),
    )
    return page + "\n"


class _Raw(str):
    """Text of our own that goes into the page as it is."""

    def __html__(self) -> str:
        return self


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _printable(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _read(name: str) -> str:
    return (files(__package__) / "page" / name).read_text("utf-8")


@cache
def _style() -> str:
    return _read("report.css")


@cache
def _script() -> str:
    """All scripts as one, in a scope of its own."""
    return "(() => {\n'use strict';\n" + "\n".join(_read(name) for name in SCRIPTS) + "})();\n"
