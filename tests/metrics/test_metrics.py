"""Metrics by name and by function, against independent computations."""

import json
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from scipy.special import rel_entr
from sklearn.metrics import pairwise_distances
from support.extras import optional

from medianmap import MedianKMeans, as_dissimilarity
from medianmap.app.main import main
from medianmap.metrics import Metric, bind, register, registered
from medianmap.metrics.registry import describe
from medianmap.sources.base import ALL


@pytest.mark.parametrize("name", sorted(n for n, metric in registered().items() if metric.accepts == "vectors"))
def test_vector_metrics_equal_scikit_learns(name, rng):
    X = rng.random((15, 2 if name == "haversine" else 4))
    if "presence and absence" in registered()[name].summary:
        X = X > 0.5
        X[:, 0] = True
    ours = as_dissimilarity(X.astype(float), name).block(ALL, ALL)
    if name == "jensenshannon":  # SciPy's alone; here by its definition
        P = X / X.sum(axis=1, keepdims=True)
        M = (P[:, None] + P[None]) / 2
        expected = np.sqrt((rel_entr(P[:, None], M).sum(axis=2) + rel_entr(P[None], M).sum(axis=2)) / 2)
    else:
        expected = pairwise_distances(X, X.copy(), metric=name, **as_dissimilarity(X.astype(float), name).metric.params)
    np.testing.assert_allclose(ours, expected, atol=1e-7)


def test_missing_coordinates_are_passed_over_by_nan_euclidean(rng):
    X = np.where(rng.random((12, 4)) < 0.2, np.nan, rng.random((12, 4)))
    X[:, 0] = rng.random(12)
    np.testing.assert_allclose(
        as_dissimilarity(X, "nan_euclidean").block(ALL, ALL),
        pairwise_distances(X, X.copy(), metric="nan_euclidean"),
        atol=1e-7,
    )
    fitted = MedianKMeans(3, metric="nan_euclidean", random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def some_objects(accepts, rng):
    """Fifteen or more objects of a kind, some of them alike."""
    if accepts.startswith("strings"):
        return ["".join(rng.choice(list("ACE"), 4 + n)) for n in rng.integers(0, 6, 15)]
    if accepts == "series":
        return [rng.normal(size=n) for n in rng.integers(1, 9, 15)]
    if accepts == "peak lists":
        return [np.column_stack([rng.integers(1, 9, n) / 4 + rng.random(n) / 50, rng.random(n)])
                for n in rng.integers(1, 9, 15)]  # fmt: skip
    if accepts == "sets":
        return [set(rng.integers(0, 6, n).tolist()) for n in rng.integers(0, 6, 15)]
    if accepts == "mixed tables":
        return [(rng.random(), rng.choice(["x", "y"]), None if rng.random() < 0.2 else rng.normal()) for _ in range(15)]
    X = rng.integers(0, 4, (25, 3)) + (rng.random((25, 3)) < 0.3) * 0.1
    X[:, 0] = rng.integers(1, 4, 25)
    X[:, 1:] += rng.random((25, 2))  # no constant row: it has no correlation
    return X[:, :2] if accepts == "two" else X


def fitting(name, rng):
    """Objects and parameters that a metric can work with."""
    metric = registered()[name]
    if metric.extra == "bio":
        optional("Bio")
    if "presence" in metric.summary:
        return np.column_stack([np.ones(25), rng.random((25, 5)) < 0.5]).astype(float)
    if name == "hamming-strings":
        return ["".join(rng.choice(list("ACE"), 5)) for _ in range(15)]
    return some_objects("two" if name == "haversine" else metric.accepts, rng)


@pytest.mark.parametrize("name", sorted(name for name in registered() if bind(name).symmetric))
def test_metrics_that_promise_symmetry_keep_it_to_the_last_bit(name, rng):
    for _ in range(20):
        D = as_dissimilarity(fitting(name, rng), name).block(ALL, ALL)
        np.testing.assert_array_equal(D, D.T)


@pytest.mark.parametrize("name", sorted(registered()))
def test_an_entry_depends_on_its_two_objects_alone(name, rng):
    """Whole, by pairs, by scattered rows, on two threads: always the same bits; and zero from an object to itself."""
    objects = fitting(name, rng)
    source = as_dissimilarity(objects, name, n_jobs=1)
    D = source.block(ALL, ALL)
    assert len(np.unique(D)) > 2
    one_by_one = [[source.block(np.array([i]), np.array([l]))[0, 0] for l in range(4)] for i in range(len(objects))]
    np.testing.assert_array_equal(np.array(one_by_one), D[:, :4])
    rows = np.array([7, 2, 11])
    np.testing.assert_array_equal(source.block(rows, slice(3, 9)), D[rows, 3:9])
    np.testing.assert_array_equal(as_dissimilarity(objects, name, n_jobs=2).block(ALL, ALL), D)
    if "presence" not in registered()[name].summary:
        np.testing.assert_allclose(np.diag(D), 0, atol=1e-7)


@pytest.mark.parametrize("name", sorted(name for name in registered() if registered()[name].accepts != "vectors"))
def test_every_kind_of_object_is_mapped_and_predicted(name, rng):
    objects = fitting(name, rng)
    fitted = MedianKMeans(3, metric=name, random_state=0).fit(objects)
    np.testing.assert_array_equal(fitted.predict(objects), fitted.labels_)
    np.testing.assert_array_equal([fitted.predict([thing])[0] for thing in objects], fitted.labels_)


def test_metrics_are_told_without_their_extras():
    records = {record["name"]: record for record in describe()}
    assert set(records) == set(registered())
    assert records["alignment"]["extra"] is None  # BLOSUM62 comes with the library
    assert records["kmer"]["symmetric"] == "depends"
    assert [p["name"] for p in records["minkowski"]["parameters"]] == ["p", "w"]
    assert all(p["meaning"] for record in records.values() for p in record["parameters"])
    json.dumps(describe())


@pytest.mark.parametrize("name", sorted(registered()))
def test_told_defaults_are_the_functions_own(name, rng):
    """Passing every parameter at its default changes nothing; None leaves what the data fix to the data."""
    told = {p.name: p.default for p in registered()[name].parameters}
    objects = fitting(name, rng)
    np.testing.assert_array_equal(
        as_dissimilarity(objects, name, metric_params=told).block(ALL, ALL),
        as_dissimilarity(objects, name).block(ALL, ALL),
    )


def test_every_metric_is_on_its_page():
    page = (Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text()
    assert [name for name in registered() if f"`{name}`" not in page] == []
    lacking = [(name, p.name) for name, m in registered().items() for p in m.parameters if f"`{p.name}`" not in page]
    assert lacking == []


def test_the_command_lists_metrics(capsys):
    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main(["metrics", *args])
        told = capsys.readouterr()
        return ended.value.code, told.out, told.err

    code, out, _ = run()
    assert code == 0
    assert all(name in out for name in registered())
    code, out, _ = run("--json", "kmer", "edit")
    assert [record["name"] for record in json.loads(out)] == ["kmer", "edit"]
    code, out, err = run("edti")
    assert (code, out) == (2, "")
    assert "no metric 'edti'. Did you mean 'edit'" in err


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis", "euclidean", "cosine", "correlation", "minkowski"])
def test_prediction_of_training_points_is_exact(name, rng):
    """Parameters taken from the data stay those of the training data, whatever is predicted."""
    X = rng.random((60, 5))
    fitted = MedianKMeans(6, metric=name, random_state=0).fit(X)
    one_by_one = np.concatenate([fitted.predict(x[None]) for x in X])
    np.testing.assert_array_equal(one_by_one, fitted.labels_)
    G = fitted.transform(X)
    np.testing.assert_array_equal(np.vstack([fitted.transform(x[None]) for x in X]), G)


def test_threads_do_not_change_a_computed_matrix(rng):
    X = rng.random((200, 3))
    one, two = (as_dissimilarity(X, "euclidean", n_jobs=n).block(ALL, ALL) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_parameters_reach_functions_and_names(rng):
    X = rng.random((10, 3))
    by_name = as_dissimilarity(X, "minkowski", metric_params={"p": 3}).block(ALL, ALL)
    by_function = as_dissimilarity(
        X, lambda a, b, p: (np.abs(a - b) ** p).sum() ** (1 / p), metric_params={"p": 3}
    ).block(ALL, ALL)
    np.testing.assert_allclose(by_name, by_function)


def test_a_callable_is_asked_both_ways():
    D = as_dissimilarity(["a", "bb"], lambda a, b: max(0, len(b) - len(a)))
    assert not D.symmetric
    assert D.block(ALL, ALL).tolist() == [[0, 1], [0, 0]]


def test_a_numba_function_of_strings_runs_pair_by_pair():
    @njit
    def length_gap(a, b):
        return abs(len(a) - len(b))

    assert as_dissimilarity(["a", "bbb"], length_gap).block(ALL, ALL).tolist() == [[0, 2], [2, 0]]


def test_objects_of_any_kind_can_be_mapped():
    series = [np.sin(np.linspace(0, k, 5 + k)) for k in range(1, 9)]
    fitted = MedianKMeans(2, metric=lambda a, b: abs(len(a) - len(b)), random_state=0).fit(series)
    assert [len(c) for c in fitted.cluster_centers_] == [len(series[i]) for i in fitted.medoid_indices_]
    assert fitted.predict([np.zeros(12)]).shape == (1,)


def test_registering_a_metric():
    from medianmap.metrics import base

    metric = Metric("test-length", lambda a, b: np.array([[abs(len(s) - len(t)) for t in b] for s in a], float),
                    symmetric=True, accepts="strings")  # fmt: skip
    register(metric)
    try:
        assert MedianKMeans(1, metric="test-length").fit(["a", "bb", "ccc"]).cluster_centers_ == ["bb"]
        with pytest.raises(ValueError, match="exists already"):
            register(metric)
    finally:
        del base._REGISTRY["test-length"]
