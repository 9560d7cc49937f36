"""The path over beta, its warm starts, and the picture drawn from it."""

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit
from support.extras import optional
from support.maps import blob_distances

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    PatchClusterer,
    PrototypeClassifier,
    as_dissimilarity,
)
from medianmap.core.engine import State
from medianmap.core.quality import inertia
from medianmap.datasets import load_iris
from medianmap.estimators.fit import Supervision
from medianmap.estimators.labelings import LABELINGS
from medianmap.explore.beta_path import BetaPath, beta_path
from medianmap.explore.refits import standard_error

HALVES = ShuffleSplit(3, test_size=0.5, random_state=0)


def test_without_warm_starts_it_equals_separate_fits():
    iris = load_iris()
    clf = PrototypeClassifier(BatchNeuralGas(6, n_epochs=20, random_state=0), label_scale="mean")
    path = beta_path(clf, iris.X, iris.y, [0.3, 0.8], cv=HALVES, warm_start=False)
    np.testing.assert_array_equal(path.betas, [1.0, 0.8, 0.3])
    for b, beta in enumerate(path.betas):
        whole = PrototypeClassifier(clf.estimator, beta, label_scale="mean").fit(iris.X, iris.y)
        assert path.quantization_error[b] == whole.estimator_.quantization_error_
        assert path.agreement[b] == pytest.approx(whole.score(iris.X, iris.y))
        for labeling in LABELINGS:
            for s, (train, test) in enumerate(HALVES.split(iris.X)):
                alone = PrototypeClassifier(clf.estimator, beta, labeling=labeling, label_scale="mean")
                score = alone.fit(iris.X[train], iris.y[train]).score(iris.X[test], iris.y[test])
                assert path.accuracy[labeling][b, s] == pytest.approx(score)
    np.testing.assert_array_equal(path.unsupervised, path.accuracy["majority"][0])


def test_warm_starts_are_fixed_points_of_every_beta_and_much_shorter():
    iris = load_iris()
    epochs = []
    map_ = BatchNeuralGas(6, n_epochs=60, random_state=0, on_epoch=lambda e: epochs.append(e.number))
    clf = PrototypeClassifier(map_)
    warm = beta_path(clf, iris.X, iris.y, [0.9, 0.5, 0.1], cv=2)
    n_warm = len(epochs)
    epochs.clear()
    cold = beta_path(clf, iris.X, iris.y, [0.9, 0.5, 0.1], cv=2, warm_start=False)
    assert n_warm < 0.6 * len(epochs)
    assert warm.quantization_error[0] == cold.quantization_error[0]  # beta = 1 is the same
    assert warm.agreement[-1] >= warm.agreement[0]


def test_precomputed_sources_weights_and_unlabelled_points(rng):
    D = blob_distances(rng, n=60)
    y = np.where(np.arange(60) % 3 == 0, np.nan, (D[0] > np.median(D[0])).astype(int))
    m = rng.integers(1, 3, 60).astype(float)
    clf = PrototypeClassifier(MedianKMeans(4, metric="precomputed", random_state=0))
    by_matrix = beta_path(clf, D, y, [0.5], cv=3, sample_weight=m)
    by_source = beta_path(clf, as_dissimilarity(D), y, [0.5], cv=3, sample_weight=m)
    np.testing.assert_array_equal(by_matrix.accuracy["learned"], by_source.accuracy["learned"])
    assert by_matrix.accuracy["learned"].shape == (2, 3)
    names = by_matrix.as_records().dtype.names
    assert names[:3] == ("beta", "accuracy_spread", "standard_error_spread")
    assert by_matrix.best_beta() in (1.0, 0.5)


def skewed(rng, n=40):
    """Asymmetric dissimilarities of a few clouds, classes by cloud with some mistakes, and weights."""
    D = blob_distances(rng, n=n) * rng.uniform(0.5, 1.5, (n, n))
    np.fill_diagonal(D, 0)
    y = (D[0] > np.median(D[0])).astype(int)
    y[rng.choice(n, n // 5, replace=False)] = 2
    return D, y, rng.integers(0, 4, n).astype(float)


def test_asymmetric_weighted_paths_equal_separate_fits(rng):
    D, y, m = skewed(rng)
    clf = PrototypeClassifier(MedianKMeans(4, metric="precomputed", random_state=0))
    folds = list(ShuffleSplit(4, test_size=0.4, random_state=1).split(D))
    path = beta_path(clf, D, y, [0.5], cv=folds, sample_weight=m, warm_start=False)
    for b, beta in enumerate(path.betas):
        alone = PrototypeClassifier(clf.estimator, beta).fit(D, y, m)
        assert path.quantization_error[b] == alone.estimator_.quantization_error_
        assert path.agreement[b] == pytest.approx(alone.score(D, y, m))
        for s, (train, test) in enumerate(folds):
            alone.fit(D[np.ix_(train, train)], y[train], m[train])
            score = alone.score(D[np.ix_(test, train)], y[test], m[test])
            assert path.accuracy["spread"][b, s] == pytest.approx(score)


def test_objects_are_compared_once(rng):
    asked = []

    def metric(a, b):
        asked.append((a, b))
        return abs(a - b)

    x = list(rng.permutation(30))
    y = [int(v > 15) for v in x]
    map_ = MedianKMeans(3, metric=metric, random_state=0)
    path = beta_path(PrototypeClassifier(map_), x, y, [0.7, 0.3], cv=5)
    assert len(asked) <= 30 * 30
    D = np.abs(np.subtract.outer(x, x)).astype(float)
    precomputed = PrototypeClassifier(MedianKMeans(3, metric="precomputed", random_state=0))
    by_matrix = beta_path(precomputed, D, y, [0.7, 0.3], cv=5)
    np.testing.assert_array_equal(path.accuracy["learned"], by_matrix.accuracy["learned"])
    assert map_.metric is metric


def test_a_warm_start_takes_up_prototypes_and_labels(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    places, turned = X[:3], np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    map_ = BatchKMeans(3)
    map_._train(X, None, Supervision(y, 0.25), State(places, turned))
    G = ((X[:, None] - places) ** 2).sum(axis=2)
    d_beta = 0.25 * G + 0.75 * ((np.eye(2)[y][:, None] - turned) ** 2).sum(axis=2)
    assert map_.history_["cost"][0] == pytest.approx(inertia(d_beta, np.ones(30)))
    for K, sigma in ((12, 1.0), (24, 1.6)):  # K/15, at least 1
        gas = BatchNeuralGas(K, n_epochs=50)
        gas._train(X, None, Supervision(y, 0.25), State(X[:K], np.full((K, 2), 0.5)))
        np.testing.assert_allclose(gas.history_["sigma"][:5], np.geomspace(sigma, 0.01, 5))


@pytest.mark.parametrize("form", ["lists", "masks", "generator"])
def test_splits_in_any_form(form, rng):
    D, y, _ = skewed(rng)
    folds = list(ShuffleSplit(2, test_size=0.4, random_state=1).split(D))
    forms = {
        "lists": [(train.tolist(), test.tolist()) for train, test in folds],
        "masks": [tuple(np.isin(np.arange(40), side) for side in pair) for pair in folds],
        "generator": (pair for pair in folds),
    }
    clf = PrototypeClassifier(MedianKMeans(3, metric="precomputed", init=[0, 1, 2]))
    path = beta_path(clf, D, y, [0.5], cv=forms[form])
    sorted_folds = [(np.sort(train), np.sort(test)) if form == "masks" else (train, test) for train, test in folds]
    expected = beta_path(clf, D, y, [0.5], cv=sorted_folds)
    np.testing.assert_array_equal(path.accuracy["learned"], expected.accuracy["learned"])


def test_the_largest_of_equally_good_betas_is_best():
    accuracy = np.array([[0.5, 0.7], [0.8, 0.8], [0.7, 0.9], [0.6, 0.6]])
    betas = np.array([1.0, 0.9, 0.5, 0.1])
    path = BetaPath(betas, {"spread": accuracy, "majority": accuracy[::-1]}, np.zeros(4), np.zeros(4))
    assert path.best_beta() == 0.9
    assert path.best_beta("majority") == 0.9


def test_strings_can_be_split(rng):
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"] * 2
    clf = PrototypeClassifier(MedianKMeans(2, metric="edit", n_init=4, random_state=0))
    path = beta_path(clf, words, ["bird", "bird", "bird", "physics", "physics", "physics"] * 2, [0.5], cv=2)
    assert path.accuracy["learned"].mean() == 1.0


def test_every_fit_is_told(rng):
    told = []
    clf = PrototypeClassifier(MedianKMeans(2, metric="precomputed"))
    beta_path(clf, blob_distances(rng, 20), np.arange(20) % 2, [0.5], cv=3, on_progress=lambda *at: told.append(at))
    assert told == [("fits", k, 8) for k in range(1, 9)]  # two betas, on three folds and on all points


def test_standard_error_by_hand():
    assert standard_error(np.array([1.0, 2, 3])) == pytest.approx(1 / np.sqrt(3))
    assert standard_error(np.array([[4.0]])) == 0


def test_mistakes_are_said(rng):
    D = blob_distances(rng, n=20)
    clf = PrototypeClassifier(MedianKMeans(2, metric="precomputed"))
    for betas in (0.5, None, "0.5"):
        with pytest.raises(ValueError, match=r"betas is .*; .*list"):
            beta_path(clf, D, np.arange(20) % 2, betas)
    with pytest.raises(ValueError, match="cv holds no splits"):
        beta_path(clf, D, np.arange(20) % 2, cv=[])
    with pytest.raises(ValueError, match="No data point is labelled: y holds only None or NaN"):
        beta_path(clf, D, [None] * 20)
    halves = [(np.arange(10), np.arange(10, 20))]
    with pytest.raises(ValueError, match="Split 0 has no labelled point to judge: those that y labels have weight 0"):
        beta_path(clf, D, np.arange(20) % 2, cv=halves, sample_weight=[1] * 10 + [0] * 10)
    with pytest.raises(ValueError, match="Split 0 has no labelled point to learn from: y holds only"):
        beta_path(clf, D, [None] * 10 + [0, 1] * 5, cv=halves)
    with pytest.raises(ValueError, match="n_clusters = 11 exceeds n_samples = 10"):
        beta_path(PrototypeClassifier(MedianKMeans(11, metric="precomputed")), D, np.arange(20) % 2, cv=halves)
    with pytest.raises(ValueError, match="X is a source of dissimilarities"):
        beta_path(PrototypeClassifier(MedianKMeans(2)), as_dissimilarity(D), np.arange(20) % 2)
    with pytest.raises(ValueError, match="label_scale is 'max'"):
        beta_path(PrototypeClassifier(clf.estimator, label_scale="max"), D, np.arange(20) % 2)
    with pytest.raises(TypeError, match="classifier is a MedianKMeans; pass a PrototypeClassifier"):
        beta_path(clf.estimator, D, np.arange(20) % 2)
    with pytest.raises(TypeError, match="estimator is a str; pass one of medianmap's maps"):
        beta_path(PrototypeClassifier("gas"), D, np.arange(20) % 2)
    with pytest.raises(TypeError, match="estimator is a PatchClusterer"):
        beta_path(PrototypeClassifier(PatchClusterer(clf.estimator)), D, np.arange(20) % 2)
    with pytest.raises(ValueError, match=r"beta is 0; .*\(0, 1\]"):
        beta_path(clf, D, np.arange(20) % 2, [0.5, 0])
    with pytest.raises(ValueError, match="Split 0 has no labelled point to judge: y holds only None"):
        beta_path(clf, D, [0, 1] + [None] * 18, cv=[(np.arange(10), np.arange(10, 20))])


def test_the_display_draws_the_paths(rng, tmp_path):
    optional("matplotlib").use("agg")
    from medianmap.report.plots import BetaPathDisplay

    iris = load_iris()
    classifiers = {
        "neural gas": PrototypeClassifier(MedianNeuralGas(6, n_epochs=10, random_state=0)),
        "K-means": PrototypeClassifier(MedianKMeans(6, random_state=0)),
    }
    display = BetaPathDisplay.from_estimator(classifiers, iris.X, iris.y, [0.9, 0.5], cv=HALVES)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert len(lines) == 8
    drawn = lines["K-means, learned labels"]
    np.testing.assert_array_equal(drawn.get_xdata(), [1, 0.9, 0.5])
    np.testing.assert_allclose(drawn.get_ydata(), display.paths["K-means"].accuracy["learned"].mean(axis=1))
    again = BetaPathDisplay.from_estimator(classifiers, iris.X, iris.y, [0.5], cv=(s for s in HALVES.split(iris.X)))
    assert again.paths["K-means"].accuracy["learned"].shape == (2, 3)
    display.figure_.savefig(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 10_000
    one = BetaPathDisplay.from_estimator(classifiers["K-means"], iris.X, iris.y, [0.5], cv=2, ax=display.ax_)
    assert one.ax_ is display.ax_
    import matplotlib.pyplot as plt

    plt.close("all")
