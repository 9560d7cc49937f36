"""Metrics of vectors: those of SciPy's cdist under its own names, and two of scikit-learn's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Metric, Parameter, register

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
    from scipy.spatial.distance import cdist  # here: a command that only names a metric does not wait for SciPy

    if as_bool:
        a, b = a != 0, b != 0
    with np.errstate(invalid="ignore", divide="ignore"):  # a NaN is reported with its pair by the caller
        return cdist(a, b, name, **params)


def _variances(X: NDArray[Any], m: NDArray[np.float64], params: Mapping[str, Any]) -> dict[str, Any]:
    """Variances of the weighted training data; SciPy would take them from whatever block it is given."""
    if params.get("V") is not None:
        return {}
    mean = (m[:, None] * X).sum(axis=0) / m.sum()
    V = (m[:, None] * (X - mean) ** 2).sum(axis=0) / (m.sum() - 1) if m.sum() > 1 else np.ones(X.shape[1])
    if np.any(V == 0):
        raise ValueError(f"Column {int(np.argmin(V))} is constant, so 'seuclidean' cannot scale it; drop it or pass V.")
    return {"V": V}


def _inverse_covariance(X: NDArray[Any], m: NDArray[np.float64], params: Mapping[str, Any]) -> dict[str, Any]:
    M = X.shape[1]
    if params.get("VI") is not None:
        if np.shape(params["VI"]) != (M, M):
            raise ValueError(f"VI has shape {np.shape(params['VI'])}; pass the {M} x {M} inverse covariance.")
        return {}
    if (n := np.count_nonzero(m)) <= M or m.sum() <= 1:
        raise ValueError(f"{n} points are too few for 'mahalanobis' in {M} columns; drop columns or pass VI.")
    centred = X - (m[:, None] * X).sum(axis=0) / m.sum()
    try:
        return {"VI": np.linalg.inv((m[:, None] * centred).T @ centred / (m.sum() - 1))}
    except np.linalg.LinAlgError:
        raise ValueError(
            "The covariance is singular, so 'mahalanobis' cannot invert it; drop dependent columns or pass VI."
        ) from None


_WEIGHTS = Parameter("w", None, "what each coordinate counts; None: 1 each")
_PARAMETERS = {
    "minkowski": (Parameter("p", 2.0, "the exponent, >= 1"), _WEIGHTS),
    "seuclidean": (Parameter("V", None, "variances; None: of the training data"),),
    "mahalanobis": (Parameter("VI", None, "inverse covariance; None: of the training data"),),
    **dict.fromkeys(
        ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean", "hamming",
         "sqeuclidean", *BOOLEAN), (_WEIGHTS,)
    ),
}  # fmt: skip
_FROM_DATA = {"seuclidean": _variances, "mahalanobis": _inverse_covariance}

# (name here, name in SciPy, what it is)
_NAMED = [(name, name, summary) for name, summary in (SCIPY | BOOLEAN).items()]
_NAMED += [(name, target, f"the same as {target}") for name, target in SAME_AS.items()]
for _name, _target, _summary in _NAMED:
    # SciPy's jensenshannon differs in the last bit when its arguments are exchanged.
    register(Metric(_name, partial(_scipy_block, name=_target, as_bool=_target in BOOLEAN), _name != "jensenshannon",
                    "vectors", _summary, threaded=True, from_data=_FROM_DATA.get(_name),
                    parameters=_PARAMETERS.get(_target, ())))  # fmt: skip


def _haversine_block(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Angles on the sphere between (latitude, longitude) in radians."""
    if a.shape[1] != 2:
        raise ValueError(f"'haversine' compares (latitude, longitude); pass two columns, not {a.shape[1]}.")
    from sklearn.metrics import DistanceMetric

    return DistanceMetric.get_metric("haversine").pairwise(np.asarray(a, np.float64), np.asarray(b, np.float64))


def _nan_euclidean_block(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """sqrt(M / present * sum over coordinates present in both of (a - b)^2); NaN if there is none."""
    out = np.empty((len(a), len(b)))
    for i, x in enumerate(a):
        squares = (np.asarray(b, np.float64) - x) ** 2
        present = ~np.isnan(squares)
        count = present.sum(axis=1)
        total = np.where(present, squares, 0.0).sum(axis=1)
        out[i] = np.sqrt(np.divide(total * a.shape[1], count, out=np.full(len(b), np.nan), where=count > 0))
    return out


register(Metric("haversine", _haversine_block, False, "vectors", "angle on the sphere of (latitude, longitude)"))
register(Metric("nan_euclidean", _nan_euclidean_block, False, "vectors",
                "Euclidean distance over the coordinates that are not missing", allow_nan=True))  # fmt: skip
