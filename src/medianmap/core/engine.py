"""The training loop: assign points, move prototypes, while sigma falls, then until nothing moves; several starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray
from ..utils.threads import alone, limited, outer_threads, stop_if_asked
from .assignment import Assignment
from .label_term import LabelTerm
from .quality import inertia, quantization_error
from .spaces import Space

HISTORY = np.dtype([("sigma", "f8"), ("cost", "f8"), ("quantization_error", "f8"), ("terms", "i8"), ("moved", "i8")])


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

    @property
    def supervised(self) -> bool:
        """Whether labels count in the assignment."""
        return self.label_term is not None and self.label_term.beta < 1


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch; cost and quantization error are those of the prototypes it started from."""

    number: int
    sigma: float
    cost: float
    quantization_error: float
    terms: int
    moved: int
    run: int = 0


@dataclass(frozen=True)
class State:
    """Prototypes, indices (K,), vectors (K, M) or coefficients (K, N), label vectors (K, C), and how they came about.

    swaps : exchanges of exemplars after the last epoch.
    """

    prototypes: NDArray[Any]
    labels: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    history: tuple[Epoch, ...] = ()
    converged: bool = False
    swaps: int = 0

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
    moved = int(np.count_nonzero((before != after).reshape(len(before), -1).any(axis=1)))
    settled = moved == 0
    if term is not None:
        labels = term.means(weights, labels)
        settled = settled and term.settled(state.labels, labels)
    record = Epoch(len(state.history), float(sigma), cost, quantization_error(G, m), terms, moved)
    return State(after, labels, (*state.history, record), converged=settled)


def labelled(problem: Problem, start: NDArray[Any] | State, sigma: float) -> State:
    """The prototypes `start`; with a label term, their label vectors are those of the assignment by d alone."""
    if isinstance(start, State):
        return start
    if problem.label_term is None:
        return State(start)
    weights, _ = problem.assignment(problem.space.distances(start), sigma, problem.m)
    return State(start, problem.label_term.first(weights))


def looked_at(problem: Problem, start: NDArray[Any] | State, sigma: float) -> State:
    """The prototypes `start` as they are, with a record of their K-means cost, for training by swaps alone."""
    state = labelled(problem, start, sigma)
    cost = inertia(problem.space.distances(state.prototypes), problem.m)
    record = Epoch(len(state.history), float(sigma), cost, 0.5 * cost, 0, 0)
    return replace(state, history=(*state.history, record), converged=True)


def anneal(
    problem: Problem, start: NDArray[Any] | State, sigmas: FloatArray, sigma_end: float, max_settling: int,
    rng: np.random.Generator, on_epoch: OnEpoch | None = None, run: int = 0,
) -> State:  # fmt: skip
    """Run the schedule `sigmas`, then continue at `sigma_end` until a fixed point or `max_settling` more epochs.

    start : prototypes, or a state to continue from, labels included.

    A fixed point is an epoch at `sigma_end` that moves no prototype and changes no label. At fixed sigma neither step
    can raise the cost, so one is reached (unless collisions are prevented by noise, which has no cost to lower).
    """
    state = labelled(problem, start, sigmas[0])
    for t in range(len(sigmas) + max_settling):
        sigma = sigmas[t] if t < len(sigmas) else sigma_end
        state = epoch(problem, state, sigma, rng)
        if on_epoch is not None:
            on_epoch(replace(state.history[-1], run=run))
        if t >= len(sigmas) - 1 and sigma == sigma_end and state.converged:
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
