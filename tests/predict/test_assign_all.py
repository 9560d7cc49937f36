"""Every object assigned, into a file: what predict and transform say, for all models and all kinds of input."""

import gzip
import json
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from support.assigned import NAMES, WORDS, check, folder, rows_of
from support.extras import optional
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import MedianKMeans, MedianNeuralGas, PatchClusterer, PrototypeClassifier, as_dissimilarity
from medianmap.core.memberships import Memberships
from medianmap.predict.assign_all import assign_all, assigned_lines, two_nearest
from medianmap.readers import Records, iter_records
from medianmap.utils.threads import limited


@pytest.fixture(scope="module")
def of_words():
    return MedianKMeans(3, metric="edit", random_state=0).fit(WORDS)


# --- what is written --------------------------------------------------------------------------------------------------


DISSIMILARITY = st.sampled_from([0.0, 1.0, 2.0, 1e-300, 1.7e308])


@given(st.integers(1, 6).flatmap(lambda K: st.lists(st.lists(DISSIMILARITY, min_size=K, max_size=K), min_size=1)))
def test_two_nearest_with_ties_to_the_lower(G):
    G = np.array(G, float)
    first, d, second, e, other, f, second_share = two_nearest(G)
    assert second_share.tolist() == Memberships.of(G).t.tolist()
    assert (other.tolist(), f.tolist()) == (second.tolist(), e.tolist())  # each is its own group
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
        assert [row[-2] for row in rows] == model.predict(X).tolist()
        assert [float(row[-1]) for row in rows] == model.predict_proba(X).max(axis=1).tolist()
    if family is MEDIAN:
        places = fitted.medoid_indices_[fitted.predict(X)]
        assert [row[5] for row in rows] == list(map(str, places))
    assert list(assigned_lines(model, X, block=33)) == (tmp_path / "out.tsv").read_text().splitlines()
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


MEETING = threading.Barrier(2)


def met(a, b):
    """In a thread of a pool: returns only if another one is in here at the same time."""
    if threading.current_thread() is not threading.main_thread():
        MEETING.wait(timeout=300)
    return abs(a - b)


def test_threads_share_the_work(tmp_path, monkeypatch):
    from medianmap.predict import queries

    monkeypatch.setattr(queries, "PART", 1)
    model = MedianKMeans(2, metric=met, random_state=0).fit([0.0, 1.0, 5.0, 6.0])
    with limited(2):
        assign_all(model, [0.0, 4.0, 2.0, 9.0], tmp_path / "out.tsv")
    assert [row[1] for row in rows_of(tmp_path / "out.tsv")] == model.predict([0.0, 4.0, 2.0, 9.0]).astype(str).tolist()


def test_processes_share_the_work_of_a_python_function(tmp_path):
    seen = "of" + str(os.getpid())

    def metric(a, b):
        return abs(a - b) + (0.5 if seen != "of" + str(os.getpid()) else 0.0)

    X = [float(k) for k in range(40)]
    model = MedianKMeans(2, metric=metric, random_state=0).fit(X)
    assign_all(model, X, tmp_path / "out.tsv", n_jobs=2, block=25)
    check(tmp_path / "out.tsv", range(40), model.transform(X) + 0.5)
    with pytest.raises(ValueError, match=r"Object 31 \('31'\), here X\[0\]: The metric 'metric' returned NaN"):
        assign_all(model, [*X[:31], float("nan")], tmp_path / "bad.tsv", n_jobs=2, block=25)


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
    assert {tuple(row[3:]) for row in rows_of(tmp_path / "out.tsv")} == {("", "", str(model.medoid_indices_[0]), "")}
    optional("pyarrow")
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
    assert columns["neuron"] == order[:, 0].tolist()
    assert columns["second"] == order[:, 1].tolist()
    assert columns["dissimilarity"] == G.min(axis=1).tolist()
    assert columns["second_dissimilarity"] == np.sort(G, axis=1)[:, 1].tolist()
    assert columns["border"] == (G.min(axis=1) / np.sort(G, axis=1)[:, 1] >= 0.9).tolist()
    assert columns["class"] == model.predict(X).tolist()
    assert columns["probability"] == model.predict_proba(X).max(axis=1).tolist()


def test_parquet_without_pyarrow_is_one_sentence_and_leaves_nothing(of_words, tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=r"A Parquet file needs pyarrow; install it with: .*medianmap\[db\]"):
        assign_all(of_words, WORDS, tmp_path / "out.parquet")
    assert folder(tmp_path) == []


def test_progress_is_told(of_words, tmp_path):
    told = []
    assign_all(of_words, WORDS, tmp_path / "a.tsv", block=30, on_progress=lambda *at: told.append(at))
    assert told == [("assignment", done, 70) for done in (30, 60, 70)]
    assign_all(of_words, iter(WORDS), tmp_path / "b.tsv", block=30, on_progress=lambda *at: told.append(at))
    assert told[3:] == [("assignment", done, None) for done in (30, 60, 70)]


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
    "tab in an id": (lambda: (["a", "b"], "out.tsv", {"ids": ["x", "y\tz"]}), ValueError, r"'y\\tz' of object 1"),
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
    with pytest.raises(NotFittedError):
        assign_all(MedianKMeans(2), WORDS, tmp_path / "out.tsv")
    with pytest.raises(TypeError, match="model is a StandardScaler"):
        assign_all(StandardScaler().fit([[1.0]]), WORDS, tmp_path / "out.tsv")
    named = PrototypeClassifier(MedianKMeans(2, metric="edit")).fit(["a", "bb"], ["x\ty", "z"])
    with pytest.raises(ValueError, match=r"The class 'x\\ty'"):
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
