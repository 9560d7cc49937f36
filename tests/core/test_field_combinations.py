"""Combinations known by their fields: the distances of the dense formula, from block sums that follow the points."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import blob_distances

from medianmap import RelationalKMeans, RelationalSOM
from medianmap.core import field_combinations
from medianmap.core.field_combinations import FieldCombinations, combined, field_distances, field_sums
from medianmap.core.neighborhood import make_lattice
from medianmap.search.frame import FieldWeights
from medianmap.sources import DenseSource
from medianmap.sources.base import OwnSource


def weights_of(rng, N, K, sigma, m=None):
    """Weights of a SOM on a chain of K neurons for random winners; early in training many fields are empty."""
    winner = rng.integers(0, rng.integers(1, K + 1), N)
    return FieldWeights(make_lattice((1, K)).weights(sigma, "gaussian"), winner, np.ones(N) if m is None else m)


def by_definition(D, alpha):
    """(N, K) (D alpha_j)_i - alpha_j' D alpha_j / 2."""
    Q = D @ alpha.T
    return Q - np.array([a @ D @ a for a in alpha]) / 2


@given(seed=st.integers(0, 2**32 - 1), sigma=st.sampled_from([0.2, 0.6, 3.0]), weighted=st.booleans(),
       symmetric=st.booleans())  # fmt: skip
@settings(max_examples=40)
def test_distances_follow_the_fields_and_equal_the_definition(seed, sigma, weighted, symmetric):
    rng = np.random.default_rng(seed)
    N, K = 50, 7
    D = rng.random((N, N))
    D = D + D.T if symmetric else D
    m = rng.uniform(0.5, 3, N) if weighted else np.ones(N)
    sums = field_sums(DenseSource(D, symmetric), 1)
    for _ in range(5):  # the sums of the fits before are changed, not made anew
        weights = weights_of(rng, N, K, sigma, m)
        P = combined(weights)
        assert P is not None
        np.testing.assert_allclose(P.coefficients().sum(axis=1), 1, rtol=1e-12)
        alpha = weights.A / weights.A.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(P.coefficients(), alpha, rtol=1e-9, atol=1e-12)  # tiny ones are dropped
        np.testing.assert_allclose(field_distances(P, sums, False).T, by_definition(D, alpha), rtol=1e-9, atol=1e-12)


def test_a_prototype_without_weight_is_left_to_coefficients(rng):
    assert combined(FieldWeights(np.eye(3), np.zeros(10, np.intp), np.ones(10))) is None


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_prototypes_that_moved_are_counted_as_their_coefficients_say(seed):
    rng = np.random.default_rng(seed)
    field, other = rng.integers(0, 3, (2, 12))
    w, v = rng.integers(0, 2, (2, 4, 3)).astype(float)
    m = np.ones(12)
    a, b = FieldCombinations(w, field, m), FieldCombinations(v, other, m)
    assert a.n_moved(b) == (a.coefficients() != b.coefficients()).any(axis=1).sum()
    assert a.n_moved(FieldCombinations(w.copy(), field.copy(), m)) == 0


@dataclass
class Counted(OwnSource):
    """A source whose rows must be read, and which counts them."""

    D: np.ndarray
    symmetric: bool = True
    ids: None = None
    read: list[int] = field(default_factory=list)

    @property
    def shape(self):
        return self.D.shape

    def block(self, rows, cols):
        self.read.append(len(np.arange(len(self.D))[rows]))
        return self.D[rows][:, cols]


def test_only_the_rows_of_points_that_changed_field_are_read(rng, monkeypatch):
    monkeypatch.setattr("medianmap.core.field_combinations.rows_fit", lambda source: False)
    D = blob_distances(rng, n=60)
    source = Counted(D)
    sums = field_sums(source, 1)
    winner = np.repeat([0, 1, 2], 20)
    H = make_lattice((1, 3)).weights(0.6, "gaussian")
    for moved in ([], [3], [3, 30, 50]):
        source.read.clear()
        winner = winner.copy()
        winner[moved] = (winner[moved] + 1) % 3
        P = combined(FieldWeights(H, winner, sums.m if len(sums.m) else np.ones(60)))
        G = field_distances(P, sums, False).T
        np.testing.assert_allclose(G, by_definition(D, P.coefficients()), rtol=1e-9)
        expected = 60 if not moved else 2 * len(moved)  # all at first; then one row added, one subtracted per point
        assert sum(source.read) == expected


@pytest.mark.parametrize("make", [RelationalKMeans, lambda K, **params: RelationalSOM((3, K // 3), **params)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fit_is_that_of_coefficients_to_rounding_and_the_same_from_a_file(make, dtype, rng, tmp_path, monkeypatch):
    D = blob_distances(rng, n=200, centers=9).astype(dtype)
    np.save(tmp_path / "D.npy", D)
    params = {"metric": "precomputed", "init": np.arange(9), "n_jobs": 2}
    fitted = make(9, **params).fit(D)
    mapped = make(9, **params | {"n_jobs": 1}).fit(np.load(tmp_path / "D.npy", mmap_mode="r"))
    np.testing.assert_array_equal(fitted.coefficients_.toarray(), mapped.coefficients_.toarray())
    np.testing.assert_array_equal(fitted.history_, mapped.history_)
    monkeypatch.setattr("medianmap.core.spaces.combined", lambda weights: None)  # coefficients all the way
    dense = make(9, **params).fit(D)
    np.testing.assert_array_equal(fitted.labels_, dense.labels_)
    np.testing.assert_allclose(
        fitted.history_["cost"], dense.history_["cost"], rtol=2e-4 if dtype == np.float32 else 1e-9
    )


def test_prototypes_that_differ_are_counted_in_any_number_of_steps(rng, monkeypatch):
    for _ in range(20):
        w, m = rng.integers(0, 3, (5, 5)).astype(float), np.ones(12)
        other = np.where(rng.random((5, 5)) < 0.1, w + 1, w)
        one = FieldCombinations(w, rng.integers(0, 5, 12), m)
        two = FieldCombinations(other, np.where(rng.random(12) < 0.2, rng.integers(0, 5, 12), one.field), m)
        differ = (one.coefficients() != two.coefficients()).any(axis=1).sum()
        for pairs in (1, 2, 256):
            monkeypatch.setattr(field_combinations, "PAIRS", pairs)
            assert one.n_moved(two) == differ
