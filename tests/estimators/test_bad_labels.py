"""Every mistake with labels gets one clear sentence, before any work is done, and changes nothing."""

import numpy as np
import pandas as pd
import pytest
from support.maps import blobs

from medianmap import BatchKMeans, PrototypeClassifier
from medianmap.datasets import load_iris

X = blobs(np.random.default_rng(0), n=12)
Y = np.arange(12) % 3


def classifier(**params):
    return PrototypeClassifier(BatchKMeans(3, random_state=0), **params)


def fuzzy(i, c, value):
    shares = np.full((12, 3), 1 / 3)
    shares[i, c] = value
    return shares


BAD = {
    "beta 0": (lambda: classifier(beta=0).fit(X, Y), r"beta is 0; .*\(0, 1\]"),
    "beta above 1": (lambda: classifier(beta=1.5).fit(X, Y), r"beta is 1\.5"),
    "beta NaN": (lambda: classifier(beta=np.nan).fit(X, Y), "beta is nan"),
    "beta text": (lambda: classifier(beta="half").fit(X, Y), "beta is 'half'"),
    "labeling": (lambda: classifier(labeling="vote").fit(X, Y), "labeling"),
    "label_scale": (lambda: classifier(label_scale="max").fit(X, Y), "label_scale"),
    "no y": (lambda: classifier().fit(X, None), "y is None"),
    "y is one word": (lambda: classifier().fit(X, "benign"), "y is a str"),
    "too short": (lambda: classifier().fit(X, Y[:5]), "y holds 5 labels, but X holds 12 data points"),
    "too long": (lambda: classifier().fit(X, np.zeros(13)), "y holds 13 labels, but X holds 12"),
    "3-D": (lambda: classifier().fit(X, np.zeros((12, 2, 2))), "y"),
    "none": (lambda: classifier().fit(X, np.full(12, np.nan)), "No data point is labelled: y holds only None or NaN"),
    "all None": (lambda: classifier().fit(X, [None] * 12), "No data point is labelled"),
    "all NaN rows": (lambda: classifier().fit(X, np.full((12, 2), np.nan)), "No data point is labelled"),
    "labelled ones have no weight": (
        lambda: classifier().fit(X, [0, 1, *[None] * 10], sample_weight=[0, 0, *[1] * 10]),
        "those that y labels have weight 0",
    ),
    "infinite": (lambda: classifier().fit(X, np.where(np.arange(12) == 4, np.inf, 1.0)), r"y\[4\] is infinite"),
    "continuous": (lambda: classifier().fit(X, np.linspace(0, 1, 12)), "Unknown label type: continuous"),
    "mixed types": (lambda: classifier().fit(X, ["a", 1] * 6), r"y mixes strings \(y\[0\]\) with numbers \(y\[1\]\)"),
    "negative share": (lambda: classifier().fit(X, fuzzy(4, 1, -0.5)), r"y\[4, 1\] is -0\.5; shares .* >= 0"),
    "NaN share": (lambda: classifier().fit(X, fuzzy(4, 2, np.nan)), r"y\[4, 2\] is nan"),
    "infinite share": (lambda: classifier().fit(X, fuzzy(0, 0, np.inf)), r"y\[0, 0\] is inf"),
    "empty row": (lambda: classifier().fit(X, fuzzy(7, [0, 1, 2], 0)), r"y\[7\] sums to 0"),
    "words as shares": (lambda: classifier().fit(X, [["a", "b"]] * 12), "an entry is not a number"),
    "sparse": (lambda: classifier().fit(X, __import__("scipy.sparse").sparse.csr_array(np.eye(12))), "y is sparse"),
    "not a map": (lambda: PrototypeClassifier(3).fit(X, Y), "estimator is a int; pass one of medianmap's maps"),
    "score without labels": (
        lambda: classifier().fit(X, Y).score(X, np.full(12, np.nan)),
        "no accuracy without labelled points: y holds only None or NaN",
    ),
    "score of points without weight": (
        lambda: classifier().fit(X, Y).score(X, [0, *[None] * 11], [0, *[1] * 11]),
        "no accuracy without labelled points: those that y labels have weight 0",
    ),
    "score of wrong length": (lambda: classifier().fit(X, Y).score(X, Y[:3]), "y holds 3 labels"),
    "score with other columns": (
        lambda: classifier().fit(X, Y).score(X, np.ones((12, 2))),
        "y has 2 columns for 3 classes",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_clear_sentence(case):
    act, sentence = BAD[case]
    with pytest.raises((ValueError, TypeError), match=sentence) as raised:
        act()
    assert "\n" not in str(raised.value).strip()


def test_labels_are_checked_before_the_work():
    def never(a, b):
        raise AssertionError("the metric was asked before the labels were checked")

    from medianmap import MedianKMeans

    with pytest.raises(ValueError, match="y holds 3 labels"):
        PrototypeClassifier(MedianKMeans(2, metric=never)).fit(list("abcdef"), [0, 1, 0])


def test_a_failed_fit_leaves_the_earlier_one():
    clf = classifier().fit(X, Y)
    before = clf.predict(X)
    with pytest.raises(ValueError):
        clf.fit(X, Y[:3])
    np.testing.assert_array_equal(clf.predict(X), before)


@pytest.mark.parametrize("y", [np.ones(12), ["only"] * 12, np.where(Y == 0, np.nan, 1)], ids=["one", "word", "nan"])
def test_a_single_class_is_allowed_with_a_warning(y):
    with pytest.warns(UserWarning, match="All labelled points have one class, "):
        clf = classifier().fit(X, y)
    assert len(set(clf.predict(X).tolist())) == 1


def test_a_class_that_only_the_test_data_have_is_said_and_counts_as_wrong():
    iris = load_iris()
    names = np.array(iris.class_names)[iris.y]
    train = iris.y < 2
    clf = classifier().fit(iris.X[train], names[train])
    with pytest.warns(UserWarning, match=r"y\[100\] is virginica, a class that no training point had.*50 such points"):
        score = clf.score(iris.X, names)
    assert score == pytest.approx(100 / 150, abs=0.02)
    with pytest.warns(UserWarning, match="no training point had"):
        assert clf.score(iris.X[100:], pd.Series(names[100:])) == 0.0
