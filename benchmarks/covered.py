"""What `make coverage` measured: share of lines and branches by folder, and what no test reaches.

    python benchmarks/covered.py

Below LEAST per cent of the lines of a folder of MEASURED it ends with 1.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "coverage"
MEASURED = ("core", "search", "refine", "sources", "estimators")
LEAST = 95.0


def shares(files: dict) -> dict[str, tuple[float, float]]:
    """Folder -> (per cent of its lines, per cent of its branches) that some test runs."""
    counts = defaultdict(lambda: [0, 0, 0, 0])
    for path, file in files.items():
        found = file["summary"]
        names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
        for k, name in enumerate(names):
            counts[folder_of(path)][k] += found[name]
    return {folder: (100 * a / max(b, 1), 100 * c / max(d, 1)) for folder, (a, b, c, d) in sorted(counts.items())}


def folder_of(path: str) -> str:
    inside = path.split("medianmap/")[-1]
    return inside.split("/")[0] if "/" in inside else "."


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    kept = OUT / "coverage.json"
    subprocess.run([sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(kept)], check=True, cwd=ROOT)
    files = json.loads(kept.read_text())["files"]
    found = shares(files)
    print("| folder | lines | branches |\n| --- | ---: | ---: |")
    for folder, (lines, branches) in found.items():
        print(f"| {folder} | {lines:.1f}% | {branches:.1f}% |")
    print("\nReached by no test (line, or line -> line):")
    for path, file in files.items():
        if folder_of(path) in MEASURED and (file["missing_lines"] or file["missing_branches"]):
            missing = file["missing_lines"]
            branches = [f"{a} -> {b if b > 0 else 'end'}" for a, b in file["missing_branches"] if a not in missing]
            print(f"{path.split('medianmap/')[-1]}: {', '.join([*map(str, missing), *branches])}")
    return int(any(found[folder][0] < LEAST for folder in MEASURED))


if __name__ == "__main__":
    raise SystemExit(main())
