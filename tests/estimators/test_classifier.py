"""PrototypeClassifier: labels of every kind, both labelings, and scikit-learn's contract for classifiers."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalNeuralGas,
    beta_path,
    load,
    save,
)
from medianmap.app.main import cli
from medianmap.core.labels import LabelVectors
from medianmap.datasets import load_breast_cancer, load_iris
from medianmap.estimators.labelings import LABELINGS, spread_labels
from medianmap.sources.base import panels

CHECKED = [
    PrototypeClassifier(),
    PrototypeClassifier(BatchNeuralGas(5, n_epochs=10, random_state=0)),
    PrototypeClassifier(BatchKMeans(5, random_state=0), label_scale="mean"),
    PrototypeClassifier(BatchSOM((1, 5), n_epochs=10, random_state=0), labeling="majority"),
    PrototypeClassifier(MedianKMeans(5, random_state=0)),
    PrototypeClassifier(MedianSOM((1, 5), n_epochs=10, random_state=0)),
    PrototypeClassifier(MedianNeuralGas(5, n_epochs=10, metric="precomputed", random_state=0)),
    PrototypeClassifier(MedianNeuralGas(5)),  # nothing but its defaults: the checks set random_state
]


def expected_failures(classifier):
    failures = {}
    if classifier.estimator is None:
        return {}  # as it is constructed it has no excuse
    if not get_tags(classifier).input_tags.pairwise and not isinstance(classifier.estimator, BatchSOM | MedianSOM):
        failures["check_sample_weight_equivalence_on_dense_data"] = "random starts and exchanges draw from N points"
    return failures


@pytest.mark.filterwarnings("ignore:All labelled points have one class", "ignore:The diagonal is not zero")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_default_map_suits_the_data_its_weights_and_its_classes(rng):
    X, y = three_clouds(rng)
    clf = PrototypeClassifier(random_state=0).fit(X, y)
    assert len(clf.prototype_labels_) == 90 // 4  # one prototype for four points
    assert clf.score(X, y) == 1.0
    twice = PrototypeClassifier(random_state=0).fit(np.vstack([X, X]), np.r_[y, y])
    assert len(twice.prototype_labels_) == 90 // 4  # of the same points one exemplar takes all
    weighted = PrototypeClassifier(random_state=0).fit(X, y, sample_weight=np.arange(90) < 40)
    assert len(weighted.prototype_labels_) == 10
    classes = PrototypeClassifier(random_state=0).fit(X[:20], np.arange(20) % 10)
    assert len(classes.prototype_labels_) == 10  # as many as classes at least
    np.testing.assert_array_equal(clf.predict(X), PrototypeClassifier(random_state=0).fit(X, y).predict(X))
    assert clf.estimator is None


def test_the_default_map_works_wherever_a_map_given_does(rng, tmp_path):
    X, y = three_clouds(rng)
    clf = PrototypeClassifier(random_state=0).fit(X, y)
    save(clf, tmp_path / "clf.mmap")
    np.testing.assert_array_equal(load(tmp_path / "clf.mmap").predict_proba(X), clf.predict_proba(X))
    path = beta_path(PrototypeClassifier(random_state=0), X, y, [0.5], cv=2)
    assert path.accuracy["spread"].min() == 1.0
    from medianmap.report.plots import BetaPathDisplay

    drawn = BetaPathDisplay.from_estimator(PrototypeClassifier(random_state=0), X, y, [0.5], cv=2)
    assert list(drawn.paths) == ["PrototypeClassifier"]
    with pytest.raises(ValueError, match="X holds strings, but the metric 'euclidean' compares vectors"):
        PrototypeClassifier().fit(["ant", "bee", "cat"], [0, 1, 2])


def test_too_few_points_of_positive_weight_are_said_to_be_so(rng):
    X, y = three_clouds(rng, n=12)
    left = "n_samples = 4, the points whose sample_weight is not 0 and which have labels of 1 class; ask"
    with pytest.warns(UserWarning, match="All labelled points have one class"), pytest.raises(ValueError, match=left):
        PrototypeClassifier(MedianNeuralGas(8)).fit(X, y, sample_weight=y == 1)
    with pytest.raises(ValueError, match="n_samples = 4, the points whose sample_weight is not 0; ask"):
        MedianNeuralGas(8).fit(X, sample_weight=y == 1)
    with pytest.raises(ValueError, match="n_samples = 4; ask"):
        MedianNeuralGas(8).fit(X[:4])


def three_clouds(rng, n=90):
    """Vectors (n, 2) of three well separated classes 0, 1, 2."""
    y = np.arange(n) % 3
    return np.array([[0, 0], [8, 0], [0, 8]])[y] + rng.normal(size=(n, 2)), y


LABELS = {
    "integers": lambda y: y,
    "floats": lambda y: y.astype(float),
    "strings": lambda y: np.array(["ant", "bee", "cat"])[y],
    "list of strings": lambda y: [["ant", "bee", "cat"][c] for c in y],
    "objects": lambda y: np.array(["ant", "bee", "cat"], object)[y],
    "pandas strings": lambda y: pd.Series(np.array(["ant", "bee", "cat"])[y]),
    "pandas categories": lambda y: pd.Series(pd.Categorical.from_codes(y, ["ant", "bee", "cat"])),
    "negative integers": lambda y: y - 10,
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("labeling", LABELINGS)
def test_hard_labels_of_any_type(kind, labeling, rng):
    X, codes = three_clouds(rng)
    y = LABELS[kind](codes)
    clf = PrototypeClassifier(BatchNeuralGas(6, n_epochs=20, random_state=0), labeling=labeling).fit(X, y)
    np.testing.assert_array_equal(clf.classes_, np.unique(np.asarray(y)))
    np.testing.assert_array_equal(clf.predict(X), np.asarray(y))
    assert clf.score(X, y) == 1.0
    assert clf.prototype_labels_.shape == (6, 3)
    np.testing.assert_allclose(clf.prototype_labels_.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[clf.predict_proba(X).argmax(axis=1)], clf.predict(X))


@pytest.mark.parametrize(
    "missing", [-1, None, float("nan"), np.nan, pd.NA], ids=["-1", "None", "nan", "numpy nan", "pandas NA"]
)
def test_points_without_label(missing, rng):
    X, codes = three_clouds(rng)
    known = np.arange(90) < 9
    values = codes.tolist() if isinstance(missing, int) else [["ant", "bee", "cat"][c] for c in codes]
    y = [value if k else missing for value, k in zip(values, known, strict=True)]
    mark = -1 if isinstance(missing, int) else None
    clf = PrototypeClassifier(MedianNeuralGas(6, n_epochs=20, random_state=0), unlabeled=mark).fit(X, y)
    assert len(clf.classes_) == 3
    np.testing.assert_array_equal(clf.predict(X), np.asarray(values))
    assert clf.score(X, y) == 1.0  # the nine that have a label


def test_one_labelled_point_of_each_class_is_enough(rng):
    X, codes = three_clouds(rng)
    y = np.full(90, np.nan)
    y[:3] = codes[:3]
    for labeling in LABELINGS:
        clf = PrototypeClassifier(MedianKMeans(3, n_init=10, random_state=0), 0.9, labeling=labeling).fit(X, y)
        assert clf.score(X, codes) == 1.0


def test_fuzzy_labels_are_shares(rng):
    X, codes = three_clouds(rng)
    shares = np.eye(3)[codes] * 3 + 0.5
    clf = PrototypeClassifier(BatchKMeans(3, n_init=5, random_state=0), labeling="majority").fit(X, shares)
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    np.testing.assert_allclose(np.sort(clf.prototype_labels_, axis=1), [[0.5 / 4.5, 0.5 / 4.5, 3.5 / 4.5]] * 3)
    np.testing.assert_array_equal(clf.predict(X), codes)
    assert clf.score(X, shares) == clf.score(X, codes) == 1.0
    frame = pd.DataFrame(shares, columns=["ant", "bee", "cat"])
    frame.iloc[5] = np.nan
    named = PrototypeClassifier(BatchKMeans(3, n_init=5, random_state=0)).fit(X, frame)
    assert named.predict(X[:3]).tolist() == ["ant", "bee", "cat"]


def test_a_column_of_labels_is_taken_with_scikit_learns_warning(rng):
    X, y = three_clouds(rng)
    with pytest.warns(Warning, match="column-vector y"):
        clf = PrototypeClassifier(BatchKMeans(3, n_init=5, random_state=0)).fit(X, y[:, None])
    np.testing.assert_array_equal(clf.predict(X), y)


def test_majority_labels_by_hand():
    # Prototypes at 0, 10 and 100; the last has no labelled point, and its nearest labelled one is 12, class b.
    D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11, 12, 100, 101], [0.0, 1, 2, 10, 11, 12, 100, 101]))
    y = ["a", "b", "b", "b", "a", "b", None, None]
    frozen = MedianKMeans(3, metric="precomputed", init=[0, 3, 6], max_iter=1)
    clf = PrototypeClassifier(frozen, beta=1.0, labeling="majority").fit(D, y, sample_weight=[5, 1, 1, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(clf.estimator_.medoid_indices_, [0, 4, 6])
    np.testing.assert_allclose(clf.prototype_labels_, [[5 / 7, 2 / 7], [1 / 3, 2 / 3], [0, 1]])
    assert clf.predict(D).tolist() == ["a"] * 3 + ["b"] * 5


def test_learned_labels_by_hand():
    # K-means on a line: the learned vector is the weighted mean label of the field, unlabelled points left out.
    X = np.array([[0.0], [1], [2], [20], [21], [22]])
    y, m = ["a", "b", None, "b", "b", "b"], [3, 1, 1, 1, 1, 1]
    clf = PrototypeClassifier(BatchKMeans(2, init=X[[0, 3]]), 0.9, "learned", None).fit(X, y, sample_weight=m)
    np.testing.assert_allclose(clf.prototype_labels_, [[0.75, 0.25], [0, 1]])


def test_labels_pull_a_prototype_that_the_data_alone_would_not(rng):
    # Two overlapping classes along x, a stronger irrelevant spread along y.
    y = np.arange(200) % 2
    X = np.column_stack([2.0 * y + rng.normal(scale=0.4, size=200), rng.normal(scale=1.7, size=200)])
    unsupervised = PrototypeClassifier(BatchNeuralGas(2, random_state=0), 1.0, labeling="majority").fit(X, y)
    supervised = PrototypeClassifier(BatchNeuralGas(2, random_state=0), 0.05).fit(X, y)
    assert unsupervised.score(X, y) < 0.7
    assert supervised.score(X, y) > 0.95


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_every_map_can_be_guided(method, family, rng):
    X, y = three_clouds(rng)
    clf = PrototypeClassifier(estimator(method, 6, family, random_state=1)).fit(X, y)
    assert clf.score(X, y) > 0.95
    assert type(clf.estimator_) is family[method]
    assert not hasattr(clf.estimator, "labels_")


def test_weights_count_as_repetitions(rng):
    X, y = three_clouds(rng, n=30)
    m = rng.integers(0, 4, 30)
    m[:9] = 1
    start = X[:6]
    weighted = PrototypeClassifier(BatchNeuralGas(6, init=start)).fit(X, y, sample_weight=m)
    repeated = PrototypeClassifier(BatchNeuralGas(6, init=start)).fit(np.repeat(X, m, axis=0), np.repeat(y, m))
    np.testing.assert_allclose(weighted.estimator_.cluster_centers_, repeated.estimator_.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(weighted.prototype_labels_, repeated.prototype_labels_, atol=1e-9)


def test_a_scale_on_the_data_is_taken_out_by_label_scale(rng):
    X, y = blobs(rng), rng.integers(3, size=60)
    one, other = (
        PrototypeClassifier(BatchKMeans(4, random_state=2), 0.3, label_scale="mean").fit(c * X, y) for c in (1, 16)
    )
    np.testing.assert_array_equal(one.estimator_.labels_, other.estimator_.labels_)
    np.testing.assert_array_equal(one.prototype_labels_, other.prototype_labels_)


def test_the_mean_is_that_of_all_pairs(rng):
    D, m = blob_distances(rng, n=30), rng.integers(1, 4, 30).astype(float)
    y = rng.integers(2, size=30)
    mean = np.average(D, weights=np.outer(m, m))
    scaled = PrototypeClassifier(MedianKMeans(4, metric="precomputed", random_state=0), 0.2, label_scale="mean")
    plain = PrototypeClassifier(MedianKMeans(4, metric="precomputed", random_state=0), 0.2)
    by_hand = plain.fit(D / mean, y, sample_weight=m).estimator_.medoid_indices_
    np.testing.assert_array_equal(scaled.fit(D, y, sample_weight=m).estimator_.medoid_indices_, by_hand)
    cost = scaled.estimator_.history_["cost"]
    np.testing.assert_allclose(cost, plain.estimator_.history_["cost"], rtol=1e-12)


def test_grid_search_over_a_precomputed_matrix(rng):
    X, y = three_clouds(rng, n=60)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    search = GridSearchCV(
        PrototypeClassifier(MedianNeuralGas(3, n_epochs=10, metric="precomputed", random_state=0)),
        {"beta": [0.2, 1.0], "estimator__n_clusters": [1, 6], "labeling": [*LABELINGS]},
        cv=3,
    ).fit(D, y)
    assert search.best_params_["estimator__n_clusters"] == 6
    assert search.best_score_ > 0.95
    assert search.predict(D).shape == (60,)


def test_pipelines_and_cross_validation():
    iris = load_iris()
    clf = make_pipeline(StandardScaler(), PrototypeClassifier(BatchNeuralGas(6, n_epochs=30, random_state=0)))
    assert cross_val_score(clf, iris.X, iris.y, cv=3).mean() > 0.85
    partly = np.where(np.arange(150) % 2, iris.y, -1)
    marked = clf.set_params(prototypeclassifier__unlabeled=-1)
    assert cross_val_score(marked, iris.X, partly, cv=3).mean() > 0.85  # unlabelled points are no mistakes


def test_minus_one_is_a_class_unless_it_is_said_to_mark_points_without_label(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(np.arange(60) % 2, -1, 1)  # two classes, and X knows nothing of them
    plain = PrototypeClassifier(MedianKMeans(4, random_state=0))
    assert plain.fit(X, y).classes_.tolist() == [-1, 1]
    assert cross_val_score(plain, X, y, cv=3).mean() < 0.8
    marked = PrototypeClassifier(MedianKMeans(4, random_state=0), unlabeled=1)
    with pytest.warns(UserWarning, match="All labelled points have one class, -1"):
        assert marked.fit(X, y).classes_.tolist() == [-1]
    named = PrototypeClassifier(MedianKMeans(4, random_state=0), unlabeled="?")
    assert named.fit(X, ["?", "a", "b"] * 20).classes_.tolist() == ["a", "b"]


def test_random_state_is_passed_on(rng):
    X, y = three_clouds(rng)
    for map_ in (MedianNeuralGas(6, n_epochs=10), PatchClusterer(MedianNeuralGas(6, n_epochs=10), patch_size=30)):
        found = [
            PrototypeClassifier(map_, random_state=seed).fit(X, y).estimator_.medoid_indices_ for seed in (0, 0, 1)
        ]
        np.testing.assert_array_equal(found[0], found[1])
        assert not np.array_equal(found[0], found[2])
    seeded = PatchClusterer(MedianNeuralGas(6, n_epochs=10), patch_size=30, random_state=5).fit(X)
    inner = PatchClusterer(MedianNeuralGas(6, n_epochs=10, random_state=5), patch_size=30).fit(X)
    np.testing.assert_array_equal(seeded.medoid_indices_, inner.medoid_indices_)


def test_strings_are_classified_by_an_edit_distance(tmp_path):
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    clf = PrototypeClassifier(MedianKMeans(2, metric="edit", n_init=5, random_state=0))
    clf.fit(words, ["bird", None, "bird", "physics", None, "physics"])
    assert clf.predict(["quarts", "herod"]).tolist() == ["physics", "bird"]
    assert not hasattr(clf, "n_features_in_")
    save(clf, tmp_path / "words.mmap")
    again = load(tmp_path / "words.mmap")
    assert again.predict(["quarts", "herod"]).tolist() == ["physics", "bird"]
    assert again.get_params()["estimator__metric"] == "edit"
    assert again.estimator_.cluster_centers_ == clf.estimator_.cluster_centers_
    told = CliRunner().invoke(cli, ["info", str(tmp_path / "words.mmap")])
    assert told.exit_code == 0
    assert "classes bird, physics" in told.output
    assert "  labeling = 'spread'" in told.output
    assert again.beta_ == clf.beta_ == 1 / (1 + 0.25 * (1 - 2 / 4))
    assert "  metric = 'edit'" in told.output
    assert "  estimator" not in told.output


def test_a_second_fit_replaces_the_first(rng):
    X, y = three_clouds(rng)
    clf = PrototypeClassifier(BatchKMeans(3, random_state=0)).fit(X, y)
    clf.fit(X[:, :1], y % 2)
    assert clf.n_features_in_ == 1
    assert clf.classes_.tolist() == [0, 1]


def test_the_best_of_several_starts_is_judged_with_labels(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    last = {}
    watched = {"annealing": "median", "on_epoch": lambda e: last.update({e.run: e})}
    map_ = MedianKMeans(5, n_init=8, metric="sqeuclidean", random_state=0, **watched)
    clf = PrototypeClassifier(map_, 0.3, label_scale=None).fit(X, y)
    # A run ends where nothing changes any more, so the cost of its last epoch, in d_beta, is that of its outcome.
    cost = [epoch.cost for epoch in last.values()]
    by_d_alone = [epoch.quantization_error for epoch in last.values()]
    assert np.argmin(cost) != np.argmin(by_d_alone)
    assert clf.estimator_.history_["cost"][-1] == min(cost)


def test_a_point_without_weight_labels_no_prototype():
    # The last prototype has no labelled point: of those that count 12 is the nearest, class b; 95 has no weight.
    x = np.array([0.0, 1, 2, 10, 11, 12, 100, 101, 95])
    y, m = ["a", "a", "a", "b", "b", "b", None, None, "a"], [1] * 8 + [0]
    frozen = MedianKMeans(3, metric="precomputed", init=[1, 4, 6])
    clf = PrototypeClassifier(frozen, 1.0, labeling="majority").fit(np.abs(np.subtract.outer(x, x)), y, m)
    np.testing.assert_array_equal(clf.prototype_labels_, [[1, 0], [0, 1], [0, 1]])


def test_accuracy_is_by_weight(rng):
    X, y = three_clouds(rng, n=30)
    clf = PrototypeClassifier(BatchKMeans(3, n_init=5, random_state=0), unlabeled=-1).fit(X, y)
    noted = y.copy()
    noted[:2] = (y[:2] + 1) % 3
    noted[2] = -1
    assert clf.score(X, noted) == pytest.approx(27 / 29)
    assert clf.score(X, noted, np.where(np.arange(30) < 3, 5, 1)) == pytest.approx(27 / 37)


@pytest.mark.parametrize("factor", [1e-250, 1e250])
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_the_mean_stands_extreme_weights(family, factor, rng):
    X, y = three_clouds(rng, n=30)
    clf = PrototypeClassifier(family["kmeans"](3, random_state=0), 0.3, label_scale="mean")
    plain = clf.fit(X, y).estimator_.labels_
    np.testing.assert_array_equal(clf.fit(X, y, np.full(30, factor)).estimator_.labels_, plain)


@pytest.mark.parametrize("nonsense", ["neural gas", 3, MedianKMeans])
def test_what_is_no_map_is_refused_by_fit_alone(nonsense, rng):
    clf = PrototypeClassifier(nonsense)
    assert repr(clf).startswith("PrototypeClassifier(")
    assert "PrototypeClassifier" in clf._repr_html_()
    assert not get_tags(clf).input_tags.pairwise
    with pytest.raises(TypeError, match=r"estimator is .*; pass one of medianmap's maps"):
        clf.fit(*three_clouds(rng))


def test_warnings_point_at_the_users_line(rng):
    X, y = three_clouds(rng)
    with pytest.warns(UserWarning, match="All labelled points have one class") as at_fit:
        clf = PrototypeClassifier(BatchKMeans(3, random_state=0)).fit(X, ["only"] * 90)
    with pytest.warns(UserWarning, match="no training point had") as at_score:
        clf.score(X, y)
    assert at_fit[0].filename == at_score[0].filename == __file__


# --- classes that spread, and how much labels count -------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """What a fit leaves for a labeling, in blocks of any size."""

    G: np.ndarray
    m: np.ndarray
    labels: LabelVectors
    size: int = 1000

    @property
    def state(self):
        return SimpleNamespace(labels=np.zeros((self.G.shape[1], len(self.labels.classes))))

    def blocks(self):
        for part in panels(len(self.G), self.size):
            yield self.G[part], self.m[part], self.labels.subset(part)


def left_by_a_fit(rng, n=40, K=6, C=3):
    """Random dissimilarities and weights, some of them 0; hard and fuzzy labels, some points without."""
    y = np.where(rng.random((n, 1)) < 0.5, np.eye(C)[rng.integers(C, size=n)], rng.dirichlet(np.ones(C), n))
    known = rng.random(n) < 0.4
    known[0], m = True, rng.integers(0, 3, n).astype(float)
    m[0] = 1.0
    return Left(rng.random((n, K)) ** 2, m, LabelVectors(np.arange(C), np.where(known[:, None], y, 0.0), known))


def by_least_squares(left):
    """The minimum that `spread_labels` is defined by, as a least squares problem with one row per term."""
    G, m, y, known = left.G, left.m, left.labels.y, left.labels.known & (left.m > 0)
    K, b = G.shape[1], 0.02
    P = np.zeros_like(G)
    for i, row in enumerate(G):
        first, second, third = np.argsort(row, kind="stable")[:3]
        nearer = row[third] - row[[first, second]]
        P[i, [first, second]] = nearer / nearer.sum()
    W = np.zeros((K, K))
    for i, j, l in np.ndindex(len(G), K, K):
        if j != l and m[G.argmin(axis=1) == j].any() and m[G.argmin(axis=1) == l].any():
            W[j, l] += m[i] * P[i, j] * P[i, l]
    W *= 0.4 / (W.sum(axis=1).mean() or 1.0)  # one prototype may have all points
    rows, values = [], []
    for i in np.flatnonzero(known):
        rows.append(np.sqrt(m[i]) * P[i])
        values.append(np.sqrt(m[i]) * y[i])
    for j in range(K):
        nearest = np.flatnonzero(known)[G[known, j].argmin()]
        rows.append(np.sqrt(b) * np.eye(K)[j])
        values.append(np.sqrt(b) * y[nearest])
        for l in range(j):
            rows.append(np.sqrt(W[j, l]) * (np.eye(K)[j] - np.eye(K)[l]))
            values.append(np.zeros(y.shape[1]))
    S = np.maximum(np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0], 0.0)
    return S / S.sum(axis=1, keepdims=True)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 50))
@settings(max_examples=60)
def test_spread_shares_are_the_minimum_that_defines_them(seed, size):
    left = left_by_a_fit(np.random.default_rng(seed), n=15)  # so few that some prototypes have no points
    shares = spread_labels(replace(left, size=size))
    np.testing.assert_allclose(shares, by_least_squares(left), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()


@pytest.mark.parametrize("size", [1e13, 1e100, 1e250])
def test_spread_shares_are_unique_for_weights_of_any_size(size, rng):
    """Three labels, all between the same two prototypes, decide for these; the others get what is nearest."""
    left = left_by_a_fit(rng, n=30)
    m = np.where(left.m > 0, left.m, 1.0) * size
    known = np.arange(30) < 3
    G = left.G.copy()
    G[:3] = [0.1, 0.2, 0.9, 0.9, 0.9, 0.9]
    y = np.where(known[:, None], np.eye(3)[[0] * 30], 0.0)
    shares = spread_labels(Left(G, m, LabelVectors(np.arange(3), y, known)))
    np.testing.assert_allclose(shares, np.eye(3)[[0] * 6], atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), factor=st.sampled_from([1e-250, 1e-3, 1.0]))
@settings(max_examples=20)
def test_weights_below_one_count_for_spread_shares_as_ones_do(seed, factor):
    left = left_by_a_fit(np.random.default_rng(seed))
    left = replace(left, m=(left.m > 0).astype(float))
    np.testing.assert_allclose(spread_labels(replace(left, m=factor * left.m)), spread_labels(left), rtol=1e-9)


def test_spread_shares_of_weights_and_of_repetitions(rng):
    left = left_by_a_fit(rng)
    m = left.m.astype(int)
    labels = LabelVectors(left.labels.classes, left.labels.y.repeat(m, axis=0), left.labels.known.repeat(m))
    repeated = Left(left.G.repeat(m, axis=0), np.ones(m.sum()), labels)
    np.testing.assert_allclose(spread_labels(repeated), spread_labels(left), rtol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-3, 3), factor=st.sampled_from([1e-9, 0.3, 1e9]))
@settings(max_examples=30)
def test_neither_unit_nor_origin_of_dissimilarities_count_for_spread_shares(seed, shift, factor):
    left = left_by_a_fit(np.random.default_rng(seed))
    moved = replace(left, G=factor * (left.G + shift))
    np.testing.assert_allclose(spread_labels(moved), spread_labels(left), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [MedianNeuralGas, RelationalNeuralGas])
def test_few_labels_tell_more_on_a_map_than_alone(kind):
    """Thirty digits of six hundred have labels: the default beside 1-NN of the thirty, and beside majority labels."""
    X, digits = load_digits(return_X_y=True)
    gains = np.zeros(2)
    for seed in range(4):
        train, test = train_test_split(np.arange(900), test_size=300, stratify=digits[:900], random_state=seed)
        known = np.concatenate([train[digits[train] == c][:3] for c in range(10)])
        y = np.where(np.isin(train, known), digits[train], -1)
        map_ = kind(40, metric="sqeuclidean", random_state=0)
        default = PrototypeClassifier(map_, unlabeled=-1).fit(X[train], y).score(X[test], digits[test])
        majority = PrototypeClassifier(map_, 1.0, labeling="majority", unlabeled=-1).fit(X[train], y)
        alone = KNeighborsClassifier(1).fit(X[known], digits[known])
        gains += [default - other.score(X[test], digits[test]) for other in (alone, majority)]
    assert (gains / 4 > 0.02).all()


def test_a_point_between_two_prototypes_has_shares_of_both(tmp_path):
    """Prototypes at 0, 10 and 30 of classes a, b and b: shares go over from a to b on the way from 0 to 10."""
    x = np.array([[-1.0], [0], [1], [9], [10], [11], [29], [30], [31]])
    map_ = BatchKMeans(3, init=x[[1, 4, 7]])
    clf = PrototypeClassifier(map_, 1.0).fit(x, [*"aaabbbbbb"])
    a = clf.prototype_labels_[:, 0]
    queries = np.linspace(0, 10, 21)[:, None]
    d = (queries - [0, 10, 30]) ** 2
    t = (d[:, 2] - d.max(axis=1, where=np.array([True, True, False]), initial=0)) / (2 * d[:, 2] - d[:, 0] - d[:, 1])
    share = clf.predict_proba(queries)[:, 0]
    np.testing.assert_allclose(share[:10], (1 - t[:10]) * a[0] + t[:10] * a[1])
    np.testing.assert_allclose(share[11:], (1 - t[11:]) * a[1] + t[11:] * a[0])
    assert (np.diff(share) < 0).all()
    save(clf, tmp_path / "line.mmap")
    assert load(tmp_path / "line.mmap").predict_proba(queries).tobytes() == clf.predict_proba(queries).tobytes()
    majority = PrototypeClassifier(map_, 1.0, labeling="majority").fit(x, [*"aaabbbbbb"])
    assert set(majority.predict_proba(queries)[:, 0]) == {0.0, 1.0}  # of the nearest prototype alone


def two_moons(rng, n=400):
    """Two half rings that reach into each other, and which of them each point is on."""
    t, y = rng.uniform(0, np.pi, n), np.arange(n) % 2
    ring = np.column_stack([np.cos(t), np.sin(t)])
    return np.where(y[:, None] == 0, ring, [1, 0.4] - ring) + 0.04 * rng.normal(size=(n, 2)), y


@pytest.mark.parametrize("kind", [MedianNeuralGas, MedianKMeans, RelationalNeuralGas, BatchNeuralGas])
def test_classes_spread_along_the_data_rather_than_across_a_gap(kind):
    """Two labelled points of 400: a field across the gap may be nearer to one of them than fields along the ring."""
    gains = []
    for seed in range(4):
        X, codes = two_moons(np.random.default_rng(seed))
        y = np.where(np.arange(400) < 2, codes, -1)
        spread = PrototypeClassifier(kind(16, random_state=0), unlabeled=-1).fit(X, y)
        majority = PrototypeClassifier(kind(16, random_state=0), labeling="majority", unlabeled=-1).fit(X, y)
        gains.append(spread.score(X, codes) - majority.score(X, codes))
        sure = spread.predict_proba(X).max(axis=1)
        assert sure[:2].min() > sure[2:].mean()
    assert np.mean(gains) > 0.04


@pytest.mark.parametrize("kind", [MedianKMeans, MedianNeuralGas, RelationalNeuralGas, BatchKMeans])
def test_labels_leave_the_map_alone_where_there_are_no_more_than_prototypes(kind, rng):
    X, y = blobs(rng), rng.integers(3, size=60)
    few, more = np.where(np.arange(60) < 7, y, -1), np.where(np.arange(60) < 8, y, -1)
    plain = kind(7, random_state=1).fit(X)
    clf = PrototypeClassifier(kind(7, random_state=1), unlabeled=-1).fit(X, few)
    assert clf.beta_ == 1.0
    assert clf.estimator_.history_.tobytes() == plain.history_.tobytes()
    np.testing.assert_array_equal(clf.estimator_.labels_, plain.labels_)
    assert clf.fit(X, more).beta_ == 1 / (1 + 0.25 / 8)
    assert clf.fit(X, few, np.full(60, 2.0)).beta_ == 1 / (1 + 0.25 / 2)  # fourteen, counted
    assert clf.fit(X, few, np.full(60, 0.1)).beta_ == 1.0
    assert clf.fit(X, more, np.full(60, 0.1)).beta_ == 1 / (1 + 0.25 / 8)
    assert clf.fit(X, more, np.arange(60) != 7).beta_ == 1.0  # the eighth does not count


@pytest.mark.parametrize("merge", ["sequential", "tree"])
def test_beta_of_patches_is_that_of_all_labels(merge, rng):
    X, y = three_clouds(rng, n=120)
    clf = PrototypeClassifier(PatchClusterer(BatchKMeans(6, random_state=0), 40, merge=merge)).fit(X, y)
    assert clf.beta_ == 1 / (1 + 0.25 * (1 - 6 / 120))
    assert clf.score(X, y) == 1.0
    half = np.arange(120) % 2
    assert clf.fit(X, y, half).beta_ == 1 / (1 + 0.25 * (1 - 6 / 60))


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"beta": "some"}, r"beta is 'some'; it must be 'auto' or a number in \(0, 1\]"),
        ({"beta": 0}, r"beta is 0; it must be in \(0, 1\]"),
        ({"label_scale": None}, "beta='auto' is chosen for label_scale='mean'; give beta as a number"),
        ({"labeling": "posterior"}, "labeling is 'posterior'; choose one of 'spread', 'majority', 'learned'"),
    ],
)
def test_settings_that_cannot_be_are_refused(given_, said, rng):
    with pytest.raises(ValueError, match=said):
        PrototypeClassifier(BatchKMeans(3), **given_).fit(*three_clouds(rng))


def test_shares_tell_how_sure_a_class_is():
    """With a label of twenty: log-loss and Brier score of the spread shares are below those of votes."""
    data = load_breast_cancer()
    loss = np.zeros((2, 2))
    for seed in range(4):
        known = np.random.default_rng(seed).permutation(569) < 28
        for k, labeling in enumerate(("spread", "majority")):
            clf = PrototypeClassifier(MedianNeuralGas(25, random_state=seed), labeling=labeling, unlabeled=-1)
            share = clf.fit(data.X, np.where(known, data.y, -1)).predict_proba(data.X[~known])[:, 1]
            loss[k] += log_loss(data.y[~known], share.clip(1e-3, 1 - 1e-3)), brier_score_loss(data.y[~known], share)
    assert (loss[0] < 0.8 * loss[1]).all()
