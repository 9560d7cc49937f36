"""Keep the tables that a benchmark prints in a file, with which a test compares the page that shows them.

    python benchmarks/figures.py iris                    # runs benchmarks/iris.py, writes docs/figures/iris.json
    python benchmarks/figures.py patches --page scale.md linear   # another page; what follows goes to the benchmark

So a figure on a page cannot be changed by hand: tests/benchmarks/test_figures.py fails until the file says the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/figures"


def tables(text: str) -> list[list[str]]:
    """The Markdown tables of a text, each as its lines."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


def record(name: str, page: str, arguments: list[str]) -> Path:
    """Run a benchmark and write what its tables say, when and where."""
    command = ["python", f"benchmarks/{name}.py", *arguments]
    done = subprocess.run([sys.executable, *command[1:]], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = tables(done.stdout)
    if not found:
        raise ValueError(f"benchmarks/{name}.py printed no table; there is nothing to keep.")
    content = {
        "command": " ".join(command), "page": page, "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
                   f"NumPy {version('numpy')}", "tables": found,
    }  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def differences(path: Path) -> list[str]:
    """The lines of a file's tables that its page does not show, in their order."""
    content = json.loads(path.read_text(encoding="utf-8"))
    shown = tables((ROOT / "docs" / content["page"]).read_text(encoding="utf-8"))
    missing = []
    for table in content["tables"]:
        if table not in shown:
            alike = next((each for each in shown if each[0] == table[0]), [])
            missing += [line for line in table if line not in alike] or table
    return missing


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a file of benchmarks/, without .py")
    parser.add_argument("--page", default="benchmarks.md", help="the page of docs/ that shows the tables")
    known, rest = parser.parse_known_args()
    written = record(known.name, known.page, rest)
    print("\n".join(differences(written)) or f"{known.page} says the same as {written.name}.")
