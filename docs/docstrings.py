"""Docstrings of medianmap as numpydoc wants them: plain English with lines `name : meaning`, wherever these stand.

A docstring documents a parameter, or a field of a record, by a line `name : meaning` (several names by commas, a shape
in parentheses behind a name), which may go on in indented lines. Under a heading "Parameters" the usual `name : type`
with the meaning indented below is the same. Everything else is plain text, and is not read as markup.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

_NAME = r"\*{0,2}\w+(?: \([^()]*\))?"
_ENTRY = re.compile(rf"(?P<names>{_NAME}(?:, {_NAME})*) : (?P<text>.+)")
_LISTS = ("Parameters", "Attributes", "Other Parameters")
_AS_IT_IS = ("Examples", "See Also")


class Entry(NamedTuple):
    """What is said of one or some names: their type, if it is told apart, and the meaning."""

    names: list[str]
    kind: str
    meaning: list[str]

    def lines(self) -> list[str]:
        """The entry as numpydoc reads it."""
        head = ", ".join(self.names) + (f" : {plain(self.kind)}" if self.kind else "")
        return [head, *(f"    {plain(line)}" for line in self.meaning)]


def names_of(it: Any) -> list[str]:
    """The parameters of a function or a constructor, and with them the fields of a record."""
    names = [name for name in inspect.signature(it).parameters if name not in ("self", "cls")]
    if dataclasses.is_dataclass(it):
        names += [each.name for each in dataclasses.fields(it) if each.name not in names and each.name[0] != "_"]
    return names


def documented_names(it: Any) -> set[str]:
    """The names that the docstring of an object says something of."""
    _, sections = parsed(it, (inspect.getdoc(it) or "").splitlines())
    found: set[str] = set()
    for title, body in sections:
        if title in _LISTS:
            found |= {name for entry in body if entry.meaning or entry.kind for name in entry.names}
    return found


def as_numpydoc(it: Any, lines: list[str]) -> list[str]:
    """The docstring with a heading over every list of names, and nothing that is markup by chance."""
    prose, sections = parsed(it, lines)
    text = [plain(line) for line in prose]
    for title, body in sections:
        text += ["", title, "-" * len(title)]
        if title in _LISTS:
            text += [line for entry in body for line in entry.lines()]
        else:
            text += body if title in _AS_IT_IS else [plain(line) for line in body]
    return [*text, ""]


def parsed(it: Any, lines: list[str]) -> tuple[list[str], list[tuple[str, Any]]]:
    """The text before the sections, without its entries, and the sections; those that are lists as entries."""
    starts = [k for k in range(len(lines) - 1) if lines[k].strip() and re.fullmatch(r"-{4,}\s*", lines[k + 1])]
    ends = [*starts[1:], len(lines)]
    head = lines[: starts[0]] if starts else lines
    names = set(names_of(it)) if callable(it) else set()
    prose: list[str] = []
    own: list[Entry] = []
    for piece in entries(head, names):
        if isinstance(piece, Entry):
            own.append(piece)
        else:
            prose.append(piece)
    own += _settings(it)
    own += _inherited(it, {name for entry in own for name in entry.names})
    sections: list[tuple[str, Any]] = []
    if own:
        sections.append(("Attributes" if dataclasses.is_dataclass(it) else "Parameters", own))
    for start, end in zip(starts, ends, strict=False):
        title, body = lines[start].strip(), lines[start + 2 : end]
        if title in _LISTS:
            sections.append((title, [piece for piece in entries(body, None) if isinstance(piece, Entry)]))
        else:
            sections.append((title, body))
    return prose, sections


def entries(lines: list[str], known: set[str] | None) -> Iterator[Entry | str]:
    """The entries among lines, and the lines between them; without `known` names, every such line is an entry."""
    k = 0
    while k < len(lines):
        match = _ENTRY.fullmatch(lines[k])
        names = [] if match is None else [re.sub(r"[* ]|\(.*", "", name) for name in re.findall(_NAME, match["names"])]
        if match is None or (known is not None and not known.issuperset(names)):
            yield lines[k]
            k += 1
            continue
        rest = []
        k += 1
        while k < len(lines) and (lines[k].startswith(" ") or (not lines[k] and _goes_on(lines, k))):
            rest.append(lines[k].strip())
            k += 1
        shapes = " ".join(dict.fromkeys(re.findall(r"\([^()]*\)", match["names"])))
        if not rest or match["text"].endswith(".") or rest[0][:1].islower():
            yield Entry(names, shapes, [match["text"], *rest])
        else:
            yield Entry(names, match["text"], rest)


def _goes_on(lines: list[str], k: int) -> bool:
    """Whether an entry goes on after the blank line k."""
    return any(line.startswith(" ") for line in lines[k + 1 : k + 2])


def _settings(it: Any) -> Iterator[Entry]:
    """Fields whose meaning is that of an option of the command line."""
    for each in dataclasses.fields(it) if dataclasses.is_dataclass(it) else ():
        if "row" in each.metadata:
            yield Entry([each.name], "", [each.metadata["row"].help])


def _inherited(it: Any, told: set[str]) -> list[Entry]:
    """What the records that a record inherits from say of its fields."""
    found = []
    for base in it.__mro__[1:-1] if dataclasses.is_dataclass(it) else ():
        _, sections = parsed(base, inspect.cleandoc(base.__doc__ or "").splitlines())
        for entry in [entry for title, body in sections if title in _LISTS for entry in body]:
            if told.isdisjoint(entry.names):
                found.append(entry)
                told.update(entry.names)
    return found


def plain(text: str) -> str:
    """One line of text with what would be markup escaped, outside of backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if k % 2 else re.sub(r"(\||\*|(?<=\w)_(?!\w))", r"\\\1", part) for k, part in enumerate(parts))


def process(app: Any, what: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """For Sphinx: the docstring of one object, before numpydoc reads it."""
    if what in ("class", "function", "method", "property", "exception"):
        lines[:] = as_numpydoc(it, list(lines))


def undocumented(objects: Iterable[tuple[str, Any]]) -> tuple[int, list[str]]:
    """How many parameters and fields there are, and those that their docstring does not speak of."""
    total, missing = 0, []
    for full, it in objects:
        names, said = names_of(it), documented_names(it)
        total += len(names)
        missing += [f"{full}({name})" for name in names if name not in said]
    return total, missing
