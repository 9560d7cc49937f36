"""Metrics of vectors: SciPy's cdist under its own names, and scikit-learn's further ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .registry import Metric, register

# SciPy evaluates every pair on its own (no expansion into products), so an entry is the same in any block.
SCIPY = {
    "braycurtis": "Bray-Curtis, for abundances",
    "canberra": "Canberra",
    "chebyshev": "largest coordinate difference",
    "cityblock": "Manhattan, sum of absolute differences",
    "correlation": "1 - Pearson correlation",
    "cosine": "1 - cosine of the angle",
    "euclidean": "Euclidean distance",
    "hamming": "share of coordinates that differ",
    "jensenshannon": "Jensen-Shannon distance of distributions",
    "mahalanobis": "Mahalanobis; covariance of the training data unless VI is given",
    "minkowski": "Minkowski with exponent p",
    "seuclidean": "Euclidean over variances; of the training data unless V is given",
    "sqeuclidean": "squared Euclidean distance",
}
BOOLEAN = {
    "dice": "Dice, of presence and absence",
    "jaccard": "Jaccard, of presence and absence",
    "rogerstanimoto": "Rogers-Tanimoto, of presence and absence",
    "russellrao": "Russell-Rao, of presence and absence",
    "sokalsneath": "Sokal-Sneath, of presence and absence",
    "yule": "Yule, of presence and absence",
}
SAME_AS = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean"}


def _scipy_block(a: NDArray[Any], b: NDArray[Any], *, name: str, as_bool: bool = False, **params: Any) -> NDArray[Any]:
    if as_bool:
        a, b = a != 0, b != 0
    with np.errstate(invalid="ignore", divide="ignore"):  # a NaN is reported with its pair by the caller
        return cdist(a, b, name, **params)


def _variances(X: NDArray[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """SciPy would take them from whatever block it is given; they belong to the training data."""
    if params.get("V") is not None:
        return {}
    V = X.var(axis=0, ddof=1) if len(X) > 1 else np.ones(X.shape[1])
    if np.any(V == 0):
        raise ValueError(f"Column {int(np.argmin(V))} is constant, so 'seuclidean' cannot scale it; drop it or pass V.")
    return {"V": V}


def _inverse_covariance(X: NDArray[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    if params.get("VI") is not None:
        return {}
    if len(X) <= X.shape[1]:
        raise ValueError(
            f"'mahalanobis' needs more points ({len(X)}) than columns ({X.shape[1]}) to estimate a covariance; pass VI."
        )
    return {"VI": np.linalg.inv(np.atleast_2d(np.cov(X, rowvar=False)))}


_FROM_DATA = {"seuclidean": _variances, "mahalanobis": _inverse_covariance}

for _name, _summary in SCIPY.items():
    register(
        Metric(
            _name,
            partial(_scipy_block, name=_name),
            True,
            "vectors",
            _summary,
            threaded=True,
            from_data=_FROM_DATA.get(_name),
        )
    )
for _name, _summary in BOOLEAN.items():
    register(Metric(_name, partial(_scipy_block, name=_name, as_bool=True), True, "vectors", _summary, threaded=True))
for _name, _target in SAME_AS.items():
    register(
        Metric(_name, partial(_scipy_block, name=_target), True, "vectors", f"the same as {_target}", threaded=True)
    )


def scikit_learn_metric(name: str) -> Metric | None:
    """A metric that scikit-learn has beyond SciPy's ('haversine'), or None if it has no such name."""
    from sklearn.metrics import pairwise

    if name not in pairwise.distance_metrics() or name in ("precomputed", "nan_euclidean"):
        return None
    # Row by row: scikit-learn's answers for a pair may otherwise change in the last bit with the block around it.
    function = pairwise.distance_metrics()[name]

    def block(a: NDArray[Any], b: NDArray[Any], **params: Any) -> NDArray[Any]:
        return np.array([[function(x[None], y[None], **params)[0, 0] for y in b] for x in a]).reshape(len(a), len(b))

    return Metric(name, block, False, "vectors", "from scikit-learn")
