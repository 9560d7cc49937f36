"""What the maps share: parameters -> Problem -> engine -> attributes_. The maps themselves are in estimators.py."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from threading import local
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.assignment import Assignment, LabelTerm
from ..core.engine import Epoch, OnEpoch, Problem, State, anneal
from ..core.labels import LabelVectors, training_labels
from ..core.neighborhood import Lattice, geometric
from ..core.quality import inertia, quantization_error
from ..core.restarts import run_all
from ..core.spaces import Space
from ..core.start import check_init, explicit, start_points
from ..core.winners import nearest
from ..metrics.base import BoundMetric
from ..search.weights import Weights
from ..sources import check_queries
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count, check_flag, check_n_jobs, check_n_prototypes, check_weights
from ..utils.progress import epoch_watcher
from ..utils.threads import limited
from .views import ShownInNotebooks

logger = logging.getLogger("medianmap")

HISTORY = np.dtype([("sigma", "f8"), ("cost", "f8"), ("quantization_error", "f8"), ("terms", "i8"), ("moved", "i8")])


@dataclass(frozen=True)
class Rule:
    """The half of a map that does not depend on the kind of prototype: how points are assigned, how it is annealed."""

    assignment: Assignment
    sigmas: FloatArray
    sigma_end: float
    max_settling: int
    lattice: Lattice | None = None


@dataclass(frozen=True)
class Supervision:
    """Labels as the user gives them and how they count; `scaled`: the dissimilarities are divided by their mean."""

    y: Any
    beta: float
    scaled: bool = False

    def checked(self, m: FloatArray) -> LabelVectors:
        """The labels of points of weights m (N,); label vectors were checked when they were made."""
        if isinstance(self.y, LabelVectors):
            return self.y
        return training_labels(self.y, m, stacklevel=5)  # the user's line: fit, _train and this one lie between

    def term(self, labels: LabelVectors, space: Space, m: FloatArray) -> LabelTerm:
        """The label term of training in `space`, whose points have the labels `labels`."""
        scale = space.mean(m) if self.scaled else 1.0
        return LabelTerm(labels, float(self.beta), scale or 1.0)  # points that all coincide have the mean 0


@dataclass(frozen=True)
class Trained:
    """What a fit leaves: dissimilarities to the prototypes (N, K), weights (N,), labels, and where training ended."""

    G: FloatArray
    m: FloatArray
    labels: LabelVectors | None
    state: State

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        """The labelled training data: dissimilarities to the prototypes, weights, labels."""
        assert self.labels is not None
        yield self.G, self.m, self.labels


class BaseMap(ShownInNotebooks, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """fit, predict, transform, score and assign for every map.

    A concrete map says how points are assigned (`_size`, `_rule`) and what a prototype is (`_given_space`, `_ready`,
    `_prototype_attributes`, `_to_prototypes`).
    """

    init: Any
    n_init: int
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    verbose: int
    on_epoch: OnEpoch | None
    _gives: type[Weights]  # the kind of weights that the map's assignment gives
    _on_lattice = False
    _signed = False  # whether dissimilarities to prototypes may be negative

    def _size(self) -> tuple[int, str]:
        """The number of prototypes, and what the user knows it as."""
        raise NotImplementedError

    def _rule(self, K: int) -> Rule:
        raise NotImplementedError

    def _warm_sigma(self, K: int) -> float:
        """Where sigma starts when a trained map is taken up again: neighbours mix, distant prototypes do not."""
        raise NotImplementedError

    def _given_space(self, X: Any) -> Space:
        """What X is, with its shape and type checked."""
        raise NotImplementedError

    def _ready(self, given: Space, m: FloatArray, K: int) -> Space:
        """The space to train in, with its entries computed and checked."""
        raise NotImplementedError

    def _final_distances(self, space: Space, prototypes: NDArray[Any]) -> FloatArray:
        """G (N, K) as `predict` will see it, to the last bit."""
        return space.distances(prototypes)

    def _prototype_attributes(
        self, given: Space, space: Space, m: FloatArray, prototypes: NDArray[Any]
    ) -> dict[str, Any]:
        """The fitted attributes that depend on the kind of prototype; `space` is `given` made ready."""
        raise NotImplementedError

    def _run_attributes(self, state: State) -> dict[str, Any]:
        """The fitted attributes about how training went, besides those that all maps have."""
        return {}

    def _to_prototypes(self, X: Any) -> FloatArray:
        """(n_query, K) dissimilarities from queries to prototypes."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : the data, as the class says.
        y : ignored.
        sample_weight : (N,) multiplicities, 1 by default. A point of weight 2 counts like two points, one of weight 0
            like none: it can be no prototype, but it gets a label.
        """
        going_on = self.warm_start and hasattr(self, "hits_")
        self._train(X, sample_weight, go_on_from=self._earlier if going_on else None)
        return self

    def _earlier(self, space: Space, keep: IntArray) -> NDArray[Any]:
        """The prototypes of the fit before among the points `keep` of `space`; ValueError if they are not there."""
        raise NotImplementedError

    def _train(
        self,
        X: Any,
        sample_weight: Any,
        supervision: Supervision | None = None,
        go_on_from: State | Callable[[Space, IntArray], NDArray[Any]] | None = None,
    ) -> Trained:
        """Fit, with labels where there are any.

        go_on_from : where training on the same data and weights ended, with other labels or another beta, or what finds
            that among the points that count; it goes on from there after a short annealing.
        """
        self._check_parameters()
        if supervision is not None:
            self._check_beta(supervision.beta)
        K, called = self._size()
        with reporting(self.verbose), limited(self.n_jobs):
            given = self._given_space(X)
            features = self._features(X, given)
            m = check_weights(sample_weight, given.n_points)
            keep = np.flatnonzero(m)
            check_n_prototypes(K, len(keep), called)
            labels = None if supervision is None else supervision.checked(m)
            rule = self._rule(K)
            start = self._explicit_start(given, K, keep)
            space = self._ready(given, m, K)
            training = space if m.all() else space.subset(keep)
            term = None
            if supervision is not None and labels is not None:
                term = supervision.term(labels.subset(keep), training, m[keep])
            problem = Problem(training, rule.assignment, m[keep], term)
            if go_on_from is None:
                best = self._best_run(problem, rule, K, start)
            elif isinstance(go_on_from, State):
                best = self._continued(problem, rule, go_on_from)
            else:
                best = self._continued(problem, rule, State(self._checked_start(go_on_from(space, keep), K)))
            prototypes = space.lifted(best.prototypes, keep)
            G = self._final_distances(space, prototypes)
            winner, least = nearest(G)
            fitted = {
                **features,
                **self._prototype_attributes(given, space, m, prototypes),
                "labels_": winner,
                "inertia_": (total := inertia(least[:, None], m)),
                "quantization_error_": 0.5 * total,
                **self._run_attributes(best),
                "n_iter_": len(best.history),
                "converged_": best.converged,
                "history_": as_records(best.history),
            }
            fitted["hits_"] = np.bincount(winner, weights=m, minlength=K)
            if rule.lattice is not None:
                fitted["lattice_"] = rule.lattice
            replace_fitted(self, fitted)
            logger.info(
                "%s: %d epochs, %s, quantization error %.6g", type(self).__name__, self.n_iter_,
                "converged" if self.converged_ else "stopped before a fixed point", self.quantization_error_,
            )  # fmt: skip
        return Trained(G, m, labels, best)

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); the lowest prototype index on ties."""
        check_is_fitted(self)
        return self._dissimilarities(X).argmin(axis=1)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K)."""
        check_is_fitted(self)
        return self._dissimilarities(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative quantization error of X: -0.5 sum_i m_i min_j d(x_i, w_j). Higher is better."""
        check_is_fitted(self)
        G = self._dissimilarities(X)
        return -quantization_error(G, check_weights(sample_weight, len(G)))

    def assign(self, D: Any) -> IntArray:
        """Nearest prototype (n_query,) from dissimilarities D (n_query, K) of queries to the K prototypes alone.

        A new object costs K evaluations; the training set is not needed.
        """
        check_is_fitted(self)
        return check_queries(D, len(self.hits_), "prototype", type(self).__name__, self._signed).argmin(axis=1)

    def _dissimilarities(self, X: Any) -> FloatArray:
        # Not transform(): that may return a frame when set_output asks for one.
        with limited(self.n_jobs):
            return self._to_prototypes(X)

    def _check_parameters(self) -> None:
        check_count(self.n_init, "n_init")
        check_flag(self.warm_start, "warm_start")
        check_count(self.verbose, "verbose", at_least=0)
        check_n_jobs(self.n_jobs)
        if self.on_epoch is not None and not callable(self.on_epoch):
            raise ValueError(f"on_epoch is {self.on_epoch!r}; it must be None or a function of one epoch's record.")
        check_init(self.init, self._on_lattice)

    def _check_beta(self, beta: float) -> None:
        """ValueError if the map cannot be trained with labels that count 1 - beta."""

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        """n_features_in_ and feature_names_in_, as scikit-learn finds them, where X has columns."""
        if type(X) is np.ndarray and X.ndim == 2:
            return {"n_features_in_": X.shape[1]}
        scratch = BaseEstimator()
        validate_data(scratch, X, skip_check_array=True)
        return vars(scratch)

    def _explicit_start(self, given: Space, K: int, keep: IntArray) -> NDArray[Any] | None:
        """The user's init, indices counted among the points `keep`; None if the start is to be drawn."""
        if isinstance(self.init, str):
            return None
        n = given.n_points
        start = explicit(self.init, K, n, n_features=given.n_features, distinct=self._distinct_start())
        if start.ndim == 2:
            return start
        place = np.full(n, -1, np.intp)
        place[keep] = np.arange(len(keep))
        weightless = start[place[start] < 0]
        if len(weightless):
            raise ValueError(f"init names point {weightless[0]}, whose sample_weight is 0; choose points that count.")
        return place[start]

    def _distinct_start(self) -> bool:
        return False

    def _checked_start(self, prototypes: NDArray[Any], K: int) -> NDArray[Any]:
        if len(prototypes) != K:
            raise ValueError(
                f"warm_start goes on with the {len(prototypes)} prototypes of the fit before, but there are to be {K}; "
                "set warm_start=False, or as many."
            )
        return prototypes

    def _best_run(self, problem: Problem, rule: Rule, K: int, start: NDArray[Any] | None) -> State:
        """The run of least quantization error (in d_beta if there are labels) out of n_init, the first on ties.

        An explicit start is run once.
        """
        rng = as_generator(self.random_state)
        starts = [start]
        if start is None:
            given = self.init, problem.space, K, problem.m, rng, rule.lattice
            starts = [start_points(*given) for _ in range(self.n_init)]
        # A run of its own random numbers where there are several: whichever comes first, each gets the same.
        rngs = [rng] if len(starts) == 1 else [np.random.default_rng(rng.integers(2**63, size=4)) for _ in starts]

        def train(own: Problem, run: int, on_epoch: OnEpoch) -> tuple[float, State]:
            places = starts[run]
            assert places is not None
            prototypes = own.space.at(places) if places.ndim == 1 else places
            state = self._annealed_from(own, prototypes, rule.sigmas, rule, rngs[run], on_epoch, run)
            if len(starts) == 1:
                return 0.0, state  # there is nothing to choose
            G = own.space.distances(state.prototypes)
            if own.label_term is not None:
                G = own.label_term.added_to(G, state.labels)
            return inertia(G, own.m), state

        # A function of the user's may not be one that several threads can call.
        n_jobs = self.n_jobs if self.on_epoch is None and epoch_watcher() is None else 1
        outcomes = run_all(train, problem, len(starts), n_jobs, self._watch)
        return min(outcomes, key=lambda outcome: outcome[0])[1]

    def _continued(self, problem: Problem, rule: Rule, state: State) -> State:
        """Where training gets from `state`, warmed up a little and cooled in a tenth of the epochs.

        From the last sigma itself a median map hardly moves any more.
        """
        warm, end = min(self._warm_sigma(self._size()[0]), rule.sigmas[0]), rule.sigma_end
        sigmas = geometric(warm, end, -(-len(rule.sigmas) // 10)) if warm > end else rule.sigmas[-1:]
        rng = as_generator(self.random_state)
        return self._annealed_from(problem, State(state.prototypes, state.labels), sigmas, rule, rng, self._watch)

    def _annealed_from(
        self,
        problem: Problem,
        start: NDArray[Any] | State,
        sigmas: FloatArray,
        rule: Rule,
        rng: np.random.Generator,
        on_epoch: OnEpoch,
        run: int = 0,
    ) -> State:
        """Where training through `sigmas` and at sigma_end gets from prototypes, or from a state with labels."""
        return anneal(problem, start, sigmas, rule.sigma_end, rule.max_settling, rng, on_epoch, run)

    def _watch(self, epoch: Epoch) -> None:
        shown = self.verbose > 1 or (self.verbose and epoch.number % 10 == 0)
        if shown or epoch_watcher() is not None:
            logger.info(
                "run %d epoch %d: sigma %.4g, cost %.6g, quantization error %.6g, %d moved",
                epoch.run, epoch.number, epoch.sigma, epoch.cost, epoch.quantization_error, epoch.moved,
            )  # fmt: skip
        for watcher in (self.on_epoch, epoch_watcher()):
            if watcher is not None:
                watcher(epoch)

    @property
    def _n_features_out(self) -> int:
        return len(self.hits_)

    # --- what the folders above ask

    _init_takes_prototypes = True  # whether `init` takes the prototypes of another fit

    def _for_refit(self, params: dict[str, Any]) -> Self:
        """An unfitted copy with other parameters, for X as `Space.training_data` gives it."""
        return clone(self).set_params(**params)

    @property
    def _answering_map(self) -> BaseMap:
        """The fitted map that answers for this model."""
        return self

    def _reads_matrix(self, X: Any = None) -> bool:
        """Whether X, or by default anything, is read as dissimilarities rather than as objects or vectors."""
        return False

    def _object_metric(self, fitted: bool) -> BoundMetric | None:
        """The metric that compares objects, with its parameters as passed or as fixed by the fit; None for vectors."""
        return None

    def _points_each(self, most: int) -> int:
        """By how many data points, `most` or fewer, a prototype is approximated; 0 where it is a point or a mean."""
        return 0

    def _carriers(self, G: FloatArray, places: IntArray, each: int) -> IntArray | None:
        """(K, q) points of the fit that can replace the prototypes, in equal parts, nearest first; None for means.

        G (N, K) are the dissimilarities to the prototypes; places (N,) tell which points are the same; each is what
        `_points_each` says.
        """
        return None

    def _prototypes_at(self, points: IntArray, n: int) -> NDArray[Any]:
        """Prototypes, as training holds them, that are the points (K, q) of n in equal parts."""
        raise NotImplementedError

    def _carried_attributes(
        self, places: IntArray, objects: Any, D: NDArray[Any] | None, each: int, ids: Sequence[str] | None
    ) -> dict[str, Any]:
        """The fitted attributes of prototypes known by the points that carry them.

        places, objects (P,), dissimilarities D (P, P) of these points, `each` as `_points_each` says, ids of all data.
        """
        return {"cluster_centers_": objects}


def check_map(estimator: Any) -> None:
    """TypeError unless it is one of the maps."""
    if not isinstance(estimator, BaseMap):
        raise TypeError(f"estimator is a {type(estimator).__name__}; pass one of medianmap's maps.")


def replace_fitted(estimator: BaseEstimator, fitted: dict[str, Any]) -> None:
    """Put new fitted attributes in the place of those of an earlier fit, all at once."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)
    for name, value in fitted.items():
        setattr(estimator, name, value)


def as_records(history: tuple[Epoch, ...]) -> NDArray[Any]:
    """One record an epoch."""
    names = HISTORY.names or ()
    return np.array([tuple(getattr(epoch, name) for name in names) for epoch in history], HISTORY)


def as_generator(random_state: Any) -> np.random.Generator:
    """One generator from what scikit-learn calls a random_state: None, a seed, a RandomState, or a Generator itself."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, Integral):
        _seeded.state.seed(int(random_state))
        random_state = _seeded.state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))


class _Seeded(local):
    """One a thread, seeded anew for every seed: making a new one gives the same and takes a fifth of a small fit."""

    def __init__(self) -> None:
        self.state = np.random.RandomState(0)


_seeded = _Seeded()


@contextmanager
def reporting(verbose: int) -> Iterator[None]:
    """Let the log be seen when verbose asks for it and nobody has set up logging."""
    if not verbose or logger.hasHandlers():
        yield
        return
    handler = logging.StreamHandler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
