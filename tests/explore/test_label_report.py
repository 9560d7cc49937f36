"""The label report finds planted mistakes, and what it asks to label next is worth more than random points."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    PatchClusterer,
    PrototypeClassifier,
    label_report,
)
from medianmap.datasets import load_breast_cancer
from medianmap.explore.label_report import entropy, label_next, prototype_labels, suspected_mislabels


def line_map(y, labeling="majority"):
    """Points 0 1 2 | 10 11 12 | 30 31 on a line, prototypes in the middle of the three groups."""
    x = np.array([0.0, 1, 2, 10, 11, 12, 30, 31])
    D = np.abs(np.subtract.outer(x, x))
    frozen = MedianKMeans(3, metric="precomputed", init=[1, 4, 6])
    return PrototypeClassifier(frozen, 1.0, labeling=labeling).fit(D, y), D


def test_shares_and_entropy_by_hand():
    clf, _ = line_map(["a", "a", "b", "b", "b", "b", "a", "b"])
    report = prototype_labels(clf)
    assert report["label"].tolist() == ["a", "b", "a"]
    np.testing.assert_allclose(report["share"], [2 / 3, 1, 0.5])
    np.testing.assert_allclose(report["entropy"], [np.log2(3) - 2 / 3, 0, 1])
    assert report["hits"].tolist() == [3, 3, 2]
    assert list(pd.DataFrame(report).columns) == ["prototype", "label", "share", "entropy", "hits"]


def test_entropy_of_certain_and_even_shares():
    np.testing.assert_allclose(entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])), [0, 2])


def test_suspicion_by_hand():
    y = ["a", "a", "b", "b", "b", "b", "b", "b"]
    clf, D = line_map(y)
    report = suspected_mislabels(clf, D, y)
    # Point 2 says b at a prototype with shares 2/3 a, 1/3 b; it is 1 from that one and 9 from the nearest of class b.
    assert report["point"].tolist() == [2]
    assert report["proposed"].tolist() == ["a"]
    assert report["share"][0] == pytest.approx(1 / 3)
    assert report["suspicion"][0] == pytest.approx((2 / 3 - 1 / 3) * (1 - 1 / 9))


def test_unlabelled_points_are_not_suspected_and_unseen_classes_are():
    clf, D = line_map(["a", "a", "a", "b", "b", "b", None, None])
    assert len(suspected_mislabels(clf, D, ["a", "a", "a", "b", "b", "b", None, None])) == 0
    with pytest.warns(UserWarning, match="no training point had"):
        report = suspected_mislabels(clf, D, ["a", "a", "z", "b", "b", "b", None, None])
    assert report["label"].tolist() == ["z"]
    assert report["suspicion"][0] == 1.0


def test_the_report_is_all_three_tables():
    y = ["a", "a", "b", "b", None, "b", None, "b"]
    clf, D = line_map(y)
    report = label_report(clf, D, y, n_points=1)
    assert report.prototypes.tolist() == prototype_labels(clf).tolist()
    assert report.suspects.tolist() == suspected_mislabels(clf, D, y).tolist() != []
    assert report.next.tolist() == label_next(clf, D, y, n_points=1).tolist()
    assert len(report.next) == 1
    with pytest.raises(ValueError, match="n_points is -1"):
        label_report(clf, D, y, n_points=-1)


def test_planted_mistakes_come_first(rng):
    data = load_breast_cancer()
    wrong = rng.choice(len(data.y), 28, replace=False)
    y = data.y.copy()
    y[wrong] = 1 - y[wrong]
    clf = PrototypeClassifier(BatchNeuralGas(30, n_epochs=50, random_state=0), 0.95, labeling="majority").fit(data.X, y)
    report = suspected_mislabels(clf, data.X, y)
    assert (np.diff(report["suspicion"]) <= 0).all()
    assert np.isin(report["point"][:20], wrong).mean() >= 0.8  # by chance it would be 0.05
    assert np.isin(wrong, report["point"]).mean() >= 0.7


def test_what_to_label_next_by_hand():
    # The third prototype has no label: both of its points are waiting. Then the first, whose labels disagree.
    y = ["a", "b", None, "b", "b", None, None, None]
    clf, D = line_map(y)
    report = label_next(clf, D, y, n_points=3)
    assert report["prototype"].tolist()[:1] == [2]
    assert report["point"][0] == 6  # the exemplar itself is the nearest
    assert report["gain"][0] == pytest.approx(2 * 1.0)
    assert report["point"][1] == 2
    # The first choice counts as labelled: one of the two at prototype 2 has shares (3/4, 1/4) to expect.
    assert report["point"].tolist() == [6, 2, 7]
    np.testing.assert_allclose(report["gain"], [2, 1, entropy(np.array([[0.75, 0.25]]))[0]])


def test_every_unlabelled_point_is_named_once(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    y[10:] = -1
    y[:3] = 0, 1, 2
    clf = PrototypeClassifier(BatchKMeans(5, random_state=0), unlabeled=-1).fit(X, y)
    assert sorted(label_next(clf, X, y, n_points=100)["point"]) == list(range(10, 40))
    assert len(label_next(clf, X, y, n_points=4)) == 4


def test_asking_beats_random_labels():
    data = load_breast_cancer()

    def accuracy(y):
        map_ = MedianNeuralGas(30, n_epochs=20, metric="sqeuclidean", random_state=0)
        clf = PrototypeClassifier(map_, 1.0, labeling="majority", unlabeled=-1).fit(data.X, y)
        return clf, clf.score(data.X, data.y)

    gains = []
    for seed in range(6):
        draw = np.random.default_rng(seed)
        y = np.full(len(data.y), -1)
        first = draw.choice(len(y), 8, replace=False)
        y[first] = data.y[first]
        if len(set(data.y[first])) < 2:
            continue
        clf, _ = accuracy(y)
        asked, random = y.copy(), y.copy()
        chosen = label_next(clf, data.X, y, 15)["point"]
        asked[chosen] = data.y[chosen]
        rest = draw.choice(np.flatnonzero(y < 0), 15, replace=False)
        random[rest] = data.y[rest]
        gains.append(accuracy(asked)[1] - accuracy(random)[1])
    assert len(gains) >= 4
    assert np.mean(gains) > 0


def test_a_fuzzy_label_of_a_class_that_training_lacked_has_its_own_name():
    clf, D = line_map(["a", "a", "a", "b", "b", "b", "b", "b"])
    y = pd.DataFrame(np.eye(3)[[1, 1, 0, 2, 2, 2, 2, 1]], columns=["z", "a", "b"])
    with pytest.warns(UserWarning, match=r"y\[2\] is z, a class that no training point had") as caught:
        report = suspected_mislabels(clf, D, y)
    assert dict(zip(report["point"].tolist(), report["label"].tolist(), strict=True)) == {2: "z", 7: "a"}
    assert caught[0].filename == __file__


def test_a_pass_over_patches_is_reported_like_a_map(rng):
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    clf = PrototypeClassifier(PatchClusterer(MedianKMeans(4, random_state=0), patch_size=30)).fit(X, y)
    assert prototype_labels(clf)["hits"].sum() == 60
    wrong = np.flatnonzero(clf.predict(X) != y)
    assert sorted(suspected_mislabels(clf, X, y)["point"]) == wrong.tolist()


def test_mistakes_are_said():
    clf, D = line_map(["a", "a", "a", "b", "b", "b", None, None])
    for report in (prototype_labels, lambda c: suspected_mislabels(c, D, D), lambda c: label_next(c, D, D)):
        with pytest.raises(TypeError, match="classifier is a MedianKMeans; pass a PrototypeClassifier"):
            report(clf.estimator_)
        with pytest.raises(TypeError, match=r"classifier is a Pipeline; .*of a pipeline its last step"):
            report(make_pipeline(clf))
    for n_points in (-1, 2.5, None):
        with pytest.raises(ValueError, match=r"n_points is .*; it must be a whole number >= 0"):
            label_next(clf, D, ["a"] * 8, n_points)
    assert len(label_next(clf, D, [None] * 8, 0)) == 0
