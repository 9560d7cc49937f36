"""assign_all stopped, killed, on a full disk, among files of others: the same file in the end, and nothing lost."""

import errno
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.assigned import NAMES, WORDS, check, folder
from support.extras import optional
from support.forked import forkserver
from support.maps import blob_distances

from medianmap import MedianKMeans, PrototypeClassifier, as_dissimilarity, load, save
from medianmap.predict import assign_all as module
from medianmap.predict.assign_all import assign_all, two_nearest
from medianmap.utils import resumable


@pytest.fixture(scope="module")
def of_words():
    return MedianKMeans(3, metric="edit", random_state=0).fit(WORDS)


# --- interrupted and resumed ------------------------------------------------------------------------------------------


class Stop(Exception):
    pass


def stop_after(n):
    def on_progress(stage, done, total):
        if done >= n:
            raise Stop

    return on_progress


def slow_model():
    return MedianKMeans(3, metric="edit", random_state=0).fit(WORDS[:30])


def words_slowly():
    words = random.Random(0)
    for k in range(2000):
        if k % 20 == 0:
            time.sleep(0.008)
        yield f"n{k}", "".join(words.choices("abcd", k=8))


def assign_slowly(path):
    """What the killed process runs: a second of small blocks, each made safe at once."""
    module.VOUCH_SECONDS = 0.0
    assign_all(slow_model(), words_slowly(), path, block=20)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill a process at once")
@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_a_run_killed_at_random_points_and_resumed_gives_the_same_file_to_the_last_bit(ending, tmp_path):
    if ending == "parquet":
        optional("pyarrow")
    whole, killed = tmp_path / f"whole.{ending}", tmp_path / f"killed.{ending}"
    assign_all(slow_model(), words_slowly(), whole, block=20)
    killed.write_bytes(b"an earlier file")
    context = forkserver("test_assign_all_resumed")
    moments, kills = random.Random(), 0
    while True:
        process = context.Process(target=assign_slowly, args=(killed,))
        process.start()
        process.join(moments.uniform(0.05, 0.6) if kills < 8 else 60)
        if process.exitcode is not None:
            break
        process.kill()
        process.join()
        kills += 1
        assert killed.read_bytes() == b"an earlier file"
    assert process.exitcode == 0
    assert kills >= 2
    assert killed.read_bytes() == whole.read_bytes()
    assert folder(tmp_path) == [killed.name, whole.name]


@given(st.lists(st.integers(1, 69), min_size=1, max_size=3), st.integers(1, 30), st.binary(max_size=20))
def test_stopped_anywhere_and_resumed(tmp_path_factory, moments, block, torn):
    out = tmp_path_factory.mktemp("any") / "out.tsv"
    model = MedianKMeans(3, metric="edit", random_state=0).fit(WORDS)
    for moment in moments:
        with pytest.raises(Stop):
            assign_all(model, iter(WORDS), out, block=block, on_progress=stop_after(moment))
        with out.with_name("out.tsv.part").open("ab") as part:
            part.write(torn)  # what a kill leaves behind the last block that counts
        with out.with_name("out.tsv.journal").open("ab") as journal:
            journal.write(torn.replace(b"\n", b"")[:9])
    done = assign_all(model, iter(WORDS), out, block=999)
    check(out, range(70), model.transform(WORDS))
    assert done.n_resumed >= max(moments) - block
    np.testing.assert_array_equal(done.hits, np.bincount(model.predict(WORDS), minlength=3))
    assert done.quantization_error == pytest.approx(-model.score(WORDS))


def test_what_is_done_is_not_computed_again(tmp_path, monkeypatch):
    X = np.arange(100.0)[:, None]
    model = MedianKMeans(2, random_state=0).fit(X)
    with pytest.raises(Stop):
        assign_all(model, X, tmp_path / "out.tsv", block=10, on_progress=stop_after(60))
    judged = []
    monkeypatch.setattr(module, "two_nearest", lambda G, *more: judged.append(len(G)) or two_nearest(G, *more))
    done = assign_all(model, X, tmp_path / "out.tsv", block=10)
    assert sum(judged) == 40
    assert done.n_resumed == 60


def test_other_models_and_data_are_refused(of_words, tmp_path):
    out = tmp_path / "out.tsv"

    def begin():
        with pytest.raises(Stop):
            assign_all(of_words, WORDS, out, block=10, on_progress=stop_after(30), resume=False)

    begin()
    other = MedianKMeans(3, metric="edit", random_state=0).fit(WORDS[:8])
    costly = MedianKMeans(3, metric="edit", metric_params={"indel": 2}, random_state=0).fit(WORDS)
    guided = PrototypeClassifier(MedianKMeans(3, metric="edit", random_state=0)).fit(WORDS, [w[0] for w in WORDS])
    changed = [*WORDS[:25], "another", *WORDS[26:]]
    for model, X, ids, said in [
        (other, WORDS, None, "another model"),
        (costly, WORDS, None, "another model"),
        (guided, WORDS, None, "another model"),
        (of_words, changed, None, "objects 20 to 29 differ"),
        (of_words, iter(changed), None, "objects 20 to 29 differ"),
        (of_words, WORDS, NAMES, "objects 0 to 9 differ"),
        (of_words, WORDS[:15], None, "objects 10 to 14 differ"),
        (of_words, WORDS[:10], None, "ends after 10 objects, and there were 30"),
    ]:
        with pytest.raises(ValueError, match=f"{said}.*resume=False"):
            assign_all(model, X, out, ids=ids, block=10)
    assert folder(tmp_path) == ["out.tsv.journal", "out.tsv.part"]
    assert assign_all(of_words, WORDS, out).n_resumed == 30  # what was refused has not spoilt it
    begin()
    assert assign_all(other, changed, out, resume=False).n_resumed == 0
    check(out, range(70), other.transform(changed))


def test_another_source_is_refused(rng, tmp_path):
    D = blob_distances(rng, n=50)
    model = MedianKMeans(3, metric="precomputed", random_state=0).fit(D)
    with pytest.raises(Stop):
        assign_all(model, as_dissimilarity(D), tmp_path / "out.tsv", block=10, on_progress=stop_after(30))
    with pytest.raises(ValueError, match="begun with other data"):
        assign_all(model, as_dissimilarity(D * 2), tmp_path / "out.tsv", block=10)
    assert assign_all(model, as_dissimilarity(D), tmp_path / "out.tsv").n_resumed == 30


def test_a_saved_model_is_the_same_model(of_words, tmp_path):
    save(of_words, tmp_path / "m.mmap")
    with pytest.raises(Stop):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", block=10, on_progress=stop_after(30))
    assert assign_all(load(tmp_path / "m.mmap"), WORDS, tmp_path / "out.tsv").n_resumed == 30


# --- files that are not ours, disks that are full ---------------------------------------------------------------------


@pytest.mark.parametrize("content", ["hello\n", '{"n": 3}\n1 2\n', "[1]\n", "not ended"])
@pytest.mark.parametrize("resume", [True, False])
def test_a_foreign_journal_is_left_alone(content, resume, of_words, tmp_path):
    (tmp_path / "out.tsv.journal").write_text(content)
    with pytest.raises(ValueError, match=r"out.tsv.journal is not the journal"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", resume=resume)
    assert (tmp_path / "out.tsv.journal").read_text() == content
    assert folder(tmp_path) == ["out.tsv.journal"]


def test_a_part_without_journal_or_cut_short_is_refused(of_words, tmp_path):
    part = tmp_path / "out.tsv.part"
    part.write_text("somebody's")
    with pytest.raises(FileExistsError, match=r"out.tsv.part exists already without a journal"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv")
    assert folder(tmp_path) == ["out.tsv.part"]
    with pytest.raises(Stop):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", resume=False, block=10, on_progress=stop_after(30))
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(ValueError, match="shorter than its journal says"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv")
    part.unlink()
    assert assign_all(of_words, WORDS, tmp_path / "out.tsv").n_resumed == 0


@pytest.mark.parametrize("when", ["first", "write", "sync"])
def test_a_full_disk_is_one_sentence_and_the_earlier_file_stays(when, of_words, tmp_path, monkeypatch):
    out = tmp_path / "out.tsv"
    out.write_text("an earlier file")
    if when != "first":
        with pytest.raises(Stop):
            assign_all(of_words, WORDS, out, block=10, on_progress=stop_after(30))

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if when == "sync":
            patch.setattr(resumable.os, "fsync", full)
        else:
            patch.setattr(resumable.GrowingText, "_write", full)
        with pytest.raises(OSError, match=r"out.tsv cannot be written: No space left on device; free some space"):
            assign_all(of_words, WORDS, out, block=10)
    assert out.read_text() == "an earlier file"
    assert assign_all(of_words, WORDS, out).n_resumed == (0 if when == "first" else 30)
    check(out, range(70), of_words.transform(WORDS))
    assert folder(tmp_path) == ["out.tsv"]


FULL = """
import resource, sys, numpy as np
from medianmap import MedianKMeans
from medianmap.predict.assign_all import assign_all
X = np.random.default_rng(0).normal(size=(5000, 2))
model = MedianKMeans(3, random_state=0).fit(X[:20])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
assign_all(model, X, sys.argv[1], block=100)
"""


def test_a_file_that_may_not_grow(tmp_path):
    optional("resource")
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path / "x.tsv"], capture_output=True, text=True, check=False)
    assert "x.tsv cannot be written: File too large" in done.stderr
    X = np.random.default_rng(0).normal(size=(5000, 2))
    model = MedianKMeans(3, random_state=0).fit(X[:20])
    assign_all(model, X, tmp_path / "x.tsv")
    check(tmp_path / "x.tsv", range(5000), model.transform(X))


def test_one_process_at_a_time(of_words, tmp_path):
    def intrude(*at):
        with pytest.raises(ValueError, match="Another process is writing"):
            assign_all(of_words, WORDS, tmp_path / "out.tsv")

    assign_all(of_words, WORDS, tmp_path / "out.tsv", block=30, on_progress=intrude)


def test_ctrl_c_says_how_to_go_on(of_words, tmp_path):
    def interrupt(stage, done, total):
        if done == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"40 points of out.tsv are kept; run the same again"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", block=20, on_progress=interrupt)
    assert assign_all(of_words, WORDS, tmp_path / "out.tsv").n_resumed == 40


def test_a_model_without_a_name_cannot_be_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(module.Answers, "fingerprint", lambda self: "")
    model = MedianKMeans(2, metric="edit").fit(WORDS)
    with pytest.raises(Stop):
        assign_all(model, WORDS, tmp_path / "out.tsv", block=10, on_progress=stop_after(30))
    with pytest.raises(ValueError, match="begun with another model"):
        assign_all(model, WORDS, tmp_path / "out.tsv")
