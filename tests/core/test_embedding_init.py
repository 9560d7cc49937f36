"""init="embedding": coordinates against PCA and classical scaling, layouts on every lattice, degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import MEDIAN, METHODS, blobs, estimator
from support.strategies import KINDS, matrix

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    as_dissimilarity,
    load,
    save,
)
from medianmap.core.engine import LANDMARKS, embedded, laid_out, landmark_coordinates, nearest_free, quantiles
from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error
from medianmap.core.spaces import MedianSpace
from medianmap.core.vectors import VectorSpace

LATTICES = [("hexagonal", False), ("hexagonal", True), ("rectangular", False), ("rectangular", True)]


def squares(X, Y=None):
    Y = X if Y is None else Y
    return ((X[:, None] - Y[None]) ** 2).sum(axis=2)


def principal(X, w):
    """(N, 2) principal components of points X (N, M) of weights w, by the singular value decomposition."""
    centered = X - np.average(X, axis=0, weights=w)
    _, _, axes = np.linalg.svd(np.sqrt(w)[:, None] * centered, full_matrices=False)
    return centered @ axes[:2].T


def assert_same_but_for_signs(Y, expected):
    signs = np.sign((Y * expected).sum(axis=0))
    np.testing.assert_allclose(Y * signs, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


# --- coordinates ------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 40), features=st.integers(2, 5), weighted=st.booleans())
def test_all_points_as_landmarks_give_principal_components(seed, n, features, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)) * np.arange(1, features + 1)
    m = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)
    assert_same_but_for_signs(landmark_coordinates(squares(X), np.arange(n), m), principal(X, m))


def test_points_that_are_no_landmarks_fall_where_the_landmarks_plane_has_them(rng):
    # In two dimensions the landmarks' axes carry every point, so the projection is exact for all of them.
    X = rng.normal(size=(300, 2)) * [3, 1]
    landmarks = rng.choice(300, 20, replace=False)
    Y = landmark_coordinates(squares(X, X[landmarks]), landmarks, np.ones(300))
    center = X[landmarks].mean(axis=0)
    _, _, axes = np.linalg.svd(X[landmarks] - center)
    assert_same_but_for_signs(Y, (X - center) @ axes.T)


def test_a_weight_is_that_many_points(rng):
    X = rng.normal(size=(12, 3)) * [3, 2, 1]
    m = rng.integers(1, 5, 12)
    repeated = np.repeat(np.arange(12), m)
    Y = landmark_coordinates(squares(X), np.arange(12), m.astype(float))
    again = landmark_coordinates(squares(X[repeated]), np.arange(len(repeated)), np.ones(len(repeated)))
    assert_same_but_for_signs(Y[repeated], again)
    np.testing.assert_allclose(quantiles(X[:, 0], m)[repeated], quantiles(X[repeated, 0], np.ones(len(repeated))))


def test_directions_that_the_data_lack_are_zero(rng):
    line = np.sort(rng.normal(size=30))[:, None] * [1.0, 2.0, 3.0]
    Y = landmark_coordinates(squares(line), np.arange(30), np.ones(30))
    assert np.all(np.diff(Y[:, 0]) > 0) or np.all(np.diff(Y[:, 0]) < 0)
    assert not Y[:, 1].any()
    assert not landmark_coordinates(np.zeros((5, 5)), np.arange(5), np.ones(5)).any()
    assert not landmark_coordinates(np.zeros((1, 1)), np.arange(1), np.ones(1)).any()


def test_quantiles_by_hand():
    np.testing.assert_allclose(quantiles(np.array([5.0, 1, 5, 9]), np.array([1.0, 1, 1, 1])), [0.5, 0.125, 0.5, 0.875])
    np.testing.assert_allclose(quantiles(np.array([1.0, 2]), np.array([3.0, 1])), [0.375, 0.875])


def test_targets_take_the_nearest_free_point():
    points = np.array([[0.0, 0], [0, 0], [1, 0], [5, 5]])
    assert nearest_free(np.array([[0.0, 0], [0, 0], [0, 0], [0, 0]]), points).tolist() == [0, 1, 2, 3]
    assert nearest_free(np.array([[4.0, 4], [0.9, 0]]), points).tolist() == [3, 2]


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(4, 9), (9, 4), (1, 12), (12, 1)])
def test_the_first_coordinate_runs_along_the_longer_side(grid, rng):
    Y = rng.random((500, 2)) * [10, 1]
    lattice = make_lattice(grid, "rectangular")
    chosen = laid_out(Y, np.ones(500), lattice)
    longer, shorter = (0, 1) if grid[1] > grid[0] else (1, 0)
    assert np.corrcoef(Y[chosen, 0], lattice.positions[:, longer])[0, 1] > 0.98
    if min(grid) > 1:
        assert np.corrcoef(Y[chosen, 1], lattice.positions[:, shorter])[0, 1] > 0.95


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
def test_a_sheet_starts_unfolded(kind, rng):
    X = rng.random((600, 2)) * [2, 1]
    lattice = make_lattice((5, 8), kind)
    for space in (VectorSpace(X), MedianSpace(as_dissimilarity(np.sqrt(squares(X))), "auto")):
        chosen = embedded(space, lattice, np.ones(600), np.random.default_rng(0))
        assert topographic_error(squares(X, X[chosen]), lattice) < 0.25
        shuffled = rng.permutation(chosen)
        assert topographic_error(squares(X, X[shuffled]), lattice) > 0.7


def test_the_two_families_start_alike_from_euclidean_distances(rng):
    X = blobs(rng, n=100, features=4)
    lattice = make_lattice((4, 5))
    vectors = embedded(VectorSpace(X), lattice, np.ones(100), np.random.default_rng(3))
    matrix_ = embedded(
        MedianSpace(as_dissimilarity(np.sqrt(squares(X))), "auto"), lattice, np.ones(100), np.random.default_rng(3)
    )
    np.testing.assert_array_equal(vectors, matrix_)


@pytest.mark.parametrize(("kind", "periodic"), LATTICES)
@given(
    shape=st.sampled_from(KINDS),
    n=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    weights=st.sampled_from(["none", "few", "extreme"]),
)
@settings(max_examples=40)
def test_any_data_give_distinct_points(kind, periodic, shape, n, seed, weights):
    rng = np.random.default_rng(seed)
    D = matrix(shape, n, rng)
    m = {"none": np.ones(n), "few": rng.integers(1, 4, n) * 1.0, "extreme": 10.0 ** rng.uniform(-200, 200, n)}[weights]
    rows = 2 * int(rng.integers(1, max(n // 2, 1) + 1)) if n > 1 else 1
    grid = (rows, int(rng.integers(1, n // rows + 1))) if n >= rows else (1, n)
    if kind == "hexagonal" and periodic and grid[0] % 2:
        periodic = False
    lattice = make_lattice(grid, kind, periodic)
    K = grid[0] * grid[1]
    for space in (MedianSpace(as_dissimilarity(D), "auto"), VectorSpace(D[:, :3].copy())):
        chosen = embedded(space, lattice, m, np.random.default_rng(seed))
        assert chosen.shape == (K,)
        assert len(np.unique(chosen)) == K
        assert 0 <= chosen.min() <= chosen.max() < n


# --- maps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_only_the_proportions_of_the_dissimilarities_count(scale, rng):
    X = blobs(rng, n=80)
    D = np.sqrt(squares(X))
    starts = [
        embedded(
            MedianSpace(as_dissimilarity(D * s), "auto"), make_lattice((3, 4)), np.ones(80), np.random.default_rng(1)
        )
        for s in (1.0, scale)
    ]
    # Powers of ten round each entry, so points at nearly equal gaps may change places; here there are none.
    np.testing.assert_array_equal(*starts)


@pytest.mark.parametrize("Map", [MedianSOM, BatchSOM])
def test_the_start_repeats_at_any_number_of_threads(Map, rng):
    X = blobs(rng, n=3 * LANDMARKS, features=6)
    fits = [Map((5, 6), init="embedding", n_epochs=5, random_state=0, n_jobs=n).fit(X) for n in (1, 2, 1)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)
        np.testing.assert_array_equal(other.history_["cost"], fits[0].history_["cost"])


def test_no_more_dissimilarities_than_points_times_landmarks(rng):
    asked = []

    class Counting:
        def __init__(self, D):
            self.inner = as_dissimilarity(D)
            self.shape, self.dtype, self.symmetric, self.ids = D.shape, D.dtype, False, None

        def block(self, rows, cols):
            block = self.inner.block(rows, cols)
            asked.append(block.size)
            return block

    n = 2 * LANDMARKS
    D = np.sqrt(squares(blobs(rng, n=n)))
    embedded(MedianSpace(Counting(D), "auto"), make_lattice((5, 5)), np.ones(n), rng)
    assert sum(asked) <= n * LANDMARKS


@pytest.mark.parametrize("Map", [MedianSOM, BatchSOM])
def test_maps_train_from_it_with_weights_files_and_patches(Map, tmp_path, rng):
    X = blobs(rng, n=90)
    m = rng.integers(0, 3, 90).astype(float)
    fitted = Map((3, 4), init="embedding", n_epochs=10, n_init=2, random_state=0).fit(X, sample_weight=m)
    assert fitted.converged_
    save(fitted, tmp_path / "m")
    assert load(tmp_path / "m").init == "embedding"
    passed = PatchClusterer(Map((2, 3), init="embedding", n_epochs=5, random_state=0), patch_size=30).fit(X)
    assert len(passed.labels_) == 90


def test_as_many_neurons_as_points(rng):
    X = blobs(rng, n=12)
    fitted = MedianSOM((3, 4), init="embedding", n_epochs=5, random_state=0).fit(X)
    assert sorted(fitted.medoid_indices_) == list(range(12))
    same = MedianSOM((3, 4), init="embedding", n_epochs=5, random_state=0).fit(np.ones((20, 2)))
    assert len(set(same.medoid_indices_)) == 12


@pytest.mark.parametrize("Map", [MedianKMeans, MedianNeuralGas, BatchKMeans, BatchNeuralGas])
def test_maps_without_lattice_say_so(Map, rng):
    with pytest.raises(ValueError, match="only a SOM has; choose 'random' or 'k-medoids\\+\\+'"):
        Map(3, init="embedding").fit(blobs(rng))


@pytest.mark.parametrize("method", METHODS)
def test_another_word_is_refused_with_the_choices(method, rng):
    words = "'random', 'k-medoids\\+\\+'" + (", 'embedding'" if method == "som" else "") + "\\."
    with pytest.raises(ValueError, match=f"init is 'pca'; choose one of {words}"):
        estimator(method, 4, MEDIAN, init="pca").fit(blobs(rng))
