"""Groups of prototypes: Ward's tree of the exemplars, weighted by hits, and the number of groups to cut it into."""

from __future__ import annotations

import numpy as np

from ..sources.base import FloatArray, IntArray

# More groups than these need colours that cannot be told apart.
MOST_GROUPS = 8
# A prototype that is a group of its own stands for at least this share of the points, wherever another cut is possible.
LEAST_ALONE = 0.05
# What a prototype without points weighs, in shares of all: it joins the nearest group before any other two merge.
NOTHING = 1e-12


def ward_tree(S: FloatArray, hits: FloatArray) -> FloatArray:
    """(K - 1, 4) SciPy's form of the tree in which a and b with the least 2 h_a h_b / (h_a + h_b) s_ab^2 merge first.

    S : (K, K) symmetric dissimilarities, as lengths. hits : (K,) weights of the prototypes.

    With Lance and Williams' update, s^2 to a union c of a and b is, times the weights,
    ((h_a + h_k) D_ak + (h_b + h_k) D_bk - h_k D_ab) / (h_a + h_b + h_k): the growth of the sum of squares within, where
    S are Euclidean distances. That update never makes a union nearer to a third than the nearer of its parts was, so
    a chain of nearest neighbours finds the merges of the greedy algorithm in O(K^2) steps. Ties: the lower number.
    """
    K = len(S)
    h = np.maximum(np.asarray(hits, np.float64), NOTHING * max(float(np.sum(hits)), 1.0))
    largest = float(S.max()) or 1.0
    D = 2.0 * (S / largest) ** 2 * (h[:, None] * h / (h[:, None] + h))
    np.fill_diagonal(D, np.inf)
    alive = np.ones(K, bool)
    merges: list[tuple[float, int, int]] = []
    chain: list[int] = []
    while len(merges) < K - 1:
        if not chain:
            chain.append(int(alive.argmax()))
        a = chain[-1]
        b = int(D[a].argmin())
        if len(chain) > 1 and D[a, chain[-2]] <= D[a, b]:  # an equal predecessor ends the chain, which else could turn
            b = chain[-2]
        if len(chain) < 2 or b != chain[-2]:
            chain.append(b)
            continue
        del chain[-2:]
        a, b = min(a, b), max(a, b)
        height = D[a, b]
        new = ((h[a] + h) * D[a] + (h[b] + h) * D[b] - h * height) / (h[a] + h[b] + h)
        merges.append((float(height), a, b))
        alive[b] = False
        new[~alive] = new[a] = np.inf
        h[a] += h[b]
        D[a] = D[:, a] = new
        D[b] = D[:, b] = np.inf
    return _as_linkage(merges, K, largest)


def _as_linkage(merges: list[tuple[float, int, int]], K: int, largest: float) -> FloatArray:
    """The merges, lowest first, with the numbers that SciPy gives to unions; heights are roots, as SciPy's of Ward."""
    tree, number, size = np.empty((K - 1, 4)), np.arange(K), np.ones(K)
    order = sorted(range(K - 1), key=lambda k: merges[k][0])  # stable: parts come before their union
    for row, k in enumerate(order):
        height, a, b = merges[k]
        size[a] += size[b]
        low, high = sorted((int(number[a]), int(number[b])))
        tree[row] = low, high, largest * np.sqrt(max(height, 0.0)), size[a]
        number[a] = K + row
    return tree


def chosen_cut(S: FloatArray, tree: FloatArray, hits: FloatArray) -> tuple[int, dict[int, float]]:
    """The number of groups with the largest silhouette, mean over the points, and the silhouettes of all that compete.

    From 2 to 8 groups compete; those in which one prototype with less than a twentieth of the points is a group of its
    own only where there is no other. The fewest on ties.
    """
    from scipy.cluster.hierarchy import cut_tree
    from sklearn.metrics import silhouette_samples

    K = len(S)
    numbers = range(2, min(MOST_GROUPS, K - 1) + 1)
    cuts = {n: cut_tree(tree, n)[:, 0] for n in numbers}
    weights = np.asarray(hits, np.float64) if np.sum(hits) > 0 else np.ones(K)
    apart = [n for n in numbers if not _has_loner(cuts[n], weights)]
    silhouettes = {
        n: float(np.average(silhouette_samples(S, cuts[n], metric="precomputed"), weights=weights))
        for n in (apart or numbers)
    }
    return max(silhouettes, key=lambda n: silhouettes[n], default=1), silhouettes


def _has_loner(groups: IntArray, weights: FloatArray) -> bool:
    alone = np.bincount(groups) == 1
    held = np.bincount(groups, weights)
    return bool((held[alone] < LEAST_ALONE * weights.sum()).any())


def grouped(S: FloatArray, hits: FloatArray) -> IntArray:
    """(K,) the group of each prototype by Ward's tree and the chosen cut, numbered from that of the first."""
    from scipy.cluster.hierarchy import cut_tree

    if len(S) == 1:
        return np.zeros(1, np.intp)
    tree = ward_tree(S, hits)
    return cut_tree(tree, chosen_cut(S, tree, hits)[0])[:, 0].astype(np.intp)
