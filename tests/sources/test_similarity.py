"""Similarities as dissimilarities: rules by their definition, kernels by their features, and what is told of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from medianmap import BatchKMeans, MedianNeuralGas, RelationalKMeans, as_dissimilarity, read
from medianmap.sources import ALL, similarity
from medianmap.sources.similarity import RULES


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


def whole(source):
    return np.asarray(source.block(ALL, ALL))


def centred(S):
    J = np.eye(len(S)) - 1 / len(S)
    return J @ S @ J


@pytest.fixture
def indefinite(rng):
    """A symmetric matrix whose d are positive though some eigenvalues are not."""
    S = rng.normal(size=(30, 30))
    return S + S.T + 9 * np.eye(30)


BY_HAND = {
    "1-s": lambda s, a, b, most: 1 - s,
    "1-s/100": lambda s, a, b, most: 1 - s / 100,
    "max-s": lambda s, a, b, most: most - s,
    "-log": lambda s, a, b, most: -np.log(s),
    "normalized": lambda s, a, b, most: 1 - s / np.sqrt(a * b),
    "kernel": lambda s, a, b, most: a + b - 2 * s,
}


def test_every_rule_has_a_definition_here():
    assert set(BY_HAND) | {"kernel-clip", "kernel-flip", "kernel-shift"} == set(RULES)


@pytest.mark.parametrize("rule", BY_HAND)
@pytest.mark.parametrize("form", ["array", "frame", "memory map", "source"])
def test_rules_by_their_definition_in_every_form(rule, form, rng, tmp_path):
    X = rng.random((25, 4)) + 0.2
    S = X @ X.T / 10
    expected = np.array([[BY_HAND[rule](S[i, l], S[i, i], S[l, l], S.max()) for l in range(25)] for i in range(25)])
    ids = [f"p{i}" for i in range(25)]
    np.save(tmp_path / "S.npy", S)
    given = {
        "array": S, "frame": pd.DataFrame(S, ids, ids), "memory map": tmp_path / "S.npy", "source": as_dissimilarity(S)
    }[form]  # fmt: skip
    source = as_dissimilarity(given, similarity=rule)
    np.testing.assert_allclose(whole(source), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(source.block(np.array([3, 1]), slice(2, 9)), whole(source)[[3, 1], 2:9])
    assert source.symmetric
    assert source.ids == (ids if form == "frame" else None)


@pytest.mark.parametrize("rule", RULES)
def test_files_and_arrays_have_one_vocabulary(rule, rng, tmp_path):
    X = rng.random((12, 4)) + 0.2
    np.save(tmp_path / "S.npy", X @ X.T / 10)
    by_file = read(tmp_path / "S.npy", kind="matrix", similarity=rule).D
    np.testing.assert_array_equal(by_file, whole(as_dissimilarity(X @ X.T / 10, similarity=rule)))


def test_a_memory_map_stays_on_disk_and_gives_the_same_map(X, tmp_path):
    np.save(tmp_path / "K.npy", X @ X.T)
    on_disk = as_dissimilarity(tmp_path / "K.npy", similarity="kernel")
    assert isinstance(on_disk.base.D, np.memmap)
    gas = MedianNeuralGas(5, metric="precomputed", random_state=0)
    in_memory = gas.fit(as_dissimilarity(X @ X.T, similarity="kernel")).medoid_indices_
    np.testing.assert_array_equal(gas.fit(on_disk).medoid_indices_, in_memory)


def test_a_linear_kernel_is_the_squared_euclidean_distance(X):
    D = as_dissimilarity(X @ X.T, similarity="kernel")
    np.testing.assert_allclose(whole(D), cdist(X, X, "sqeuclidean"), atol=1e-12)
    start = {"init": [0, 9, 20]}
    relational = RelationalKMeans(3, metric="precomputed", **start).fit(D)
    vectors = BatchKMeans(3, **start).fit(X)
    np.testing.assert_array_equal(relational.labels_, vectors.labels_)
    assert relational.inertia_ == pytest.approx(vectors.inertia_)
    by_metric = MedianNeuralGas(6, metric="sqeuclidean", random_state=0).fit(X)
    by_kernel = MedianNeuralGas(6, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(by_metric.medoid_indices_, by_kernel.medoid_indices_)


def test_what_centring_removes_is_not_told(X):
    """-d^2 / 2 has negative eigenvalues and is a kernel all the same: d is Euclidean."""
    S = -0.5 * cdist(X, X, "sqeuclidean")
    assert np.linalg.eigvalsh(S)[0] < -1
    np.testing.assert_allclose(whole(as_dissimilarity(S, similarity="kernel")), -2 * S, atol=1e-12)


def told(S, rule):
    with pytest.warns(UserWarning, match=r"eigenvalues|rounding") as caught:
        D = whole(as_dissimilarity(S, similarity=rule))
    assert caught[0].filename == __file__
    return D, str(caught[0].message)


def test_negative_eigenvalues_are_told_and_d_stays(indefinite):
    D, sentence = told(indefinite, "kernel")
    values = np.linalg.eigvalsh(centred(indefinite))
    own = np.diag(indefinite)
    np.testing.assert_allclose(D, own[:, None] + own - 2 * indefinite)
    assert f"{(values < -1e-9).sum()} of the 30 eigenvalues" in sentence
    assert f"{-values[values < 0].sum() / np.abs(values).sum():.2g} of the sum" in sentence
    assert all(f"similarity='{rule}'" in sentence for rule in ("kernel-clip", "kernel-flip", "kernel-shift"))


@pytest.mark.parametrize(
    ("rule", "repaired"),
    [
        ("kernel-clip", lambda v: np.maximum(v, 0)),
        ("kernel-flip", np.abs),
        ("kernel-shift", lambda v: v - v.min()),
    ],
)
def test_repaired_kernels_are_euclidean_and_by_their_definition(rule, repaired, rng):
    S = rng.normal(size=(30, 30))
    S = S + S.T
    values, vectors = np.linalg.eigh(centred(S))
    B = (vectors * repaired(values)) @ vectors.T
    expected = np.diag(B)[:, None] + np.diag(B) - 2 * B
    D, sentence = told(S, rule)
    np.testing.assert_allclose(D, expected, atol=1e-9)
    np.testing.assert_array_equal(D, D.T)
    assert np.linalg.eigvalsh(centred(-0.5 * D))[0] > -1e-9
    assert "eigenvalues" in sentence


def test_a_sample_tells_of_many_points(indefinite, monkeypatch):
    monkeypatch.setattr(similarity, "MOST_POINTS", 29)
    assert "of 29 of the 30 points" in told(indefinite, "kernel")[1]


def test_rounding_counts_as_zero_and_is_said(X):
    S = (K := np.vstack([X, X])) @ K.T
    S[0, 40] = S[40, 0] = S[0, 0] * (1 + 1e-15)
    D, sentence = told(S, "kernel")
    assert D[0, 40] == D[40, 0] == 0.0
    assert D.min() == 0.0
    assert "2 values below 0 by rounding" in sentence


def test_asymmetric_kernels_are_read_by_rows(rng):
    S = rng.random((6, 6)) + 6 * np.eye(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        D = as_dissimilarity(S, similarity="kernel")
    assert not D.symmetric
    assert whole(D)[1, 4] == S[1, 1] + S[4, 4] - 2 * S[1, 4]


def test_a_function_sees_the_whole_matrix(X):
    S = X @ X.T
    np.testing.assert_allclose(whole(as_dissimilarity(S, similarity=lambda s: s.max() - s)), S.max() - S)


@pytest.mark.parametrize(
    ("S", "rule", "words"),
    [
        ([[1.0, 3], [3, 1]], "kernel", r"D\[0, 1\] has the similarity 3, .*into -4; .*kernel-clip.*flip.*shift"),
        ([[1.0, 3], [3, 1]], "1-s", r"D\[0, 1\] has the similarity 3, .*into -2; .*max-s"),
        ([[1.0, np.nan], [3, 1]], "kernel", r"D\[0, 1\] has no similarity"),
        ([[np.nan, 1], [1, 1]], "kernel", "row 0 against itself is missing"),
        ([[1.0, np.nan], [3, 1]], "kernel-clip", "'kernel-clip' needs every similarity"),
        ([[0.0, 1], [1, 1]], "normalized", "row 0 against itself is 0"),
        ([[1.0, 0], [0, 1]], "cosine", "similarity is 'cosine'; choose one of .*'kernel'"),
        ([1.0, 2.0, 3.0], "kernel", "condensed vector holds no similarity of a point with itself"),
    ],
)
def test_what_cannot_be_converted_is_refused(S, rule, words):
    with pytest.raises(ValueError, match=words):
        as_dissimilarity(np.array(S), similarity=rule)


def test_similarity_and_metric_exclude_each_other(X):
    with pytest.raises(ValueError, match="drop one of them"):
        as_dissimilarity(X, "euclidean", similarity="kernel")


def test_repairs_need_the_matrix_in_memory(indefinite, monkeypatch):
    monkeypatch.setattr(similarity, "fits", lambda n: False)
    with pytest.raises(ValueError, match="30 x 30 matrix in memory"):
        as_dissimilarity(indefinite, similarity="kernel-clip")
