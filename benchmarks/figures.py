"""Keep what a benchmark prints in a file, with which tests compare the pages that show it.

    python benchmarks/figures.py iris                           # runs benchmarks/iris.py, writes docs/figures/iris.json
    python benchmarks/figures.py winners --page choosing.md --data FOLDER    # another page; the rest is the benchmark's
    python benchmarks/figures.py health --as strings --page data.md --strings 4400    # a second file of one benchmark

A figure on a page can then not be changed by hand: tests/benchmarks/test_kept_figures.py fails until the file says the
same. docs/figures/README.md explains the files and lists the tables that have none yet.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/figures"
Table = list[str]


def split(text: str) -> tuple[list[Table], list[str]]:
    """The Markdown tables of a text, each as its lines, and all other lines that are not empty."""
    found: list[Table] = [[]]
    others = []
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(line)
            continue
        if found[-1]:
            found.append([])
        if line.strip():
            others.append(line)
    return [table for table in found if table], others


def told(argument: str) -> str:
    """An argument as the file tells it: where somebody's data lie is nobody else's business."""
    path = Path(argument)
    if not path.is_absolute() and ".." not in path.parts:
        return argument
    return "FOLDER" if path.is_dir() else f"FOLDER/{path.name}"


def record(name: str, page: str, arguments: list[str], stem: str | None = None) -> Path:
    """Run a benchmark and write what it prints, when and where, to docs/figures/<stem or name>.json."""
    script = f"benchmarks/{name}.py"
    run = [sys.executable, script, *arguments]
    done = subprocess.run(run, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found, others = split(done.stdout)
    if not found:
        raise ValueError(f"{script} printed no table; there is nothing to keep.")
    content = {
        "command": " ".join(["python", script, *map(told, arguments)]), "page": page, "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
                   f"NumPy {version('numpy')}", "tables": found, "text": others,
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{stem or name}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def page_text(page: str) -> str:
    """A page of docs/, or README.md."""
    return ((ROOT if page == "README.md" else ROOT / "docs") / page).read_text(encoding="utf-8")


def differences(path: Path) -> list[str]:
    """The lines of a file's tables that its page shows otherwise, in their order; it need not show all of them."""
    content = json.loads(path.read_text(encoding="utf-8"))
    shown, _ = split(page_text(content["page"]))
    missing = []
    for table in content["tables"]:
        alike = [each for each in shown if each[0] == table[0]]
        if alike and table not in alike:
            missing += [line for line in table if line not in alike[0]] or table
    return missing if any(table in shown for table in content["tables"]) else missing or content["tables"][0]


def cells(line: str) -> list[str]:
    """The cells of a line of a table, without the marks of bold type and code."""
    return [re.sub(r"[*`]", "", cell).strip() for cell in line.strip().strip("|").split("|")]


def is_measured(table: Table) -> bool:
    """At least half of what a table says beside its first column are numbers."""
    body = [cell for line in table[2:] for cell in cells(line)[1:]]
    return bool(body) and 2 * sum(bool(re.match(r"[-+±<]?\d", cell)) for cell in body) >= len(body)


def measured(page: str) -> Iterator[tuple[str, Table]]:
    """(section, table) of a page's tables of figures; a section is named without its command in brackets."""
    section = ""
    for part in re.split(r"^(#+ .*)$", page_text(page), flags=re.MULTILINE):
        if re.match(r"#+ ", part):
            section = re.sub(r" \(`.*`\)$", "", part.lstrip("# "))
        else:
            yield from ((section, table) for table in split(part)[0] if is_measured(table))


def kept() -> list[Table]:
    """All tables of all files."""
    files = sorted(FOLDER.glob("*.json"))
    return [table for path in files for table in json.loads(path.read_text(encoding="utf-8"))["tables"]]


def not_kept() -> set[tuple[str, str]]:
    """(page, section) of every table of figures that no file has."""
    pages = ["README.md", *(path.name for path in sorted((ROOT / "docs").glob("*.md")))]
    files = kept()
    return {(page, section) for page in pages for section, table in measured(page) if table not in files}


def listed() -> list[tuple[str, str]]:
    """(page, section) of the list in docs/figures/README.md; the section "all" is a whole page."""
    found, _ = split((FOLDER / "README.md").read_text(encoding="utf-8"))
    return [(cells(line)[0], cells(line)[1]) for table in found for line in table[2:]]


def figure(address: str) -> str:
    """What stands in a file: "FILE | ROW | COLUMN", with " | k" for the k-th of figures that share a cell.

    FILE is a name in docs/figures/ or, of a table that no file has yet, its page. A row is named by its first cell, or
    by its first ones, joined by commas. "FILE | text | BEGINNING" is the rest of a line that the benchmark printed.
    """
    stem, row, column, *part = address.split(" | ")
    if stem.endswith(".md"):
        content = dict(zip(("tables", "text"), split(page_text(stem)), strict=True))
    else:
        content = json.loads((FOLDER / f"{stem}.json").read_text(encoding="utf-8"))
    if row == "text":
        return next(line.removeprefix(column).strip() for line in content["text"] if line.startswith(column))
    for table in content["tables"]:
        head, body = cells(table[0]), [cells(line) for line in table[2:]]
        for line in body:
            if column in head and row in (", ".join(line[:n]) for n in (1, 2, 3)):
                value = line[head.index(column)]
                return value.split(" / ")[int(part[0]) - 1] if part else value
    raise KeyError(f"{stem} has no row {row!r} with a column {column!r}.")


def sentences() -> list[tuple[str, str]]:
    """(page, words) that running text must have, as docs/figures/sentences.toml and the files make them."""
    found: list[dict[str, Any]] = tomllib.loads((FOLDER / "sentences.toml").read_text(encoding="utf-8"))["sentence"]
    return [(each["page"], each["says"].format(*map(figure, each["figures"]))) for each in found]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a file of benchmarks/, without .py")
    parser.add_argument("--page", default="benchmarks.md", help="README.md or the page of docs/ that shows the tables")
    parser.add_argument("--as", dest="stem", help="the file's name, where it is not that of the benchmark")
    known, rest = parser.parse_known_args()
    written = record(known.name, known.page, rest, known.stem)
    print("\n".join(differences(written)) or f"{known.page} says the same as {written.name}.")
