"""Prototypes among themselves: their places in a plane (classical scaling, SMACOF), and the groups that they form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count
from ..utils.threads import limited, step

# An axis of less than this share of the first one's spread is rounding: the data have no such direction.
FLAT = 1e-9
# Stress that falls by less than this share has settled, as far as an eye can tell.
SETTLED = 1e-5
# Points nearer than this, in units of the largest dissimilarity, lie on each other; how far they are moved apart.
TOGETHER, APART = 1e-6, 1e-3
# More groups than these need colours that cannot be told apart.
MOST_GROUPS = 8
# A prototype that is a group of its own stands for at least this share of the points, wherever another cut is possible.
LEAST_ALONE = 0.05
# What a prototype without points weighs, in shares of all: it joins the nearest group before any other two merge.
NOTHING = 1e-12


def landmark_coordinates(squares: FloatArray, landmarks: IntArray, m: FloatArray, n_axes: int = 2) -> FloatArray:
    """(N, n_axes) coordinates, most spread first, from squared dissimilarities (N, L) to the points `landmarks`.

    The landmarks' own block is symmetrised, (Delta + Delta') / 2; m (N,) are weights of the points. An axis that the
    data do not have is 0. The sign of an axis makes the coordinate farthest from 0 positive.
    """
    from scipy.linalg import eigh

    largest = float(squares.max())
    Y = np.zeros((len(squares), n_axes))
    if largest == 0.0:
        return Y
    squares = squares / largest
    block = (squares[landmarks] + squares[landmarks].T) / 2
    w = m[landmarks] / m[landmarks].sum()
    means = w @ block
    B = -0.5 * (block - means - means[:, None] + w @ means)
    root = np.sqrt(w)
    L = len(landmarks)
    values, vectors = eigh(root[:, None] * B * root, subset_by_index=[max(L - n_axes, 0), L - 1])
    for axis, k in enumerate(reversed(range(len(values)))):
        if values[k] > FLAT * max(values[-1], FLAT):
            y = 0.5 * (means - squares) @ (root * vectors[:, k]) / np.sqrt(values[k])
            Y[:, axis] = y * np.sign(y[np.abs(y).argmax()])
    return Y * np.sqrt(largest)


def symmetrized(P: FloatArray) -> FloatArray:
    """(P + P^T) / 2 with a zero diagonal (K, K): what superclusters, layout and U-matrix are made from.

    Values below 0, which combinations of the data may have, count as 0.

    P : (K, K) dissimilarities.
    """
    S = np.maximum(P / 2 + P.T / 2, 0.0)  # halves first: the sum of two huge numbers may overflow
    np.fill_diagonal(S, 0.0)
    return S


@dataclass(frozen=True)
class PlaneLayout:
    """Places of the prototypes in the plane.

    positions : (K, 2) in the plane, centred.
    stress : Kruskal's, 0 if all dissimilarities are drawn exactly.
    """

    positions: FloatArray
    stress: float


def layout(P: FloatArray, max_iter: int = 300) -> PlaneLayout:
    """Positions z that lower sum_{a<b} (s_ab - |z_a - z_b|)^2, s = (P + P^T) / 2 (metric scaling by SMACOF).

    P : (K, K) dissimilarities of the prototypes. For squared distances pass their roots; otherwise large ones dominate.

    Nothing is random: it starts from classical scaling, with the sign of each axis fixed by its largest coordinate.
    stress = sqrt(sum (s - |z_a - z_b|)^2 / sum s^2).

    max_iter : most steps of SMACOF.
    """
    check_count(max_iter, "max_iter")
    K, S = len(P), symmetrized(P)
    largest = float(S.max())
    if largest == 0:
        return PlaneLayout(np.zeros((K, 2)), 0.0)
    S /= largest
    with limited(1):  # the same positions at any number of threads
        z = landmark_coordinates(S**2, np.arange(K), np.ones(K))
        if ((cdist(z, z) < TOGETHER) & (S > TOGETHER)).any():  # as leaves of a tree may be; they would never part
            turns = np.arange(K)
            z += APART * np.column_stack([np.cos(turns), np.sin(turns)])
        stress = np.inf
        for k in range(max_iter):
            step("layout", k, max_iter)
            d = cdist(z, z)
            before, stress = stress, float(((S - d) ** 2).sum())
            if before - stress <= SETTLED * before < np.inf:
                break
            B = -np.divide(S, d, out=np.zeros_like(S), where=d > 0)
            np.fill_diagonal(B, -B.sum(axis=1))
            z = B @ z / K
        error = ((S - cdist(z, z)) ** 2).sum() / (S**2).sum()
    return PlaneLayout(z * largest, float(np.sqrt(error)))


# --- groups


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
