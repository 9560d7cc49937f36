"""All pairs: the right numbers, half the work, and a file that no kill, full disk or wrong data can spoil."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from support.forked import forkserver

from medianmap import as_dissimilarity
from medianmap.sources import all_pairs as allpairs
from medianmap.sources.all_pairs import all_pairs
from medianmap.sources.stored import open_store, read_sidecar


def slow_gap(a, b):
    """Not symmetric, and slow enough to be killed half way."""
    return float(np.abs(a - b).sum() + 0.25 * (a[0] > b[0]))


def vectors(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def folder(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 7), st.booleans())
def test_blocks_of_any_shape_fill_the_same_matrix(n, height, widest, symmetric):
    X = vectors(n)
    metric = "cityblock" if symmetric else slow_gap
    done = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allpairs, "panel_height", lambda n: height)
        patch.setattr(allpairs, "WIDEST", widest)
        D = all_pairs(X, metric, on_progress=lambda *at: done.append(at)).D
    expected = cdist(X, X, "cityblock") if symmetric else [[slow_gap(a, b) for b in X] for a in X]
    np.testing.assert_array_equal(D, expected)
    counts = [at[1] for at in done]
    total = n * (n + 1) // 2 if symmetric else n * n
    assert counts == sorted(counts)
    assert done[-1] == ("dissimilarities", total, total)


def test_a_symmetric_metric_is_asked_for_half_of_the_pairs():
    source = as_dissimilarity(vectors(1200), "euclidean")
    D = np.empty((1200, 1200))
    list(allpairs.computed_blocks(source, D))
    np.testing.assert_array_equal(D, cdist(vectors(1200), vectors(1200)))
    assert source.evaluations < 0.62 * 1200**2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_lay_in_the_memory_before_does_not_matter(dtype):
    X, D = vectors(150), np.full((150, 150), np.nan, dtype)
    list(allpairs.computed_blocks(as_dissimilarity(X, "euclidean"), D))
    np.testing.assert_array_equal(D, cdist(X, X).astype(dtype))


def test_a_promised_symmetry_takes_the_upper_triangle_whatever_the_blocks():
    source = as_dissimilarity(vectors(30), slow_gap, symmetric=True)
    wide, narrow = np.empty((30, 30)), np.empty((30, 30))
    source.fill(wide, slice(0, 30), slice(0, 30))
    for rows in (slice(0, 16), slice(16, 30)):
        for l in range(rows.start, 30):
            source.fill(narrow, rows, slice(l, l + 1))
    np.testing.assert_array_equal(wide, narrow)
    np.testing.assert_array_equal(wide, wide.T)
    assert wide[3, 9] == slow_gap(vectors(30)[3], vectors(30)[9])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_file_holds_the_matrix_and_the_sidecar_says_what_it_is(tmp_path, dtype):
    X = vectors(50)
    ids = [f"p{i}" for i in range(50)]
    path = tmp_path / "D.npy"
    stored = all_pairs(X, "minkowski", path, metric_params={"p": 3}, ids=ids, dtype=dtype)
    expected = cdist(X, X, "minkowski", p=3).astype(dtype)
    np.testing.assert_array_equal(np.load(path), expected)
    assert folder(tmp_path) == ["D.npy", "D.npy.json"]
    assert isinstance(stored.D, np.memmap)
    assert (stored.symmetric, stored.ids, stored.dtype) == (True, ids, np.dtype(dtype))
    sidecar = read_sidecar(path)
    assert (sidecar.metric, sidecar.parameters, sidecar.n) == ("minkowski", {"p": 3}, 50)
    np.testing.assert_array_equal(all_pairs(X, "minkowski", metric_params={"p": 3}, dtype=dtype).D, expected)


def test_the_number_of_threads_changes_no_bit(tmp_path):
    files = []
    for n_jobs in (1, 2, 5):
        all_pairs(vectors(300), "correlation", tmp_path / f"{n_jobs}.npy", n_jobs=n_jobs)
        files.append((tmp_path / f"{n_jobs}.npy").read_bytes())
    assert files[0] == files[1] == files[2]


def compute_in_small_steps(path, n):
    """What the killed process runs: a second of small blocks, a checkpoint after each."""
    allpairs.CHECKPOINT_SECONDS = 0.0
    allpairs.WIDEST = 16
    all_pairs(vectors(n), slow_gap, path, on_progress=lambda *at: time.sleep(0.015))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process at once")
def test_a_run_killed_at_random_points_and_resumed_gives_the_same_file_to_the_last_bit(tmp_path):
    n = 250
    whole, killed = tmp_path / "whole.npy", tmp_path / "killed.npy"
    all_pairs(vectors(n), slow_gap, whole)
    context = forkserver("test_allpairs")
    moments = random.Random()
    kills = 0
    while True:
        process = context.Process(target=compute_in_small_steps, args=(killed, n))
        process.start()
        process.join(moments.uniform(0.02, 0.25))
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            kills += 1
        if process.exitcode != -signal.SIGKILL or kills == 25:
            break
        assert not killed.exists()
        if (tmp_path / "killed.npy.journal").exists():
            with pytest.raises(ValueError, match="not finished"):
                open_store(killed)
    if process.exitcode:
        compute_in_small_steps(killed, n)  # enough kills: let it finish
    assert kills >= 3
    assert killed.read_bytes() == whole.read_bytes()
    assert folder(tmp_path) == ["killed.npy", "killed.npy.json", "whole.npy", "whole.npy.json"]
    assert (tmp_path / "killed.npy.json").read_bytes() == (tmp_path / "whole.npy.json").read_bytes()


def test_dissimilarities_are_on_the_disk_before_the_journal_vouches_for_them(tmp_path, monkeypatch):
    """Each time the matrix is made safe, the journal has a line for every time before, its first line not counted."""
    lines, own = [], np.memmap.flush

    def flush(matrix):
        lines.append(len((tmp_path / "D.npy.journal").read_text().splitlines()) - 1)
        own(matrix)

    monkeypatch.setattr(np.memmap, "flush", flush)
    all_pairs(vectors(60), "cityblock", tmp_path / "D.npy")
    assert lines == [*range(max(1, len(lines)))]


class Stop(Exception):
    pass


def stop_at(share):
    def on_progress(stage, done, total):
        if done >= share * total:
            raise Stop

    return on_progress


def test_what_was_computed_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(allpairs, "WIDEST", 64)
    path = tmp_path / "D.npy"
    with pytest.raises(Stop):
        all_pairs(vectors(300), "euclidean", path, on_progress=stop_at(0.5))
    assert folder(tmp_path) == ["D.npy.journal", "D.npy.part"]
    seen = []
    all_pairs(vectors(300), "euclidean", path, on_progress=lambda *at: seen.append(at))
    assert seen[0][1] >= 0.5 * seen[0][2]
    np.testing.assert_array_equal(np.load(path), cdist(vectors(300), vectors(300)))
    calls = []
    all_pairs(vectors(300), "euclidean", path, on_progress=lambda *at: calls.append(at))
    assert calls == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": vectors(300, seed=1)}, "other objects"),
        ({"metric": "cityblock"}, "other metric"),
        ({"metric": "minkowski", "metric_params": {"p": 2}}, "other metric"),
        ({"dtype": "float32"}, "another dtype"),
        ({"ids": [str(k) for k in range(300)]}, "other ids"),
    ],
    ids=["objects", "metric", "parameters", "dtype", "ids"],
)
@pytest.mark.parametrize("finished", [True, False], ids=["finished", "half done"])
def test_other_data_under_the_same_path_are_refused(tmp_path, monkeypatch, change, message, finished):
    monkeypatch.setattr(allpairs, "WIDEST", 64)
    path = tmp_path / "D.npy"
    same = {"X": vectors(300), "metric": "euclidean"}
    if finished:
        all_pairs(**same, path=path)
    else:
        with pytest.raises(Stop):
            all_pairs(**same, path=path, on_progress=stop_at(0.3))
    with pytest.raises(ValueError, match=f"{message}.*resume=False"):
        all_pairs(**{**same, **change}, path=path)
    all_pairs(**{**same, **change}, path=path, resume=False)
    assert folder(tmp_path) == ["D.npy", "D.npy.json"]
    all_pairs(**{**same, **change}, path=path)  # the replaced file is known again


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="room is claimed where the system can")
def test_the_room_is_claimed_before_the_work_begins(tmp_path):
    # A memory map over a hole in a file would kill the process when the disk is full.
    with pytest.raises(Stop):
        all_pairs(vectors(700), "euclidean", tmp_path / "D.npy", on_progress=stop_at(0.0))
    part = (tmp_path / "D.npy.part").stat()
    assert part.st_blocks * 512 >= 700 * 700 * 8


def test_a_torn_last_line_of_the_journal_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(allpairs, "WIDEST", 64)
    path = tmp_path / "D.npy"
    for torn in (b"3", b"299 29", b"\n"[:0]):
        with pytest.raises(Stop):
            all_pairs(vectors(300), "euclidean", path, on_progress=stop_at(0.3), resume=False)
        with (tmp_path / "D.npy.journal").open("ab") as journal:
            journal.write(torn)
        with pytest.raises(Stop):
            all_pairs(vectors(300), "euclidean", path, on_progress=stop_at(0.8))
        all_pairs(vectors(300), "euclidean", path)
        np.testing.assert_array_equal(np.load(path), cdist(vectors(300), vectors(300)))


def test_a_run_killed_between_its_last_steps_is_finished(tmp_path):
    path = tmp_path / "D.npy"
    all_pairs(vectors(20), "euclidean", path)
    sidecar = json.loads((tmp_path / "D.npy.json").read_text())
    (tmp_path / "D.npy.json").unlink()
    (tmp_path / "D.npy.journal").write_text(json.dumps({"height": 64, **sidecar}) + "\n20 20\n")
    all_pairs(vectors(20), "euclidean", path)
    assert json.loads((tmp_path / "D.npy.json").read_text()) == sidecar
    assert folder(tmp_path) == ["D.npy", "D.npy.json"]


def test_a_matrix_of_somebody_else_is_not_overwritten(tmp_path):
    np.save(tmp_path / "D.npy", np.eye(3))
    for resume in (True, False):
        with pytest.raises(FileExistsError, match="not written by all_pairs"):
            all_pairs(vectors(5), "euclidean", tmp_path / "D.npy", resume=resume)
    np.testing.assert_array_equal(np.load(tmp_path / "D.npy"), np.eye(3))


def test_one_process_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(allpairs, "WIDEST", 64)
    path = tmp_path / "D.npy"

    def intrude(stage, done, total):
        with pytest.raises(ValueError, match="Another process is writing"):
            all_pairs(vectors(300), "euclidean", path)

    all_pairs(vectors(300), "euclidean", path, on_progress=intrude)


FULL_DISK = """
import resource, sys, numpy as np
from medianmap.sources.all_pairs import all_pairs
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
all_pairs(np.random.default_rng(0).normal(size=(400, 4)), "euclidean", sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="this system cannot limit a file")
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path / "D.npy"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "D.npy (0.00128 GB) cannot be written: File too large; free some space" in done.stderr
    assert folder(tmp_path) == []


INTERRUPTED = """
import sys, time, numpy as np
from medianmap.sources import all_pairs as allpairs
def slow(a, b):
    time.sleep(0.0002)
    return abs(a - b)
print("ready", flush=True)
allpairs.all_pairs(list(range(300)), slow, sys.argv[1])
"""


def test_ctrl_c_says_how_to_go_on_and_keeps_what_is_done(tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, tmp_path / "D.npy"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    journal, deadline = tmp_path / "D.npy.journal", time.monotonic() + 300
    while time.monotonic() < deadline and not (journal.exists() and journal.read_text().count("\n") >= 2):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert "% of" in stderr
    assert re.search(r"D.npy is computed and kept.*again", stderr)
    lines = journal.read_text().splitlines()
    assert len(lines) >= 2
    assert int(lines[-1].split()[1]) > 0


def test_bad_arguments(tmp_path):
    X = vectors(5)
    for call, error, message in [
        (lambda: all_pairs(X, "euclidean", dtype="int32"), ValueError, "dtype is int32; choose float32 or float64"),
        (lambda: all_pairs(X, "precomputed"), ValueError, "computes nothing"),
        (lambda: all_pairs(X, "euclidean", n_jobs=0), ValueError, "n_jobs is 0"),
        (lambda: all_pairs(X * 1e30, "sqeuclidean", dtype="float32"), ValueError, r"pair \(\d, \d\) is .*, too large"),
        (lambda: all_pairs(X, "euclidean", tmp_path / "no" / "D.npy"), FileNotFoundError, "There is no folder"),
        (lambda: all_pairs(X, "euclidean", tmp_path), IsADirectoryError, "is a folder"),
        (lambda: all_pairs(X, "euclidean", ids=["a"]), ValueError, "1 ids for 5 points"),
        (lambda: all_pairs(X, "euclidean", tmp_path / "D.npy", ids=list("abcda")), ValueError, "1 and 5 have the same"),
    ]:
        with pytest.raises(error, match=message):
            call()
    assert folder(tmp_path) == []


def test_a_refused_object_leaves_nothing_and_a_failure_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(allpairs, "panel_height", lambda n: 8)

    def touchy(error, a, b):
        if a == 20:
            raise error("I do not like 20.")
        return abs(a - b)

    with pytest.raises(ValueError, match="I do not like 20"):  # it must be changed: no run could continue this one
        all_pairs(list(range(30)), partial(touchy, ValueError), tmp_path / "D.npy")
    assert folder(tmp_path) == []
    with pytest.raises(RuntimeError, match="I do not like 20"):
        all_pairs(list(range(30)), partial(touchy, RuntimeError), tmp_path / "D.npy")
    assert (tmp_path / "D.npy.journal").read_text().splitlines()[-1] == "16 0"
