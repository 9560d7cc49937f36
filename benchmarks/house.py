"""The size and shape of the code, before and after: modules, lines, files that a fit passes through, imports, checks.

    python benchmarks/house.py --before REV     this tree beside a git revision
    python benchmarks/house.py                  this tree alone

A file is passed through by a call if one of its functions is called, other than while a module is being imported.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from same_results import tree_of  # noqa: E402
from support.tree import FOLDERS, KINDS, Tree, upward  # noqa: E402

IN_FUNCTION = 0x1  # CO_OPTIMIZED: the code of a function; that of a module or a class body has it not


def passed_through(call: Callable[[], Any], package: Path) -> list[str]:
    """The files of the package in which a function is called; what runs while a module is imported is left out."""
    prefix, seen = f"{package}{os.sep}", set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or name in seen or not name.startswith(prefix):
            return
        above: FrameType | None = frame
        while above is not None:
            if above.f_code.co_filename.startswith(prefix) and not above.f_code.co_flags & IN_FUNCTION:
                return
            above = above.f_back
        seen.add(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return sorted(name.removeprefix(prefix) for name in seen)


def fit_matrix() -> Callable[[], Any]:
    """MedianSOM().fit(D), the class and the matrix at hand."""
    import numpy as np

    from medianmap import MedianSOM

    x = np.random.default_rng(0).random((150, 2))
    D = np.abs(x[:, None] - x).sum(axis=2)
    return lambda: MedianSOM(metric="precomputed", random_state=0).fit(D)


def fit_command() -> Callable[[], Any]:
    """`medianmap fit x.fasta -o out`, of 120 globins."""
    try:
        from medianmap.app.main import main
    except ModuleNotFoundError:
        from medianmap.cli import main  # as it was called before there were folders

    def call() -> None:
        shipped = (ROOT / "src/medianmap/datasets/globins.fasta").read_text()
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / "x.fasta"
            given.write_text(">".join(shipped.split(">")[:121]))
            try:
                main(["fit", str(given), "-o", str(Path(folder) / "out")])
            except SystemExit as ended:
                if ended.code:
                    raise

    return call


CALLS = {"fit": fit_matrix, "command": fit_command}


def trace(which: str) -> None:
    """Print as JSON the files that a call passes through, and those it has imported by its end."""
    import medianmap

    package = Path(medianmap.__file__).parent
    passed = passed_through(CALLS[which](), package)
    files = [getattr(module, "__file__", None) or "" for name, module in sys.modules.items() if "medianmap" in name]
    print(json.dumps({"passed": passed, "imported": len([name for name in files if name.startswith(str(package))])}))


def traced(tree: Path, which: str) -> dict[str, Any]:
    """The same of a tree, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(tree / "src")}
    done = subprocess.run([sys.executable, __file__, "--trace", which], check=True, env=env, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def seconds(tree: Path, *args: str) -> str:
    """How long Python takes for this, at best."""
    env, taken = os.environ | {"PYTHONPATH": str(tree / "src")}, []
    for _ in range(10):
        began = time.perf_counter()
        subprocess.run([sys.executable, *args], check=True, env=env, capture_output=True)
        taken.append(time.perf_counter() - began)
    return f"{min(taken):.3f}"


def lines(folder: Path) -> dict[Path, int]:
    """The number of lines of each Python file below a folder."""
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")}


def measured(tree: Path) -> dict[str, str]:
    """One column of the table."""
    source = lines(tree / "src")
    package = Tree(tree / "src/medianmap")
    longest = max(source, key=lambda path: source[path])
    fit, command = traced(tree, "fit"), traced(tree, "command")
    on_cycle = {one.importer for one in package.cyclic()}
    arranged = {path.name for path in package.folder.iterdir()} >= set(FOLDERS)
    kinds = package.kinds(KINDS)
    print(f"\n{tree.name}: fit: {', '.join(fit['passed'])}\n{tree.name}: command: {', '.join(command['passed'])}",
          file=sys.stderr)  # fmt: skip
    return {
        "modules of src/": f"{len(source)}",
        "lines of src/": f"{sum(source.values())}",
        "lines of tests/": f"{sum(lines(tree / 'tests').values())}",
        "longest file of src/": f"{source[longest]} ({longest.relative_to(package.folder)})",
        "modules at the top level": f"{len(list(package.folder.glob('*.py')))}",
        "files passed through by MedianSOM().fit(D)": f"{len(fit['passed'])} ({fit['imported']} imported)",
        "files passed through by medianmap fit": f"{len(command['passed'])} ({command['imported']} imported)",
        "checks of the kind of map, space, assignment": f"{len(package.checks_of(kinds))}",
        "imports upwards": f"{len(upward(package))}" if arranged else "no order",
        "modules on a cycle of imports": f"{len(on_cycle)}",
        "seconds of import medianmap": seconds(tree, "-c", "import medianmap"),
        "seconds of medianmap --version": seconds(tree, "-m", "medianmap", "--version"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="REV")
    parser.add_argument("--trace", choices=CALLS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trace:
        trace(given.trace)
        return
    columns = {"now": measured(ROOT)}
    if given.before:
        with tree_of(given.before) as tree:
            columns = {given.before: measured(tree)} | columns
    print(f"| | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for name in columns["now"]:
        print(f"| {name} | {' | '.join(column[name] for column in columns.values())} |")


if __name__ == "__main__":
    main()
