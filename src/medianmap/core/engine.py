"""Training: where prototypes start, then assign points and move prototypes while sigma falls, until nothing moves.

A start is drawn at random, spread by dissimilarity (k-medoids++), laid out on the lattice, or as the user says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray
from ..utils.arrays import on_host
from ..utils.threads import alone, limited, outer_threads, stop_if_asked
from .assignment import Assignment
from .label_term import LabelTerm
from .neighborhood import Lattice
from .plane import landmark_coordinates
from .quality import quantization_error
from .spaces import Space, snapped

HISTORY = np.dtype([
    ("sigma", "f8"), ("cost", "f8"), ("quantization_error", "f8"), ("terms", "i8"), ("moved", "i8"),
    ("compression", "i8"), ("went_back", "i8"),
])  # fmt: skip

# What a temperature may be beside dissimilarities of about 1: below, nothing mixes; above, exponents lose what differs.
LEAST_TEMPERATURE, MOST_TEMPERATURE = 1e-100, 1e100

# Epochs at sigma_end without a lower cost than ever, after which there is none to be expected.
PATIENCE = 10


@dataclass(frozen=True)
class Problem:
    """What is fitted: where prototypes live, how points are assigned to them, what each point counts, (N,) > 0.

    With a label term the prototypes carry label vectors, and points are assigned by d_beta instead of d.
    """

    space: Space
    assignment: Assignment
    m: FloatArray
    label_term: LabelTerm | None = None

    def fresh(self) -> Problem:
        """The same problem with nothing remembered, for a run of its own."""
        return replace(self, space=self.space.fresh(), assignment=self.assignment.fresh())

    def forget(self) -> None:
        """Let go of what was remembered for the next epoch: arrays of N K numbers."""
        self.space.forget()
        self.assignment.forget()

    @property
    def supervised(self) -> bool:
        """Whether labels count in the assignment."""
        return self.label_term is not None and self.label_term.beta < 1


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch; cost and quantization error are those of the prototypes it started from.

    compression : 0 where they are computed from D, else the rank of the approximation that they are computed from.
    went_back : 0, or how many epochs before this record its prototypes were there: they were taken again.
    """

    number: int
    sigma: float
    cost: float
    quantization_error: float
    terms: int
    moved: int
    run: int = 0
    compression: int = 0
    went_back: int = 0


@dataclass(frozen=True)
class Scale:
    """The powers of two by which numbers of a fit were divided (sources/checks.py), as exponents; 0 as a rule.

    d : dissimilarities; m : weights; seen : what the assignment sees: with labels, d_beta has a size of its own.
    cools : whether the width that an epoch records is a temperature, which has the size of what is seen.
    """

    d: int = 0
    m: int = 0
    seen: int = 0
    cools: bool = False

    def back(self, epoch: Epoch) -> Epoch:
        """The record of an epoch in the user's numbers."""
        if not (self.d or self.m):
            return epoch
        error, cost = np.ldexp((epoch.quantization_error, epoch.cost), (self.d + self.m, self.seen + self.m)).tolist()
        sigma = float(np.ldexp(epoch.sigma, self.seen)) if self.cools else epoch.sigma
        return replace(epoch, sigma=sigma, cost=cost, quantization_error=error)

    def check_labels(self, scaled: bool) -> None:
        """ValueError for labels that are added to dissimilarities of another size, unless those are scaled."""
        if self.d and not scaled:
            raise ValueError(
                f"The largest dissimilarity is about {np.ldexp(1.0, self.d - 1):.0e}, and label_scale=None adds labels "
                "of about 1 to that, too far apart for sums of both. Choose label_scale='mean'."
            )

    def of_temperature(self, T: float | str | None, total_weight: float) -> float | str | None:
        """The temperature in the numbers of training; total_weight: of all points, times the number of prototypes."""
        if T is None or isinstance(T, str):
            return T
        with np.errstate(over="ignore"):
            inside = float(np.ldexp(T, -self.seen))
            limits = np.ldexp((LEAST_TEMPERATURE, MOST_TEMPERATURE), self.seen)
            overflows = not np.isfinite(T * total_weight)
        if overflows or not LEAST_TEMPERATURE <= inside <= MOST_TEMPERATURE:
            found = f"below {limits[0]:.0e}" if inside < 1 else f"above {min(limits[1], 1e308 / total_weight):.0e}"
            raise ValueError(
                f"temperature is {T:g}; for dissimilarities and weights of this size that is {found}, its limit. "
                "Choose it near the mean dissimilarity, or 'auto'."
            )
        return inside


@dataclass(frozen=True)
class State:
    """Prototypes, indices (K,), vectors (K, M) or coefficients (K, N), label vectors (K, C), and how they came about.

    swaps : exchanges of exemplars so far.
    """

    prototypes: NDArray[Any]
    labels: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    history: tuple[Epoch, ...] = ()
    converged: bool = False
    swaps: int = 0

    @property
    def ended(self) -> str:
        """How training ended, in words."""
        if self.converged:
            return "converged"
        return "the cost no longer fell" if self.history[-1].went_back else "stopped before a fixed point"

    def gone_back(self, to: State, n_epochs: int) -> State:
        """The prototypes of an earlier state, from which `n_epochs` + 1 epochs led here, recorded once more."""
        record = self.history[-1 - n_epochs]
        record = replace(record, number=len(self.history), terms=0, moved=0, went_back=n_epochs + 1)
        return replace(to, history=(*self.history, record), converged=False)

    def records(self) -> NDArray[Any]:
        """The history as a record array, one record per epoch."""
        names = HISTORY.names or ()
        return np.array([tuple(getattr(epoch, name) for name in names) for epoch in self.history], HISTORY)


T = TypeVar("T")
OnEpoch: TypeAlias = Callable[[Epoch], Any]


def epoch(problem: Problem, state: State, sigma: float, rng: np.random.Generator) -> State:
    """One pass of the two steps; `converged` says that no prototype moved and no label changed."""
    space, m, term = problem.space, problem.m, problem.label_term
    before, labels = state.prototypes, state.labels
    G = space.distances(before)
    seen = space.perturbed(G, rng)
    if term is not None:
        seen = term.added_to(seen, labels)
    weights, cost = problem.assignment(seen, sigma, m)
    after, terms = space.update(weights, before)
    moved = space.n_moved(before, after)
    settled = moved == 0
    if term is not None:
        labels = term.means(weights, labels)
        settled = settled and term.settled(state.labels, labels)
    error = quantization_error(G, m)
    record = Epoch(len(state.history), float(sigma), cost, error, terms, moved, compression=space.compression)
    return State(after, labels, (*state.history, record), converged=settled, swaps=state.swaps)


def labelled(problem: Problem, start: NDArray[Any] | State, sigma: float) -> State:
    """The prototypes `start`; with a label term, their label vectors are those of the assignment by d alone."""
    if isinstance(start, State):
        return start
    if problem.label_term is None:
        return State(start)
    weights, _ = problem.assignment(problem.space.distances(start), sigma, problem.m)
    return State(start, problem.label_term.first(weights))


def anneal(
    problem: Problem, start: NDArray[Any] | State, sigmas: FloatArray, sigma_end: float, max_settling: int,
    rng: np.random.Generator, on_epoch: OnEpoch | None = None, run: int = 0,
) -> State:  # fmt: skip
    """Run the schedule `sigmas`, then continue at `sigma_end` until a fixed point or `max_settling` more epochs.

    The prototypes of the state that it ends in are in the form of the space (see `Space.as_array`).

    start : prototypes, or a state to continue from, labels included.

    A fixed point is an epoch at `sigma_end` that moves no prototype and changes no label. At fixed sigma neither step
    can raise the cost of median and batch maps, so one is reached (unless collisions are prevented by noise, which has
    no cost to lower). Where D is not squared Euclidean the mean of a combination may raise it, and prototypes can go
    round for ever: after PATIENCE epochs without a new least cost, those of least cost are taken.
    """
    state = least = labelled(problem, start, sigmas[0])
    cost, idle = np.inf, 0
    for t in range(len(sigmas) + max_settling):
        sigma = sigmas[t] if t < len(sigmas) else sigma_end
        before, state = state, epoch(problem, state, sigma, rng)
        if on_epoch is not None:
            on_epoch(replace(state.history[-1], run=run))
        if t < len(sigmas) - 1 or sigma != sigma_end:
            continue
        if state.converged:
            break
        if state.history[-1].cost < cost or problem.space.noisy:
            least, cost, idle = before, state.history[-1].cost, 0
            continue
        idle += 1
        if idle == PATIENCE:
            state = state.gone_back(least, idle)
            if on_epoch is not None:
                on_epoch(replace(state.history[-1], run=run))
            break
    return state


def run_all(
    train: Callable[[Problem, int, OnEpoch], T], problem: Problem, n_runs: int, n_jobs: int | None, watch: OnEpoch
) -> Iterator[T]:
    """train(problem, run, on_epoch) for each run in turn, one run per thread, so that no run waits for another.

    The runs share the data. What a search learns from epoch to epoch stays with its run, so that even the counts of
    its work do not depend on the threads. An outcome is yielded as soon as those before it are, so the
    caller need not hold them all.
    """
    workers = min(outer_threads(n_jobs), n_runs) if problem.space.shareable else 1
    if workers <= 1:
        yield from (train(problem.fresh(), run, watch) for run in range(n_runs))
        return
    stop = Event()

    def watched(epoch: Epoch) -> None:
        stop_if_asked()
        watch(epoch)

    def work(run: int) -> T:
        with alone(stop):
            return train(problem.fresh(), run, watched)

    with limited(1), ThreadPoolExecutor(workers, thread_name_prefix="medianmap-run") as pool:
        try:
            yield from pool.map(work, range(n_runs))
        except BaseException:  # a run failed, or the caller did
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def start_points(
    init: str, space: Space, K: int, m: FloatArray, rng: np.random.Generator, lattice: Lattice | None = None
) -> IntArray:
    """(K,) distinct indices of data points; "embedding" needs the lattice."""
    if init == "random":
        return rng.choice(space.n_points, K, replace=False).astype(np.intp)
    if init == "embedding":
        assert lattice is not None  # only a SOM takes this start
        return embedded(space, lattice, m, rng)
    return spread(space, K, m, rng)


def embedded(space: Space, lattice: Lattice, m: FloatArray, rng: np.random.Generator) -> IntArray:
    """Coordinates of landmark classical scaling, spread over the lattice: the point nearest to each neuron's place.

    Landmarks are drawn at random; points count by their weights. A median map takes a matrix as distances, which the
    scaling squares; the distances of vectors are squared already, and relational maps take a matrix as such squares.
    """
    n = space.n_points
    landmarks = np.sort(rng.choice(n, min(n, LANDMARKS), replace=False))
    d = on_host(space.fresh().distances(space.at(landmarks))).astype(np.float64, copy=False)
    with limited(1):  # the same bits at any number of threads
        Y = landmark_coordinates(space.as_squares(d), landmarks, m, lattice.coordinates.shape[1])
        return laid_out(Y, m, lattice)


def spread(
    space: Space, K: int, m: FloatArray, rng: np.random.Generator, beside: NDArray[Any] | None = None
) -> IntArray:
    """k-medoids++: the first point with probability m_i, each next with probability m_i min_j d(x_i, w_j).

    The dissimilarity enters as the cost counts it (squared for vectors, as given for a matrix). When every point is
    at zero from a chosen one, the rest are drawn at random; below zero, as combinations of the data may be, counts as
    zero. With prototypes `beside`, which are there already, all K points are drawn by the second rule.
    """
    chosen: list[int] = []
    nearest = np.ones(space.n_points) if beside is None else on_host(space.distances(beside)).min(axis=1)
    free = np.ones(space.n_points, bool)
    if beside is not None and space.n_features is None:
        free[beside] = False
    for _ in range(K):
        p = m * np.maximum(nearest, 0.0) * free
        if not p.any():
            p = free.astype(np.float64)
        chosen.append(int(rng.choice(space.n_points, p=p / p.sum())))
        free[chosen[-1]] = False
        d = on_host(space.distances(space.at(np.array(chosen[-1:]))))[:, 0]
        nearest = d if len(chosen) == 1 and beside is None else np.minimum(nearest, d)
    return np.array(chosen, dtype=np.intp)


def explicit(init: Any, K: int, n: int, keep: IntArray, n_features: int | None, *, distinct: bool) -> NDArray[Any]:
    """The user's start, checked: (K,) indices of n points, counted among the points `keep`; or (K, n_features) vectors.

    Vectors are for batch maps, others have no n_features.
    """
    try:
        start = np.asarray(init)
    except ValueError:
        raise ValueError("init has rows of different lengths; give indices of data points or equal vectors.") from None
    if n_features is not None and start.ndim == 2 and start.dtype.kind in "fiub":
        if start.shape != (K, n_features) or not np.isfinite(start).all():
            raise ValueError(f"init has shape {start.shape}; {K} finite vectors of {n_features} features are needed.")
        return start.astype(np.float64)
    if start.ndim != 1 or start.dtype.kind not in "iu":
        vectors = "" if n_features is None else ", or an array of start vectors"
        words = "'random', 'k-medoids++', for a SOM also 'embedding'"
        raise ValueError(f"init must be {words}, or a list of {K} indices of data points{vectors}.")
    if len(start) != K:
        raise ValueError(f"init holds {len(start)} indices, but there are {K} prototypes.")
    outside = start[(start < 0) | (start >= n)]
    if len(outside):
        raise ValueError(f"init holds the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    if distinct and len(np.unique(start)) < K:
        raise ValueError("init names a data point twice; collisions='distinct' needs different ones.")
    weightless = np.setdiff1d(start, keep)
    if len(weightless):
        raise ValueError(f"init names point {weightless[0]}, whose sample_weight is 0; choose points that count.")
    return np.searchsorted(keep, start)


# --- from landmark classical scaling to a lattice

# Two coordinates need few: maps from 100, 200 and 400 landmarks of 4400 points differed by less than their seeds did.
LANDMARKS = 200


def first_transition(space: Space, m: FloatArray) -> float:
    """2 lambda, lambda the largest eigenvalue of the data's covariance, by that of -J D J / 2 over weighted landmarks.

    Above this temperature all prototypes of soft K-means belong on the mean, below it they part (Rose 1998). D is taken
    as squared distances, as by all combinations of the data, and symmetrised; m (N,) are weights of the points.
    """
    from scipy.linalg import eigh

    n = space.n_points
    landmarks = np.sort(np.random.default_rng(0).choice(n, min(n, LANDMARKS), replace=False))
    d = on_host(space.fresh().distances(space.at(landmarks)))[landmarks].astype(np.float64)
    d, p, last = (d + d.T) / 2, m[landmarks] / m[landmarks].sum(), len(landmarks) - 1
    means, root = d @ p, np.sqrt(p)
    B = root[:, None] * (means + means[:, None] - d - p @ means) * root
    with limited(1):  # the same bits at any number of threads
        try:
            largest = eigh(B, eigvals_only=True, subset_by_index=[last, last])[0]
        except np.linalg.LinAlgError:  # where many are nearly equal LAPACK may not tell one from the others
            largest = np.linalg.eigvalsh(B)[last]
        return max(float(largest), 0.0)


def quantiles(y: FloatArray, m: FloatArray) -> FloatArray:
    """(N,) in (0, 1): the share of the weight m below a point's coordinate, its equals counted half."""
    _, which = np.unique(y, return_inverse=True)
    mass = np.bincount(which, m)
    return ((np.cumsum(mass) - mass / 2) / mass.sum())[which]


def nearest_free(targets: FloatArray, points: FloatArray) -> IntArray:
    """(K,) distinct indices: each target in turn takes the nearest free one of points (N, d), the lowest on ties."""
    return snapped(np.column_stack([((points - target) ** 2).sum(axis=1) for target in targets]), distinct=True)


def laid_out(Y: FloatArray, m: FloatArray, lattice: Lattice) -> IntArray:
    """(K,) distinct points, one per neuron: coordinates Y (N, d) of the data are spread over the lattice's box.

    The first coordinate runs along the longest side. Each coordinate is replaced by its quantile, so that every row and
    every column of neurons gets its share of the points. A torus is cut open: its seams are left to the annealing.
    """
    low, high = lattice.coordinates.min(axis=0), lattice.coordinates.max(axis=0)
    sides = high - low + 1.0  # half a step of margin all round
    points = np.empty(Y.shape)
    for axis, side in enumerate(np.argsort(-sides, kind="stable")):
        points[:, side] = quantiles(Y[:, axis], m) * sides[side]
    return nearest_free(lattice.coordinates - low + 0.5, points)
