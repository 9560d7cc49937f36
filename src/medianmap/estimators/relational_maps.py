"""The three relational maps: prototypes are convex combinations of data known only by their dissimilarities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.engine import OnEpoch
from .families import RelationalMap
from .rules import KMeansRule, NeuralGasRule, SOMRule


class RelationalKMeans(KMeansRule, RelationalMap):
    """K-means whose prototypes are convex combinations of the data, w_j = sum_l alpha_j[l] x_l.

    Minimises sum_i m_i min_j d(x_i, w_j), d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2, which is |x_i - w_j|^2
    where D holds squared Euclidean distances: then this is K-means of vectors that nobody has to know. For other
    dissimilarities it is K-means in the pseudo-Euclidean space of D, and dissimilarities to prototypes may be negative.

    Parameters
    ----------
    n_clusters, metric, metric_params, max_iter, n_epochs, init, n_init, random_state, n_jobs, verbose, on_epoch : as in
        `MedianKMeans`. The dissimilarity enters as it is: pass "sqeuclidean" for K-means of vectors.

    Attributes
    ----------
    coefficients_ : (K, S) sparse, alpha_j over the data points `support_` (S,); coefficients below 1e-12 of the largest
        of their prototype are zero.
    support_, support_ids_, support_objects_ : the data points with a coefficient, their ids if the data carried ids,
        and the objects themselves where there is a metric.
    self_terms_ : (K,) alpha_j' D alpha_j / 2.
    prototype_dissimilarities_ : (K, K) d(w_j, w_k).
    exemplar_indices_, prototype_ids_ : (K,) the data point nearest to each prototype, and its id.
    labels_, inertia_, quantization_error_, hits_, n_iter_, converged_, history_, n_features_in_, n_evaluations_ : as in
        `MedianKMeans`; cluster_centers_ is None.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import RelationalKMeans
    >>> D = np.subtract.outer([0.0, 1, 10], [0.0, 1, 10]) ** 2
    >>> km = RelationalKMeans(2, metric="precomputed", init=[0, 2]).fit(D)
    >>> km.coefficients_.toarray().tolist(), km.inertia_
    ([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], 0.5)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        max_iter: int = 300,
        n_epochs: int | None = None,
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.max_iter = max_iter
        self.n_epochs = n_epochs
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class RelationalNeuralGas(NeuralGasRule, RelationalMap):
    """Neural gas whose prototypes are convex combinations of the data: `MedianNeuralGas` with the prototypes of
    `RelationalKMeans`.

    Parameters are those of `MedianNeuralGas` without annealing, collisions, search and refine; attributes are those of
    `RelationalKMeans`.

    Examples
    --------
    >>> from medianmap import RelationalNeuralGas
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> gas = RelationalNeuralGas(2, metric="edit", random_state=0).fit(words)
    >>> sorted(words[i] for i in gas.exemplar_indices_)
    ['heron', 'quark']
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch


class RelationalSOM(SOMRule, RelationalMap):
    """Self-organizing map whose prototypes are convex combinations of the data: `MedianSOM` with the prototypes of
    `RelationalKMeans`.

    Parameters are those of `MedianSOM` without annealing, collisions, search and refine; attributes are those of
    `RelationalKMeans`, and lattice_.
    """

    def __init__(
        self,
        grid: tuple[int, int] = (10, 10),
        *,
        lattice: str = "hexagonal",
        periodic: bool = False,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_epochs: int = 100,
        sigma_start: float | None = None,
        sigma_end: float = 0.01,
        neighborhood: str = "exponential",
        init: Any = "random",
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        self.grid = grid
        self.lattice = lattice
        self.periodic = periodic
        self.metric = metric
        self.metric_params = metric_params
        self.n_epochs = n_epochs
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.neighborhood = neighborhood
        self.init = init
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_epoch = on_epoch
