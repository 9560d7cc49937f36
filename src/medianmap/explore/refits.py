"""The many fits behind `k_path`, `width_front` and `beta_path`: data are checked and compared once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.engine import State
from ..core.memberships import Memberships
from ..core.spaces import Space
from ..estimators.base import BaseMap, check_map
from ..estimators.fit import Supervision, Trained, as_generator
from ..sources import ALL
from ..sources.base import FloatArray, Index, IntArray
from ..utils.checks import check_weights
from ..utils.threads import OnProgress, limited, step

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Refits:
    """A map and the n points that it is fitted to again and again.

    estimator : never fitted itself.
    space : of the n points, dissimilarities computed and checked.
    m : (n,) weights.
    places : (n,) where the points are among those that the user gave.
    after_fit : called after every fit.
    """

    estimator: BaseMap
    space: Space
    m: FloatArray
    places: IntArray
    after_fit: Callable[[], None]

    def fit(
        self, params: dict[str, Any], points: Index = ALL, supervision: Supervision | None = None,
        go_on_from: State | None = None,
    ) -> tuple[BaseMap, Trained]:  # fmt: skip
        """The map with other parameters, fitted to some of the points, which are renumbered from 0 there.

        go_on_from : where an earlier fit to the same points ended; without it the map starts as its parameters say.
        """
        fitted = self.estimator._for_refit(params)
        trained = fitted._train(self.space.training_data(points), self.m[points], supervision, go_on_from)
        self.after_fit()
        return fitted, trained

    def winners(self, fitted: BaseMap, points: IntArray, queries: Index = ALL) -> IntArray:
        """(n_query,) nearest prototype of the points `queries`, in a map fitted to the points `points`."""
        return fitted.predict(self.space.query_data(queries, points))

    def memberships(self, fitted: BaseMap, points: IntArray, queries: Index = ALL) -> Memberships:
        """To which prototypes the points `queries` belong, in a map fitted to the points `points`."""
        return Memberships.of(fitted._dissimilarities(self.space.query_data(queries, points)))

    def of_positive_weight(self) -> Refits:
        """The same for the points whose weight is not 0."""
        if self.m.all():
            return self
        keep = np.flatnonzero(self.m)
        return replace(self, space=self.space.subset(keep), m=self.m[keep], places=self.places[keep])

    def as_given(self, prototypes: NDArray[Any]) -> NDArray[Any]:
        """Prototypes in terms of the data as the user gave them, as `init` takes them."""
        return self.space.lifted(prototypes, self.places)


def check_estimator(estimator: Any) -> None:
    """A map whose fits can go on from each other, with parameters that are valid."""
    check_map(estimator)
    estimator._check_parameters()


def check_restarts(estimator: Any, parameter: str, advice: str) -> None:
    """A map with this parameter that draws its own start, and whose `init` takes the prototypes of another fit."""
    check_estimator(estimator)
    name = type(estimator).__name__
    if not estimator._init_takes_prototypes:
        raise TypeError(f"estimator is a {name}; pass one of medianmap's median or batch maps.")
    if parameter not in estimator.get_params(deep=False):
        raise ValueError(f"{name} has no parameter {parameter}; {advice}")
    if not isinstance(estimator.init, str):
        raise ValueError(f"init of {name} fixes the start; set init='random' or 'k-medoids++'.")


def check_data(estimator: BaseMap, X: Any, sample_weight: Any) -> tuple[Space, FloatArray]:
    """What X is, and the weights (n,): types and shapes are checked, nothing is computed yet."""
    with limited(estimator.n_jobs):
        given = estimator._given_space(X)
    return given, check_weights(sample_weight, given.n_points)


def refits(
    estimator: BaseMap, given: Space, m: FloatArray, K: int, n_fits: int, on_progress: OnProgress | None
) -> Refits:
    """n_fits fits, with at most K prototypes, to what `check_data` gave; dissimilarities are computed here."""
    with limited(estimator.n_jobs):
        space = estimator._ready(given, m, K).unscaled()  # every fit brings its own points to about 1
    report, done = on_progress or step, count(1)
    return Refits(estimator, space, m, np.arange(len(m)), lambda: report("fits", next(done), n_fits))


def random_seeds(estimator: BaseMap, random_state: Any, n: int) -> tuple[list[int], np.random.Generator]:
    """n seeds for the fits and the generator that drew them; None takes the estimator's own random_state."""
    rng = as_generator(estimator.random_state if random_state is None else random_state)
    return [int(seed) for seed in rng.integers(2**31 - 1, size=n)], rng


def check_values(
    values: Any, name: str, check: Callable[[Any], Number], example: str, always: Iterable[Number] = ()
) -> list[Number]:
    """The values and those that are `always` there, each checked, once, ascending."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} is {values!r}; pass a list of numbers, for example {example}.")
    checked = sorted(set(always) | {check(value) for value in values})
    if not checked:
        raise ValueError(f"{name} is empty; pass at least one number, for example {example}.")
    return checked


def standard_error(values: FloatArray) -> FloatArray:
    """Standard deviation over the last axis (S,) divided by sqrt(S); 0 for a single value."""
    n = values.shape[-1]
    return values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(values.shape[:-1])


def mean_columns(mean: str, error: str, values: FloatArray) -> dict[str, FloatArray]:
    """Columns called `mean` and `error` (P,): the means over R runs of values (P, R), and their standard errors."""
    return {mean: values.mean(axis=1), error: standard_error(values)}
