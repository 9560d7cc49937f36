"""Damaged and hostile models under `medianmap info` and `medianmap predict`: nothing but one sentence may come of them.

    python benchmarks/damaged_models.py [--every N]

Small models of eight kinds. Each byte of each is changed; each value of its page is replaced by each of some others,
with the checksum made right again; its members are exchanged, repeated, retyped and more. Counts what was refused, and
what was accepted and answered as before, or otherwise; --every N takes every N-th byte and value. Exits with 1 if there
was a traceback, or an answer other than before where nobody may choose it. For bombs see bombs.py.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.damaged import is_chosen, other_values, structural
from support.small_models import small_models


def run(*args: str) -> tuple[object, str]:
    """(exit code or the exception, what was printed) of a command."""
    from medianmap.app.main import main

    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main(list(args))
    except SystemExit as stopped:
        return stopped.code, out.getvalue()
    except BaseException as error:
        return error, out.getvalue()
    return None, out.getvalue()


def outcome(path: Path, whole: bytes, queries: Path, right: tuple[str, str]) -> str:
    """'refused', 'the same answers', 'other answers' or 'traceback: ...' of a file with this content."""
    path.write_bytes(whole)
    results = run("info", str(path)), run("predict", str(path), str(queries), "-o", "-")
    for code, said in results:
        if isinstance(code, BaseException) or "Traceback" in said or code not in (0, None, 2):
            return f"traceback: {code!r} {said[-300:]}"
    if results[0][0] == 2 or results[1][0] == 2:
        return "refused"
    return "the same answers" if results[1][1] == right[1] else "other answers"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.mmap"
        for name, (model, queries) in small_models(Path(folder)).items():
            whole, begun = model.read_bytes(), time.monotonic()
            right = tuple(
                run(*args)[1] for args in (("info", str(model)), ("predict", str(model), str(queries), "-o", "-"))
            )
            told = {"bytes": Counter(), "values": Counter(), "members": Counter()}

            def note(kind: str, what: object, found: str, counts: Counter) -> int:
                bad = found.startswith("traceback") or found == "other answers"
                counts["traceback" if found.startswith("traceback") else found] += 1
                if bad:
                    print(f"  {kind} {what}: {found}", flush=True)
                return bad

            for place in range(0, len(whole), every):
                broken = bytearray(whole)
                broken[place] ^= 1 << (place % 8)
                found = outcome(path, bytes(broken), queries, right)
                if found == "the same answers":
                    print(f"  byte {place} may be changed")
                failed += note("byte", place, found, told["bytes"]) or found == "the same answers"
            for k, (where, other, content) in enumerate(other_values(whole)):
                if k % every:
                    continue
                found = outcome(path, content, queries, right)
                if found == "other answers" and is_chosen(where):
                    found = "another model"
                failed += note("value", (where, other), found, told["values"])
            for attack, content in structural(whole).items():
                failed += note("members", attack, outcome(path, content, queries, right), told["members"])
            print(f"{name} ({len(whole)} bytes, {time.monotonic() - begun:.0f} s):")
            for kind, counts in told.items():
                print(f"  {kind}: {counts.total()}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    print(f"{failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
