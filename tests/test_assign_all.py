"""Every object assigned, into a file: what predict and transform say, for all models and kinds of input, come what may."""

import errno
import gzip
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import optional
from hypothesis import given
from hypothesis import strategies as st
from maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    PatchClusterer,
    PrototypeClassifier,
    as_dissimilarity,
    load,
    save,
)
from medianmap.patches import assign_all as module
from medianmap.patches import growing
from medianmap.patches.assign_all import assign_all, two_nearest
from medianmap.readers import Records, iter_records

WORDS = ["heron", "herons", "hero", "quark", "quarks", "quart", "her", "zero", "quartz", "ark"] * 7
NAMES = [f"w{k}" for k in range(len(WORDS))]


def rows_of(path: Path) -> list[list[str]]:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as file:
        head, *lines = file.read().splitlines()
    assert head.split("\t")[:5] == ["id", "prototype", "dissimilarity", "second", "second_dissimilarity"]
    return [line.split("\t") for line in lines]


def expected(G: np.ndarray) -> list[list[str]]:
    """The columns after the id, by sorting: an independent way to the two nearest."""
    order = np.argsort(G, axis=1, kind="stable")[:, :2]
    return [
        [text for j in nearest for text in (str(j), repr(float(row[j])))] for nearest, row in zip(order, G, strict=True)
    ]


def check(path: Path, ids, G):
    rows = rows_of(path)
    assert [row[0] for row in rows] == list(map(str, ids))
    assert [row[1:5] for row in rows] == expected(np.asarray(G))


def folder(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


@pytest.fixture(scope="module")
def of_words():
    return MedianKMeans(3, metric="edit", random_state=0).fit(WORDS)


# --- what is written --------------------------------------------------------------------------------------------------


@given(st.integers(1, 6).flatmap(lambda K: st.lists(st.lists(st.integers(0, 3), min_size=K, max_size=K), min_size=1)))
def test_two_nearest_with_ties_to_the_lower(G):
    G = np.array(G, float)
    first, d, second, e = two_nearest(G)
    for i, row in enumerate(G):
        ranked = sorted(range(len(row)), key=lambda j: (row[j], j))
        assert (first[i], d[i]) == (ranked[0], row[ranked[0]])
        if len(row) > 1:
            assert (second[i], e[i]) == (ranked[1], row[ranked[1]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
@pytest.mark.parametrize("kind", ["map", "patches", "classifier", "classifier of patches"])
def test_every_model_says_what_predict_and_transform_say(kind, family, method, rng, tmp_path):
    X, y = blobs(rng, n=70), np.array(["a", "b"])[rng.integers(2, size=70)]
    model = estimator(method, 4, family, random_state=0)
    if "patches" in kind:
        model = PatchClusterer(model, patch_size=30)
    if "classifier" in kind:
        model = PrototypeClassifier(model)
    model.fit(X, y)
    fitted = getattr(model, "estimator_", model)
    done = assign_all(model, X, tmp_path / "out.tsv", block=17)
    check(tmp_path / "out.tsv", range(70), fitted.transform(X))
    rows = rows_of(tmp_path / "out.tsv")
    if "classifier" in kind:
        assert [row[5] for row in rows] == model.predict(X).tolist()
    assert [int(row[1]) for row in rows] == fitted.predict(X).tolist()
    assert done.n_objects == 70
    assert done.n_resumed == 0
    np.testing.assert_array_equal(done.hits, np.bincount(fitted.predict(X), minlength=4))
    assert done.quantization_error == pytest.approx(-fitted.score(X))
    assert folder(tmp_path) == ["out.tsv"]


@pytest.mark.parametrize("block", [1, 7, 70, 1000])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_neither_blocks_nor_threads_change_a_bit(block, n_jobs, rng, tmp_path):
    X = rng.normal(size=(2000 if block > 1 else 50, 3))
    model = MedianKMeans(5, metric="correlation", random_state=0).fit(X[:40])
    assign_all(model, X, tmp_path / "out.tsv", block=block, n_jobs=n_jobs)
    check(tmp_path / "out.tsv", range(len(X)), model.transform(X))


def stream_of_pairs():
    return ((name, word) for name, word in zip(NAMES, WORDS, strict=True))


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


KINDS = {
    "list": (lambda: WORDS, None),
    "list and ids": (lambda: WORDS, NAMES),
    "list and a stream of ids": (lambda: WORDS, iter(NAMES)),
    "tuple": (lambda: tuple(WORDS), None),
    "array": (lambda: np.array(WORDS), None),
    "generator": (lambda: (word for word in WORDS), None),
    "generator and ids": (lambda: iter(WORDS), NAMES),
    "pairs": (stream_of_pairs, "own"),
    "records": (lambda: Records(NAMES, WORDS, "strings"), "own"),
    "iterable": (lambda: Bag(WORDS), None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_objects(kind, of_words, tmp_path):
    X, ids = KINDS[kind]
    given = None if ids == "own" else ids
    assign_all(of_words, X(), tmp_path / "out.tsv", ids=given, block=11)
    check(tmp_path / "out.tsv", range(70) if ids is None else NAMES, of_words.transform(WORDS))


def test_records_of_a_file_keep_their_ids(of_words, tmp_path):
    optional("dnaio")
    fasta = tmp_path / "words.fasta"
    fasta.write_text("".join(f">{name} a word\n{word}\n" for name, word in zip(NAMES, WORDS, strict=True)))
    assign_all(of_words, iter_records(fasta), tmp_path / "out.tsv", block=32)
    check(tmp_path / "out.tsv", NAMES, of_words.transform(WORDS))


def test_frames_keep_their_index(rng, tmp_path):
    pandas = optional("pandas")
    X = pandas.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"], index=[f"r{k}" for k in range(40)])
    model = MedianKMeans(3, random_state=0).fit(X)
    assign_all(model, X, tmp_path / "out.tsv", block=9)
    check(tmp_path / "out.tsv", X.index, model.transform(X))
    strings = pandas.Series(WORDS[:20], index=NAMES[:20])
    model = MedianKMeans(3, metric="edit", random_state=0).fit(strings)
    assign_all(model, strings, tmp_path / "out.tsv", block=9)
    check(tmp_path / "out.tsv", NAMES[:20], model.transform(strings))
    with pytest.raises(ValueError, match="feature names should match"):
        assign_all(MedianKMeans(3).fit(X), X[["b", "a"]], tmp_path / "out.tsv")


@pytest.mark.parametrize(
    "kind", ["array", "frame", "source", "asymmetric", "float32", "condensed", "npy", "npy with ids", "queries",
             "rows", "computed", "skbio", "parquet"],
)  # fmt: skip
def test_every_kind_of_dissimilarities(kind, rng, tmp_path):
    D = blob_distances(rng, n=50)
    D = (D + D.T) / 2 + (rng.random((50, 50)) * (kind == "asymmetric"))
    np.fill_diagonal(D, 0)
    names = [f"p{k}" for k in range(50)]
    data, queries, ids = D, D, range(50)
    if kind == "frame":
        data = queries = optional("pandas").DataFrame(D, index=names, columns=names)
        ids = names
    elif kind in ("source", "asymmetric", "float32"):
        data = queries = as_dissimilarity(D.astype(np.float32 if kind == "float32" else float), ids=names)
        ids = names
    elif kind == "condensed":
        data = queries = D[np.triu_indices(50, 1)]
    elif kind.startswith("npy"):
        from medianmap.sources import write_store

        np.save(tmp_path / "D.npy", D)
        if "ids" in kind:
            write_store(tmp_path / "D.npy", as_dissimilarity(D, ids=names))
            ids = names
        data = queries = str(tmp_path / "D.npy")
    elif kind == "queries":
        queries, ids = D[:20], range(20)
    elif kind == "rows":
        queries = iter(D)
    elif kind == "computed":
        data = queries = as_dissimilarity(WORDS[:50], "edit", ids=names)
        ids = names
    elif kind == "skbio":
        data = queries = optional("skbio").DistanceMatrix(D, names)
        ids = names
    elif kind == "parquet":
        pandas = optional("pandas")
        optional("duckdb")
        optional("pyarrow")
        a, b = np.meshgrid(np.arange(50), np.arange(50), indexing="ij")
        frame = pandas.DataFrame({"a": np.array(names)[a.ravel()], "b": np.array(names)[b.ravel()], "d": D.ravel()})
        frame.to_parquet(tmp_path / "D.parquet")
        data = queries = str(tmp_path / "D.parquet")
        ids = as_dissimilarity(data).ids
    model = MedianKMeans(4, metric="precomputed", random_state=0)
    if kind != "frame":
        model = PatchClusterer(model, patch_size=20)
    model.fit(data)
    answers = model.transform(D if kind == "rows" else queries)
    assign_all(model, queries, tmp_path / "out.tsv", block=8)
    check(tmp_path / "out.tsv", ids, answers)


def test_one_prototype_has_no_second(tmp_path):
    model = MedianKMeans(1, metric="edit").fit(WORDS)
    assign_all(model, WORDS, tmp_path / "out.tsv")
    assert {tuple(row[3:]) for row in rows_of(tmp_path / "out.tsv")} == {("", "")}
    if not os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        pytest.importorskip("pyarrow")
    from pyarrow import parquet

    assign_all(model, WORDS, tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet")["second"].null_count == 70


@pytest.mark.parametrize(
    "labels", [["a", "b"], [3, 7], [0.5, 1.5], [True, False]], ids=["text", "int", "float", "bool"]
)
def test_parquet_and_gzip_hold_the_same(labels, rng, tmp_path):
    optional("pyarrow")
    from pyarrow import parquet

    X = blobs(rng, n=60)
    y = np.array(labels)[rng.integers(2, size=60)]
    if isinstance(labels[0], float):
        y = PrototypeClassifier(MedianNeuralGas(4, random_state=0)).fit(X, np.where(y == 0.5, 1, 2))
        y.classes_ = np.array(labels)
        model = y
    else:
        model = PrototypeClassifier(MedianNeuralGas(4, random_state=0)).fit(X, y)
    for name in ("out.tsv", "out.tsv.gz", "out.parquet"):
        assign_all(model, X, tmp_path / name, block=25, ids=[f'x "{k}" é' for k in range(60)])
    assert folder(tmp_path) == ["out.parquet", "out.tsv", "out.tsv.gz"]
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()) == (tmp_path / "out.tsv").read_bytes()
    columns = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    G = model.estimator_.transform(X)
    order = np.argsort(G, axis=1, kind="stable")
    assert columns["id"] == [f'x "{k}" é' for k in range(60)]
    assert columns["prototype"] == order[:, 0].tolist()
    assert columns["second"] == order[:, 1].tolist()
    assert columns["dissimilarity"] == G.min(axis=1).tolist()
    assert columns["second_dissimilarity"] == np.sort(G, axis=1)[:, 1].tolist()
    assert columns["class"] == model.predict(X).tolist()


def test_progress_is_told(of_words, tmp_path):
    told = []
    assign_all(of_words, WORDS, tmp_path / "a.tsv", block=30, on_progress=lambda *at: told.append(at))
    assert [at[:2] for at in told] == [(30, 70), (60, 70), (70, 70)]
    assign_all(of_words, iter(WORDS), tmp_path / "b.tsv", block=30, on_progress=lambda *at: told.append(at))
    assert [at[:2] for at in told[3:]] == [(30, None), (60, None), (70, None)]
    assert all(at[2] > 0 for at in told)


# --- interrupted and resumed ------------------------------------------------------------------------------------------


class Stop(Exception):
    pass


def stop_after(n):
    def on_progress(done, total, seconds):
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
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["medianmap.patches.assign_all", "medianmap.metrics.edit", "test_assign_all"])
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


CALLS = [0]


def counted_gap(a, b):
    CALLS[0] += 1
    return abs(a - b)


def test_what_is_done_is_not_computed_again(tmp_path):
    X = [float(k) for k in range(100)]
    model = MedianKMeans(2, metric=counted_gap, random_state=0).fit(X)
    with pytest.raises(Stop):
        assign_all(model, X, tmp_path / "out.tsv", block=10, on_progress=stop_after(60))
    CALLS[0] = 0
    done = assign_all(model, X, tmp_path / "out.tsv", block=10)
    assert CALLS[0] == 40 * 2
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
    with pytest.raises(ValueError, match=r"out.tsv.journal is not the journal of an assignment; move it"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", resume=resume)
    assert (tmp_path / "out.tsv.journal").read_text() == content
    assert folder(tmp_path) == ["out.tsv.journal"]


def test_a_part_without_journal_or_cut_short_is_refused(of_words, tmp_path):
    part = tmp_path / "out.tsv.part"
    part.write_text("somebody's")
    with pytest.raises(FileExistsError, match="exists already, and no journal goes with it"):
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
            patch.setattr(growing.os, "fsync", full)
        else:
            patch.setattr(growing.Growing, "_write", full)
        with pytest.raises(OSError, match=r"out.tsv cannot be written: No space left on device; free some space"):
            assign_all(of_words, WORDS, out, block=10)
    assert out.read_text() == "an earlier file"
    assert assign_all(of_words, WORDS, out).n_resumed == (0 if when == "first" else 30)
    check(out, range(70), of_words.transform(WORDS))
    assert folder(tmp_path) == ["out.tsv"]


FULL = """
import resource, sys, numpy as np
from medianmap import MedianKMeans
from medianmap.patches.assign_all import assign_all
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
    def interrupt(done, total, seconds):
        if done == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"40 objects of out.tsv are assigned and kept; run the same again"):
        assign_all(of_words, WORDS, tmp_path / "out.tsv", block=20, on_progress=interrupt)
    assert assign_all(of_words, WORDS, tmp_path / "out.tsv").n_resumed == 40


# --- mistakes ---------------------------------------------------------------------------------------------------------

BAD = {
    "ending": (lambda: (WORDS, "out.csv", {}), ValueError, "must end in .tsv, .tsv.gz or .parquet"),
    "folder": (lambda: (WORDS, "no/out.tsv", {}), FileNotFoundError, "There is no folder"),
    "block": (lambda: (WORDS, "out.tsv", {"block": 0}), ValueError, "block is 0"),
    "threads": (lambda: (WORDS, "out.tsv", {"n_jobs": 0}), ValueError, "n_jobs is 0"),
    "empty list": (lambda: ([], "out.tsv", {}), ValueError, "X is empty"),
    "empty stream": (lambda: (iter([]), "out.tsv", {}), ValueError, "X is empty"),
    "few ids": (lambda: (WORDS, "out.tsv", {"ids": NAMES[:3]}), ValueError, "3 ids for 70 objects"),
    "short stream of ids": (lambda: (WORDS, "out.tsv", {"ids": iter(NAMES[:3])}), ValueError, "3 ids for 70 objects"),
    "stream, few ids": (lambda: (iter(WORDS), "out.tsv", {"ids": NAMES[:3]}), ValueError, "3 ids for more objects"),
    "tab in an id": (lambda: (["a", "b"], "out.tsv", {"ids": ["x", "y\tz"]}), ValueError, r"'y\\tz' of object 1 has a"),
    "path": (lambda: ("words.fasta", "out.tsv", {}), ValueError, r"iter_records\('words.fasta'\)"),
    "mapping": (lambda: ({"a": 1}, "out.tsv", {}), ValueError, "X is a dict"),
    "number": (lambda: (3, "out.tsv", {}), ValueError, "X is a int"),
    "no string": (lambda: ([*WORDS, 7.5], "out.tsv", {"block": 16}), ValueError, r"Object 70 \('70'\).*is a float"),
    "no pair": (lambda: (iter([("a", "b"), "c"]), "out.tsv", {}), ValueError, "Object 1 is a str; those before it"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_sentence(case, of_words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, error, said = BAD[case]
    X, path, options = arguments()
    with pytest.raises(error, match=said):
        assign_all(of_words, X, path, **options)
    assert not Path("out.tsv").exists()
    if "block" not in options:
        assert folder(tmp_path) == []


def test_other_mistakes(of_words, rng, tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        assign_all(MedianKMeans(2), WORDS, tmp_path / "out.tsv")
    with pytest.raises(TypeError, match="model is a StandardScaler"):
        from sklearn.preprocessing import StandardScaler

        assign_all(StandardScaler().fit([[1.0]]), WORDS, tmp_path / "out.tsv")
    named = PrototypeClassifier(MedianKMeans(2, metric="edit")).fit(["a", "bb"], ["x\ty", "z"])
    with pytest.raises(ValueError, match=r"The class 'x\\ty' has a tab"):
        assign_all(named, WORDS, tmp_path / "out.tsv")
    X = rng.normal(size=(300, 2))
    model = MedianKMeans(2).fit(X)
    X[207, 1] = np.nan
    with pytest.raises(ValueError, match=r"Object 207 \('207'\), here X\[0\]: X\[0, 1\] is NaN"):
        assign_all(model, X, tmp_path / "out.tsv", block=100)
    with pytest.raises(ValueError, match="X has 3 features, but MedianKMeans is expecting 2"):
        assign_all(model, np.zeros((4, 3)), tmp_path / "other.tsv")
    assert folder(tmp_path) == ["out.tsv.journal", "out.tsv.part"]
    assert re.match(r'{"kind": "medianmap-assignment"', (tmp_path / "out.tsv.journal").read_text())
    assert json.loads((tmp_path / "out.tsv.journal").read_text().splitlines()[0])["block"] == 100


def test_tuples_that_are_objects_are_not_taken_for_pairs(tmp_path):
    sentences = [("the", "map"), ("the", "mop"), ("a", "map"), ("big", "gas")]
    model = MedianKMeans(2, metric="edit", random_state=0).fit(sentences)
    assign_all(model, iter(sentences), tmp_path / "out.tsv", ids=["p", "q", "r", "s"])
    check(tmp_path / "out.tsv", ["p", "q", "r", "s"], model.transform(sentences))


def test_a_model_without_a_name_cannot_be_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(module._Told, "fingerprint", lambda self: "")
    model = MedianKMeans(2, metric="edit").fit(WORDS)
    with pytest.raises(Stop):
        assign_all(model, WORDS, tmp_path / "out.tsv", block=10, on_progress=stop_after(30))
    with pytest.raises(ValueError, match="begun with another model"):
        assign_all(model, WORDS, tmp_path / "out.tsv")
