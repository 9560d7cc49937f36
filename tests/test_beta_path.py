"""The path over beta, its warm starts, and the picture drawn from it."""

import numpy as np
import pytest
from conftest import optional
from maps import blob_distances
from sklearn.model_selection import ShuffleSplit

from medianmap import BatchNeuralGas, MedianKMeans, MedianNeuralGas, PrototypeClassifier, as_dissimilarity
from medianmap.beta_path import beta_path, standard_error
from medianmap.datasets import load_iris

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
        for labeling in ("learned", "majority"):
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
    y = np.where(np.arange(60) % 3 == 0, -1, (D[0] > np.median(D[0])).astype(int))
    m = rng.integers(1, 3, 60).astype(float)
    clf = PrototypeClassifier(MedianKMeans(4, metric="precomputed", random_state=0))
    by_matrix = beta_path(clf, D, y, [0.5], cv=3, sample_weight=m)
    by_source = beta_path(clf, as_dissimilarity(D), y, [0.5], cv=3, sample_weight=m)
    np.testing.assert_array_equal(by_matrix.accuracy["learned"], by_source.accuracy["learned"])
    assert by_matrix.accuracy["learned"].shape == (2, 3)
    names = by_matrix.as_records().dtype.names
    assert names[:3] == ("beta", "accuracy_learned", "standard_error_learned")
    assert by_matrix.best_beta() in (1.0, 0.5)


def test_strings_can_be_split(rng):
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"] * 2
    clf = PrototypeClassifier(MedianKMeans(2, metric="edit", n_init=4, random_state=0))
    path = beta_path(clf, words, ["bird", "bird", "bird", "physics", "physics", "physics"] * 2, [0.5], cv=2)
    assert path.accuracy["learned"].mean() == 1.0


def test_standard_error_by_hand():
    assert standard_error(np.array([1.0, 2, 3])) == pytest.approx(1 / np.sqrt(3))
    assert standard_error(np.array([[4.0]])) == 0


def test_mistakes_are_said(rng):
    D = blob_distances(rng, n=20)
    clf = PrototypeClassifier(MedianKMeans(2, metric="precomputed"))
    with pytest.raises(ValueError, match=r"beta is 0; it must lie in \(0, 1\]"):
        beta_path(clf, D, np.arange(20) % 2, [0.5, 0])
    with pytest.raises(ValueError, match="Split 0 has no labelled point to judge: y holds only -1"):
        beta_path(clf, D, [0, 1] + [-1] * 18, cv=[(np.arange(10), np.arange(10, 20))])


def test_the_display_draws_the_paths(rng, tmp_path):
    optional("matplotlib").use("agg")
    from medianmap.plot import BetaPathDisplay

    iris = load_iris()
    classifiers = {
        "neural gas": PrototypeClassifier(MedianNeuralGas(6, n_epochs=10, random_state=0)),
        "K-means": PrototypeClassifier(MedianKMeans(6, random_state=0)),
    }
    display = BetaPathDisplay.from_estimators(classifiers, iris.X, iris.y, [0.9, 0.5], cv=HALVES)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    assert len(lines) == 6
    drawn = lines["K-means, learned labels"]
    np.testing.assert_array_equal(drawn.get_xdata(), [1, 0.9, 0.5])
    np.testing.assert_allclose(drawn.get_ydata(), display.paths["K-means"].accuracy["learned"].mean(axis=1))
    display.figure_.savefig(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 10_000
    one = BetaPathDisplay.from_estimator(classifiers["K-means"], iris.X, iris.y, [0.5], cv=2, ax=display.ax_)
    assert one.ax_ is display.ax_
    import matplotlib.pyplot as plt

    plt.close("all")
