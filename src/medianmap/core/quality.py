"""Every error and index, each defined once. G (N, K) are dissimilarities from points to prototypes, m (N,) weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sources.base import ALL, KEEP_BYTES, FloatArray, Source, panels, rows_per_panel
from ..utils.arrays import namespace, on_host
from .neighborhood import Lattice

# --- costs, monitored every epoch. Plain sums, no BLAS: the same bits at any number of threads -------------------


def inertia(G: FloatArray, sample_weight: FloatArray | None = None) -> float:
    """sum_i m_i min_j G[i, j], as scikit-learn reports it: the K-means cost.

    G : (N, K) dissimilarities of the points to the prototypes.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    """
    m = np.ones(len(G)) if sample_weight is None else sample_weight
    return float((m * on_host(namespace(G).amin(G, axis=1))).sum())


def neural_gas_cost(sums: FloatArray, weight_of_rank: FloatArray) -> float:
    """sum_k h(k) sum_i m_i G[i, prototype of rank k]; sums (K,) holds the inner sums."""
    return float((sums * weight_of_rank).sum())


def som_cost(smoothed_minimum: FloatArray, m: FloatArray) -> float:
    """sum_i m_i min_j sum_l H[j, l] G[i, l]; smoothed_minimum (N,) holds the inner minimum."""
    return float((m * smoothed_minimum).sum())


# --- how well the prototypes represent the data --------------------------------------------------------------------


def quantization_error(G: FloatArray, sample_weight: FloatArray | None = None) -> float:
    """0.5 sum_i m_i min_j G[i, j]. The chapter's formula divides this by N; the figures that it reports are the sum.

    G : (N, K) dissimilarities of the points to the prototypes.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    """
    return 0.5 * inertia(G, sample_weight)


def medoid_silhouette(G: FloatArray, sample_weight: FloatArray | None = None) -> float:
    """sum_i m_i (1 - d1_i / d2_i) / sum_i m_i, d1 and d2 the two least of G[i, :]; in [0, 1], 1 best.

    The silhouette with distances to prototypes in the place of mean distances to clusters (Lenssen & Schubert 2022):
    K evaluations per point instead of N. Where both are 0, the point is equally near to both and counts 0.
    With one prototype there is no second: nan. Dissimilarities below 0 (to combinations of the data) count as 0.

    G : (N, K) dissimilarities of the points to the prototypes.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    """
    if G.shape[1] < 2:
        return float("nan")
    first, second = np.partition(G, 1, axis=1)[:, :2].astype(np.float64).T
    ratio = np.divide(np.maximum(first, 0.0), second, out=np.ones(len(G)), where=second > 0)
    return float(np.average(1.0 - ratio, weights=sample_weight))


def purity(labels: ArrayLike, y: ArrayLike, sample_weight: FloatArray | None = None) -> float:
    """Share of the points that carry the majority class of their cluster: sum_j max_c m(j, c) / sum m.

    labels : (N,) nearest prototype of each point.
    y : (N,) classes.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    """
    shares = class_counts(labels, y, sample_weight)[0]
    return float(shares.max(axis=1).sum() / shares.sum())


def class_counts(
    labels: ArrayLike, y: ArrayLike, sample_weight: FloatArray | None = None, n_clusters: int | None = None
) -> tuple[FloatArray, NDArray[Any]]:
    """(K, n_classes) weight of each class in each cluster, and the classes (n_classes,)."""
    labels = np.asarray(labels)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    counts = np.zeros((labels.max() + 1 if n_clusters is None else n_clusters, len(classes)))
    np.add.at(counts, (labels, codes), 1.0 if sample_weight is None else sample_weight)
    return counts, classes


# --- how well the map keeps neighbourhoods ------------------------------------------------------------------------


def topographic_error(G: FloatArray, lattice: Lattice, sample_weight: FloatArray | None = None) -> float:
    """Share of the points whose nearest and second nearest prototypes are not neighbours on the lattice.

    Ties go to the lower prototype index. 0 is best; a map of one neuron has no error.

    G : (N, K) dissimilarities of the points to the prototypes.
    lattice : `lattice_` of a SOM.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    """
    if G.shape[1] < 2:
        return 0.0
    nearest = np.argsort(G, axis=1, kind="stable")[:, :2]
    return torn_share(nearest[:, 0], nearest[:, 1], lattice, sample_weight)


def torn_share(
    first: NDArray[np.intp], second: NDArray[np.intp], lattice: Lattice, sample_weight: FloatArray | None = None
) -> float:
    """Share of the points whose nearest neurons first and second (N,) do not touch; 0 on a map of one neuron."""
    torn = ~lattice.neighbors[first, second] & (first != second)
    return float(np.average(torn, weights=sample_weight))


def torn_links(first: NDArray[np.intp], second: NDArray[np.intp], lattice: Lattice) -> NDArray[np.intp]:
    """Rows (a, b, count), most points first: count points have the neurons a < b, which do not touch, as their nearest.

    Where the map is torn: the K strongest links, of two points at least. All links would sum to N `torn_share`.

    first, second : (N,) the two nearest prototypes of each point.
    lattice : `lattice_` of a SOM.
    """
    K = len(lattice.distances)
    torn = ~lattice.neighbors[first, second] & (first != second)
    pairs, counts = np.unique((np.minimum(first, second) * K + np.maximum(first, second))[torn], return_counts=True)
    links = np.column_stack([pairs // K, pairs % K, counts])
    return links[np.argsort(-counts, kind="stable")][: min(K, int((counts > 1).sum()))]


def torn_by_chance(lattice: Lattice) -> float:
    """Topographic error to be expected of a random order of the K neurons: 1 - |{(j, l) that touch}| / (K (K - 1)).

    Any two neurons then are as likely to be the two nearest of a point as others. 0 where all touch: nothing can tear.

    lattice : `lattice_` of a SOM.
    """
    K = len(lattice.distances)
    return 0.0 if K < 2 else 1.0 - float(lattice.neighbors.sum()) / (K * (K - 1))


def shuffled_errors(
    first: NDArray[np.intp], second: NDArray[np.intp], lattice: Lattice, n_orders: int = 99, seed: int = 0
) -> FloatArray:
    """(n_orders,) topographic errors of the same prototypes in random orders; first and second (N,) as `torn_share`."""
    rng, K = np.random.default_rng(seed), len(lattice.distances)
    pairs, counts = np.unique(first * K + second, return_counts=True)
    a, b = np.divmod(pairs, K)
    orders = (rng.permutation(K) for _ in range(n_orders))
    return np.array([torn_share(p[a], p[b], lattice, counts) for p in orders])


def border_share(hits: ArrayLike, lattice: Lattice) -> float:
    """(share of the weight hits (K,) on border neurons) / (share of the neurons that are border neurons).

    A neuron is on the border if it touches fewer neurons than others do. 1: no crowd there; nan: there is no border, as
    on a torus, or no weight.

    hits : (K,) weight of the points at each neuron.
    lattice : `lattice_` of a SOM.
    """
    hits, degree = np.asarray(hits, np.float64), lattice.neighbors.sum(axis=1)
    border = degree < degree.max()
    if not border.any() or not hits.sum() > 0:
        return float("nan")
    return float(hits[border].sum() / hits.sum() / border.mean())


def neighborhood_preservation(
    source: Source, labels: NDArray[np.intp], map_distances: FloatArray, n_neighbors: int | None = None
) -> tuple[float, float]:
    """(trustworthiness, continuity) of the map, in [0, 1], 1 best.

    trustworthiness = 1 - c sum_i sum_{l in U(i)} (r(i, l) - k),   c = 2 / (N k (2N - 3k - 1)):
    U(i) are the points among the k nearest of i on the map but not in the data, r(i, l) >= 1 is l's rank by D[i, :].
    continuity is the same with map and data exchanged. Distance on the map is map_distances (K, K) between the neurons
    of the two points, so ties abound; the sum is its expectation over all orders of the tied.

    n_neighbors : k; None takes that of `resolution`. At most (N - 1) / 2.
    source : the dissimilarities of the points, as `as_dissimilarity` gives them.
    labels : (N,) nearest prototype of each point.
    map_distances : (K, K) distances between the neurons, `lattice_.distances`.
    """
    N = source.shape[0]
    k = min(resolution(N, map_distances) if n_neighbors is None else n_neighbors, (N - 1) // 2)
    if k < 1:
        return 1.0, 1.0
    untrusted = torn = 0.0
    for rows in panels(N, rows_per_panel(N, 8 * 8)):
        i = np.arange(rows.start, rows.stop)
        data = source.block(rows, ALL).astype(np.float64)
        on_map = map_distances[labels[i]][:, labels]
        data_near, data_excess = expected_over_ties(data, i, k)
        map_near, map_excess = expected_over_ties(on_map, i, k)
        untrusted += float((map_near * data_excess).sum())
        torn += float((data_near * map_excess).sum())
    scale = 2.0 / (N * k * (2 * N - 3 * k - 1))
    return 1.0 - scale * untrusted, 1.0 - scale * torn


def resolution(N: int, map_distances: FloatArray) -> int:
    """k + 1 = (N / K^2) |{(j, l): map_distances[j, l] <= 1}|, rounded, k >= 1: as many neighbours as a map can tell.

    That is what a neuron and those that touch it hold, if each of the K neurons holds N / K points. Among fewer, all at
    distance 0, a map says nothing of their order. k depends on N and the lattice alone, so that maps can be compared.
    """
    return max(1, round(N * float(np.mean(map_distances <= 1))) - 1)


def rank_correlation(
    source: Source, labels: NDArray[np.intp], map_distances: FloatArray, *, n_pairs: int = 40_000, seed: int = 0
) -> float:
    """Spearman's rho of D[i, l] and map_distances[labels[i], labels[l]] over pairs of points i != l.

    1: the farther on the map, the farther in the data, over the whole map; near 0 for a random order. Equal values have
    their mean rank. More than n_pairs pairs are sampled, with replacement, by the seed. nan where one side is constant.

    source : the dissimilarities of the points, as `as_dissimilarity` gives them.
    labels : (N,) nearest prototype of each point.
    map_distances : (K, K) distances between the neurons, `lattice_.distances`.
    n_pairs : most pairs that are compared.
    seed : what they are drawn with.
    """
    from scipy.stats import rankdata

    N = source.shape[0]
    if N < 2:
        return float("nan")
    if N * (N - 1) <= n_pairs:
        i, l = np.nonzero(~np.eye(N, dtype=bool))
    else:
        rng = np.random.default_rng(seed)
        i = np.sort(rng.integers(N, size=n_pairs))
        l = (i + rng.integers(1, N, size=n_pairs)) % N
    starts = np.flatnonzero(np.diff(i, prepend=-1))
    # Only these pairs are read: dissimilarities may be computed on demand.
    ends = np.append(starts[1:], len(i))
    D = np.concatenate([source.block(i[s : s + 1], l[s:e])[0] for s, e in zip(starts, ends, strict=True)])
    ranks = [rankdata(values) - (len(i) + 1) / 2 for values in (D, map_distances[labels[i], labels[l]])]
    lengths = [float(np.sqrt(rank @ rank)) for rank in ranks]
    return float(ranks[0] @ ranks[1] / (lengths[0] * lengths[1])) if min(lengths) > 0 else float("nan")


def expected_over_ties(values: FloatArray, own: NDArray[np.intp], k: int) -> tuple[FloatArray, FloatArray]:
    """Per entry, averaged over all orders of equal values: its share in the k nearest, and max(rank - k, 0).

    Ranks run along rows from 1, the nearest; the point itself has rank 0 and is nobody's neighbour.
    """
    from scipy.stats import rankdata

    itself = np.arange(len(own)), own
    values[itself] = -1.0
    low, high = rankdata(values, method="min", axis=1) - 1, rankdata(values, method="max", axis=1) - 1
    tied = high - low + 1
    near = np.clip((k - low + 1) / tied, 0.0, 1.0)
    # Of the ranks low .. high, those beyond k lie above it by first, first + 1, ..., high - k.
    first, last = np.maximum(low - k, 1), high - k
    excess = np.where(last > 0, (first + last) * (last - first + 1) / 2, 0.0) / tied
    near[itself] = excess[itself] = 0.0
    return near, excess


def indices(
    source: Source, labels: NDArray[np.intp], G: FloatArray, *, lattice: Lattice | None = None,
    y: ArrayLike | None = None, sample_weight: FloatArray | None = None, n_neighbors: int | None = None,
) -> dict[str, float]:  # fmt: skip
    """All indices that apply, by name: those of order need a lattice, those of classes need y.

    Weights count in the errors, the border's share and purity; what compares points with points has none. The
    silhouette needs the whole matrix in memory and is left out where that would take more than KEEP_BYTES.

    source : the dissimilarities of the points, as `as_dissimilarity` gives them.
    labels : (N,) nearest prototype of each point.
    G : (N, K) dissimilarities of the points to the prototypes.
    lattice : `lattice_` of a SOM; None leaves the order out.
    y : (N,) classes; None leaves them out.
    sample_weight : (N,) weights m_i of the points; None counts each once.
    n_neighbors : k of `neighborhood_preservation`.
    """
    m = sample_weight
    result = {"quantization_error": quantization_error(G, m), "inertia": inertia(G, m)}
    if lattice is not None:
        hits = np.bincount(labels, weights=m, minlength=G.shape[1])
        result["topographic_error"] = topographic_error(G, lattice, m)
        result |= {"torn_by_chance": torn_by_chance(lattice), "border_share": border_share(hits, lattice)}
    result |= neighborhood_indices(source, labels, lattice, n_neighbors)
    return result if y is None else result | class_indices(labels, y, m)


def neighborhood_indices(
    source: Source, labels: NDArray[np.intp], lattice: Lattice | None = None, n_neighbors: int | None = None
) -> dict[str, float]:
    """The indices that compare points with points: of a lattice trustworthiness, continuity and rank correlation;
    silhouette."""
    from sklearn.metrics import silhouette_score

    N = source.shape[0]
    result: dict[str, float] = {}
    if lattice is not None:
        trust, continuity = neighborhood_preservation(source, labels, lattice.distances, n_neighbors)
        result |= {"trustworthiness": trust, "continuity": continuity}
        result["rank_correlation"] = rank_correlation(source, labels, lattice.distances)
    if 2 <= len(np.unique(labels)) < N and N * N * 8 <= KEEP_BYTES:
        D = source.block(ALL, ALL).astype(np.float64)
        np.fill_diagonal(D, 0.0)
        result["silhouette"] = float(silhouette_score(D, labels, metric="precomputed"))
    return result


def class_indices(labels: ArrayLike, y: ArrayLike, sample_weight: FloatArray | None = None) -> dict[str, float]:
    """The indices that compare clusters with classes."""
    from sklearn import metrics

    return {
        "purity": purity(labels, y, sample_weight),
        "adjusted_rand": float(metrics.adjusted_rand_score(y, labels)),
        "normalized_mutual_information": float(metrics.normalized_mutual_info_score(y, labels)),
    }
