"""The only training loop in the project: assignment, then prototypes, while sigma falls; then until nothing moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .assignment import Assignment
from .quality import quantization_error
from .sources.base import FloatArray
from .spaces import Space


@dataclass(frozen=True)
class Problem:
    """What is fitted: where prototypes live, how points are assigned to them, what each point counts, (N,) > 0."""

    space: Space
    assignment: Assignment
    m: FloatArray


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
    """Prototypes, indices (K,) or vectors (K, M), and the epochs that led to them."""

    prototypes: NDArray[Any]
    history: tuple[Epoch, ...] = ()
    converged: bool = False


OnEpoch: TypeAlias = Callable[[Epoch], Any]


def epoch(problem: Problem, state: State, sigma: float, rng: np.random.Generator) -> State:
    """One pass of the two steps; `converged` says that no prototype moved."""
    space, m = problem.space, problem.m
    before = state.prototypes
    G = space.distances(before)
    assigned = problem.assignment(space.perturbed(G, rng), sigma, m)
    after, terms = space.update(assigned.weights, before)
    moved = int(np.count_nonzero((before != after).reshape(len(before), -1).any(axis=1)))
    record = Epoch(len(state.history), float(sigma), assigned.cost, quantization_error(G, m), terms, moved)
    return State(after, (*state.history, record), converged=moved == 0)


def anneal(
    problem: Problem,
    start: NDArray[Any],
    sigmas: FloatArray,
    sigma_end: float,
    max_settling: int,
    rng: np.random.Generator,
    on_epoch: OnEpoch | None = None,
    run: int = 0,
) -> State:
    """Run the schedule `sigmas`, then go on at `sigma_end` until a fixed point or `max_settling` more epochs.

    A fixed point is an epoch at `sigma_end` that moves no prototype. At fixed sigma neither step can raise the cost, so
    one is reached (unless collisions are prevented by noise, which has no cost to lower).
    """
    state = State(start)
    for t in range(len(sigmas) + max_settling):
        sigma = sigmas[t] if t < len(sigmas) else sigma_end
        state = epoch(problem, state, sigma, rng)
        if on_epoch is not None:
            on_epoch(replace(state.history[-1], run=run))
        if t >= len(sigmas) - 1 and sigma == sigma_end and state.converged:
            break
    return state
