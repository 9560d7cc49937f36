"""What a classifier says about its labels: how pure prototypes are, which labels look wrong, what to label next.

Tables are structured arrays, which `pandas.DataFrame` takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.labels import UNLABELLED, UNSEEN, LabelVectors, class_numbers, without_marks
from ..core.memberships import Memberships
from ..estimators.classifier import PrototypeClassifier, check_classifier
from ..predict.queries import map_of
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count
from ..utils.files import table

# Dissimilarities (n, K) to the prototypes, the number of each point's class (n,), and the labels as given.
Judged: TypeAlias = tuple[FloatArray, IntArray, LabelVectors]


@dataclass(frozen=True)
class LabelReport:
    """What `label_report` found: the tables of `prototype_labels`, `suspected_mislabels` and `label_next`."""

    prototypes: NDArray[Any]
    suspects: NDArray[Any]
    next: NDArray[Any]


def label_report(classifier: PrototypeClassifier, X: Any, y: Any, n_points: int = 10) -> LabelReport:
    """What a classifier says about its labels.

    Parameters
    ----------
    classifier : fitted PrototypeClassifier
        Train it with beta near 1 to look for wrong labels: a small beta bends the map until they fit.
    X, y : points and their labels, as `PrototypeClassifier.fit` takes them
    n_points : int, default=10
        How many points to ask for at most.

    Returns
    -------
    LabelReport
        Three tables. `prototypes`: the class of each prototype and how sure it is; `suspects`: points whose label looks
        wrong, the most suspicious first; `next`: unlabelled points whose labels would tell most, most useful first.
        The columns are those of the functions below, which make one table each.

    See Also
    --------
    medianmap.explore.label_report.prototype_labels : Share of each class per prototype.

    Examples
    --------
    >>> from medianmap import MedianKMeans, PrototypeClassifier, label_report
    >>> words, y = ["heron", "herons", "hero", "quark", "quarks", "quart"], ["bird", None, "bird", "atom", None, None]
    >>> clf = PrototypeClassifier(MedianKMeans(2, metric="edit", n_init=5, random_state=0)).fit(words, y)
    >>> report = label_report(clf, words, y, n_points=2)
    >>> report.prototypes["share"].round(2).tolist(), report.suspects["point"].tolist()
    ([0.92, 0.71], [])
    >>> [words[i] for i in report.next["point"]]
    ['quarks', 'herons']
    """
    check_count(n_points, "n_points", at_least=0)
    judged = _judged(classifier, X, y)
    asked = _next(classifier, judged, n_points)
    return LabelReport(prototype_labels(classifier), _suspected(classifier, judged), asked)


def prototype_labels(classifier: PrototypeClassifier) -> NDArray[Any]:
    """The class of every prototype, and how sure it is.

    Parameters
    ----------
    classifier : fitted PrototypeClassifier

    Returns
    -------
    (K,) records
        prototype; label, its class; share, of that class; entropy = -sum_c Y_jc log2 Y_jc of its shares in bits, 0 if
        all points agree, log2 C if all classes have equal shares; hits, the weight of its points.

    See Also
    --------
    suspected_mislabels, label_next
    """
    check_classifier(classifier)
    fitted = map_of(classifier)
    Y, classes = classifier.prototype_labels_, classifier.classes_
    return table(prototype=np.arange(len(Y)), label=classes[Y.argmax(axis=1)], share=Y.max(axis=1), entropy=entropy(Y),
                 hits=fitted.hits_)  # fmt: skip


def entropy(shares: FloatArray) -> FloatArray:
    """(K,) -sum_c p_jc log2 p_jc of rows of shares (K, C)."""
    return -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0  # no negative zero


def suspected_mislabels(classifier: PrototypeClassifier, X: Any, y: Any) -> NDArray[Any]:
    """Labelled points of which the classifier predicts another class than their label, the most suspicious first.

    suspicion_i = (p_i[k] - p_i[c]) (1 - d(x_i, w_j) / d(x_i, w_own)), in [0, 1], where p_i are the shares predicted
    for the point, c is its own class, k the predicted one, w_j its nearest prototype, and w_own the nearest prototype
    of class c: high where the classifier is sure of another class and the point is much nearer to that than to its own
    class. If no prototype has class c the second factor is 1. A class that training did not see has the share 0.

    Parameters
    ----------
    classifier : fitted PrototypeClassifier
        Train it with beta near 1 for this: a small beta bends the map until wrong labels fit.
    X, y : points and their labels, as `PrototypeClassifier.fit` takes them
        The label of a point with fuzzy labels is its largest share.

    Returns
    -------
    (n,) records
        point, label, proposed (the predicted class), prototype, share (that is predicted of the label), suspicion.

    See Also
    --------
    prototype_labels, label_next
    """
    return _suspected(classifier, _judged(classifier, X, y))


def _suspected(classifier: PrototypeClassifier, judged: Judged) -> NDArray[Any]:
    G, number, labels = judged
    Y, classes = classifier.prototype_labels_, classifier.classes_
    top = Y.argmax(axis=1)
    points = Memberships.of(G)
    shares = classifier._shares_of(points)
    predicted = shares.argmax(axis=1)
    at = np.flatnonzero((number != UNLABELLED) & (number != predicted))
    j, c, k = points.first[at], number[at], predicted[at]
    share = np.where(c == UNSEEN, 0.0, shares[at, np.maximum(c, 0)])
    near = G[at, j]
    own = np.where(top[None, :] == c[:, None], G[at], np.inf).min(axis=1)
    with np.errstate(invalid="ignore"):
        ratio = np.where(own > 0, near / own, 1.0)  # both zero: as near to the one as to the other
    suspicion = (shares[at, k] - share) * (1.0 - ratio)
    found = table(point=at, label=labels.classes[labels.numbers[at]], proposed=classes[k], prototype=j,
                  share=share, suspicion=suspicion)  # fmt: skip
    return found[np.lexsort((at, -suspicion))]


def label_next(classifier: PrototypeClassifier, X: Any, y: Any, n_points: int = 10) -> NDArray[Any]:
    """The unlabelled points whose labels would tell most, most useful first.

    They are chosen one by one: the prototype of largest gain u_j H_j, and among its unlabelled points the nearest to
    it. u_j is the number of unlabelled points at prototype j; H_j the entropy of its class shares with one more point
    spread over all classes, (n_jc + 1/C) / (n_j + 1), so that a prototype without labels is the least certain. A chosen
    point then counts as labelled with the most frequent label there, so that the next choice goes elsewhere.

    Parameters
    ----------
    classifier : fitted PrototypeClassifier
    X, y : points and their labels, as `PrototypeClassifier.fit` takes them
    n_points : int, default=10
        How many points to choose at most.

    Returns
    -------
    (n,) records
        point, prototype, gain.

    See Also
    --------
    prototype_labels, suspected_mislabels
    """
    check_count(n_points, "n_points", at_least=0)
    return _next(classifier, _judged(classifier, X, y), n_points)


def _next(classifier: PrototypeClassifier, judged: Judged, n_points: int) -> NDArray[Any]:
    G, number, _ = judged
    winner, C = G.argmin(axis=1), len(classifier.classes_)
    counts = np.zeros((G.shape[1], C))
    seen = np.flatnonzero(number >= 0)
    np.add.at(counts, (winner[seen], number[seen]), 1.0)
    waiting = [np.flatnonzero((winner == j) & (number == UNLABELLED)) for j in range(G.shape[1])]
    queues = [list(points[np.argsort(G[points, j], kind="stable")]) for j, points in enumerate(waiting)]
    chosen: list[tuple[int, int, float]] = []
    while len(chosen) < n_points and any(queues):
        expected = (counts + 1 / C) / (counts.sum(axis=1, keepdims=True) + 1)
        gain = entropy(expected) * [len(queue) for queue in queues]
        # With one class nothing is uncertain, and the fullest prototypes come first.
        j = int(gain.argmax()) if gain.any() else int(np.argmax([len(queue) for queue in queues]))
        chosen.append((int(queues[j].pop(0)), j, float(gain[j])))
        counts[j, expected[j].argmax()] += 1.0
    return np.array(chosen, dtype=[("point", np.intp), ("prototype", np.intp), ("gain", np.float64)])


def _judged(classifier: PrototypeClassifier, X: Any, y: Any) -> Judged:
    """The points and labels as the classifier sees them."""
    check_classifier(classifier)
    G = map_of(classifier)._dissimilarities(X)
    return G, *class_numbers(without_marks(y, classifier.unlabeled), len(G), classifier.classes_, stacklevel=4)
