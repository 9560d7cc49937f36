"""Protein families simulated along a random tree: substitutions that BLOSUM62 favours, insertions and deletions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_count, check_nonnegative, check_positive
from ..utils.kernels import kernel
from .shipped import Sequences, random_generator

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"

# BLOSUM62 (Henikoff and Henikoff 1992), lower triangle in the order above.
BLOSUM62 = """
4
-1 5
-2 0 6
-2 -2 1 6
0 -3 -3 -3 9
-1 1 0 0 -3 5
-1 0 0 2 -4 2 5
0 -2 0 -1 -3 -2 -2 6
-2 0 1 -1 -3 0 0 -2 8
-1 -3 -3 -3 -1 -3 -3 -4 -3 4
-1 -2 -3 -4 -1 -2 -3 -4 -3 2 4
-1 2 0 -1 -3 1 1 -2 -1 -3 -2 5
-1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5
-2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7
1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4
0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7
0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4
"""

# Rates of a site relative to the mean: the means of the four quarters of a gamma distribution of shape 1, so that some
# sites hardly change while others change often.
SITE_RATES = (0.136954, 0.476752, 1.0, 2.386294)
INDEL_LENGTH = 3.0  # mean of a geometric distribution
GROWTH = 4  # a sequence may become this many times as long as the root; longer insertions are left out


@cache
def blosum62() -> NDArray[np.float64]:
    """(20, 20) scores of pairs of amino acids, in the order of AMINO_ACIDS."""
    rows = [line.split() for line in BLOSUM62.split("\n") if line]
    S = np.zeros((20, 20))
    for i, row in enumerate(rows):
        S[i, : i + 1] = S[: i + 1, i] = np.array(row, float)
    return S


def replacement(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """T[a, b] = q_b exp(lambda s_ab) / sum over c != a of the same, T[a, a] = 0: what a becomes when it changes.

    Scores are log-odds s_ab = log(p_ab / (q_a q_b)) / lambda of pair frequencies p. Their margins being q fixes q and
    lambda: sum_b q_b exp(lambda s_ab) = 1 for every a, and sum q = 1. Returns T (A, A) and its stationary
    distribution pi (A,): pair frequencies are symmetric, so the chain is reversible and pi_a is proportional to the
    weight q_a sum_{b != a} q_b exp(lambda s_ab) of leaving a.
    """
    from scipy.optimize import brentq

    def background(scale: float) -> NDArray[np.float64]:
        return np.asarray(np.linalg.solve(np.exp(scale * scores), np.ones(len(scores))), np.float64)

    scale = brentq(lambda x: background(x).sum() - 1, 0.25, 0.4)
    q = background(scale)
    pairs = np.outer(q, q) * np.exp(scale * scores)
    np.fill_diagonal(pairs, 0.0)
    leaving = pairs.sum(axis=1)
    return pairs / leaving[:, None], leaving / leaving.sum()


@dataclass(frozen=True)
class ProteinFamilies(Sequences):
    """Sequences at the leaves of a tree, relatives side by side.

    parents (2N - 1,) : parent of each node, -1 for the root 0; a parent comes before its children.
    lengths (2N - 1,) : expected substitutions per site on the branch above each node.
    leaves (N,) : the node of each sequence.
    """

    parents: NDArray[np.intp]
    lengths: NDArray[np.float64]
    leaves: NDArray[np.intp]


def simulate_protein_families(
    n: int, n_families: int = 5, *, length: int = 150, between: float = 0.8, within: float = 0.4,
    indel_rate: float = 0.02, random_state: Any = 0,
) -> ProteinFamilies:  # fmt: skip
    """n >= n_families proteins that descend from one, along a random tree.

    Lineages split at random (a Yule process: each is equally likely to be the next) until there are n; the lineages
    alive when there were n_families found one family each, so families differ in size as real ones do.

    length : letters of the root sequence, drawn from the stationary distribution of the substitutions.
    between, within : expected substitutions per site from the root to the first splits within families, and from there
        to the sequences. Sites have different rates, with this mean. A single family has no `between`, families of one
        sequence have no `within`.
    indel_rate : insertions, and deletions, for each substitution; their mean length is 3.
    random_state : a seed or a numpy Generator. One million sequences take seconds.
    n : number of sequences.
    n_families : number of families.
    """
    n, n_families = check_count(n, "n"), check_count(n_families, "n_families")
    length = check_count(length, "length")
    if n_families > n:
        raise ValueError(f"n_families = {n_families} exceeds n = {n}; a family has at least one sequence.")
    between, within = check_positive(between, "between"), check_positive(within, "within")
    indel_rate = check_nonnegative(indel_rate, "indel_rate")
    rng = random_generator(random_state)
    parents, times, family = _yule_tree(n, n_families, between, within, rng)
    lengths = np.concatenate([[0.0], times[1:] - times[parents[1:]]])
    T, pi = replacement(blosum62())
    letters, starts, leaves = _evolve(
        parents, lengths, length, np.cumsum(T, axis=1), np.cumsum(pi), np.array(SITE_RATES), indel_rate,
        rng.integers(0, 2**64, 1, np.uint64),
    )  # fmt: skip
    text = np.frombuffer(AMINO_ACIDS.encode(), np.uint8)[letters].tobytes().decode()
    bounds = starts.tolist()
    sequences = [text[a:b] for a, b in pairwise(bounds)]
    numbers = family[leaves].tolist()
    name = {number: f"F{k + 1:02d}" for k, number in enumerate(dict.fromkeys(numbers))}
    families = [name[number] for number in numbers]
    ids = [f"{of}_{i:07d}" for i, of in enumerate(families)]
    return ProteinFamilies(sequences, ids, families, parents, lengths, leaves)


def newick(families: ProteinFamilies) -> str:
    """The tree in Newick's notation, leaves named by their ids.

    families : what `simulate_protein_families` gives.
    """
    name = dict(zip(families.leaves.tolist(), families.ids, strict=True))
    text: list[list[str]] = [[] for _ in families.parents]
    # Children have higher numbers than their parent, so that going down meets every child first.
    for node in range(len(families.parents) - 1, 0, -1):
        inner = name[node] if node in name else f"({','.join(reversed(text[node]))})"
        text[families.parents[node]].append(f"{inner}:{families.lengths[node]:.6g}")
        text[node] = []
    return (f"({','.join(reversed(text[0]))})" if text[0] else name[0]) + ";"


def _yule_tree(
    n: int, n_families: int, between: float, within: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Parents and times (2n - 1,) of all nodes, and the family of each, -1 above the families.

    While there are k lineages the next split comes after an exponential time of mean 1 / k; the times before and after
    the families were founded are then stretched to `between` and `within`.
    """
    waits = rng.exponential(1.0, n) / np.arange(1, n + 1)
    waits[0] = 0.0  # the root is the first split
    splits = np.cumsum(waits)  # splits[k - 1]: k lineages become k + 1
    founded, today = splits[n_families - 1], splits[n - 1]
    early = between / founded if founded > 0 else 0.0
    late = within / (today - founded) if today > founded else 0.0
    when = np.minimum(splits, founded) * early + np.maximum(splits - founded, 0.0) * late
    chosen = (rng.random(n) * np.arange(1, n + 1)).astype(np.intp)  # which of the k lineages splits
    parents, times, family = np.full(2 * n - 1, -1, np.intp), np.empty(2 * n - 1), np.full(2 * n - 1, -1, np.intp)
    _grow(n, n_families, chosen, when, parents, times, family)
    return parents, times, family


@kernel
def _grow(n, n_families, chosen, when, parents, times, family):  # type: ignore[no-untyped-def]
    """Split lineage by lineage; a lineage is known by the node at its end, whose time is set when it splits."""
    alive = np.zeros(n, np.int64)
    for k in range(1, n):
        if k == n_families:
            for a in range(k):
                family[alive[a]] = a
        node = alive[chosen[k - 1]]
        times[node] = when[k - 1]
        for child in (2 * k - 1, 2 * k):
            parents[child] = node
            family[child] = family[node]
        alive[chosen[k - 1]] = 2 * k - 1
        alive[k] = 2 * k
    for a in range(n):
        times[alive[a]] = when[n - 1]
        if n == n_families:
            family[alive[a]] = a


@kernel
def _uniform(state):  # type: ignore[no-untyped-def]
    """The next number of splitmix64 in (0, 1); one stream, the same on every machine."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@kernel
def _draw(cumulative, state):  # type: ignore[no-untyped-def]
    """k with the chance cumulative[k] - cumulative[k - 1]."""
    u = _uniform(state) * cumulative[-1]
    k = 0
    while cumulative[k] <= u:
        k += 1
    return k


@kernel
def _mutate(sites, size, time, T, pi, rates, indel, state):  # type: ignore[no-untyped-def]
    """Let `sites`, of which the first `size` count, evolve for `time`; returns the new size.

    A site is letter + 20 * (class of its rate). Events of all kinds come at the rate size (r_max + 2 indel); a
    substitution is accepted with the chance r / r_max, so that the process is exact however rates differ.
    """
    fastest = rates.max()
    each = fastest + 2 * indel
    while size > 0:
        time += np.log(_uniform(state)) / (size * each)
        if time < 0:
            break
        at = int(_uniform(state) * size)
        kind = _uniform(state) * each
        if kind < fastest:
            letter, rate = sites[at] % 20, sites[at] // 20
            if kind < rates[rate]:
                sites[at] = _draw(T[letter], state) + 20 * rate
            continue
        run = 1 + int(np.log(_uniform(state)) / np.log(1 - 1 / INDEL_LENGTH))
        if kind < fastest + indel:
            run = min(run, size - at)
            # The last letter stays: a protein without letters could not evolve further.
            run = min(run, size - 1)
            for k in range(at, size - run):
                sites[k] = sites[k + run]
            size -= run
        elif size + run <= sites.shape[0]:
            for k in range(size - 1, at - 1, -1):
                sites[k + run] = sites[k]
            for k in range(at, at + run):
                sites[k] = _draw(pi, state) + 20 * int(_uniform(state) * rates.shape[0])
            size += run
    return size


@kernel
def _evolve(parents, lengths, length, T, pi, rates, indel, state):  # type: ignore[no-untyped-def]
    """Letters of all leaves end to end, where each starts (N + 1,) and its node (N,), depth first.

    Only the sequences of the ancestors of the present node are kept, one per level of the tree.
    """
    nodes = parents.shape[0]
    first, second = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    depth = np.zeros(nodes, np.int64)
    for node in range(1, nodes):
        depth[node] = depth[parents[node]] + 1
        if first[parents[node]] < 0:
            first[parents[node]] = node
        else:
            second[parents[node]] = node
    held = np.empty((depth.max() + 1, GROWTH * length), np.uint8)
    sizes = np.empty(depth.max() + 1, np.int64)
    n = (nodes + 1) // 2
    letters, starts, leaves = np.empty(n * length, np.uint8), np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    for k in range(length):
        held[0, k] = _draw(pi, state) + 20 * int(_uniform(state) * rates.shape[0])
    sizes[0] = length
    waiting = np.empty(depth.max() + 2, np.int64)
    waiting[0], n_waiting, done = 0, 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        d = depth[node]
        if node > 0:
            size = sizes[d - 1]
            held[d, :size] = held[d - 1, :size]
            sizes[d] = _mutate(held[d], size, lengths[node], T, pi, rates, indel, state)
        if first[node] >= 0:
            waiting[n_waiting], waiting[n_waiting + 1] = second[node], first[node]
            n_waiting += 2
            continue
        end = starts[done] + sizes[d]
        if end > letters.shape[0]:
            longer = np.empty(2 * end, np.uint8)
            longer[: starts[done]] = letters[: starts[done]]
            letters = longer
        for k in range(sizes[d]):
            letters[starts[done] + k] = held[d, k] % 20
        starts[done + 1] = end
        leaves[done] = node
        done += 1
    return letters[: starts[n]], starts, leaves
