"""The path over K: its figures against separate fits and brute force, its warm starts, and its picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from support.extras import optional
from support.maps import blob_distances, blobs
from support.strategies import cases

import medianmap
from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    RelationalKMeans,
    as_dissimilarity,
    k_path,
)
from medianmap.core.engine import spread
from medianmap.core.quality import medoid_silhouette
from medianmap.core.spaces import MedianSpace
from medianmap.core.vectors import VectorSpace
from medianmap.estimators.base import BaseMap
from medianmap.estimators.fit import as_generator

MAPS = [MedianKMeans, MedianNeuralGas, BatchKMeans, BatchNeuralGas]


def precomputed(family=MedianKMeans, **params):
    return family(metric="precomputed", random_state=0, **params)


def data_for(family, rng, n=60):
    return blobs(rng, n) if family.__name__.startswith("Batch") else blob_distances(rng, n)


def map_of(family, **params):
    params = {"random_state": 0} | params
    return family(**params) if family.__name__.startswith("Batch") else family(metric="precomputed", **params)


# --- medoid silhouette -----------------------------------------------------------------------------------------------


def brute_silhouette(G, m):
    total = 0.0
    for row, weight in zip(G.tolist(), m, strict=True):
        first, second = sorted(row)[:2]
        total += weight * (0.0 if second == 0 else 1 - first / second)
    return total / sum(m)


@given(cases())
def test_silhouette_by_brute_force(case):
    G = case.D[:, case.start]
    if case.K == 1:
        assert np.isnan(medoid_silhouette(G, case.m))
    else:
        value = medoid_silhouette(G, case.m)
        assert value == pytest.approx(brute_silhouette(G, case.m), abs=1e-12)
        assert 0 <= value <= 1
        assert medoid_silhouette(G) == pytest.approx(brute_silhouette(G, np.ones(len(G))), abs=1e-12)


def test_silhouette_of_known_points():
    G = np.array([[0.0, 4.0, 9.0], [1.0, 4.0, 2.0], [3.0, 3.0, 5.0], [0.0, 7.0, 0.0]])
    assert medoid_silhouette(G) == pytest.approx((1 + 0.5 + 0 + 0) / 4)  # the last is as near to two: it counts 0
    assert medoid_silhouette(G, np.array([3.0, 1, 0, 0])) == pytest.approx(3.5 / 4)
    assert medoid_silhouette(G.astype(np.float32)) == pytest.approx(1.5 / 4)


# --- starts beside prototypes ----------------------------------------------------------------------------------------


@given(cases(max_points=15), st.integers(0, 2**32 - 1))
def test_more_points_are_others(case, seed):
    space = MedianSpace(as_dissimilarity(case.D, symmetric=False), "auto")
    more = spread(space, len(case.D) - case.K, case.m, np.random.default_rng(seed), beside=case.start)
    assert sorted([*case.start, *more]) == list(range(len(case.D)))


def test_more_points_are_drawn_by_their_dissimilarity_to_those_there(rng):
    X = np.array([[0.0], [1.0], [3.0], [3.0]])
    draws = np.array([spread(VectorSpace(X), 1, np.array([1.0, 2, 1, 0]), rng, X[:1])[0] for _ in range(4000)])
    shares = np.bincount(draws, minlength=4) / len(draws)
    np.testing.assert_allclose(shares, [0, 2 / 11, 9 / 11, 0], atol=0.03)  # m d^2: 0, 2, 9, 0
    by_index = MedianSpace(as_dissimilarity(np.abs(X - X.T)), "auto")
    draws = np.array([spread(by_index, 1, np.ones(4), rng, np.array([0]))[0] for _ in range(4000)])
    np.testing.assert_allclose(np.bincount(draws, minlength=4) / len(draws), [0, 1 / 7, 3 / 7, 3 / 7], atol=0.03)
    # A point that coincides with one there stays out while others do not, at the second draw too.
    twins = MedianSpace(as_dissimilarity(np.abs(np.subtract.outer([0, 0, 10, 10.1], [0, 0, 10, 10.1]))), "auto")
    for _ in range(20):
        assert set(spread(twins, 2, np.ones(4), rng, np.array([0]))) == {2, 3}


# --- the path --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", MAPS)
def test_without_warm_starts_it_equals_separate_fits(family, rng):
    X = data_for(family, rng)
    path = k_path(map_of(family), X, [6, 1, 3, 3], n_restarts=3, stability="restarts", warm=False, random_state=5)
    np.testing.assert_array_equal(path.n_clusters, [1, 3, 6])
    seeds = as_generator(5).integers(2**31 - 1, size=3)
    for k, K in enumerate(path.n_clusters):
        runs = [map_of(family, n_clusters=int(K), random_state=int(seed)).fit(X) for seed in seeds]
        kept = min(runs, key=lambda run: run.inertia_)
        assert path.inertia[k] == kept.inertia_ == 2 * path.quantization_error[k]
        assert path.epochs[k] == kept.n_iter_
        prototypes = kept.cluster_centers_ if family.__name__.startswith("Batch") else kept.medoid_indices_
        np.testing.assert_array_equal(path.prototypes[k], prototypes)
        pairs = [adjusted_rand_score(runs[a].labels_, runs[b].labels_) for a, b in ((0, 1), (0, 2), (1, 2))]
        assert path.stability[k] == pytest.approx(np.mean(pairs))
        if K > 1:
            assert path.silhouette[k] == pytest.approx(brute_silhouette(kept.transform(X), np.ones(60)))
    assert np.isnan(path.silhouette[0])
    assert not path.warm.any()


@pytest.mark.parametrize("family", MAPS)
def test_warm_starts_take_up_the_map_before_and_more_points(family, rng, monkeypatch):
    X = data_for(family, rng)
    starts = []
    train = BaseMap._train

    def spy(self, data, weights, supervision=None, go_on_from=None):
        if go_on_from is not None:
            starts.append(go_on_from.prototypes)
        return train(self, data, weights, supervision, go_on_from)

    monkeypatch.setattr(BaseMap, "_train", spy)
    path = k_path(map_of(family), X, [2, 4, 9], n_restarts=2)
    assert [len(start) for start in starts] == [4, 9]
    for before, start in zip(path.prototypes, starts, strict=False):
        np.testing.assert_array_equal(start[: len(before)], before)
        more = start[len(before) :]
        assert all(any(np.array_equal(x, point) for point in (X if more.ndim == 2 else range(60))) for x in more)


@given(cases(max_points=20), st.booleans(), st.integers(0, 99))
def test_the_error_of_k_means_never_rises_with_k(case, zero, seed):
    m = case.m.copy()
    m[0] *= not (zero and len(m) > 1)
    most = int(np.count_nonzero(m))
    path = k_path(precomputed(), case.D, range(1, most + 1), sample_weight=m, n_restarts=1, stability="restarts",
                  random_state=seed)  # fmt: skip
    error = path.quantization_error
    assert (np.diff(error) <= 1e-9 * error[:-1]).all()
    assert error[-1] == 0
    assert all(m[indices].all() for indices in path.prototypes)


def test_weights_count_like_repeated_points(rng):
    D = blob_distances(rng, 24)
    m = rng.integers(0, 3, 24).astype(float)
    again = np.repeat(np.arange(24), m.astype(int))
    path = k_path(precomputed(), D, [2, 5], sample_weight=m, n_restarts=4)
    for k in range(2):
        G = D[np.ix_(again, path.prototypes[k])]
        assert path.inertia[k] == pytest.approx(G.min(axis=1).sum())
        assert path.silhouette[k] == pytest.approx(brute_silhouette(G, np.ones(len(G))))
        kept = MedianKMeans(int(path.n_clusters[k]), metric="precomputed", init=path.prototypes[k])
        kept.fit(D, sample_weight=m)
        np.testing.assert_array_equal(kept.medoid_indices_, path.prototypes[k])  # a fixed point of the map itself
        assert kept.inertia_ == pytest.approx(path.inertia[k])


@pytest.mark.parametrize("family", [MedianKMeans, BatchKMeans])
def test_stability_over_halves(family, rng):
    X = data_for(family, rng)
    path = k_path(map_of(family), X, [3], n_restarts=2, random_state=1)
    again = as_generator(1)
    seeds = again.integers(2**31 - 1, size=2)
    halves = [np.sort(again.choice(60, 30, replace=False)) for _ in range(2)]
    winners = []
    for half, seed in zip(halves, seeds, strict=True):
        fitted = map_of(family, n_clusters=3, random_state=int(seed))
        if family is BatchKMeans:
            winners.append(fitted.fit(X[half]).predict(X))
        else:
            winners.append(fitted.fit(X[np.ix_(half, half)]).predict(X[:, half]))
    assert path.stability[0] == pytest.approx(adjusted_rand_score(*winners))
    assert path.stability_of == "halves"


def five_clusters(rng):
    middle = np.array([[0, 0], [20, 0], [0, 20], [20, 20], [40, 10]])
    return np.repeat(middle, 12, axis=0) + rng.normal(size=(60, 2))


CAREFUL = MedianKMeans(metric="sqeuclidean", init="k-medoids++", n_init=10, random_state=3)


def test_clear_clusters_are_suggested_and_results_repeat(rng):
    X = five_clusters(rng)
    path = k_path(CAREFUL, X, range(1, 9))
    assert path.best() == path.best("stability") == 5
    again = k_path(CAREFUL, X, range(1, 9))
    assert path.as_records().tobytes() == again.as_records().tobytes()
    names = ("n_clusters", "quantization_error", "inertia", "silhouette", "stability", "epochs", "warm")
    assert path.as_records().dtype.names == names


def test_objects_are_compared_once(rng):
    asked = []

    def metric(a, b):
        asked.append((a, b))
        return abs(a - b)

    x = list(rng.permutation(30))
    map_ = MedianKMeans(metric=metric, random_state=0)
    path = k_path(map_, x, [2, 4, 8])
    assert len(asked) <= 30 * 30
    D = np.abs(np.subtract.outer(x, x)).astype(float)
    np.testing.assert_array_equal(k_path(precomputed(), D, [2, 4, 8]).as_records(), path.as_records())
    assert map_.metric is metric
    assert map_.n_clusters == 8
    assert not hasattr(map_, "labels_")


def test_without_restarts_there_is_no_stability(rng):
    path = k_path(precomputed(), blob_distances(rng), [1, 3], n_restarts=1)
    assert np.isnan(path.stability).all()
    with pytest.raises(ValueError, match="No K here has a stability; give n_clusters from 2 on and, for stability, n_"):
        path.best("stability")
    assert path.best() == 3
    with pytest.raises(ValueError, match="by is 'elbow'; choose one of 'silhouette', 'stability'"):
        path.best("elbow")
    one = k_path(precomputed(), blob_distances(rng), [1])
    assert one.stability[0] == 1
    with pytest.raises(ValueError, match="No K here has a silhouette"):
        one.best()


def test_errors(rng):
    D = blob_distances(rng, 20)
    with pytest.raises(ValueError, match=r"MedianSOM .*n_clusters"):
        k_path(MedianSOM((2, 2), metric="precomputed"), D, [2])
    with pytest.raises(TypeError, match="PatchClusterer"):
        k_path(PatchClusterer(precomputed()), D, [2])
    with pytest.raises(TypeError, match="RelationalKMeans"):
        k_path(RelationalKMeans(metric="precomputed"), D, [2])
    with pytest.raises(ValueError, match="init of MedianKMeans fixes the start"):
        k_path(precomputed(init=[0, 1]), D, [2])
    with pytest.raises(ValueError, match=r"n_clusters is 3; .*list"):
        k_path(precomputed(), D, 3)
    with pytest.raises(ValueError, match=r"n_clusters is 2\.5; it must be a whole number"):
        k_path(precomputed(), D, [2, 2.5])
    with pytest.raises(ValueError, match="n_clusters is empty"):
        k_path(precomputed(), D, [])
    with pytest.raises(ValueError, match="n_clusters = 21 exceeds n_samples = 20"):
        k_path(precomputed(), D, [2, 21])
    with pytest.raises(
        ValueError, match="Half of the 20 points are too few for n_clusters = 11; use stability='restar"
    ):
        k_path(precomputed(), D, [2, 11])
    with pytest.raises(ValueError, match="stability is 'bootstrap'; choose one of 'halves', 'restarts'"):
        k_path(precomputed(), D, [2], stability="bootstrap")
    with pytest.raises(ValueError, match="n_restarts is 0"):
        k_path(precomputed(), D, [2], n_restarts=0)


def test_the_package_gives_the_function_and_not_its_module():
    assert callable(medianmap.k_path)
    assert callable(medianmap.width_front)
    assert medianmap.k_path is medianmap.k_path is k_path


# --- the picture -----------------------------------------------------------------------------------------------------


@pytest.fixture
def plt():
    optional("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_the_display_draws_the_path(plt, rng, tmp_path):
    from medianmap.report.plots import KPathDisplay

    display = KPathDisplay.from_estimator(CAREFUL, five_clusters(rng), [1, 2, 3, 5, 8, 9, 10, 30])
    path = display.path
    assert path.best() == 5
    assert len(display.axes_) == 3
    assert display.ax_ is display.axes_[0]
    for ax, name in zip(display.axes_, ("quantization_error", "silhouette", "stability"), strict=True):
        line = ax.get_lines()[0]
        np.testing.assert_array_equal(line.get_xdata(), path.n_clusters)
        np.testing.assert_array_equal(line.get_ydata(), getattr(path, name))
        if name != "quantization_error":
            ring = ax.get_lines()[1]
            assert ring.get_xdata() == [path.best(name)]
            assert ax.texts[0].get_text() == f"K = {path.best(name)}"
    ticks = display.axes_[-1].get_xticks()
    assert set(ticks) <= set(path.n_clusters)
    assert {1, 2, 30} <= set(ticks)
    assert len(ticks) < 8  # 8, 9 and 10 would lie on each other
    assert display.axes_[0].get_xscale() == "log"
    display.figure_.savefig(tmp_path / "path.png")
    assert display.figure_.get_size_inches()[0] == 6
    assert (tmp_path / "path.png").stat().st_size > 10_000


def test_the_display_leaves_out_what_a_path_lacks(plt, rng):
    from medianmap.report.plots import KPathDisplay

    path = k_path(precomputed(), blob_distances(rng), [2, 3], n_restarts=1)
    display = KPathDisplay(path).plot()
    assert [ax.get_lines()[0].get_label() for ax in display.axes_] == ["quantization error", "silhouette"]
    _, axes = plt.subplots(1, 2)
    assert list(KPathDisplay(path).plot(ax=axes).axes_) == list(axes)
    with pytest.raises(ValueError, match=r"1 axes.* 2 panels"):
        KPathDisplay(path).plot(ax=axes[0])
