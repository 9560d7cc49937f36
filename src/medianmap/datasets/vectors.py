"""Vectors that come with scikit-learn, as z-scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from .records import Vectors


def load_breast_cancer() -> Vectors:
    """Wisconsin breast cancer (diagnostic), 569 x 30, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer as loader

    return _z_scores(loader())


def load_iris() -> Vectors:
    """Iris, 150 x 4, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_iris as loader

    return _z_scores(loader())


def _z_scores(bunch: Any) -> Vectors:
    """(x - mean) / standard deviation, the latter of the sample (divided by N - 1)."""
    X = np.asarray(bunch.data, np.float64)
    return Vectors(
        (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), bunch.target.astype(np.intp), [str(n) for n in bunch.target_names]
    )
