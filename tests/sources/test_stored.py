"""The .npy store with its sidecar, and the same map from every store there is."""

import json
import os
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from support.extras import optional
from support.maps import blobs
from support.pair_tables import pair_rows, write_postgres, write_tables
from support.postgres_server import binaries, postgres

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity
from medianmap.search import CHOICES, check_search_fits
from medianmap.sources import CondensedSource, DenseSource, PairSource, PostgresSource, open_store, write_store
from medianmap.sources.all_pairs import all_pairs
from medianmap.sources.base import ALL
from medianmap.sources.stored import read_sidecar

IDS = [f"p{k:02d}" for k in range(60)]


@pytest.fixture
def D(rng):
    return squareform(pdist(blobs(rng)))


def test_a_store_keeps_the_matrix_its_ids_and_its_symmetry(tmp_path, D):
    written = write_store(tmp_path / "D.npy", DenseSource(D, True, IDS), metric="euclidean", parameters={"p": 2})
    for source in (written, open_store(tmp_path / "D.npy"), as_dissimilarity(tmp_path / "D.npy")):
        assert isinstance(source.D, np.memmap)
        assert (source.ids, source.symmetric) == (IDS, True)
        np.testing.assert_array_equal(source.D, D)
    sidecar = read_sidecar(tmp_path / "D.npy")
    assert (sidecar.metric, sidecar.parameters, sidecar.n, sidecar.dtype) == ("euclidean", {"p": 2}, 60, "float64")
    assert sorted(os.listdir(tmp_path)) == ["D.npy", "D.npy.json"]
    assert np.load(tmp_path / "D.npy").shape == (60, 60)  # a plain .npy for everybody else


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i4", "f2", "u1"])
def test_a_store_of_any_type_holds_the_values_as_they_are(tmp_path, D, dtype):
    given = np.round(D).astype(dtype)
    write_store(tmp_path / "D.npy", as_dissimilarity(given))
    np.testing.assert_array_equal(open_store(tmp_path / "D.npy").block(ALL, ALL), given)


def test_any_source_can_be_stored(tmp_path, D):
    for source in (
        CondensedSource(squareform(D), 60),
        as_dissimilarity(D[:, :3], "cityblock"),
        DenseSource(D.T, False),
    ):
        write_store(tmp_path / "D.npy", source)
        stored = open_store(tmp_path / "D.npy")
        np.testing.assert_array_equal(stored.block(ALL, ALL), source.block(ALL, ALL))
        assert (stored.symmetric, stored.ids) == (source.symmetric, None)


def test_a_sidecar_saves_the_pass_over_the_matrix(tmp_path, D, monkeypatch):
    write_store(tmp_path / "D.npy", DenseSource(D, True, IDS))
    monkeypatch.setattr("medianmap.sources.is_symmetric", lambda D: pytest.fail("the matrix was read"))
    assert as_dissimilarity(tmp_path / "D.npy").symmetric
    assert not as_dissimilarity(tmp_path / "D.npy", symmetric=False).symmetric
    assert as_dissimilarity(tmp_path / "D.npy", ids=IDS[::-1]).ids == IDS[::-1]
    (tmp_path / "D.npy.json").unlink()
    assert as_dissimilarity(tmp_path / "D.npy", symmetric=True).ids is None


def changed(path, **facts):
    sidecar = json.loads(path.read_text())
    path.write_text(json.dumps({**sidecar, **facts}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: changed(folder / "D.npy.json", n=59, ids=None), r"has shape \(60, 60\).*says \(59, 59\)"),
        (lambda folder: changed(folder / "D.npy.json", dtype="float32"), "type float64, .*float32"),
        (lambda folder: changed(folder / "D.npy.json", ids=IDS[:5]), "5 ids for 60 points"),
        (
            lambda folder: changed(folder / "D.npy.json", ids=["x", "x", *IDS[2:]]),
            "1 and 2 have the same id 'x'",
        ),
        (lambda folder: (folder / "D.npy.json").write_text("{"), "sidecar"),
        (lambda folder: (folder / "D.npy.json").write_text("[]"), "sidecar"),
        (lambda folder: (folder / "D.npy.json").write_text('{"n": 3}'), "sidecar"),
        (lambda folder: np.save(folder / "D.npy", np.eye(4)), r"has shape \(4, 4\)"),
        (lambda folder: (folder / "D.npy").write_bytes(b"x"), "not a readable .npy"),
    ],
)
def test_a_sidecar_that_disagrees_is_one_sentence(tmp_path, D, spoil, message):
    write_store(tmp_path / "D.npy", DenseSource(D, True, IDS))
    spoil(tmp_path)
    for opening in (open_store, as_dissimilarity):
        with pytest.raises(ValueError, match=message) as caught:
            opening(tmp_path / "D.npy")
        assert "\n" not in str(caught.value)


def test_what_is_not_there_is_one_sentence(tmp_path, D):
    with pytest.raises(FileNotFoundError, match="no sidecar"):
        open_store(tmp_path / "D.npy")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_store(tmp_path / "no" / "D.npy", DenseSource(D, True))
    with pytest.raises(ValueError, match="give plain values"):
        write_store(tmp_path / "D.npy", DenseSource(D, True), parameters={"f": len})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("from_path", [True, False])
def test_a_handle_is_small_and_a_matrix_in_memory_travels_whole(tmp_path, D, from_path):
    np.save(tmp_path / "D.npy", D)
    source = as_dissimilarity(tmp_path / "D.npy") if from_path else as_dissimilarity(D)
    sent = pickle.dumps(source)
    assert (len(sent) < 2000) == from_path
    np.testing.assert_array_equal(pickle.loads(sent).block(ALL, ALL), D)


@pytest.fixture(scope="module")
def every_form(tmp_path_factory):
    """name -> (what to fit, metric): the same dissimilarities from everywhere."""
    optional("duckdb")
    optional("adbc_driver_postgresql")
    folder = tmp_path_factory.mktemp("forms")
    X = blobs(np.random.default_rng(3))
    D = squareform(pdist(X))
    np.save(folder / "plain.npy", D)
    paths = write_tables(folder, *pair_rows(D, IDS))
    half = write_tables(tmp_path_factory.mktemp("half"), *pair_rows(D, IDS, np.triu(D) > 0))
    forms = {
        "dense": (D, "precomputed"),
        "condensed": (pdist(X), "precomputed"),
        "memory map": (np.load(folder / "plain.npy", mmap_mode="r"), "precomputed"),
        "path": (folder / "plain.npy", "precomputed"),
        "store": (write_store(folder / "D.npy", DenseSource(D, True, IDS)), "precomputed"),
        "all pairs": (all_pairs(X, "euclidean", folder / "all.npy", ids=IDS), "precomputed"),
        **{name: (PairSource(path), "precomputed") for name, path in paths.items()},
        "parquet path": (paths["parquet"], "precomputed"),
        "triangle": (PairSource(half["parquet"]), "precomputed"),
        "metric": (X, "euclidean"),
    }
    if binaries() is None and not os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        yield forms
        return
    with postgres() as uri:
        write_postgres(uri, *pair_rows(D, IDS))
        yield {**forms, "postgresql": (PostgresSource(uri, "pairs"), "precomputed")}


MAPS = [MedianKMeans(6), MedianNeuralGas(6, n_epochs=15), MedianSOM((2, 3), n_epochs=15)]


@pytest.mark.parametrize("estimator", MAPS, ids=lambda e: type(e).__name__)
def test_every_store_gives_the_same_map(estimator, every_form):
    fits = {
        name: clone(estimator).set_params(metric=metric, random_state=0).fit(given)
        for name, (given, metric) in every_form.items()
    }
    for name, fit in fits.items():
        np.testing.assert_array_equal(fit.medoid_indices_, fits["dense"].medoid_indices_, err_msg=name)
        np.testing.assert_array_equal(fit.labels_, fits["dense"].labels_, err_msg=name)
        assert fit.inertia_ == fits["dense"].inertia_, name
        given = every_form[name][0]
        np.testing.assert_array_equal(fit.predict(given), fit.labels_, err_msg=name)
    for name in ("store", "all pairs", "duckdb", "parquet", "csv", "triangle"):
        assert fits[name].prototype_ids_ == [IDS[k] for k in fits["dense"].medoid_indices_]


@pytest.mark.parametrize("estimator", MAPS, ids=lambda e: type(e).__name__)
def test_every_search_runs_on_a_table_of_pairs(estimator, every_form):
    for search in CHOICES:
        try:
            check_search_fits(search, estimator._gives, "")
        except ValueError:
            continue
        fits = [
            clone(estimator).set_params(metric="precomputed", search=search, random_state=0).fit(every_form[name][0])
            for name in ("dense", "duckdb")
        ]
        np.testing.assert_array_equal(fits[0].medoid_indices_, fits[1].medoid_indices_, err_msg=search)
