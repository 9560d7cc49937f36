"""Tests in forked processes: which of them run which lines, and whether they notice a mutant.

A process that has loaded numba, scikit-learn and pytest, but not medianmap, forks once for every mutant; the child
loads a copy of the package in which the mutant is. The loops that do not depend on it keep their compiled code.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy as shallow
from pathlib import Path
from typing import Any

import pytest

from .changes import Mutant
from .names import Names

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutants"
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "medianmap"
OPTIONS = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", f"--rootdir={ROOT}",
           "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning"]  # fmt: skip
# A thousand, of the interface; what they run other tests look at more closely.
NOT_ASKED = ["-k", "not test_scikit_learn_checks"]
# Tests that run a file in processes of their own, where the map does not see it.
ELSEWHERE = {"search/tensor_kernels.py": ["tests/search/test_segments.py::"
    "test_the_kernels_give_the_same_to_the_last_bit_in_tritons_interpreter"]}  # fmt: skip
COPY = WORK / "copy" / "medianmap"
SAID = WORK / "said.txt"


class Listener:
    """Tells coverage which test runs, and keeps the processor time of each."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.seconds, self.failed = coverage, {}, set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.coverage.switch_context(item.nodeid)
        begun = _processor()
        yield
        self.seconds[item.nodeid] = _processor() - begun

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


class Unknown:
    """Leaves only the tests that a map does not know: those that were written since."""

    def __init__(self, known: Iterable[str]) -> None:
        self.known = set(known)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self.known]


def _processor() -> float:
    return sum(os.times()[:4])


def warm() -> None:
    """Load what does not change, and let numba's compiler start."""
    import hypothesis
    import numba
    import pandas
    import scipy.sparse
    import sklearn.utils.estimator_checks
    from numba.core import caching

    assert all([hypothesis, pandas, scipy, sklearn])
    os.environ["CI"] = "1"  # hypothesis draws the same examples in every run
    own = caching._SourceFileBackedLocatorMixin.get_source_stamp

    def stamp(self: Any) -> Any:
        """That of the file without a mutant: what a mutant changes is removed from the cache by hand."""
        file = Path(self._py_file)
        if file.is_relative_to(COPY):
            self = shallow(self)
            self._py_file = str(PACKAGE / file.relative_to(COPY))
        return own(self)

    caching._SourceFileBackedLocatorMixin.get_source_stamp = stamp
    numba.njit(lambda x: x + 1)(1.0)


def in_child(work: Callable[[], int], seconds: float) -> tuple[int | None, float]:
    """The exit code of `work` in a forked process, None if it took more than so much processor time; and that time."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        code = 70
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            out = os.open(SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    limit = time.monotonic() + 20 * seconds + 60  # for one that sleeps
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > limit:
            _end(child)
            return None, sum(os.wait4(child, 0)[2][:2])
        time.sleep(0.05)
    _end(child)  # what it has left
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status), sum(used[:2])


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def run_tests(source: Path, tests: Iterable[str], plugins: list[Any], *options: str) -> int:
    """Run tests against the package in `source`; pytest's exit code."""
    sys.path[:0] = [str(source)]
    os.environ["PYTHONPATH"] = str(source)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a process per mutant would compile all of Python anew
    sys.dont_write_bytecode = False
    os.chdir(ROOT)
    return int(pytest.main([*OPTIONS, f"--basetemp={WORK / 'tmp'}", *options, *tests], plugins=plugins))


class TestMap:
    """Which tests run a line, and how long each takes."""

    FILE = WORK / "map.json"

    def __init__(self, lines: dict[str, dict[str, list[int]]], tests: list[str], seconds: list[float]) -> None:
        self.lines, self.tests, self.seconds = lines, tests, seconds
        self.names = Names(PACKAGE)

    @classmethod
    def measured(cls, folders: Iterable[str]) -> TestMap:
        """Run the tests of these folders once and note what each of them runs."""
        WORK.mkdir(parents=True, exist_ok=True)

        def work() -> int:
            import coverage

            cover = coverage.Coverage(data_file=str(WORK / "coverage"), source=[str(PACKAGE)], config_file=False)
            listener = Listener(cover)
            cover.start()
            code = run_tests(SOURCE, folders, [listener], "--durations=10", *NOT_ASKED)
            cover.stop()
            cover.save()
            tests = [test for test in listener.seconds if test not in listener.failed]
            number = {test: k for k, test in enumerate(tests)}
            lines: dict[str, dict[str, list[int]]] = {}
            data = cover.get_data()
            for file in data.measured_files():
                lines[str(Path(file).relative_to(PACKAGE))] = {
                    str(line): sorted(number[test] for test in found if test in number)
                    for line, found in data.contexts_by_lineno(file).items()
                }
            about = {"lines": lines, "tests": tests, "seconds": [listener.seconds[test] for test in tests]}
            cls.FILE.write_text(json.dumps(about))
            print(f"{len(tests)} tests, failed: {sorted(listener.failed)}")
            return code

        in_child(work, 3600.0)
        print(SAID.read_text()[-2000:])
        return cls.kept()

    @classmethod
    def kept(cls) -> TestMap:
        return cls(**json.loads(cls.FILE.read_text()))

    def at(self, places: Iterable[tuple[str, int]]) -> set[int]:
        return {k for path, line in places for k in self.lines.get(path, {}).get(str(line), ())}

    def for_mutant(self, mutant: Mutant) -> list[str]:
        """The tests that may notice it, those first that are likely to, and quick."""
        if mutant.path in ELSEWHERE:
            return ELSEWHERE[mutant.path]
        lines = range(mutant.first, mutant.last + 1)
        owner = self.names.owner(mutant.path, mutant.first)
        found: set[int] = set()
        if owner not in self.names.kernels:
            found = self.at((mutant.path, line) for line in lines)
        if not found and owner is not None:
            found = self.at(self.names.used_at(owner))
        if not found and owner is not None:
            found = self.at((mutant.path, line) for line in range(*self.names.lines[owner]))
        if not found:
            found = self.at((mutant.path, int(line)) for line in self.lines.get(mutant.path, ()))
        folder, stem = mutant.path.split("/")[0], Path(mutant.path).stem
        seen: dict[str, int] = defaultdict(int)
        order = []
        for k in sorted(found, key=lambda k: self.seconds[k]):
            test = self.tests[k]
            function = test.split("[")[0]
            elsewhere = 0 if stem in test else 1 if f"tests/{folder}/" in test else 2
            order.append((seen[function], elsewhere, self.seconds[k], test))
            seen[function] += 1
        return [test for *_, test in sorted(order)]

    def cut(self, tests: list[str], seconds: float) -> list[str]:
        """As many of the first as take so long."""
        took, total = dict(zip(self.tests, self.seconds, strict=True)), 0.0
        for k, test in enumerate(tests):
            total += took.get(test, 0.0)
            if total > seconds:
                return tests[: max(k, 1)]
        return tests


class Copy:
    """A copy of the package, by hard links, with one mutant at a time in it."""

    def __init__(self) -> None:
        self.source = WORK / "copy"
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(PACKAGE, self.source / "medianmap", copy_function=_copied)

    def put(self, mutant: Mutant, names: Names) -> None:
        """Only the folders that the mutant changes are made anew."""
        owner = names.owner(mutant.path, mutant.first)
        loops = set() if owner is None else names.compiled_with(owner)
        file = self.source / "medianmap" / mutant.path
        source = file.read_bytes()
        _replace(file, mutant.applied(source))
        for path, name in {*loops}:
            at = self.source / "medianmap" / path
            for kept in (at.parent / "__pycache__").glob(f"{at.stem}.{name}-*.nb?"):
                kept.unlink()
        for kept in (file.parent / "__pycache__").glob(f"{file.stem}.cpython-*.pyc"):
            kept.unlink()

    def restore(self, mutant: Mutant, names: Names) -> None:
        owner = names.owner(mutant.path, mutant.first)
        loops = set() if owner is None else names.compiled_with(owner)
        for path in {mutant.path, *(path for path, _ in loops)}:
            of, at = PACKAGE / path, self.source / "medianmap" / path
            for kept in (at.parent / "__pycache__").glob(f"{at.stem}.*"):
                kept.unlink()
            for kept in (of.parent / "__pycache__").glob(f"{of.stem}.*"):
                _copied(str(kept), str(at.parent / "__pycache__" / kept.name))
            at.unlink()
            _copied(str(of), str(at))


def _copied(of: str, to: str) -> str:
    os.link(of, to)
    return to


def _replace(file: Path, content: bytes) -> None:
    file.unlink()  # a new file, not the one that the hard link shares
    file.write_bytes(content)
