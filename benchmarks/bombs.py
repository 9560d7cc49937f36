"""Memory and processor time of files that are made to fill memory or to take for ever, each in a process of its own.

    python benchmarks/bombs.py [--only WORD]

Models (tests/support/damaged.py) under `info` and `predict`; other files (tests/support/bombs.py) under `check`, some
of them under every verb that reads a file. Each must be refused with one sentence, exit code 2, at most 300 MB and 2
seconds of processor time, of which what a verb imports takes most: harmless files are shown first. Files of more
objects than are read into memory may take as much as those that are read: 1000 MB and 15 seconds. Exits with 1 if one
took more, was accepted, or left a file.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.bombs import library_bombs, text_bombs
from support.damaged import bombs
from support.small_models import small_models

MOST_MB, MOST_SECONDS, PATIENCE = 300, 2.0, 300
MANY = ("short-sequences.fasta.gz", "rows.csv.gz", "rows.tsv", "pairs.pairs")  # reach the limit on objects
MANY_MB, MANY_SECONDS = 1000, 15.0
EVERYWHERE = ("blank-lines.fasta.gz", "one-line.txt.gz")
# VmHWM begins with the program, where getrusage counts what the process was before.
RUN = """
import sys, time
from medianmap.app.main import main
code = None
try:
    main(sys.argv[1:])
except SystemExit as stopped:
    code = stopped.code
finally:
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("ended", code, int(peak.split()[1]) // 1024, time.process_time())
"""
VERBS = {
    "check": ["check", "FILE"],
    "distances": ["distances", "FILE", "-o", "OUT"],
    "fit": ["fit", "FILE", "-o", "OUT"],
    "fit --stream": ["fit", "FILE", "--stream", "--map", "kmeans", "-k", "2", "-o", "OUT"],
    "path": ["path", "FILE", "-k", "2"],
    "predict": ["predict", "MODEL", "FILE", "-o", "-"],
    "report": ["report", "MODEL", "FILE", "-o", "OUT"],
    "fit --labels": ["fit", "WORDS", "--labels", "FILE", "-o", "OUT"],
    "fit --exemplars": ["arrange", "WORDS", "--exemplars", "FILE", "--grid", "1x2", "-o", "OUT"],
    "representatives": ["representatives", "FILE", "WORDS", "-o", "OUT"],
}


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, None if it did not; peak in MB, seconds of processor time, what it said."""

    code: int | None
    peak: int
    seconds: float
    said: str

    def wrong(self, many: bool) -> str:
        """What it should not have been; many : whether the file reaches the limit on objects."""
        found = [] if self.code == 2 else [f"exit code {self.code}"]
        found += ["memory"] * (self.peak > (MANY_MB if many else MOST_MB))
        found += ["time"] * (self.seconds > (MANY_SECONDS if many else MOST_SECONDS))
        return ", ".join(found + ["traceback"] * ("Traceback" in self.said))


def run(args: list[str], folder: Path) -> Ended:
    """One command in a process of its own."""
    whole = [sys.executable, "-c", RUN, *args]
    try:
        done = subprocess.run(whole, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        return Ended(None, 0, PATIENCE, f"did not end within {PATIENCE} s")
    lines = done.stdout.splitlines()
    if not lines or not lines[-1].startswith("ended"):
        return Ended(done.returncode, 0, 0.0, done.stderr)
    _, code, peak, seconds = lines[-1].split()
    return Ended(int(code) if code.isdigit() else None, int(peak), float(seconds), done.stderr.strip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="files and verbs whose names hold this")
    only, failed, count = parser.parse_args().only, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = small_models(folder)
        model, words = models["median of strings"]
        places = {"MODEL": str(model), "WORDS": str(words), "OUT": str(folder / "out" / "OUT.npy")}

        def look(path: Path, verb: str, args: list[str], harmless: bool = False) -> None:
            nonlocal failed, count
            if only not in f"{path.name} {verb}" and not harmless:
                return
            (folder / "out").mkdir()
            ended = run([{**places, "FILE": str(path)}.get(each, each) for each in args], folder)
            left = sorted(each.name for each in (folder / "out").iterdir())
            shutil.rmtree(folder / "out")
            wrong = "" if harmless else ended.wrong(path.name in MANY)
            if left and not harmless:
                wrong = f"{wrong}, left {left}".strip(", ")
            said = "" if harmless else ended.said.splitlines()[-1][-160:] if ended.said else ""
            print(f"{verb} {path.name}: {path.stat().st_size / 2**20:.1f} MB, exit {ended.code}, {ended.peak} MB, "
                  f"{ended.seconds:.2f} s{f'  WRONG: {wrong}' if wrong else ''}  {said}", flush=True)  # fmt: skip
            failed += bool(wrong)
            count += not harmless

        look(model, "harmless: info", ["info", "FILE"], harmless=True)
        for what, content in bombs(model.read_bytes()):
            bomb = folder / f"{what.replace(' ', '-')}.mmap"
            bomb.write_bytes(content)
            look(bomb, "info", ["info", "FILE"])
            look(bomb, "predict", ["predict", "FILE", "WORDS"])
            bomb.unlink()
        for verb, args in VERBS.items():
            harmless = {"fit --exemplars": "chosen.txt", "representatives": "clusters.tsv"}.get(verb)
            (folder / "chosen.txt").write_text("w0\nw1\n")
            (folder / "clusters.tsv").write_text("w0\tw0\nw0\tw1\n")
            look(folder / harmless if harmless else words, f"harmless: {verb}", args, harmless=True)
        for file, content in text_bombs():
            bomb = folder / file
            bomb.write_bytes(content)
            for verb, args in VERBS.items():
                if verb == "check" or file in EVERYWHERE:
                    look(bomb, verb, args)
            bomb.unlink()
        for bomb in library_bombs(folder):
            look(bomb, "check", VERBS["check"])
            bomb.unlink()
    print(f"{count} runs, {failed} wrong")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
