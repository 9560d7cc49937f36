"""The fit of every map, in the order in which it happens: start, anneal, snap, settle, refine, measure.

`train_map` is the whole of it, from data to fitted attributes; `train_from` is what happens to one start. Maps,
classifiers, patches and paths over K, width or beta all come through here. What differs between kinds of prototype is
asked of the map and its space, what differs between K-means, neural gas and SOM of the plan and its assignment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from threading import local
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ..core.assignment import Assignment, nearest
from ..core.compression import compressed_space
from ..core.engine import (
    Epoch,
    OnEpoch,
    Problem,
    Scale,
    State,
    anneal,
    first_transition,
    labelled,
    run_all,
    start_points,
)
from ..core.label_term import LabelTerm
from ..core.labels import LabelVectors, training_labels
from ..core.neighborhood import geometric
from ..core.quality import inertia, quantization_error
from ..core.spaces import MedianSpace, Space, snapped
from ..refine import Swapped, refine_som, swap_medoids
from ..refine.arrangement import exchanged_places
from ..refine.labelled import labelled_source, settled_labels
from ..refine.medoid_swaps import swap_starts
from ..sources.base import FloatArray, IntArray, Source
from ..sources.checks import scaled_weights
from ..utils.arrays import on_host
from ..utils.checks import check_n_prototypes, check_weights
from ..utils.threads import EPOCH_WATCHER, limited

if TYPE_CHECKING:
    from .base import BaseMap

logger = logging.getLogger("medianmap")

# Kicks out of the optimum that swaps reach from the exemplars of an annealed map.
KICKS = 8
# The same on a lattice, where the exemplars are arranged anew after each.
MAP_KICKS = 4
# Exchanges per neuron of a SOM whose exemplars replace combinations, unless it is refined.
EXCHANGES = 8
# Up to so many points, the starts of swaps are shared out in one go; at most what `swap_starts` takes.
FEW = 1000
# What beta="auto" lets labels weigh against data, (1 - beta) / beta, where all points have one.
GUIDANCE = 0.25

# Temperatures of soft K-means, and the last as a share of the first; from there points are assigned hard.
COOLING, COLDEST = 40, 1e-2

# Where to continue from: a state, or what finds the prototypes of the previous fit among the points that count.
GoOnFrom: TypeAlias = State | Callable[[Space, IntArray], NDArray[Any]] | None


@dataclass(frozen=True)
class Plan:
    """How a map is trained: what its parameters say, checked.

    sigmas : (n_epochs,) annealing, one entry per epoch; after it at most max_settling epochs at sigma_end.
    sigma_warm : where sigma starts when a trained map is continued: neighbours mix, distant prototypes do not.
    as_combinations : whether to anneal combinations of the data, and only then to take data points as prototypes.
    without_epochs : whether prototypes stay where they start, unless they are refined.
    refine : whether to look for better exemplars at the end than annealing and exchanges lead to.
    max_swaps : how often exemplars may be exchanged.
    temperature : from where soft assignments are cooled, see `cooled`; "auto" asks the data, None: they are hard.
    compression : whether combinations are annealed in a compressed space: None, "auto", or a rank.
    arrange : whether neurons of a lattice exchange prototypes at the end.
    order : what the order of a lattice may cost in quantization, see refine/map_cost.py.
    distinct : whether no two prototypes may share a point.
    """

    assignment: Assignment
    sigmas: FloatArray
    sigma_end: float
    max_settling: int
    sigma_warm: float
    as_combinations: bool = False
    without_epochs: bool = False
    refine: bool = False
    max_swaps: int | None = None
    temperature: float | str | None = None
    compression: str | int | None = None
    arrange: bool = False
    order: float = 0.0
    distinct: bool = False
    n_jobs: int | None = None

    @property
    def swaps_alone(self) -> bool:
        """Whether a run is a descent by swaps from its start, and nothing else."""
        return self.without_epochs and self.refine and self.max_swaps is None and not self.assignment.anneals

    def short_annealing(self) -> FloatArray:
        """A tenth of the epochs from sigma_warm, for a trained map: at sigma_end itself it hardly moves any more."""
        warm = min(self.sigma_warm, self.sigmas[0])
        if warm <= self.sigma_end:
            return self.sigmas[-1:]
        return geometric(warm, self.sigma_end, -(-len(self.sigmas) // 10))


@dataclass(frozen=True)
class Supervision:
    """Labels as the user gives them and how they count.

    beta : in (0, 1], or "auto" for `beta_for`. scaled : whether the dissimilarities are divided by their mean.
    """

    y: Any
    beta: float | str
    scaled: bool = False

    def beta_for(self, labels: LabelVectors, m: FloatArray, K: int) -> float:
        """beta as a number. "auto" is 1 / (1 + g), g = GUIDANCE max(0, 1 - K / n) for n labelled points, K prototypes.

        Where there are no more labels than prototypes, hardly a prototype has two, and what its label vector would say
        against a neighbour's is chance: the map is left to the data. n is a sum of weights, or a number of points where
        that is more.
        """
        if not isinstance(self.beta, str):
            return float(self.beta)
        m = m[labels.known & (m > 0)]
        n = max(float(m.sum()), len(m))
        return 1.0 / (1.0 + GUIDANCE * max(0.0, 1.0 - K / n))

    def checked(self, m: FloatArray) -> LabelVectors:
        """The labels of points of weights m (N,); label vectors were checked when they were made."""
        if isinstance(self.y, LabelVectors):
            return self.y
        return training_labels(self.y, m, stacklevel=6)  # the user's line: fit, _train and two more lie between

    def term(self, labels: LabelVectors, space: Space, m: FloatArray, K: int) -> LabelTerm:
        """The label term of training K prototypes in `space`, whose points have the labels `labels`."""
        scale = space.mean(m) if self.scaled else 1.0
        # Points that all coincide have the mean 0.
        return LabelTerm(labels, self.beta_for(labels, m, K), scale or 1.0)


@dataclass(frozen=True)
class Trained:
    """What a fit leaves: dissimilarities to the prototypes (N, K), weights (N,), labels, and where training ended.

    beta : how much the data counted against their labels, 1 without any.
    """

    G: FloatArray
    m: FloatArray
    labels: LabelVectors | None
    state: State
    beta: float = 1.0

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        """The labelled training data: dissimilarities to the prototypes, weights, labels."""
        assert self.labels is not None
        yield self.G, self.m, self.labels


def which_count(m: FloatArray, labels: LabelVectors | None) -> str:
    """Which points are counted where some have the weight 0, to be said after their number."""
    if m.all():
        return ""
    left = ", the points whose sample_weight is not 0"
    if labels is None:
        return left
    n_classes = np.count_nonzero(labels.y[labels.known & (m > 0)].sum(axis=0))
    return f"{left} and which have labels of {n_classes} {'class' if n_classes == 1 else 'classes'}"


def train_map(
    map_: BaseMap, X: Any, sample_weight: Any, supervision: Supervision | None = None, go_on_from: GoOnFrom = None
) -> Trained:
    """Fit a map to X, with labels where there are any, and set its fitted attributes.

    go_on_from : where training on the same data and weights ended, with other labels or another beta, or what finds
        that among the points that count; training continues from there after a short annealing.
    """
    map_._check_parameters()
    K, called = map_._size()
    with reporting(map_.verbose), limited(map_.n_jobs):
        # The points that count, and where prototypes live.
        given = map_._given_space(X)
        features = map_._features(X, given)
        m = check_weights(sample_weight, given.n_points)
        keep = np.flatnonzero(m)
        labels = None if supervision is None else supervision.checked(m)
        check_n_prototypes(K, len(keep), called, which_count(m, labels))
        plan = map_._plan(K)
        explicit = map_._explicit_start(given, K, keep)
        # From here on numbers are of about 1, until `scale` brings what came out back.
        space, (weights, by) = map_._ready(given, m, K), scaled_weights(m)
        rng = as_generator(map_.random_state)
        order = map_._order(len(keep), rng)
        seen = keep if order is None else keep[order]
        training, counts = space if order is None and m.all() else space.subset(seen), weights[seen]
        term = None
        if supervision is not None and labels is not None:
            term = supervision.term(labels.subset(seen), training, m[seen], K)
        problem = Problem(training, plan.assignment, counts, term)
        scale = Scale(space.exponent, by, 0 if problem.supervised else space.exponent, plan.temperature is not None)
        if problem.supervised:
            scale.check_labels(supervision is not None and supervision.scaled)
        plan = replace(plan, temperature=scale.of_temperature(plan.temperature, K * float(m.sum())))

        def watch(epoch: Epoch) -> None:
            map_._watch(scale.back(epoch))

        # Training: from where it ended before, or from each of the starts.
        if go_on_from is None:
            plan = cooled(plan, problem)
            starts = [None if explicit is None else space.brought_in(places_in(order, explicit))]
            if explicit is None:
                lattice = plan.assignment.lattice
                # The plane is laid out once: further starts would be the same, so they are random.
                inits = [map_.init, *["random" if map_.init == "embedding" else map_.init] * (map_.n_init - 1)]
                starts = [start_points(init, training, K, counts, rng, lattice) for init in inits]
            best = best_of(problem, plan, starts, rng, map_, watch)
        else:
            before = go_on_from
            if not isinstance(before, State):
                before = State(map_._checked_start(before(space, keep), K))
            before = State(space.brought_in(places_in(order, before.prototypes)), before.labels)
            best = train_from(problem, plan, before, plan.short_annealing(), rng, watch)

        # What came out, in terms of all points and of the user's numbers.
        history = tuple(map(scale.back, best.history))
        best = replace(best, prototypes=space.taken_out(best.prototypes), history=history)
        if order is not None:
            best = replace(best, prototypes=order[best.prototypes])
        space, prototypes = space.unscaled(), space.lifted(best.prototypes, keep)
        G = space.final_distances(prototypes)
        winner, least = nearest(G)
        total = float(np.ldexp(inertia(np.ldexp(least, -scale.d)[:, None], weights), scale.d + by))
        replace_fitted(map_, {
            **features,
            **map_._prototype_attributes(given, space, m, prototypes),
            "labels_": winner,
            "inertia_": total,
            "quantization_error_": 0.5 * total,
            **map_._run_attributes(best),
            "n_iter_": len(best.history),
            "converged_": best.converged,
            "history_": best.records(),
            "hits_": np.bincount(winner, weights=m, minlength=K),
            **({} if plan.assignment.lattice is None else {"lattice_": plan.assignment.lattice}),
        })  # fmt: skip
        logger.info(
            "%s: %d epochs, %s, quantization error %.6g",
            type(map_).__name__,
            len(best.history),
            best.ended,
            0.5 * total,
        )
    # Weights of 1 and more are counts of points to what labels prototypes, of any size; smaller ones are shares.
    return Trained(G, m if by > 0 else weights, labels, best, 1.0 if term is None else term.beta)


def places_in(order: IntArray | None, points: NDArray[Any]) -> NDArray[Any]:
    """Where the points are in an order of all; None is their own."""
    return points if order is None else np.argsort(order)[points]


def cooled(plan: Plan, problem: Problem) -> Plan:
    """The plan with temperatures T COLDEST^(t / (COOLING - 1)) and then 0, in the place of sigmas, if it has a start T.

    "auto" starts where prototypes part first (in d_beta above that: label vectors add less than 1 to 2 lambda).
    """
    T, term = plan.temperature, problem.label_term
    if T is None:
        return plan
    if isinstance(T, str):
        T = problem.assignment.parting * first_transition(problem.space, problem.m)
        if term is not None and problem.supervised:
            T = term.beta / term.scale * T + 1.0 - term.beta
    return plan if T == 0.0 else replace(plan, sigmas=np.append(geometric(T, COLDEST * T, COOLING), 0.0))


def replace_fitted(estimator: BaseEstimator, fitted: dict[str, Any]) -> None:
    """Replace the fitted attributes of an earlier fit by new ones, all at once."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)
    for name, value in fitted.items():
        setattr(estimator, name, value)


def best_of(
    problem: Problem, plan: Plan, starts: list[NDArray[Any] | None], rng: np.random.Generator, map_: BaseMap,
    watch: OnEpoch,
) -> State:  # fmt: skip
    """The run of least quantization error (in d_beta if there are labels) over all starts, the first on ties."""
    # Several runs get random numbers of their own, so that none depends on which comes first.
    rngs = [rng] if len(starts) == 1 else own_generators(rng, len(starts))
    few = plan.swaps_alone and problem.label_term is None and problem.space.n_points <= FEW
    if few and len(starts) > 1 and not map_._watched:
        return best_swapped(problem, plan, starts, rngs)

    def train(own: Problem, run: int, on_epoch: OnEpoch) -> tuple[float, State]:
        places = starts[run]
        assert places is not None
        start = own.space.at(places) if places.ndim == 1 else places
        state = train_from(own, plan, start, plan.sigmas, rngs[run], on_epoch, run)
        if len(starts) == 1:
            return 0.0, state  # there is nothing to choose
        G = own.space.distances(state.prototypes)
        if own.label_term is not None:
            G = own.label_term.added_to(G, state.labels)
        return inertia(G, own.m), state

    # A function of the user's cannot be called from several threads.
    n_jobs = map_.n_jobs if map_.on_epoch is None and EPOCH_WATCHER.get() is None else 1
    return min(run_all(train, problem, len(starts), n_jobs, watch), key=lambda outcome: outcome[0])[1]


def best_swapped(
    problem: Problem, plan: Plan, starts: list[NDArray[Any] | None], rngs: list[np.random.Generator]
) -> State:
    """`best_of` where a run is nothing but swaps from its start, with all that runs share done once."""
    places = [start for start in starts if start is not None]
    source, n_jobs = exemplar_space(problem).source, plan.n_jobs if problem.space.shareable else 1
    found = swap_starts(source, places, problem.m, rngs, n_jobs)
    run = min(range(len(found)), key=lambda run: found[run].loss)
    return after_swaps(at_start(problem, places[run], plan.sigma_end), found[run])


def train_from(
    problem: Problem,
    plan: Plan,
    start: NDArray[Any] | State,
    sigmas: FloatArray,
    rng: np.random.Generator,
    on_epoch: OnEpoch,
    run: int = 0,
) -> State:
    """Where training gets from one start: prototypes, or a state to continue from."""
    schedule = (plan.sigma_end, plan.max_settling, rng, on_epoch, run)
    if plan.without_epochs:
        state = at_start(problem, start, plan.sigma_end)
        on_epoch(replace(state.history[-1], run=run))
        return refined(problem, plan, state, rng) if plan.refine else state
    continued = isinstance(start, State)  # a lattice then keeps its orientation
    settling = continued and len(sigmas) == 1
    if not settling:  # exemplars that only have to settle were combinations before
        start, sigmas = annealed_combinations(problem, plan, start, sigmas, rng, on_epoch, run)
        if isinstance(start, State):
            start = exchanged(problem, plan, start, rng)
    if plan.as_combinations and plan.arrange:
        # No epochs: at a width where neighbours count they move exemplars from their own points to the neighbours'.
        state = replace(labelled(problem, start, plan.sigma_end), converged=True)  # unless exchanges are left
        state = at_end(problem, refined(problem, plan, state, rng, continued), plan.sigma_end)
        on_epoch(replace(state.history[-1], run=run))
        return state
    state = anneal(problem, start, sigmas, *schedule)
    state = replace(state, prototypes=problem.space.as_array(state.prototypes))
    if plan.refine:
        return refined(problem, plan, state, rng, continued)
    return rearranged(problem, state, continued) if plan.arrange else state


def annealed_combinations(
    problem: Problem, plan: Plan, start: NDArray[Any] | State, sigmas: FloatArray, rng: np.random.Generator,
    on_epoch: OnEpoch, run: int,
) -> tuple[NDArray[Any] | State, FloatArray]:  # fmt: skip
    """What is annealed as combinations of the data, in a compressed space if the plan says so: what to go on from, and
    the sigmas that are left. In median maps the nearest free data point takes the place of each combination."""
    exact = exemplar_space(problem).combinations() if plan.as_combinations else problem.space
    compressed = None
    if plan.compression is not None:
        K = len(start.prototypes if isinstance(start, State) else start)
        compressed = compressed_space(exact, plan.compression, K)
    if compressed is None and not plan.as_combinations:
        return start, sigmas
    if compressed is not None:
        start = placed(start, compressed.compressed)
    # What is compressed settles on D itself, and exemplars that are exchanged next need not start from a fixed point.
    settling = 0 if compressed is not None or plan.arrange else plan.max_settling
    schedule = (sigmas, plan.sigma_end, settling, rng, on_epoch, run)
    annealing = replace(problem, space=exact if compressed is None else compressed)
    state = anneal(annealing, start, *schedule)
    annealing.forget()
    if compressed is not None:
        state = replace(state, prototypes=compressed.as_array(state.prototypes))
    if plan.as_combinations:
        state = replace(state, prototypes=snapped(exact.distances(state.prototypes), plan.distinct))
    return state, np.array([plan.sigma_end])


def rearranged(problem: Problem, state: State, keep: bool) -> State:
    """Neurons exchange prototypes where that mends the order on the lattice; which prototypes there are stays."""
    assert problem.assignment.lattice is not None
    G = on_host(problem.space.distances(state.prototypes))
    p = exchanged_places(G, problem.m, problem.assignment.lattice, keep)
    return replace(state, prototypes=state.prototypes[p], labels=state.labels[p] if len(state.labels) else state.labels)


def exemplar_space(problem: Problem) -> MedianSpace:
    """The space of a problem whose prototypes are data points."""
    assert isinstance(problem.space, MedianSpace)
    return problem.space


def placed(start: NDArray[Any] | State, at: Callable[[NDArray[Any]], Any]) -> Any:
    """The same start in another space, where the prototypes P are at(P)."""
    return replace(start, prototypes=at(start.prototypes)) if isinstance(start, State) else at(start)


def exchanged(problem: Problem, plan: Plan, state: State, rng: np.random.Generator) -> State:
    """The state after exchanges of the exemplars that took the place of combinations.

    Where a point represents few others, or others that a neighbour represents nearly as well, it is better used
    elsewhere: exemplars are exchanged as long as that lowers the quantization error, with labels in d_beta. Not on a
    lattice, where `refined` does it with an eye on the order.
    """
    if not plan.as_combinations or plan.assignment.lattice is not None:
        return state
    source, labels_of = seen_by_swaps(problem)
    limits: dict[str, Any] = {"max_swaps": plan.max_swaps, "random_state": rng, "n_jobs": plan.n_jobs}
    swapped = swap_medoids(source, state.prototypes, problem.m, **limits)
    labels = state.labels if labels_of is None else labels_of(swapped.medoids)
    return replace(state, prototypes=swapped.medoids, labels=labels, swaps=swapped.n_swaps)


def seen_by_swaps(problem: Problem) -> tuple[Source, Callable[[IntArray], FloatArray] | None]:
    """The dissimilarities that swaps lower, and what gives the label vectors (K, C) of exemplars that they choose."""
    source = exemplar_space(problem).source
    if problem.label_term is None or not problem.supervised:
        return source, None
    with_labels = labelled_source(source, problem.label_term)
    return with_labels, with_labels.labels_of


def refined(problem: Problem, plan: Plan, state: State, rng: np.random.Generator, keep: bool = False) -> State:
    """The exemplars after swaps that lower the quantization error, with labels in d_beta; on a lattice the map's cost.

    Beside annealing a descent takes little time, so the best of a few is taken. Exemplars of a lattice that is not to
    be refined are exchanged a few times, and arranged.
    """
    m, term, lattice = problem.m, problem.label_term, plan.assignment.lattice
    labels, annealed = state.labels, plan.assignment.anneals
    left = None if plan.max_swaps is None else plan.max_swaps - state.swaps
    source, labels_of = seen_by_swaps(problem)
    limits: dict[str, Any] = {
        "max_swaps": EXCHANGES * len(state.prototypes) if not plan.refine else left,
        "kicks": 0 if not annealed else KICKS if lattice is None else MAP_KICKS,
        "random_state": rng,
        "n_jobs": plan.n_jobs,
    }
    if lattice is not None:
        swapped = refine_som(source, state.prototypes, lattice, m, order=plan.order, keep=keep, **limits)
    else:
        swapped = swap_medoids(source, state.prototypes, m, plateau=not annealed, **limits)
    if term is not None:
        G = problem.space.distances(swapped.medoids)
        if labels_of is not None:
            labels = labels_of(swapped.medoids)
        elif lattice is not None:  # exemplars have changed places
            labels = labelled(problem, swapped.medoids, plan.sigma_end).labels
        labels = settled_labels(term, plan.assignment, G, plan.sigma_end, m, labels)
    return after_swaps(replace(state, labels=labels), swapped)


def after_swaps(state: State, swapped: Swapped) -> State:
    """The state with the exemplars that swaps led to from it."""
    converged, swaps = state.converged and swapped.converged, state.swaps + swapped.n_swaps
    return replace(state, prototypes=swapped.medoids, swaps=swaps, converged=converged)


def at_start(problem: Problem, start: NDArray[Any] | State, sigma: float) -> State:
    """The state of prototypes that are to stay where they are, but for swaps."""
    return at_end(problem, replace(labelled(problem, start, sigma), converged=True), sigma)


def at_end(problem: Problem, state: State, sigma: float) -> State:
    """The state with a record of what it costs, as an epoch that moves nothing."""
    G, term = problem.space.distances(state.prototypes), problem.label_term
    seen = G if term is None else term.added_to(G, state.labels)
    cost = problem.assignment(seen, sigma, problem.m)[1]
    record = Epoch(len(state.history), float(sigma), cost, quantization_error(G, problem.m), 0, 0)
    return replace(state, history=(*state.history, record))


# --- random numbers and the log


def as_generator(random_state: Any) -> np.random.Generator:
    """One generator from what scikit-learn calls a random_state: None, a seed, a RandomState, or a Generator itself."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, Integral):
        _seeded.state.seed(int(random_state))
        random_state = _seeded.state
    words = check_random_state(random_state).randint(2**31 - 1, size=4)
    return np.random.default_rng(words.astype(np.uint32))  # which NumPy takes as it is


def own_generators(rng: np.random.Generator, n: int) -> list[np.random.Generator]:
    """n generators, each from four numbers of rng, in the form that NumPy takes as it is: that halves the time."""
    words = rng.integers(2**63, size=(n, 4)).astype("<i8").view("<u4").astype(np.uint32, copy=False)
    return [np.random.default_rng(own) for own in words]


class _Seeded(local):
    """One per thread, seeded anew for every seed: making a new one gives the same and takes a fifth of a small fit."""

    def __init__(self) -> None:
        self.state = np.random.RandomState(0)


_seeded = _Seeded()


@contextmanager
def reporting(verbose: int) -> Iterator[None]:
    """Show the log when verbose asks for it and nobody has set up logging."""
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
