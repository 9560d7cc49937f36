"""Random fits for as long as wanted, each compared with other ways to the same answer (tests/support/fuzzed.py).

    python benchmarks/fuzz.py --minutes 60 [--first SEED] [--most CASES]

Prints the cases and failures by kind; every failure with its seed, which repeats it: --first SEED --most 1.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.fuzzed import CHECKS, failures, make_case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--most", type=int, default=2**62)
    given = parser.parse_args()
    begun, seed, failed, seen = time.monotonic(), given.first, Counter(), Counter()
    while seed < given.first + given.most and time.monotonic() < begun + 60 * given.minutes:
        wrong = failures(seed, seen)
        failed.update([*wrong])
        for kind, what in wrong.items():
            print(f"{kind}: {what}\n    {' '.join(make_case(seed).describe().split())}", flush=True)
        seed += 1
    print(f"{seed - given.first} cases, seeds {given.first} to {seed - 1}, {time.monotonic() - begun:.0f} s")
    print(f"{seen['fitted']} fitted, {seen['refused']} refused with a sentence, {failed['error']} failed")
    print(*(f"{kind}: {failed[kind]} of {seen[kind]} failed" for kind in CHECKS), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
