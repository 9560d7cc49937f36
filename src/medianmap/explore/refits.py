"""Many fits to the same data: what X is gets checked, and dissimilarities computed, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.engine import State
from ..core.spaces import Space, VectorSpace
from ..estimators.base import BaseMap, Trained
from ..estimators.families import BatchMap, MedianMap, source_of
from ..sources import ALL, SubsetSource
from ..sources.base import FloatArray, Index, IntArray
from ..utils.checks import check_n_prototypes, check_weights
from ..utils.threads import limited


@dataclass(frozen=True)
class Refits:
    """A map and the n points it is fitted to again and again, those of weight 0 left out.

    estimator : median or batch map, never fitted itself.
    space : of the n points, dissimilarities computed and checked.
    m : (n,) weights, all positive.
    keep : (n,) the points among those given.
    after_fit : called when one of the fits is done.
    """

    estimator: BaseMap
    space: Space
    m: FloatArray
    keep: IntArray
    after_fit: Callable[[], None] = lambda: None

    def fit(
        self, params: dict[str, Any], points: Index = ALL, go_on_from: State | None = None
    ) -> tuple[BaseMap, Trained]:
        """The map with other parameters, fitted to some of the points, which are numbered anew there."""
        fitted: BaseMap = clone(self.estimator).set_params(**params)
        if not isinstance(self.space, VectorSpace):
            fitted.set_params(metric="precomputed", metric_params=None)
        trained = fitted._train(data_of(self.space, points), self.m[points], go_on_from=go_on_from)
        self.after_fit()
        return fitted, trained

    def as_given(self, prototypes: NDArray[Any]) -> NDArray[Any]:
        """Prototypes in terms of the data as the user gave them, as `init` takes them."""
        return self.space.lifted(prototypes, self.keep)


def refits(estimator: Any, X: Any, sample_weight: Any, K: int, called: str) -> Refits:
    """The fits of `estimator` to X with at most K prototypes, which the user knows as `called`."""
    estimator._check_parameters()
    with limited(estimator.n_jobs):
        given = estimator._given_space(X)
        m = check_weights(sample_weight, given.n_points)
        keep = np.flatnonzero(m)
        check_n_prototypes(K, len(keep), called)
        space = estimator._ready(given, m, K)
    return Refits(estimator, space if m.all() else space.subset(keep), m[keep], keep)


def data_of(space: Space, points: Index = ALL) -> Any:
    """What a map takes as X for some of the points of a space; median and relational maps with metric="precomputed"."""
    if isinstance(space, VectorSpace):
        return space.X[points]
    source = source_of(space)
    return source if isinstance(points, slice) else SubsetSource(source, points)


def check_map(estimator: Any, parameter: str, advice: str) -> None:
    """A median or batch map that has the parameter and draws its own start."""
    name = type(estimator).__name__
    if not isinstance(estimator, MedianMap | BatchMap):
        raise TypeError(f"estimator is a {name}; pass one of medianmap's median or batch maps.")
    if parameter not in estimator.get_params(deep=False):
        raise ValueError(f"{name} has no parameter {parameter}; {advice}")
    if not isinstance(estimator.init, str):
        raise ValueError(f"init of {name} fixes the start; set init='random' or 'k-medoids++'.")
