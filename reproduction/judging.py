"""How a map is judged on points that it has not seen, and the methods that the chapter did not have at hand."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from medianmap.core.quality import quantization_error
from medianmap.estimators.base import BaseMap
from medianmap.estimators.fit import Supervision
from medianmap.estimators.labelings import majority_labels
from medianmap.sources.base import IntArray

from .plan import Record


def judged(
    map_: Any, beta: float, train: Any, y: IntArray, test: Any, y_test: IntArray, *, scaled: bool = False
) -> Record:
    """Accuracy on held-out points with learned and with posterior labels, from one fit, and its quantization error.

    train, test : as the map's `fit` and `predict` take them. scaled : divide D by its mean in the label term.
    """
    fitted: BaseMap = clone(map_)
    trained = fitted._train(train, None, Supervision(y, beta, scaled))
    assert trained.labels is not None
    winner = fitted.predict(test)
    shares = {"learned": trained.state.labels, "posterior": majority_labels(trained)}
    record: Record = {
        name: share(trained.labels.classes[Y.argmax(axis=1)][winner], y_test) for name, Y in shares.items()
    }
    return {**record, "quantization_error": float(getattr(fitted, "quantization_error_", np.nan))}


def share(proposed: NDArray[Any], truth: NDArray[Any]) -> float:
    """Share of the points whose class is proposed."""
    return float(np.mean(proposed == truth))


def neighbours(D: NDArray[Any], y: IntArray, k: int) -> IntArray:
    """(n,) the majority class of the k nearest of N training points, D (n, N); the nearest settles ties."""
    nearest = np.argsort(D, axis=1, kind="stable")[:, :k]
    # most_common keeps the order of first appearance among equals.
    return np.array([Counter(y[row].tolist()).most_common(1)[0][0] for row in nearest])


def leave_one_out(D: NDArray[Any], y: IntArray) -> float:
    """Accuracy of the nearest other point."""
    others = np.array(D, dtype=np.float64)
    np.fill_diagonal(others, np.inf)
    return share(y[others.argmin(axis=1)], y)


def judged_medoids(medoids: IntArray, D: NDArray[Any], y: IntArray, test: NDArray[Any], y_test: IntArray) -> Record:
    """The same figures for medoids of any method: posterior labels by majority, D (N, N), test (n, N)."""
    G = np.asarray(D[:, medoids], dtype=np.float64)
    votes = np.zeros((len(medoids), int(y.max()) + 1))
    np.add.at(votes, (G.argmin(axis=1), y), 1.0)
    return {
        "posterior": share(votes.argmax(axis=1)[test[:, medoids].argmin(axis=1)], y_test),
        "quantization_error": float(quantization_error(G, np.ones(len(D)))),
        "prototypes": len(medoids),
    }


def has_kmedoids() -> bool:
    """Whether the package `kmedoids` is there; it belongs to the group `bench` and to no extra."""
    return find_spec("kmedoids") is not None


def faster_pam(D: NDArray[Any], K: int, seed: int) -> IntArray:
    """(K,) medoids of FasterPAM from a random start."""
    fasterpam = import_module("kmedoids").fasterpam
    return np.asarray(fasterpam(D, K, init="random", random_state=seed).medoids, dtype=np.intp)


def affinity(D: NDArray[Any], K: int, seed: int, steps: int = 14) -> IntArray:
    """Exemplars of affinity propagation, the preference searched by bisection so that there are K, or nearly.

    Similarities are -D; the more negative the preference, the fewer exemplars. Only runs that converged count.
    """
    import warnings

    from sklearn.cluster import AffinityPropagation

    few, many = np.log(np.median(D) * len(D)), np.log(np.median(D) / 100)
    best: IntArray = np.zeros(1, np.intp)
    for _ in range(steps):
        middle = (few + many) / 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no convergence at this preference: another one is tried
            model = AffinityPropagation(
                affinity="precomputed", preference=-np.exp(middle), damping=0.9, max_iter=500, random_state=seed
            ).fit(-D)
        found = np.asarray(model.cluster_centers_indices_, dtype=np.intp)
        if model.n_iter_ < 500 and abs(len(found) - K) < abs(len(best) - K):
            best = found
        if len(found) == K:
            break
        few, many = (middle, many) if len(found) < K else (few, middle)
    return best
