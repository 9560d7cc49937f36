"""Whether commands that are killed or stopped at any moment leave anything, and end in the same bytes when run again.

    python benchmarks/kills.py --kills 200 --terms 50 --seed 0

Every verb that writes is run in a folder of its own and killed: half of the times at a random moment, half just before
a random one of its changes to the file system, several times over. Then the same command is run until it is done. The
folder must hold the same files with the same bytes as after an undisturbed run, and nothing else, nor must the
folder for temporary files. SIGTERM must end a command with one sentence and exit code 143, and leave only what the next
run can continue. Exit code 1 if anything is otherwise.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # many small runs

DONE = "holds the complete files of an earlier run"  # a run that was killed after its last step
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

FIT = ["fit", "words.fasta", "--metric", "edit", "--epochs", "8", "--labels", "header"]
SMALL = ["--map", "kmeans", "-k", "3"]
VERBS = {
    "fit": [*FIT, "--grid", "2x3", "-o", "out"],
    "fit --force --gzip": [*FIT, "--grid", "2x3", "-o", "map", "--force", "--gzip"],
    "fit --patch": [*FIT, *SMALL, "--patch", "12", "-o", "out"],
    "fit --stream": [*FIT[:-2], *SMALL, "--patch", "12", "--stream", "-o", "new/out"],
    "fit --tree": [*FIT, *SMALL, "--patch", "12", "--tree", "--force", "-o", "map"],
    "demo": ["demo", "--grid", "2x3", "-o", "out"],
    "arrange": ["arrange", "words.fasta", "--exemplars", "chosen.txt", "--grid", "2x2", "--metric", "edit",
                "-o", "out"],
    "predict tsv": ["predict", "map/model.mmap", "words.fasta", "--block", "7", "-o", "out.tsv"],
    "predict tsv.gz": ["predict", "map/model.mmap", "words.fasta", "--block", "7", "-o", "out.tsv.gz"],
    "predict parquet": ["predict", "map/model.mmap", "words.fasta", "--block", "7", "-o", "out.parquet"],
    "distances": ["distances", "words.fasta", "--metric", "edit", "-o", "D.npy"],
    "distances -o -": ["distances", "words.fasta", "--metric", "edit", "-o", "-"],
    "representatives": ["representatives", "clusters.tsv", "words.fasta", "--metric", "edit", "-o", "out"],
    "representatives --force": ["representatives", "clusters.tsv", "words.fasta", "--metric", "edit", "-o", "medoids",
                                "--force", "--gzip"],
    "path": ["path", "words.fasta", "--metric", "edit", "-k", "2,3", "--restarts", "1", "-o", "out.tsv"],
    "path --plot": ["path", "words.fasta", "--metric", "edit", "-k", "2,3", "--restarts", "1", "-o", "out.tsv.gz",
                    "--plot", "out.svg"],
    "report": ["report", "map/model.mmap", "-o", "page.html"],
    "plot": ["plot", "map/model.mmap", "--what", "hits", "-o", "hits.svg"],
    "compare": ["compare", "map", "other", "-o", "compare.html"],
}  # fmt: skip


def write_inputs(folder: Path) -> None:
    """Words of three kinds, clusters of them, and chosen ones."""
    rng = random.Random(5)
    kinds = {kind: [f"{kind}{k}" for k in range(12)] for kind in ("acd", "efg", "hik")}
    with (folder / "words.fasta").open("w") as file:
        for kind, ids in kinds.items():
            for each in ids:
                file.write(f">{each} {kind}\n{''.join(rng.choices(kind.upper(), k=rng.randrange(6, 12)))}\n")
    clusters = "".join(f"{ids[0]}\t{each}\n" for ids in kinds.values() for each in ids)
    (folder / "clusters.tsv").write_text(clusters)
    (folder / "chosen.txt").write_text("acd0\nacd5\nefg0\nhik0\n")


@dataclass(frozen=True)
class Moment:
    """When a command is stopped: after so many seconds, or before its n-th change to the file system."""

    signal: int
    seconds: float = 0.0
    change: int = 0


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, negative after a signal, the seconds, the changes it made, and what it said."""

    code: int
    seconds: float
    changes: int
    out: bytes
    err: str


def run(args: list[str], folder: Path, moment: Moment | None = None) -> Ended:
    """One command in a child of this process, in which all modules are loaded already."""
    logs = folder.parent / "logs"
    logs.mkdir(exist_ok=True)
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        _command(args, folder, logs, moment)
    if moment is not None and not moment.change:
        time.sleep(moment.seconds)  # a child that has ended stays to be waited for, so its id is still its own
        os.kill(child, moment.signal)
    _, status = os.waitpid(child, 0)
    changes = logs / "changes"
    made = int(changes.read_text()) if changes.exists() else 0
    return Ended(os.waitstatus_to_exitcode(status), time.perf_counter() - began, made,
                 (logs / "out").read_bytes(), (logs / "err").read_text())  # fmt: skip


def _command(args: list[str], folder: Path, logs: Path, moment: Moment | None) -> None:
    """What the child does; it never returns."""
    code = 1
    try:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(logs / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        (logs / "changes").unlink(missing_ok=True)
        os.chdir(folder)
        os.environ["TMPDIR"] = str(folder.parent / "tmp")
        tempfile.tempdir = None
        made = 0
        silent = False

        def count(event: str, given: tuple[object, ...]) -> None:
            nonlocal made
            writes = event == "open" and isinstance(given[2], int) and given[2] & WRITING
            if silent or not (writes or event in CHANGES):
                return
            made += 1
            if moment is not None and made == moment.change:
                os.kill(os.getpid(), moment.signal)

        sys.addaudithook(count)
        from medianmap.app.main import main

        try:
            main(args)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        gc.collect()  # as a process that ends does
        silent = True
        (logs / "changes").write_text(str(made))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder, by path; a folder inside has a path that ends in /."""
    return {
        f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}": b"" if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


@dataclass
class Case:
    """One verb: its command, the folder as it begins, and what it leaves when nothing disturbs it."""

    name: str
    start: Path
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.args = VERBS[self.name]
        self.work = self.start.parent / "work"
        self.begin()
        whole = run(self.args, self.work)
        assert whole.code == 0, f"{self.name}: {whole.err}"
        self.seconds, self.changes, self.printed = whole.seconds, whole.changes, whole.out
        self.whole = contents(self.work)

    def begin(self) -> None:
        """The folder as it is before the first run."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.start, self.work)
        shutil.rmtree(self.work.parent / "tmp", ignore_errors=True)
        (self.work.parent / "tmp").mkdir()

    def moment(self, rng: random.Random, number: int) -> Moment:
        """A random one."""
        if rng.random() < 0.5:
            return Moment(number, seconds=rng.uniform(0, 1.05 * self.seconds))
        return Moment(number, change=rng.randint(1, self.changes))

    def disturbed(self, rng: random.Random, number: int) -> None:
        """Stop the command, up to three times in a row, and run it again until it is done."""
        self.begin()
        while True:
            stopped = run(self.args, self.work, self.moment(rng, number))
            self.counts["SIGKILL" if number == signal.SIGKILL else "SIGTERM"] += 1
            if number == signal.SIGTERM:
                self.check_stopped(stopped)
            if rng.random() < 0.5:
                break
        ended = run(self.args, self.work)
        if not (ended.code == 0 or (ended.code == 2 and DONE in ended.err)):
            self.wrong.append(f"exit code {ended.code}: {ended.err.strip()[-300:]}")
        if self.args[-1] == "-" and ended.code == 0 and ended.out != self.printed:
            self.wrong.append("other lines were printed")
        self.check_files(contents(self.work))

    def check_stopped(self, ended: Ended) -> None:
        """After SIGTERM: one sentence, 143, and nothing but what a next run continues."""
        finished = ended.code == 0 or (ended.code == 2 and DONE in ended.err)  # it came too late
        early = ended.code == -signal.SIGTERM and not ended.err  # before the command had begun
        late = ended.code == -signal.SIGTERM and contents(self.work) == self.whole  # after it had ended
        if not (finished or early or late or (ended.code == 143 and "medianmap: " in ended.err)):
            self.wrong.append(f"SIGTERM: exit code {ended.code}: {ended.err.strip()[-300:]}")
        if "Traceback" in ended.err:
            self.wrong.append(f"SIGTERM: {ended.err.strip()[-300:]}")
        left = [path for path in contents(self.work) if re.search(r"files-|/\.|^\..*\.part$", path)]
        if left or any((self.work.parent / "tmp").iterdir()):
            self.wrong.append(f"SIGTERM leaves {left or 'temporary files'}")

    def check_files(self, found: dict[str, bytes]) -> None:
        """The same files with the same bytes as after an undisturbed run."""
        more, less = sorted(found.keys() - self.whole.keys()), sorted(self.whole.keys() - found.keys())
        other = [path for path in self.whole.keys() & found.keys() if self.whole[path] != found[path]]
        scratch = sorted(contents(self.work.parent / "tmp"))
        for what, paths in (("left over", more + scratch), ("missing", less), ("other bytes", other)):
            if paths:
                self.counts[what] += 1
                self.wrong.append(f"{what}: {', '.join(paths)}")


def load_all() -> None:
    """What the commands import, so that the moments fall into their work and not into the imports."""
    from importlib import import_module

    import matplotlib.pyplot  # noqa: F401

    from medianmap.app.main import MODULES

    for module in MODULES:
        import_module(f"medianmap.app.commands.{module}")
    for name in ("app.run", "metrics.edit", "explore.representatives", "explore.k_path", "predict.assign_all",
                 "sources.all_pairs", "readers.clusters", "report.plots", "report.text",
                 "estimators.model_file"):  # fmt: skip
        import_module(f"medianmap.{name}")


def cases(folder: Path, names: list[str]) -> Iterator[Case]:
    """The verbs, each with what it needs in a folder of its own."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    write_inputs(inputs)
    for made in (
        run([*FIT, "--grid", "2x3", "-o", "map"], inputs),
        run([*FIT, *SMALL, "-o", "other"], inputs),
        run([*VERBS["representatives"][:-1], "medoids"], inputs),
    ):
        assert made.code == 0, made.err
    for name in names:
        start = folder / re.sub(r"\W+", "-", name) / "start"
        start.parent.mkdir()
        shutil.copytree(inputs, start)
        yield Case(name, start)


def disturb(folder: Path, names: list[str], kills: int, terms: int, seed: int, tell: Callable[[str], object]) -> int:
    """The table, one line for each verb, and how many disturbed runs ended in something wrong."""
    load_all()
    rng = random.Random(seed)
    every = list(cases(folder, names))
    wrong = 0
    tell("| verb | changes | SIGKILL | SIGTERM | left over | missing | other bytes | otherwise wrong |")
    tell("| --- | --- | --- | --- | --- | --- | --- | --- |")
    total: Counter[str] = Counter()
    for k, case in enumerate(every):
        for number, wanted, name in ((signal.SIGKILL, kills, "SIGKILL"), (signal.SIGTERM, terms, "SIGTERM")):
            share = wanted // len(every) + (k < wanted % len(every))
            while case.counts[name] < share:
                case.disturbed(rng, number)
        of = case.counts
        files = of["left over"] + of["missing"] + of["other bytes"]
        wrong += len(case.wrong)
        of["otherwise"], of["changes"] = len(case.wrong) - files, case.changes
        total += of
        tell(_row(f"`{case.name}`", of))
        for said in case.wrong:
            print(f"{case.name}: {said}", file=sys.stderr)
    tell(_row("all", total))
    return wrong


def _row(name: str, of: Counter[str]) -> str:
    columns = ("changes", "SIGKILL", "SIGTERM", "left over", "missing", "other bytes", "otherwise")
    return f"| {name} | {' | '.join(str(of[each]) for each in columns)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200, help="SIGKILLs, over all verbs")
    parser.add_argument("--terms", type=int, default=50, help="SIGTERMs, over all verbs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=list(VERBS))
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        wrong = disturb(
            Path(folder) / "kills", given.verbs, given.kills, given.terms, given.seed, partial(print, flush=True)
        )
    print(f"\nseed {given.seed}, {time.perf_counter() - began:.0f} s, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
