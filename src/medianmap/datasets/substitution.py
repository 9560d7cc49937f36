"""How amino acids replace each other: a Markov chain whose log-odds are those of BLOSUM62."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

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
