"""Break the code on purpose, in one place at a time, and see whether the tests notice: `make mutants`.

    python benchmarks/mutants.py [--count 300] [--seed 1] [--minutes 600] [--again]

Mutants (mutation/changes.py) are drawn at random, as many from each part of the library. For each, the tests that run
the changed lines are run until one fails, a few quick ones first. What survives is listed in docs/mutants.json with the
reason why it cannot matter, or needs a test. Outcomes are kept in build/mutants/outcomes.json: only survivors are tried
again, unless --again is given. --named tries the breaks of mutation/named.py, each on the test that is to notice it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutation.changes import Mutant, compiles, mutants_of
from mutation.named import named_mutants
from mutation.runs import PACKAGE, ROOT, WORK, Copy, TestMap, Unknown, in_child, run_tests, warm

ARGUED = ROOT / "docs" / "mutants.json"
OUTCOMES = WORK / "outcomes.json"
# The tests that are asked; those of commands and reports take long and see little of a cost.
ASKED = ("tests/core", "tests/search", "tests/refine", "tests/patches", "tests/estimators")
# Where tests of survivors are written; the map does not know them before it is made again (--again).
NEWER = ("tests/core", "tests/search", "tests/refine", "tests/patches")
PARTS = {
    "core": ("core/assignment.py", "core/engine.py", "core/neighborhood.py", "core/plane.py", "core/quality.py",
             "core/ranks.py", "core/separable.py", "core/spaces.py", "core/vectors.py"),
    "search": ("search/*.py",),
    "refine": ("refine/*.py",),
    "patches": ("patches/*.py",),
    "labels": ("core/labels.py", "core/label_term.py"),
    "relational": ("core/field_combinations.py", "core/compression.py", "estimators/relational.py"),
}  # fmt: skip
# A mutant meets so many tests, or processor seconds of them, at first; if it survives these, those of --seconds.
FEW, FIRST = 40, 3.0


def drawn(count: int, seed: int) -> list[tuple[str, Mutant]]:
    """(part, mutant), the parts in turn, so that a run that ends early has seen as many of each."""
    rng = np.random.default_rng(seed)
    columns = []
    for part, patterns in PARTS.items():
        files = sorted(file for pattern in patterns for file in PACKAGE.glob(pattern))
        every = [one for file in files for one in mutants_of(str(file.relative_to(PACKAGE)), file.read_bytes())]
        order = (every[k] for k in rng.permutation(len(every)))
        valid = (one for one in order if compiles(one.applied((PACKAGE / one.path).read_bytes())))
        columns.append([(part, one) for one in islice(valid, -(-count // len(PARTS)))])
    return [one for row in zip(*columns, strict=True) for one in row][:count]


def outcome_of(mutant: Mutant, chosen: list[str], tests: TestMap, copy: Copy, seconds: float) -> tuple[str, float]:
    """Killed, timeout or survived these tests, and the processor seconds that it took."""
    total = 0.0
    copy.put(mutant, tests.names)
    try:
        first = tests.cut(chosen[:FEW], FIRST)
        for some, limit in ((first, FIRST), (tests.cut(chosen, seconds)[len(first) :], seconds)):
            if some:
                code, took = in_child(lambda some=some: run_tests(copy.source, some, [], "-x"), 5 * limit + 30)
                total += took
                if code == pytest.ExitCode.USAGE_ERROR:
                    raise SystemExit("There are no longer all tests that the map names; make it again: --again.")
                if code != 0:
                    return "timeout" if code is None else "killed", total
        newer = [Unknown(tests.tests)]
        code, took = in_child(lambda: run_tests(copy.source, NEWER, newer, "-x"), 5 * seconds + 30)
        if code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
            return "killed", total + took
        return "survived", total
    finally:
        copy.restore(mutant, tests.names)


def table(outcomes: list[tuple[str, str]]) -> str:
    """One line per part: mutants, killed, argued, survived, share killed of those that are not argued."""
    lines = ["| part | mutants | killed | cannot matter | survived | killed of those that matter |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for part in (*PARTS, "all"):
        seen = Counter(outcome for name, outcome in outcomes if part in (name, "all"))
        killed = seen["killed"] + seen["timeout"]
        matter = killed + seen["survived"]
        share = f"{100 * killed / matter:.0f}%" if matter else ""
        counts = f"{sum(seen.values())} | {killed} | {seen['argued']} | {seen['survived']}"
        lines.append(f"| {part} | {counts} | {share} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests, processor time, that a mutant meets")
    parser.add_argument("--again", action="store_true", help="forget the outcomes and the map of tests")
    parser.add_argument("--map", action="store_true", help="only note which tests run which lines")
    parser.add_argument("--named", action="store_true", help="the breaks of mutation/named.py instead")
    given = parser.parse_args()
    argued = {one["mutant"]: one["reason"] for one in json.loads(ARGUED.read_text())} if ARGUED.exists() else {}
    warm()
    tests = TestMap.measured(ASKED) if given.again or given.map or not TestMap.FILE.exists() else TestMap.kept()
    if given.map:
        return 0
    kept = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() and not given.again else {}
    copy, begun, seen, survivors = Copy(), time.monotonic(), [], []
    sample = named_mutants(PACKAGE) if given.named else drawn(given.count, given.seed)
    for part, mutant in sample:  # or (the test that notices it, mutant)
        if time.monotonic() > begun + 60 * given.minutes:
            break
        outcome = (
            "argued" if mutant.name in argued else "survived" if given.named else kept.get(mutant.name, "survived")
        )
        if outcome == "survived":
            chosen = [part] if given.named else tests.for_mutant(mutant) or [f"tests/{mutant.path.split('/')[0]}"]
            outcome, took = outcome_of(mutant, chosen, tests, copy, given.seconds)
            kept[mutant.name] = outcome
            OUTCOMES.write_text(json.dumps(kept, indent=1))
            print(f"{len(seen) + 1} {outcome}, {took:.1f} s: {mutant.name}", flush=True)
        seen.append((part, outcome))
        if outcome == "survived":
            survivors.append(mutant)
    if given.named:
        print(f"{len(seen) - len(survivors)} of {len(seen)} breaks are noticed")
        return int(bool(survivors))
    print(f"\nseed {given.seed}: {len(seen)} of {len(sample)} mutants\n\n{table(seen)}\n")
    for mutant in survivors:
        print(f"survived, line {mutant.first}: {mutant.name}")
    return int(len(survivors) > 0.05 * len(seen))


if __name__ == "__main__":
    raise SystemExit(main())
